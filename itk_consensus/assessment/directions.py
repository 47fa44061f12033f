"""Describe in words how far and in which direction a mask is displaced."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from itk_consensus.assessment.findings import Finding
from itk_consensus.assessment.sentences import join_items
from itk_consensus.core.array_types import Floats
from itk_consensus.images.convert import LoadedImages

#: Wording of the positive and negative directions of each axis of ITK's patient space (LPS).
_IN_THE_PATIENT = (
    ("to the patient's left", "to the patient's right"),
    ("to the back", "to the front"),
    ("to the head", "to the feet"),
)
_ALONG_AXES = tuple((f"along +{axis}", f"along -{axis}") for axis in "xyz")

#: Components smaller than this share of the largest one are not mentioned.
_LEAST_SHARE = 0.1


def along_axes(error: Sequence[float], unit: str) -> str:
    """Describe an error (x, y, z) by image axes: "5 mm too far along -x and 4 mm along +z"."""
    return _in_words(error, unit, _ALONG_AXES)


def in_the_patient(error: Sequence[float], unit: str) -> str:
    """Describe an error (x, y, z) in patient coordinates: "3 mm too far to the feet"."""
    return _in_words(error, unit, _IN_THE_PATIENT)


def main_direction(way: Sequence[float], direction: Sequence[float]) -> str:
    """Name the patient direction of a displacement along image axes (x, y, z): "towards the
    feet".
    """
    turned = np.reshape(direction, (3, 3)) @ np.asarray(way, float)
    axis = int(np.abs(turned).argmax())
    return _IN_THE_PATIENT[axis][0 if turned[axis] > 0 else 1].replace("to ", "towards ", 1)


def attach_directions(findings: Sequence[Finding], like: LoadedImages) -> tuple[Finding, ...]:
    """Return the findings with displacements in patient directions, if these are known."""
    if not like.family.has_space or like.geometry.dimension != 3:
        return tuple(findings)
    turned = np.reshape(like.geometry.direction, (3, 3))

    def told(one: Finding) -> Finding:
        if "axes" in one.facts:
            along = [_mirrored(turned[:, "xyz".index(axis)]) for axis in one.facts["axes"]]
            return replace(one, facts={**one.facts, "way": join_items(along)})
        if "error" not in one.facts:
            return one
        off = in_the_patient((turned @ one.facts["error"]).tolist(), one.facts["unit"])
        return replace(one, facts={**one.facts, "off": off})

    return tuple(told(one) for one in findings)


def _mirrored(way: Floats) -> str:
    return ("left-right", "front-back", "head-feet")[int(np.abs(way).argmax())]


def _in_words(error: Sequence[float], unit: str, directions: Sequence[tuple[str, str]]) -> str:
    least = _LEAST_SHARE * max(map(abs, error))
    parts = [
        (abs(far), onwards if far > 0 else back)
        for far, (onwards, back) in zip(error, directions, strict=False)
        if far and abs(far) >= least
    ]
    far, *others = sorted(parts, key=lambda part: -part[0])
    first = f"{round(far[0], 1):g} {unit} too far {far[1]}"
    return join_items([first, *(f"{round(size, 1):g} {unit} {way}" for size, way in others)])
