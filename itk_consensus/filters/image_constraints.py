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


@dataclass(frozen=True)
class Modalities(Kind[Any]):
    """An image, whose components are modalities if it has several, or a list of images."""

    annotation = "Image | Sequence[Image]"
    wanted = "an image, or a list with an image for each modality"

    def accept(self, value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            if not value:
                raise TypeError
            return tuple(ImageLike().accept(member) for member in value)
        return ImageLike().accept(value)

    def parse(self, text: str) -> Any:
        raise ValueError


@dataclass(frozen=True)
class ModalitiesList(Kind[tuple[Any, ...]]):
    """The modalities of each atlas, or None."""

    annotation = "Sequence[Image | Sequence[Image] | None]"
    wanted = "a list that has, for each rater, an image, a list of images (modalities) or None"

    def accept(self, value: Any) -> tuple[Any, ...]:
        if not isinstance(value, (list, tuple)):
            raise TypeError
        return tuple(None if member is None else Modalities().accept(member) for member in value)

    def parse(self, text: str) -> tuple[Any, ...]:
        raise ValueError


@dataclass(frozen=True)
class LabelImages(Kind[dict[int, Any]]):
    """An image for each of some labels."""

    annotation = "Mapping[int, Image]"
    wanted = "a dict with an image for each of some labels"

    def accept(self, value: Any) -> dict[int, Any]:
        if not isinstance(value, Mapping):
            raise TypeError
        return {int(label): ImageLike().accept(image) for label, image in value.items()}

    def parse(self, text: str) -> dict[int, Any]:
        raise ValueError
