"""Inputs that are label images, foreground probabilities or class probabilities."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.constraints import Integer, optional
from itk_consensus.core.errors import InputError, Where
from itk_consensus.core.parameters import Parameter
from itk_consensus.fusing.fusion_case import FusionCase, intersect_masks
from itk_consensus.fusing.label_fusion import LabelFusionFilter
from itk_consensus.images import convert
from itk_consensus.images.families.image_family import LoadedImages
from itk_consensus.votes.class_probabilities import (
    SoftVotes,
    first_invalid_probability,
    has_fractions,
    most_probable_class,
    sum_to_one,
)
from itk_consensus.votes.label_stack import LabelStack
from itk_consensus.votes.votes import patterns_of

Array = NDArray[Any]


class ProbabilityInputsMixin(LabelFusionFilter):
    """Interpret inputs as labels or probabilities by their dtypes, without guessing.

    - Images of integer type are label images.
    - If any scalar image has a floating-point type, all images are foreground probabilities.
    - Vector images of floating-point type (channels of a MetaTensor), lists of one image per class,
      and arrays with `ClassAxis` are class probabilities, which must sum to 1; class k is label k.

    The probabilities of a rater who is certain everywhere are 0.0 and 1.0, which must not be
    mistaken for labels. For methods whose inputs are usually labels, which many tools save as
    floats, `SoftInputsMixin` tests for fractional values instead.
    """

    takes_probabilities = True

    ClassAxis = Parameter(
        optional(Integer()),
        None,
        "Axis of each input array that holds the probabilities of the classes.",
        default_doc="none",
        in_cli=False,
    )

    #: For messages: description of accepted inputs other than probabilities.
    _otherwise = "labels of an integer type or, as some input is of a floating type"

    def require_chunks(self, shape: Sequence[int], types: Sequence[np.dtype[Any]]) -> None:
        super().require_chunks(shape, types)
        if any(dtype.kind == "f" for dtype in types):
            raise InputError(
                f"inputs in chunks must hold labels of an integer type, since "
                "probabilities are not fused in chunks; in memory they need about "
                f"{math.prod(shape) * 8 * (len(types) + 2) / 1e9:.3g} GB: load them first",
                owner=self.GetName(),
            )

    def case_of(
        self, images: Any, needs: str = "patterns", reuse_from: FusionCase | None = None
    ) -> FusionCase:
        names = tuple(map(str, images)) if _are_named_lists(images) else ()
        inputs, classes = self._by_class(list(images.values()) if names else images)
        loaded = self._load_with_gaps(inputs)
        classes = classes or self._components(loaded)
        if classes:
            loaded = _group_by_rater(loaded, classes)
        elif not self._hold_probabilities(loaded.arrays):
            return self._case_of_labels(loaded, needs, reuse_from)
        case = self._case_of_probabilities(loaded, classes, needs)
        return case.with_rater_names(names) if names else case

    def _by_class(self, images: Any) -> tuple[Any, int]:
        """Flatten lists of one image per class; return images and number of classes, 0 if none."""
        if self.ClassAxis is not None:
            given = convert.as_list(images, self.GetName())
            images = [self._split(image, self.ClassAxis, i) for i, image in enumerate(given)]
        if not isinstance(images, (list, tuple)):
            return images, 0
        lengths = {
            index: len(rater) if isinstance(rater, (list, tuple)) else 0
            for index, rater in enumerate(images)
            if rater is not None
        }
        if not any(lengths.values()):
            return images, 0
        classes = next(iter(lengths.values()))
        for index, length in lengths.items():
            if length != classes:
                raise InputError(
                    f"must be {_describe_form(classes)} as the first input is, "
                    f"got {_describe_form(length)}",
                    owner=self.GetName(),
                    input_index=index,
                )
        if classes == 1:
            raise InputError("lists must have at least two classes, got one", owner=self.GetName())
        flat = [image for rater in images for image in (rater or [None] * classes)]
        return flat, classes

    def _split(self, image: Any, axis: int, index: int) -> list[Any] | None:
        """Split an array into its classes along an axis."""
        if image is None:
            return None
        where = Where(owner=self.GetName(), input_index=index)
        dimension = len(np.shape(image))
        if convert.has_components(image, where) or not -dimension <= axis < dimension:
            raise InputError(
                f"must be an array that has an axis {{ClassAxis}} = {axis}, "
                f"got {type(image).__name__} of {dimension} axes",
                mentions=("ClassAxis",),
                **where,
            )
        before = (slice(None),) * (axis % dimension)
        return [image[(*before, number)] for number in range(np.shape(image)[axis])]

    def _components(self, loaded: LoadedImages) -> int:
        """Return the number of components of probability vector images; 0 if there are none."""
        present = [array for array in loaded.arrays if array is not None]
        numbers = {
            number
            for number, owner in zip(loaded.components, loaded.owners, strict=True)
            if owner is not None
        }
        if numbers == {1} or all(array.dtype.kind != "f" for array in present):
            return 0
        if len(numbers) > 1:
            raise InputError(
                f"inputs must have equal numbers of classes, got images of {sorted(numbers)} "
                "components",
                owner=self.GetName(),
            )
        return numbers.pop()

    def _case_of_probabilities(self, loaded: LoadedImages, classes: int, needs: str) -> FusionCase:
        """Build a case of class probabilities, or of foreground probabilities if `classes` is 0."""
        if not classes:
            self._reject_hidden_classes(loaded.arrays)
        opinions, where = grouped_opinions(loaded.arrays, classes or 1), self._where(loaded)
        # A wrong number of masks is reported when the stack is created.
        masks = where.pop("rater_masks") or [None] * len(opinions)
        if self.MissingLabel is not None:
            pairs = zip(opinions, masks, strict=False)
            masks = [_annotated_mask(self.MissingLabel, *pair) for pair in pairs]
        for index, (opinion, mask) in enumerate(zip(opinions, masks, strict=False)):
            if opinion is not None:
                self._check(opinion, intersect_masks(mask, where["mask"]), index)
        where["rater_masks"] = None if all(mask is None for mask in masks) else masks
        # Diagnostics use the most probable label of each rater.
        if classes:
            said = [
                None if opinion is None else most_probable_class(opinion) for opinion in opinions
            ]
            stack = replace(LabelStack.multilabel(said, **where), labels=np.arange(classes))
        else:
            said = [None if one is None else (one >= 0.5).view(np.uint8) for one in loaded.arrays]
            stack = LabelStack.binary(said, 1, **where)
        votes = patterns_of(stack) if needs == "patterns" else stack
        soft = SoftVotes(opinions, stack.rater_masks, stack.mask)
        return FusionCase(loaded, votes, stack, soft)

    def _reject_hidden_classes(self, arrays: Sequence[Array | None]) -> None:
        """Reject arrays (C, Z, Y, X) of class probabilities, which sum to 1 along C."""
        for index, array in enumerate(arrays):
            if array is None or array.ndim < 3 or len(array) < 2 or array.dtype.kind != "f":
                continue
            if sum_to_one(list(array)):
                raise InputError(
                    f"sums to 1 along its first axis of {len(array)}, as class probabilities do: "
                    "set {ClassAxis} to 0, or give a list of one image per class",
                    owner=self.GetName(),
                    input_index=index,
                    mentions=("ClassAxis",),
                )

    def _hold_probabilities(self, arrays: Sequence[Array | None]) -> bool:
        """Return whether images of one component are foreground probabilities."""
        return any(array is not None and array.dtype.kind == "f" for array in arrays)

    def _check(self, opinion: Sequence[Array], mask: Array | None, index: int) -> None:
        where = Where(owner=self.GetName(), input_index=index)
        impossible = first_invalid_probability(opinion, mask)
        if impossible is not None:
            raise InputError(
                f"must hold {self._otherwise}, probabilities from 0 to 1, found {impossible:g}",
                **where,
            )
        if len(opinion) > 1 and not sum_to_one(opinion, mask):
            raise InputError(
                f"must hold class probabilities: its {len(opinion)} classes do not sum to "
                "1 everywhere; if they are raters, give each as an image of its own",
                **where,
            )


class SoftInputsMixin(ProbabilityInputsMixin):
    """Interpret whole numbers as labels, independent of the dtype, and fractions as probabilities.

    - Whole numbers are labels, independent of their type.
    - If any input contains fractional values, all inputs are foreground probabilities; masks count
      as probabilities 0 and 1.
    - Vector images of floating-point type whose components sum to 1, lists of one image per class,
      and arrays with `ClassAxis` are class probabilities; other components are separate raters.
    """

    takes_probabilities = False
    soft_inputs = True

    _otherwise = "whole-number labels or, as some input has fractions"

    def _components(self, loaded: LoadedImages) -> int:
        at, vectors = 0, []
        for number in loaded.components:
            opinion = [array for array in loaded.arrays[at : at + number] if array is not None]
            at += number
            if opinion:
                is_vector = number > 1 and opinion[0].dtype.kind == "f"
                vectors.append(is_vector and sum_to_one(opinion))
        return super()._components(loaded) if any(vectors) else 0

    def _hold_probabilities(self, arrays: Sequence[Array | None]) -> bool:
        return any(array is not None and has_fractions(array) for array in arrays)


def _are_named_lists(images: Any) -> bool:
    """Return whether inputs are a mapping of raters, some of which are lists of classes."""
    return isinstance(images, Mapping) and any(
        isinstance(rater, (list, tuple)) for rater in images.values()
    )


def grouped_opinions(arrays: Sequence[Array | None], classes: int) -> list[Sequence[Array] | None]:
    """Group the arrays of all classes of all raters by rater."""
    groups = [arrays[at : at + classes] for at in range(0, len(arrays), classes)]
    return [
        None if any(one is None for one in group) else [one for one in group if one is not None]
        for group in groups
    ]


def _group_by_rater(loaded: LoadedImages, classes: int) -> LoadedImages:
    """Return a copy with `classes` arrays also for missing raters, and one mask per rater."""
    # A missing vector image is a single None, a missing list has one None per class.
    is_list = max(loaded.components) == 1
    sizes = [classes] * (len(loaded.arrays) // classes) if is_list else loaded.components
    arrays: list[Array | None] = []
    masks: list[Array | None] = []
    at = 0
    for size in sizes:
        arrays += loaded.arrays[at : at + size] if size == classes else [None] * classes
        masks.append(reduce(intersect_masks, loaded.annotated[at : at + size], None))
        at += size
    return replace(loaded, arrays=tuple(arrays), annotated=tuple(masks))


def _annotated_mask(
    missing: int, opinion: Sequence[Array] | None, mask: Array | None
) -> Array | None:
    """Return a mask of where a rater gave an opinion: inside the mask, without missing values."""
    if opinion is None:
        return mask
    return intersect_masks(mask, np.asarray(opinion[0] != missing))


def _describe_form(classes: int) -> str:
    return f"a list of the images of {classes} classes" if classes else "an image"
