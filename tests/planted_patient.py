"""Plant a patient's identity in every identifying DICOM tag, and search texts for it.

Tags come from pydicom's dictionary, not from a list of ours: every one of the groups 0008, 0010,
0020 and 0040, of every kind of value, the repeating ones too, sequences with all kinds of values
inside, and private blocks.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Container
from typing import Any

from pydicom.datadict import DicomDictionary, RepeatersDictionary
from pydicom.dataset import Dataset

GROUPS = (0x0008, 0x0010, 0x0020, 0x0040)

#: A surname; given names, prefixes and suffixes; ideographic and phonetic spellings.
NAME = "ZWERGNASE"
PERSON = f"{NAME}^Jakobäus^Lätitia^Dr.^KBE=侏儒鼻^雅各=ツヴェルクナーゼ^ヤコブ"
_UID = "2.25.314159265358979323846"
_BYTES = f"{NAME}\0".encode()

#: What each kind of value is planted with.
VALUES: dict[str, Any] = {
    "PN": PERSON,
    "AS": "097Y", "DA": "19040229", "TM": "231759.271828", "DT": "19040229231759.271828",
    "DS": "271.82818284590", "IS": "1618033988", "FL": 57.72156649, "FD": 26.6514414269,
    "US": 61803, "SS": -27183, "UL": 3141592653, "SL": -1414213562,
    "UV": 17320508075688772935, "SV": -2236067977499789696, "AT": 0xBEEFCAFE,
    "UR": f"https://{NAME}.example/", "UI": _UID,
    **dict.fromkeys(("LO", "SH", "LT", "ST", "UT", "UC", "AE", "CS"), NAME),
    **dict.fromkeys(("OB", "OW", "OD", "OF", "OL", "OV", "UN"), _BYTES),
}  # fmt: skip

#: Kinds of values on which GDCM gives up a file, and ITK and SimpleITK with it.
UNREADABLE_BY_GDCM = ("UV", "SV", "OD", "OL", "OV")
#: Tags of positions, which outputs keep on purpose.
GEOMETRY = (0x00200032, 0x00200037)
#: What a file is and how its texts are spelled: the tests of these plant them one by one.
KIND = (0x00080005, 0x00080016, 0x00080060)

_WORDS = (NAME, "Jakobäus", "Lätitia", "侏儒鼻", "雅各", "ツヴェルクナーゼ", "ヤコブ")
_ENCODINGS = ("utf-8", "latin-1", "utf-16-le", "utf-16-be", "shift_jis", "euc-jp", "gb18030")
_NUMBERS = (
    "097Y", "19040229", "1904-02-29", "1904, 2, 29", "231759", "23:17:59", "271.828", "1618033988",
    "57.7215", "26.65144", "61803", "-27183", "3141592653", "-1414213562", "1732050807568877293",
    "-223606797749978969", "beefcafe", "beef,cafe", "beef\\\\cafe", "3203386110", _UID,
)  # fmt: skip
_LETTERS = {word.encode(code, "ignore") for word in _WORDS for code in _ENCODINGS}
_LETTERS |= {ascii(word)[1:-1].encode() for word in _WORDS}  # as JSON and repr escape them
_LETTERS |= {base64.b64encode(_BYTES[start:])[:10] for start in range(3)}  # as ITK keeps bytes
#: ITK counts every change of any object and prints it: 618033 of them are nobody's weight.
_ITKS_CLOCK = re.compile(rb"M(?:odified )?Time: \d+")
#: Numbers as whole words, since digits within a hash identify nobody.
_TELLING = re.compile(
    b"|".join([re.escape(word) for word in _LETTERS if len(word) > 3])
    + rb"|(?<![0-9a-z.])(?:"
    + b"|".join(re.escape(word.encode()) for word in _NUMBERS)
    + rb")",
    re.IGNORECASE,
)


def what_tells(text: Any) -> str | None:
    """Find parts of the planted identity in a text, an object's text or a file's bytes."""
    raw = text if isinstance(text, bytes) else str(text).encode(errors="backslashreplace")
    found = _TELLING.search(_ITKS_CLOCK.sub(b"", raw))
    return (
        None if found is None else repr(found.string[max(0, found.start() - 60) : found.end() + 20])
    )


def tells(text: Any) -> bool:
    """Whether it contains any part of the planted identity."""
    return what_tells(text) is not None


def every_tag() -> dict[int, list[str]]:
    """All tags of the groups that pydicom knows, with their kinds of values."""
    tags = {tag: vr for tag, (vr, *_) in DicomDictionary.items() if tag >> 16 in GROUPS}
    for mask, (vr, *_) in RepeatersDictionary.items():
        repeated = (int(mask.replace("x", digit), 16) for digit in "0123456789abcdef")
        tags |= {tag: vr for tag in repeated if tag >> 16 in GROUPS}
    return {tag: vr.split(" or ") for tag, vr in tags.items()}


def plant(dataset: Any, number: int = 0, *, unreadable: Container[str] = ()) -> None:
    """Write the patient into every tag but geometry and the kind of file."""
    for tag, kinds in every_tag().items():
        kind = kinds[number % len(kinds)]
        if tag not in GEOMETRY + KIND and kind not in unreadable:
            dataset.add_new(tag, kind, [_item(2)] if kind == "SQ" else VALUES[kind])
    dataset.SpecificCharacterSet = "ISO_IR 192"
    dataset.SOPInstanceUID = f"{_UID}.{number + 1}"
    for group in (0x0009, 0x0011, 0x0021, 0x0041):
        block = dataset.private_block(group, NAME, create=True)
        for element, (kind, value) in enumerate(VALUES.items()):
            if kind not in unreadable:
                block.add_new(element, kind, value)


def _item(depth: int) -> Dataset:
    """An item that holds every kind of value, and another such item."""
    item = Dataset()
    for element, (kind, value) in enumerate(VALUES.items()):
        item.add_new((0x0040, 0xF000 + element), kind, value)
    item.PatientName = item.CodeMeaning = item.PatientID = NAME
    item.SeriesInstanceUID = _UID  # objects refer to their series within sequences
    if depth > 1:
        item.add_new(0x0040A730, "SQ", [_item(depth - 1)])
    return item
