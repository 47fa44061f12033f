"""Files that this package wrote say so, lest a wildcard takes them for one more reader.

The mark is in files alone: writers set it, images in memory have none, and no output inherits it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import SimpleITK as sitk

from itk_consensus.core.errors import InputError
from itk_consensus.images.kept_metadata import MARK

#: Who made a DICOM object.
PROGRAM = "itk_consensus"
#: Under a key of NRRD and MetaImage, and as NIfTI's description, which is written by another name.
MARK_KEY = "itk_consensus_output"
_NIFTI_WRITTEN, _NIFTI_READ = "ITK_FileNotes", "descrip"
_KEYS = {
    **dict.fromkeys((".nrrd", ".nhdr", ".mha", ".mhd"), MARK_KEY),
    **dict.fromkeys((".nii", ".img", ".hdr", ".nia"), _NIFTI_WRITTEN),
}


def marked(image: Any, suffix: str) -> Any:
    """The image as it is written to a format, by its extension without ``.gz``, with the mark."""
    key = _KEYS.get(suffix)
    if key is None:
        return image
    metadata = {name: image.GetMetaData(name) for name in image.GetMetaDataKeys()}
    copy = sitk.Image(image)
    copy.MakeUnique()  # which drops the metadata
    for name, value in {**metadata, key: MARK}.items():
        copy.SetMetaData(name, value)
    return copy


def is_marked(image: Any) -> bool:
    """Whether an image just read, or the reader of a header, is of a file we wrote as an output."""
    return any(
        image.HasMetaDataKey(key) and image.GetMetaData(key).strip() == MARK
        for key in (MARK_KEY, _NIFTI_READ)
    )


def reject_own_output(path: Path) -> None:
    """Raise the error about one of our files among raters."""
    raise InputError(
        "was written by itk-consensus, as a result and not by a rater: leave it out of the inputs "
        "or, if it is to count as one more rater, add --accept-own-outputs",
        path=path,
    )
