"""Constraints on parameters that are images."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from itk_consensus.filters.constraints import Kind


@dataclass(frozen=True)
class ImageLike(Kind[Any]):
    """An image or array on the inputs' grid; its space is checked in Execute."""

    annotation = "Image"
    wanted = "an image"

    def accept(self, value: Any) -> Any:
        if value is None or isinstance(value, (str, bytes, numbers.Number, Mapping, Sequence)):
            raise TypeError
        return value

    def parse(self, text: str) -> Any:
        raise ValueError


@dataclass(frozen=True)
class ImageList(Kind[tuple[Any, ...]]):
    """One image or None per rater."""

    annotation = "Sequence[Image | None]"
    wanted = "a list with an image or None for each rater"

    def accept(self, value: Any) -> tuple[Any, ...]:
        if not isinstance(value, (list, tuple)):
            raise TypeError
        return tuple(None if member is None else ImageLike().accept(member) for member in value)

    def parse(self, text: str) -> tuple[Any, ...]:
        raise ValueError
