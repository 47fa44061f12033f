"""Which metadata of an input an output may keep: what describes the image, and never whose it is.

An allow list: what is not known to describe a grid stays behind, so that no DICOM tag, no free text
of a header and no file's name goes from one reader's image into a consensus and the files made of
it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum, auto
from typing import Any

#: What ITK reads of NRRD and NIfTI, and what xarray and MONAI have beside, that says how axes lie
#: and are measured. The values are numbers, or words of the format.
_DESCRIPTIVE = frozenset(
    {
        *("NRRD_space", "NRRD_measurement frame"),
        *("xyzt_units", "dim_info", "qform_code", "qform_code_name", "sform_code"),
        *("sform_code_name", "units", "direction", "space", "affine", "original_affine"),
        *("spatial_shape", "original_channel_dim"),
    }
)
_OF_AN_AXIS = re.compile(r"NRRD_(kinds|centerings|thicknesses|units)\[\d+\]")


class Keep(Enum):
    """What an output keeps of the first input's metadata; called with a key, whether it does."""

    NOTHING = auto()  #: As filters of SimpleITK and itk do
    DESCRIPTION = auto()  #: What describes the image
    EVERYTHING = auto()  #: All there is, names of patients included

    def __call__(self, key: str) -> bool:
        is_descriptive = key in _DESCRIPTIVE or _OF_AN_AXIS.fullmatch(key) is not None
        return self is Keep.EVERYTHING or (self is Keep.DESCRIPTION and is_descriptive)

    def of(self, metadata: Mapping[Any, Any]) -> dict[Any, Any]:
        """The entries of a dictionary that are kept."""
        return {key: value for key, value in metadata.items() if self(str(key))}
