"""BIDS names of segmentations by several raters.

A name consists of entities, KEY-VALUE, and a suffix: ``dseg`` for label maps, ``mask`` for a single
region. The rater is given by ``rater-`` or, in most datasets, by ``desc-``. Entities may be in any
order; words without a key, such as ``T2w`` for the segmented image, are part of the case name. See
the sections on derivatives of the BIDS specification 1.10.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

#: Suffixes of segmentations.
SUFFIXES = ("dseg", "mask")

_NAME = re.compile(rf"(?P<words>.+)_(?P<suffix>{'|'.join(SUFFIXES)})\.nii(\.gz)?")
_ENTITY = re.compile(r"(?P<key>[A-Za-z]+)-(?P<value>[A-Za-z0-9+]+)")

#: Entities that may name the rater, in order of precedence.
_RATERS = ("rater", "desc")


class Segmentation(NamedTuple):
    """The parts of a segmentation's name."""

    case: str  #: The part of the name that is common to all raters
    rater: str
    reading: str  #: "1", "2", ... if a rater read a case several times; "" otherwise
    suffix: str


def segmentation_of(name: str) -> Segmentation | None:
    """Parse a file name; return None if it is not that of a segmentation by one rater."""
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    words = found["words"].split("_")
    entities = _entities(words)
    key = next((key for key in _RATERS if key in entities), None)
    if key is None:
        return None
    own = {f"{one}-{entities[one]}" for one in (key, "reading") if one in entities}
    case = "_".join(word for word in words if word not in own)
    return Segmentation(case, entities[key], entities.get("reading", ""), found["suffix"])


def lacking_entity(name: str) -> str:
    """Explain why a name is not that of a rater's segmentation; "" if it is one."""
    found = _NAME.fullmatch(name)
    if found is None:
        return f"does not end in {' or '.join(f'_{suffix}.nii.gz' for suffix in SUFFIXES)}"
    if not _entities(found["words"].split("_")).keys() & set(_RATERS):
        return "has neither rater- nor desc-, which names the rater"
    return ""


def _entities(words: list[str]) -> dict[str, str]:
    matches = (_ENTITY.fullmatch(word) for word in words)
    return {match["key"]: match["value"] for match in matches if match}


def segmentations_in(folder: str) -> Iterator[Path]:
    """Yield the files of a dataset whose names end with one of the suffixes."""
    for suffix in SUFFIXES:
        for places in (f"*_{suffix}.nii*", f"sub-*/**/*_{suffix}.nii*"):
            yield from sorted(Path(folder).glob(places))
