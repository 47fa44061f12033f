"""Plant a patient's identity in every identifying DICOM tag, and search texts for it.

Tags are taken from pydicom's dictionary instead of a separate list: all tags of the groups 0008,
0010, 0020 and 0040, with every value representation, including repeating groups, sequences with
all value representations inside, and private blocks.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Container
from typing import Any

from pydicom.datadict import DicomDictionary, RepeatersDictionary
from pydicom.dataset import Dataset

GROUPS = (0x0008, 0x0010, 0x0020, 0x0040)

#: A surname; given names, prefixes and suffixes; ideographic and phonetic representations.
NAME = "ZWERGNASE"
PERSON = f"{NAME}^Jakobäus^Lätitia^Dr.^KBE=侏儒鼻^雅各=ツヴェルクナーゼ^ヤコブ"
_UID = "2.25.314159265358979323846"
_BYTES = f"{NAME}\0".encode()

#: The planted value for each value representation.
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

#: Value representations with which GDCM, and hence ITK and SimpleITK, cannot read a file.
UNREADABLE_BY_GDCM = ("UV", "SV", "OD", "OL", "OV")
#: Tags of positions, which outputs intentionally keep.
GEOMETRY = (0x00200032, 0x00200037)
#: Tags of the kind of a file and of its character set; separate tests change them one by one.
KIND = (0x00080005, 0x00080016, 0x00080060)

_WORDS = (NAME, "Jakobäus", "Lätitia", "侏儒鼻", "雅各", "ツヴェルクナーゼ", "ヤコブ")
_ENCODINGS = ("utf-8", "latin-1", "utf-16-le", "utf-16-be", "shift_jis", "euc-jp", "gb18030")
_NUMBERS = (
    "097Y", "19040229", "1904-02-29", "1904, 2, 29", "231759", "23:17:59", "271.828", "1618033988",
    "57.7215", "26.65144", "61803", "-27183", "3141592653", "-1414213562", "1732050807568877293",
    "-223606797749978969", "beefcafe", "beef,cafe", "beef\\\\cafe", "3203386110", _UID,
)  # fmt: skip
_LETTERS = {word.encode(code, "ignore") for word in _WORDS for code in _ENCODINGS}
_LETTERS |= {ascii(word)[1:-1].encode() for word in _WORDS}  # as escaped by JSON and repr
_LETTERS |= {base64.b64encode(_BYTES[start:])[:10] for start in range(3)}  # as ITK stores bytes
#: ITK counts every change of any object and prints the count: 618033 in it is not a planted
#: weight.
_ITKS_CLOCK = re.compile(rb"M(?:odified )?Time: \d+")
#: Numbers are matched as whole words, since digits within a hash do not identify a patient.
_TELLING = re.compile(
    b"|".join([re.escape(word) for word in _LETTERS if len(word) > 3])
    + rb"|(?<![0-9a-z.])(?:"
    + b"|".join(re.escape(word.encode()) for word in _NUMBERS)
    + rb")",
    re.IGNORECASE,
)


def what_tells(text: Any) -> str | None:
    """Return the parts of the planted identity in a text, an object's text or a file's bytes."""
    raw = text if isinstance(text, bytes) else str(text).encode(errors="backslashreplace")
    found = _TELLING.search(_ITKS_CLOCK.sub(b"", raw))
    return (
        None if found is None else repr(found.string[max(0, found.start() - 60) : found.end() + 20])
    )


def tells(text: Any) -> bool:
    """Return whether the argument contains any part of the planted identity."""
    return what_tells(text) is not None


def every_tag() -> dict[int, list[str]]:
    """Yield all tags of the groups in pydicom's dictionary, with their value representations."""
    tags = {tag: vr for tag, (vr, *_) in DicomDictionary.items() if tag >> 16 in GROUPS}
    for mask, (vr, *_) in RepeatersDictionary.items():
        repeated = (int(mask.replace("x", digit), 16) for digit in "0123456789abcdef")
        tags |= {tag: vr for tag in repeated if tag >> 16 in GROUPS}
    return {tag: vr.split(" or ") for tag, vr in tags.items()}


def plant(dataset: Any, number: int = 0, *, unreadable: Container[str] = ()) -> None:
    """Write the patient's identity into every tag except geometry and the kind of file."""
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
    """Return an item that contains every value representation, and a nested item of the same
    kind.
    """
    item = Dataset()
    for element, (kind, value) in enumerate(VALUES.items()):
        item.add_new((0x0040, 0xF000 + element), kind, value)
    item.PatientName = item.CodeMeaning = item.PatientID = NAME
    item.SeriesInstanceUID = _UID  # objects refer to their series in sequences
    if depth > 1:
        item.add_new(0x0040A730, "SQ", [_item(depth - 1)])
    return item
