"""Anatomical orientation of figures: letters at their sides, and axes that must be mirrored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

#: Letters for the positive and negative directions of ITK's axes (LPS).
_LETTERS = (("L", "R"), ("P", "A"), ("S", "I"))
#: Directions that point right or down in radiological convention: left, posterior, inferior.
_ONWARDS = ("L", "P", "I")
_OPPOSITE = {"L": "R", "R": "L", "P": "A", "A": "P", "S": "I", "I": "S"}


@dataclass(frozen=True)
class Orientation:
    """Anatomical directions of the array axes (z, y, x) of a volume."""

    #: Letter of the direction in which the index along each array axis increases
    towards: tuple[str, str, str]

    @classmethod
    def of(cls, direction: Sequence[float]) -> Orientation:
        """Create from row-major direction cosines; only the first three axes are used."""
        number = round(len(direction) ** 0.5)
        matrix = np.reshape(direction, (number, number))[:3, :3]
        letters = []
        for column in matrix.T[::-1]:
            axis = int(np.abs(column).argmax())
            letters.append(_LETTERS[axis][int(column[axis] < 0)])
        return cls((letters[0], letters[1], letters[2]))

    def is_mirrored(self, axis: int) -> bool:
        """Whether figures must be mirrored along an array axis."""
        return self.towards[axis] not in _ONWARDS

    def sides(self, down: int, across: int) -> dict[str, str]:
        """Return the letters at the sides of a figure with these vertical and horizontal axes."""
        right, bottom = (
            _OPPOSITE[self.towards[axis]] if self.is_mirrored(axis) else self.towards[axis]
            for axis in (across, down)
        )
        return {"left": _OPPOSITE[right], "right": right, "top": _OPPOSITE[bottom],
                "bottom": bottom}  # fmt: skip
