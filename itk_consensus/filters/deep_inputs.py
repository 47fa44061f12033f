"""How images, label lists and rater ids become the cases that deep/ works on. No torch here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from itk_consensus.deep.cases import MISSING, Case, normalised
from itk_consensus.errors import InputError
from itk_consensus.images import convert
from itk_consensus.images.loaded_images import LoadedImages
from itk_consensus.labels.decision_patterns import DecisionPatterns
from itk_consensus.labels.label_stack import LabelStack

RaterId: TypeAlias = int | str
#: Ids of one case's raters; None or 0 is a rater without a name.
RaterIds: TypeAlias = Sequence[RaterId | None]


@dataclass(frozen=True)
class DeepInput:
    """One image with its raters' labels, loaded and checked.

    Attributes
    ----------
    loaded : LoadedImages
        The labels.
    stack : LabelStack
    image : ndarray
    truth : ndarray or None
    rater_ids : tuple of int, str or None
        One per rater.
    """

    loaded: LoadedImages
    stack: LabelStack
    image: NDArray[Any]
    truth: NDArray[Any] | None
    rater_ids: tuple[RaterId | None, ...]

    @property
    def label_values(self) -> set[int]:
        """Every label that a rater or the truth uses."""
        values = {int(label) for label in self.stack.labels}
        return values if self.truth is None else values | _values(self.truth, "truth")

    def agreed_classes(self, labels: Sequence[int], threads: int) -> NDArray[np.uint8]:
        """The class all raters chose at each voxel, or `MISSING` where they dispute it."""
        patterns = DecisionPatterns.from_stack(self.stack, threads=threads)
        chosen = patterns.votes().argmax(1)
        classes = np.array([labels.index(int(value)) for value in patterns.labels], np.uint8)
        return patterns.expand(
            np.where(patterns.unanimous, classes[chosen], MISSING).astype(np.uint8)
        )

    def as_case(self, labels: Sequence[int], raters: Mapping[RaterId, int]) -> Case:
        """Class indices, rater indices and normalised intensities; unknown raters become 0."""
        drawn = np.full((len(self.stack.arrays), *self.image.shape), MISSING, np.uint8)
        for row, array in zip(drawn, self.stack.arrays, strict=True):
            if array is not None:
                _encode(array, labels, row)
        truth = None
        if self.truth is not None:
            truth = np.full(self.image.shape, MISSING, np.uint8)
            _encode(self.truth, labels, truth)
        indices = [0 if name is None else raters.get(name, 0) for name in self.rater_ids]
        return Case(normalised(self.image), drawn, np.array(indices, np.int64), truth)


def load_input(
    image: Any,
    labels: Any,
    *,
    truth: Any = None,
    rater_ids: RaterIds | None = None,
    missing_label: int | None = None,
    owner: str,
    tolerances: Mapping[str, float],
) -> DeepInput:
    """Load an image and its labels and check that they share one space.

    Parameters
    ----------
    labels : list of images
        As for every fuser: None is a missing rater, a vector image one rater per component.
    rater_ids : sequence of int, str or None
        By default 1, 2, 3, ...: a position is a person.
    owner : str
        Opens the messages.
    """
    if image is None:
        raise InputError(
            f"{owner}: needs the image the labels were drawn on, got None; without one, "
            "itk_consensus.LabelVoting(labels) fuses labels by voting"
        )
    loaded = convert.load(labels, owner=owner, **tolerances)
    if loaded.geometry.dimension not in (2, 3):
        raise InputError(f"{owner}: needs 2D or 3D images, got {loaded.geometry.dimension}D")
    stack = LabelStack.multilabel(loaded.arrays, missing_label=missing_label, owner=owner)
    others = {
        name: convert.load_one(one, loaded, owner=owner, parameter=name, **tolerances)
        for name, one in (("image", image), ("truth", truth))
        if one is not None
    }
    if not np.isfinite(others["image"]).all():
        raise InputError(f"{owner}: image must hold finite intensities, it has NaN or infinity")
    ids = tuple(range(1, len(stack.arrays) + 1)) if rater_ids is None else tuple(rater_ids)
    if len(ids) != len(stack.arrays):
        raise InputError(
            f"{owner}: rater_ids must have one entry for each of the {len(stack.arrays)} raters, "
            f"got {len(ids)}"
        )
    return DeepInput(loaded, stack, others["image"], others.get("truth"), ids)


def load_inputs(
    images: Sequence[Any],
    label_lists: Sequence[Any],
    truths: Sequence[Any] | None,
    rater_ids: RaterIds | Sequence[RaterIds] | None,
    *,
    missing_label: int | None,
    owner: str,
    tolerances: Mapping[str, float],
) -> list[DeepInput]:
    """Load several cases, of one dimension; see `load_input`."""
    images, label_lists = list(images), list(label_lists)
    known = [None] * len(images) if truths is None else list(truths)
    if not images or not len(images) == len(label_lists) == len(known):
        raise InputError(
            f"{owner}: Fit needs as many label lists (and truths) as images, "
            f"got {len(images)} images, {len(label_lists)} label lists and {len(known)} truths"
        )
    ids = ids_per_case(rater_ids, len(images), owner)
    inputs = [
        load_input(
            image,
            labels,
            truth=truth,
            rater_ids=who,
            missing_label=missing_label,
            owner=f"{owner}: case {number}",
            tolerances=tolerances,
        )
        for number, (image, labels, truth, who) in enumerate(
            zip(images, label_lists, known, ids, strict=True)
        )
    ]
    if len({one.image.ndim for one in inputs}) > 1:
        raise InputError(f"{owner}: Fit needs cases of one dimension, got 2D and 3D")
    return inputs


def class_labels(
    inputs: Sequence[DeepInput], number_of_classes: int | None, owner: str
) -> tuple[int, ...]:
    """The label of each class: 0, 1, ... if their number is given, else those that occur."""
    found = sorted(set().union(*(one.label_values for one in inputs)))
    if number_of_classes is None:
        if not 2 <= len(found) <= MISSING:
            raise InputError(f"{owner}: Fit needs 2 to {MISSING} labels, the cases have {found}")
        return tuple(found)
    labels = tuple(range(number_of_classes))
    refuse_unknown_labels(found, labels, owner)
    return labels


def refuse_unknown_labels(found: Iterable[int], labels: tuple[int, ...], owner: str) -> None:
    """Raise if a label belongs to no class."""
    unknown = sorted(label for label in found if label not in labels)
    if unknown:
        raise InputError(f"{owner}: labels must be among {labels}, got {unknown}")


def ids_per_case(
    rater_ids: RaterIds | Sequence[RaterIds] | None, number: int, owner: str
) -> list[RaterIds | None]:
    """The ids of each case, from one list for all or a list per case."""
    if rater_ids is None:
        return [None] * number
    nested = [isinstance(entry, (list, tuple)) for entry in rater_ids]
    if not any(nested):
        return [rater_ids] * number  # type: ignore[list-item]
    if not all(nested) or len(nested) != number:
        raise InputError(
            f"{owner}: rater_ids must be one list of ids, or a list of ids for each of the "
            f"{number} cases"
        )
    return list(rater_ids)  # type: ignore[arg-type]


def known_raters(inputs: Sequence[DeepInput]) -> tuple[RaterId, ...]:
    """The ids that occur, in order of appearance."""
    seen = dict.fromkeys(name for one in inputs for name in one.rater_ids)
    return tuple(name for name in seen if name is not None and name != 0)


def _values(array: NDArray[Any], owner: str) -> set[int]:
    return {int(label) for label in LabelStack.multilabel([array], owner=owner).labels}


def _encode(array: NDArray[Any], labels: Sequence[int], out: NDArray[np.uint8]) -> None:
    for index, value in enumerate(labels):
        out[array == value] = index
