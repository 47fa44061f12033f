"""A mark in files written by this package, so that a wildcard does not include them as raters.

Only files are marked: the mark is set on writing, and neither images in memory nor outputs inherit
it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import SimpleITK as sitk

from itk_consensus.core.errors import InputError
from itk_consensus.images.kept_metadata import MARK

#: Manufacturer in DICOM objects.
PROGRAM = "itk_consensus"
#: Key of the mark in NRRD and MetaImage; in NIfTI it is the description, for which ITK uses one key
#: for writing and another for reading.
MARK_KEY = "itk_consensus_output"
_NIFTI_WRITTEN, _NIFTI_READ = "ITK_FileNotes", "descrip"
_KEYS = {
    **dict.fromkeys((".nrrd", ".nhdr", ".mha", ".mhd"), MARK_KEY),
    **dict.fromkeys((".nii", ".img", ".hdr", ".nia"), _NIFTI_WRITTEN),
}


def add_mark(image: Any, suffix: str) -> Any:
    """Return a marked copy of the image, for a format given by its extension without ``.gz``."""
    key = _KEYS.get(suffix)
    if key is None:
        return image
    metadata = {name: image.GetMetaData(name) for name in image.GetMetaDataKeys()}
    copy = sitk.Image(image)
    copy.MakeUnique()  # drops the metadata
    for name, value in {**metadata, key: MARK}.items():
        copy.SetMetaData(name, value)
    return copy


def is_marked(image: Any) -> bool:
    """Whether an image or image reader comes from a file that this package wrote as an output."""
    return any(
        image.HasMetaDataKey(key) and image.GetMetaData(key).strip() == MARK
        for key in (MARK_KEY, _NIFTI_READ)
    )


def reject_own_output(path: Path) -> None:
    """Raise an error about an output of this package among the inputs."""
    raise InputError(
        "was written by itk-consensus as a result, not by a rater: leave it out of the inputs "
        "or, to use it as another rater, add --accept-own-outputs",
        path=path,
    )
