"""Which side of a picture is the patient's left, and which pictures must be mirrored to be read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

#: Towards which letter each of ITK's axes runs, and away from which.
_LETTERS = (("L", "R"), ("P", "A"), ("S", "I"))
#: Where pictures go to the right and down, as radiologists hang them: the left, the back, the feet.
_ONWARDS = ("L", "P", "I")
_OPPOSITE = {"L": "R", "R": "L", "P": "A", "A": "P", "S": "I", "I": "S"}


@dataclass(frozen=True)
class Orientation:
    """Where the array axes (z, y, x) of a volume run in the patient."""

    towards: tuple[str, str, str]  #: A letter for each array axis

    @classmethod
    def of(cls, direction: Sequence[float]) -> Orientation:
        """From direction cosines, row-major; of more than three axes the first three count."""
        number = round(len(direction) ** 0.5)
        matrix = np.reshape(direction, (number, number))[:3, :3]
        letters = []
        for column in matrix.T[::-1]:
            axis = int(np.abs(column).argmax())
            letters.append(_LETTERS[axis][int(column[axis] < 0)])
        return cls((letters[0], letters[1], letters[2]))

    def mirrored(self, axis: int) -> bool:
        """Whether pictures along an array axis must be mirrored."""
        return self.towards[axis] not in _ONWARDS

    def sides(self, down: int, across: int) -> dict[str, str]:
        """Letters at the sides of a picture along two array axes, after mirroring."""
        right, bottom = (
            _OPPOSITE[self.towards[axis]] if self.mirrored(axis) else self.towards[axis]
            for axis in (across, down)
        )
        return {"left": _OPPOSITE[right], "right": right, "top": _OPPOSITE[bottom],
                "bottom": bottom}  # fmt: skip
