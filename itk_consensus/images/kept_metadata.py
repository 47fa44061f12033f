"""Metadata of an input that its outputs keep: descriptions of the image, but no identities.

"description" is an allow list of keys and of their values. "all_but_identity", the default, also
keeps custom keys of a pipeline, except those that refer to a person, place, date, identifier or
file, contain free text, or are DICOM tags. No list can recognise identities under arbitrary custom
keys; see SECURITY.md.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from functools import lru_cache
from typing import Any, NamedTuple

#: Value that marks a file as an output of this package (`own_outputs.py`); not inherited by
#: outputs.
MARK = "output of itk_consensus"

_UNITS = (
    r"1|[kcmuµnp]?m|(kilo|centi|milli|micro|nano)?met(er|re)s?|micron|[mun]?s|sec|(milli)?seconds?"
)
_PLACES = r"left|right|anterior|posterior|inferior|superior|scanner|xyz|3D|handed|time"
_KINDS = (
    r"domain|space|time|list|point|(covariant-|[234]-)?vector|normal|stub|scalar|complex|none|\?+|"
    r"([34]|RGBA?|HSV|XYZ)-color|3-(gradient|normal)|quaternion|[23]D-(masked-)?(symmetric-)?matrix"
)
_TRANSFORMS = "UNKNOWN|SCANNER_ANAT|ALIGNED_ANAT|TALAIRACH|MNI_152|TEMPLATE_OTHER"

#: Keys of ITK (for NRRD and NIfTI), xarray and MONAI that describe axes and units and whose values
#: are fixed words: patterns of the keys and of their values.
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
#: Keys of this kind whose values are numbers.
_NUMERIC = re.compile(
    r"NRRD_(measurement frame|thicknesses\[\d+\])|xyzt_units|dim_info|[qs]form_code|direction|"
    r"(original_)?affine|spatial_shape|original_channel_dim"
)


#: Keys about the storage of a particular file, which do not apply to outputs.
_STORAGE = re.compile(
    r"datatype|bitpix|(scl|cal|srow|qoffset|quatern)_\w+|(dim|pixdim)(\[\d+\])?|sizeof_hdr|"
    r"slice_(code|start|end|duration)|intent_(code|p\d)|vox_offset|toffset|nifti_type|"
    r"qfac|[qs]to_(xyz|ijk)|NRRD_old (min|max)|ITK_(?!FileNotes).*"
)

#: DICOM tags as written by ITK, by pydicom, and as plain hexadecimal digits.
_DICOM_TAG = re.compile(r"\(?([0-9a-f]{4})[|,]? ?([0-9a-f]{4})\)?", re.IGNORECASE)
#: Tags that may be kept, with patterns of their values.
_DICOM_VALUES = {
    "00180088": re.compile(r"\d{1,3}(\.\d{1,6})?"),  # spacing between slices
    "00185100": re.compile(r"[HF]F(S|P|DR|DL)"),  # patient position
}

#: Slicer's keys of each segment and of the whole segmentation.
_SEGMENT = re.compile(r"Segment(\d+|ation)_.*")

#: Words in keys whose values may identify a person, place, time or file, or contain free text.
_IDENTIFYING = re.compile(
    r"""
    participants?|persons?|people|cases?|who|whom|whose|by|dr|nurse|readers?|raters?|creator|editor|
    reviewer|technician|technologist|user|owner|contact|investigator|relative|guardian|mother|
    father|names?|born|dob|age|sex|gender|race|ethnic|ethnicity|religion|occupation|weight|height|
    pregnancy|smoking|diagnos[ie]s|symptoms|medical|insurance|e?mail|phone|telephone|fax|street|
    city|town|zip|postcode|postal|county|country|residence|department|ward|site|organi[sz]ation|
    company|cent(er|re)|university|station|host|computer|machine|device|serial|location|scanner|
    dates?|datetime|created|modified|updated|day|month|year|times?|timestamp|ids?|identifiers?|identity|identification|
    uids?|uuid|guid|mrn|ssn|nhs|number|files?|paths?|folder|directory|dir|url|uri|href|link|source|
    provenance|history|log|descrip|descriptions?|comments?|notes?|remarks?|contents?|text|title|
    message|memo|report|findings|reason
    """,
    re.VERBOSE,
)
#: Parts of words in such keys, for names written as one word.
_CONTAINING = re.compile(
    r"patient|subject|physician|doctor|radiolog|operator|institut|hospital|clinic|birth|accession|"
    r"address|annotat|author|comment|filename|(name|date|time|uid|number|file|path|notes?)$|"
    r"(study|series|scan|session|user|image|exam|visit)ids?$"
)
#: PatientName, patient_name, "patient name" and PATIENT-NAME2 have the same words.
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


class Keep(Enum):
    """The parts of the first input's metadata that an output keeps."""

    NOTHING = "nothing"  #: As with SimpleITK's and itk's filters
    DESCRIPTION = "description"  #: Known keys that describe the image
    ALL_BUT_IDENTITY = "all_but_identity"  #: Also other keys without identifying values
    EVERYTHING = "everything"  #: All entries, including names of patients

    def __call__(self, key: str, value: Any) -> bool:
        """Whether an entry is kept."""
        if not self.needs_value(key) or str(value).strip() == MARK:
            return False
        if self is Keep.EVERYTHING or _is_descriptive(key, value):
            return True
        return self is Keep.ALL_BUT_IDENTITY and _is_impersonal(key, value)

    def needs_value(self, key: str) -> bool:
        """Whether it depends on an entry's value if it is kept; if not, the key excludes it."""
        if self in (Keep.NOTHING, Keep.EVERYTHING):
            return self is Keep.EVERYTHING
        properties = _properties_of(key)
        return not (properties.describes_storage or properties.identifies)

    def of(self, metadata: Mapping[Any, Any]) -> dict[Any, Any]:
        """Return the entries of a mapping that are kept."""
        return {key: value for key, value in metadata.items() if self(str(key), value)}


def _is_impersonal(key: str, value: Any) -> bool:
    """Whether an entry is not identifying, judged by its key and the type of its value."""
    properties = _properties_of(key)
    if properties.dicom is not None:
        return properties.dicom.fullmatch(str(value).strip()) is not None
    # A descriptive key whose value does not have the expected form may contain anything.
    return not properties.may_be_numbers and properties.words is None and _is_plain(value)


def _is_plain(value: Any) -> bool:
    """Whether a value is a text, a number, or a list of these; other values may contain keys."""
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    if hasattr(value, "dtype"):
        return re.search("int|float|bool|<U|str", str(value.dtype)) is not None
    return isinstance(value, (str, int, float, bool, Enum))


def _is_descriptive(key: str, value: Any) -> bool:
    properties = _properties_of(key)
    if properties.may_be_numbers and _is_numeric(value):
        return True
    # MONAI's values are Enum members.
    text = str(value.value if isinstance(value, Enum) else value).strip('" ')
    return properties.words is not None and properties.words.fullmatch(text) is not None


class _KeyProperties(NamedTuple):
    """The values that a metadata key may have, and their meaning."""

    may_be_numbers: bool  #: Whether numbers under this key describe the image
    words: re.Pattern[str] | None  #: Values under this key that describe the image
    describes_storage: bool
    identifies: bool
    dicom: re.Pattern[str] | None  #: Permitted values of a DICOM tag that is not identifying


@lru_cache(1 << 10)
def _properties_of(key: str) -> _KeyProperties:
    """Classify a key; results are cached, since the headers of a study have the same keys."""
    numbers = _NUMERIC.fullmatch(key) is not None
    words = next((words for named, words in _WORDS.items() if named.fullmatch(key)), None)
    tag = _DICOM_TAG.fullmatch(key)
    dicom = _DICOM_VALUES.get("".join(tag.groups())) if tag else None
    known = numbers or words is not None or dicom is not None
    stored = _STORAGE.fullmatch(key) is not None
    identifies = not known and (tag is not None or _identifies(key))
    return _KeyProperties(numbers, words, stored, identifies, dicom)


def _identifies(key: str) -> bool:
    """Whether the values of a key may be identifying, or the key cannot be analysed."""
    words = {word.lower() for word in _WORD.findall(key)}
    return (
        not (words and key.isascii())
        or "|" in key  # a DICOM tag in any notation
        or any(map(_IDENTIFYING.fullmatch, words))
        or any(map(_CONTAINING.search, words))
        or _SEGMENT.fullmatch(key) is not None
    )


def _is_numeric(value: Any) -> bool:
    if hasattr(value, "dtype"):  # an array, or a tensor on any device
        return re.search("int|float", str(value.dtype)) is not None
    try:
        for part in re.split(r"[\s\[\](),;]+", str(value)):
            float(part or 0)
    except ValueError:
        return False
    return True
