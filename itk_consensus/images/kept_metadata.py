"""Which metadata of an input an output keeps: what describes the image, and never whose it is.

"description" is an allow list, of keys and of what they may hold. "all_but_identity", the default,
also keeps what a pipeline set itself: every key that neither speaks of a person, a place, a date,
an identifier or a file, nor is a free text or a DICOM tag. No list knows who is named under a key
of somebody's own; SECURITY.md says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from functools import lru_cache
from typing import Any, NamedTuple

#: What a file of ours says of itself (`own_outputs.py`), which is not inherited.
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


#: Keys that tell how the voxels of one file are stored, which outputs have of their own.
_STORAGE = re.compile(
    r"datatype|bitpix|(scl|cal|srow|qoffset|quatern)_\w+|(dim|pixdim)(\[\d+\])?|sizeof_hdr|"
    r"slice_(code|start|end|duration)|intent_(code|p\d)|vox_offset|toffset|nifti_type|"
    r"qfac|[qs]to_(xyz|ijk)|NRRD_old (min|max)|ITK_(?!FileNotes).*"
)

#: How DICOM tags are spelled by ITK, pydicom and in hexadecimal digits.
_DICOM_TAG = re.compile(r"\(?([0-9a-f]{4})[|,]? ?([0-9a-f]{4})\)?", re.IGNORECASE)
#: Those that may be kept, and what they may hold.
_DICOM_VALUES = {
    "00180088": re.compile(r"\d{1,3}(\.\d{1,6})?"),  # spacing between slices
    "00185100": re.compile(r"[HF]F(S|P|DR|DL)"),  # how the patient lay
}

#: What Slicer says of each segment that a reader drew, and of the whole.
_SEGMENT = re.compile(r"Segment(\d+|ation)_.*")

#: Words of keys whose values may tell a person, where or when somebody was, or which file it is,
#: and those of free texts, in which anybody may write anything,
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
#: and words that contain one, where nothing tells them apart.
_CONTAINING = re.compile(
    r"patient|subject|physician|doctor|radiolog|operator|institut|hospital|clinic|birth|accession|"
    r"address|annotat|author|comment|filename|(name|date|time|uid|number|file|path|notes?)$|"
    r"(study|series|scan|session|user|image|exam|visit)ids?$"
)
#: PatientName, patient_name, "patient name" and PATIENT-NAME2 have the same words.
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


class Keep(Enum):
    """What an output keeps of the first input's metadata."""

    NOTHING = "nothing"  #: As filters of SimpleITK and itk do
    DESCRIPTION = "description"  #: What describes the image
    ALL_BUT_IDENTITY = "all_but_identity"  #: And all that does not speak of anybody
    EVERYTHING = "everything"  #: All there is, names of patients included

    def __call__(self, key: str, value: Any) -> bool:
        """Whether an entry is kept."""
        if not self.asks_for(key) or str(value).strip() == MARK:
            return False
        if self is Keep.EVERYTHING or _is_descriptive(key, value):
            return True
        return self is Keep.ALL_BUT_IDENTITY and _tells_nobody(key, value)

    def asks_for(self, key: str) -> bool:
        """Whether the value of a key decides; of others it need not be asked for."""
        if self in (Keep.NOTHING, Keep.EVERYTHING):
            return self is Keep.EVERYTHING
        what = _what_it_is(key)
        return not (what.describes_storage or what.identifies)

    def of(self, metadata: Mapping[Any, Any]) -> dict[Any, Any]:
        """The entries of a dictionary that are kept."""
        return {key: value for key, value in metadata.items() if self(str(key), value)}


def _tells_nobody(key: str, value: Any) -> bool:
    """Whether a key speaks of nobody, and its value is plain enough to belong to that key."""
    what = _what_it_is(key)
    if what.dicom is not None:
        return what.dicom.fullmatch(str(value).strip()) is not None
    # Keys that describe an image hold what they should, or anything.
    return not what.may_be_numbers and what.words is None and _is_plain(value)


def _is_plain(value: Any) -> bool:
    """Texts and numbers, and lists of these; other things have keys of their own inside."""
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    if hasattr(value, "dtype"):
        return re.search("int|float|bool|<U|str", str(value.dtype)) is not None
    return isinstance(value, (str, int, float, bool, Enum))


def _is_descriptive(key: str, value: Any) -> bool:
    what = _what_it_is(key)
    if what.may_be_numbers and _is_numeric(value):
        return True
    # MONAI's words are members of an Enum.
    text = str(value.value if isinstance(value, Enum) else value).strip('" ')
    return what.words is not None and what.words.fullmatch(text) is not None


class _Key(NamedTuple):
    """What a key says of its value."""

    may_be_numbers: bool  #: That describe an image
    words: re.Pattern[str] | None  #: That describe an image
    describes_storage: bool
    identifies: bool
    dicom: re.Pattern[str] | None  #: What a DICOM tag that tells nobody holds


@lru_cache(1 << 10)
def _what_it_is(key: str) -> _Key:
    """What a key says of its value; headers have the same keys."""
    numbers = _NUMERIC.fullmatch(key) is not None
    words = next((words for named, words in _WORDS.items() if named.fullmatch(key)), None)
    tag = _DICOM_TAG.fullmatch(key)
    dicom = _DICOM_VALUES.get("".join(tag.groups())) if tag else None
    known = numbers or words is not None or dicom is not None
    stored = _STORAGE.fullmatch(key) is not None
    return _Key(numbers, words, stored, not known and (tag is not None or _identifies(key)), dicom)


def _identifies(key: str) -> bool:
    """Whether a key speaks of somebody, or in no words that are known here."""
    words = {word.lower() for word in _WORD.findall(key)}
    return (
        not (words and key.isascii())
        or "|" in key  # a DICOM tag, however it is written
        or any(map(_IDENTIFYING.fullmatch, words))
        or any(map(_CONTAINING.search, words))
        or _SEGMENT.fullmatch(key) is not None
    )


def _is_numeric(value: Any) -> bool:
    if hasattr(value, "dtype"):  # an array, or a tensor wherever it is
        return re.search("int|float", str(value.dtype)) is not None
    try:
        for part in re.split(r"[\s\[\](),;]+", str(value)):
            float(part or 0)
    except ValueError:
        return False
    return True
