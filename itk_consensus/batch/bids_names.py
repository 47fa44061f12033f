"""Names of segmentations by several raters, as BIDS derivatives have them.

A name is entities, KEY-VALUE, and at the end a suffix: ``dseg`` for label maps, ``mask`` for one
region. The rater is in ``rater-`` or, as most datasets have it, in ``desc-``. Entities may come in
any order; words without a key, such as the ``T2w`` of the image a segmentation was drawn on, are
part of the case. See the sections on derivatives of the BIDS specification 1.10.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

#: What segmentations end in.
SUFFIXES = ("dseg", "mask")

_NAME = re.compile(rf"(?P<words>.+)_(?P<suffix>{'|'.join(SUFFIXES)})\.nii(\.gz)?")
_ENTITY = re.compile(r"(?P<key>[A-Za-z]+)-(?P<value>[A-Za-z0-9+]+)")

#: Entities that name the rater; the first that is there does.
_RATERS = ("rater", "desc")


class Segmentation(NamedTuple):
    """What a name says."""

    case: str  #: All that raters have in common
    rater: str
    reading: str  #: Of a rater who read several times: "1", "2"; "" otherwise
    suffix: str


def segmentation_of(name: str) -> Segmentation | None:
    """What the name of a file says; None if it is no segmentation of one rater."""
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
    """What a name lacks to be a segmentation of a rater, in words; empty if nothing."""
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
    """Files of a dataset that end in one of the suffixes."""
    for suffix in SUFFIXES:
        for places in (f"*_{suffix}.nii*", f"sub-*/**/*_{suffix}.nii*"):
            yield from sorted(Path(folder).glob(places))
