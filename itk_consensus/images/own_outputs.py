"""A mark in files that this package wrote, so that a wildcard cannot include them as raters.

Only files have the mark: it is set on writing, and neither images in memory nor outputs inherit it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import SimpleITK as sitk

from itk_consensus.core.errors import InputError
from itk_consensus.images.kept_metadata import MARK

#: Manufacturer in DICOM objects.
PROGRAM = "itk_consensus"
#: Key of the mark in NRRD and MetaImage; in NIfTI it is the description, which ITK writes from one
#: key and reads into another.
MARK_KEY = "itk_consensus_output"
_NIFTI_WRITTEN, _NIFTI_READ = "ITK_FileNotes", "descrip"
_KEYS = {
    **dict.fromkeys((".nrrd", ".nhdr", ".mha", ".mhd"), MARK_KEY),
    **dict.fromkeys((".nii", ".img", ".hdr", ".nia"), _NIFTI_WRITTEN),
}


def add_mark(image: Any, suffix: str) -> Any:
    """Return a copy of the image with the mark, for a format given by extension without ``.gz``."""
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
    """Whether an image or image reader comes from a file that we wrote as an output."""
    return any(
        image.HasMetaDataKey(key) and image.GetMetaData(key).strip() == MARK
        for key in (MARK_KEY, _NIFTI_READ)
    )


def reject_own_output(path: Path) -> None:
    """Raise the error about one of our own outputs among the inputs."""
    raise InputError(
        "was written by itk-consensus as a result, not by a rater: leave it out of the inputs "
        "or, to use it as another rater, add --accept-own-outputs",
        path=path,
    )
