"""Which metadata of an input an output may keep: what describes the image, and never whose it is.

An allow list, of keys and of what they may hold: what is not known to describe a grid stays behind,
so that no DICOM tag, no free text of a header and no file's name goes from one reader's image into
a consensus and the files made of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum, auto
from functools import lru_cache
from typing import Any

_UNITS = (
    r"1|[kcmuµnp]?m|(kilo|centi|milli|micro|nano)?met(er|re)s?|micron|[mun]?s|sec|(milli)?seconds?"
)
_PLACES = r"left|right|anterior|posterior|inferior|superior|scanner|xyz|3D|handed|time"
_KINDS = (
    r"domain|space|time|list|point|(covariant-|[234]-)?vector|normal|stub|scalar|complex|none|\?+|"
    r"([34]|RGBA?|HSV|XYZ)-color|3-(gradient|normal)|quaternion|[23]D-(masked-)?(symmetric-)?matrix"
)
_TRANSFORMS = "UNKNOWN|SCANNER_ANAT|ALIGNED_ANAT|TALAIRACH|MNI_152|TEMPLATE_OTHER"

#: What ITK reads of NRRD and NIfTI, and what xarray and MONAI have beside, that says how axes lie
#: and are measured: keys whose values are words of the format, and which words these are,
_WORDS = {
    re.compile(key): re.compile(words, re.IGNORECASE)
    for key, words in (
        (r"NRRD_space", rf"(({_PLACES})(-|$))+"),
        (r"NRRD_kinds\[\d+\]", _KINDS),
        (r"NRRD_centerings\[\d+\]", r"cell|node|none|\?+"),
        (r"NRRD_units\[\d+\]|units", _UNITS),
        (r"[qs]form_code_name", rf"NIFTI_XFORM_({_TRANSFORMS})"),
        (r"space", r"[RLAPSI]{3}"),
        (r"original_channel_dim", r"no_channel"),
    )
}
#: and keys whose values are numbers.
_NUMERIC = re.compile(
    r"NRRD_(measurement frame|thicknesses\[\d+\])|xyzt_units|dim_info|[qs]form_code|direction|"
    r"(original_)?affine|spatial_shape|original_channel_dim"
)


class Keep(Enum):
    """What an output keeps of the first input's metadata."""

    NOTHING = auto()  #: As filters of SimpleITK and itk do
    DESCRIPTION = auto()  #: What describes the image
    EVERYTHING = auto()  #: All there is, names of patients included

    def __call__(self, key: str, value: Any) -> bool:
        """Whether an entry is kept."""
        return self is Keep.EVERYTHING or (self is Keep.DESCRIPTION and _is_descriptive(key, value))

    def of(self, metadata: Mapping[Any, Any]) -> dict[Any, Any]:
        """The entries of a dictionary that are kept."""
        return {key: value for key, value in metadata.items() if self(str(key), value)}


def _is_descriptive(key: str, value: Any) -> bool:
    takes_numbers, words = _what_it_takes(key)
    if takes_numbers and _is_numeric(value):
        return True
    # MONAI's words are members of an Enum.
    text = str(value.value if isinstance(value, Enum) else value).strip('" ')
    return words is not None and words.fullmatch(text) is not None


@lru_cache(1 << 10)
def _what_it_takes(key: str) -> tuple[bool, re.Pattern[str] | None]:
    """Whether a key's value may be numbers, and which words; headers have the same keys."""
    words = next((words for named, words in _WORDS.items() if named.fullmatch(key)), None)
    return _NUMERIC.fullmatch(key) is not None, words


def _is_numeric(value: Any) -> bool:
    if hasattr(value, "dtype"):  # an array, or a tensor wherever it is
        return re.search("int|float", str(value.dtype)) is not None
    try:
        for part in re.split(r"[\s\[\](),;]+", str(value)):
            float(part or 0)
    except ValueError:
        return False
    return True
