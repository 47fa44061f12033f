"""Load images, label maps and rater ids into the cases used by deep/, without using torch."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.constraints import is_integer
from itk_consensus.core.errors import InputError, ParameterError
from itk_consensus.deep.cases import MISSING, Case, normalise
from itk_consensus.deep.worth import image_figures
from itk_consensus.images import convert
from itk_consensus.images.families.image_family import LoadedImages
from itk_consensus.images.files import read_image
from itk_consensus.methods.atlas.joint_label_fusion_filter import JointLabelFusionFilter
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.label_stack import LabelStack

#: Largest intensity; computations with larger values would overflow float32.
_LARGEST_INTENSITY = 1e30

#: Added to the shares of joint fusion, so that no probability is 0.
_SMALLEST_SHARE = 0.01

RaterId: TypeAlias = int | str
#: Ids of one case's raters; None or 0 stands for an unknown rater.
RaterIds: TypeAlias = Sequence[RaterId | None]


@dataclass(frozen=True)
class CaseSummary:
    """The properties of a case that training needs from all cases before it starts."""

    shape: tuple[int, ...]
    number_of_channels: int
    label_values: frozenset[int]  #: Every label used by a rater or the truth
    missing_label: float | None
    rater_ids: tuple[RaterId | None, ...]
    spacing: tuple[float, ...]  #: In array axis order
    figures: tuple[float, ...]  #: Log spacing, log extent and intensity quantiles of the image


@dataclass(frozen=True)
class DeepInput:
    """One image with its raters' labels, loaded and checked."""

    loaded: LoadedImages  #: The label images
    stack: LabelStack
    channels: tuple[NDArray[Any], ...]  #: Channels of the image
    truth: LabelStack | None
    rater_ids: tuple[RaterId | None, ...]  #: One per rater
    #: Probability of each label by joint fusion, if the raters are atlases with images
    shares: Mapping[int, NDArray[Any]] | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the image, without channels."""
        return self.channels[0].shape

    def summary(self) -> CaseSummary:
        """Return the properties of the case that training needs before it starts, so that the
        voxels can be released.
        """
        stacks = [self.stack] if self.truth is None else [self.stack, self.truth]
        values = frozenset(int(label) for stack in stacks for label in stack.labels)
        missing = self.stack.missing_label
        spacing = tuple(self.loaded.geometry.array_spacing)
        return CaseSummary(
            self.shape,
            len(self.channels),
            values,
            missing,
            self.rater_ids,
            spacing,
            self.figures(),
        )

    def agreed_classes(self, labels: Sequence[int]) -> NDArray[np.uint8]:
        """Return the class at unanimous voxels, and `MISSING` at disputed ones."""
        patterns = DecisionPatterns.from_stack(self.stack)
        chosen = patterns.votes().argmax(1)
        classes = np.array([labels.index(int(value)) for value in patterns.labels], np.uint8)
        return patterns.expand(
            np.where(patterns.unanimous, classes[chosen], MISSING).astype(np.uint8)
        )

    def true_classes(self, labels: Sequence[int]) -> NDArray[np.uint8]:
        """Return the true class of each voxel."""
        assert self.truth is not None
        classes: NDArray[np.uint8] = encode_labels(self.truth, labels, self.shape)[0]
        return classes

    def figures(self) -> tuple[float, ...]:
        """Return the log spacing, log extent and intensity quantiles of the image (see
        `image_figures`).
        """
        return image_figures(self.channels, self.loaded.geometry.array_spacing)

    def as_case(self, labels: Sequence[int], raters: Mapping[RaterId, int]) -> Case:
        """Convert to class indices, rater indices (0: unknown) and normalised intensities."""
        truth = None if self.truth is None else self.true_classes(labels)
        indices = [0 if name is None else raters.get(name, 0) for name in self.rater_ids]
        return Case(
            np.stack([normalise(channel) for channel in self.channels]),
            encode_labels(self.stack, labels, self.shape),
            np.array(indices, np.int64),
            truth,
            None if self.shares is None else self.prior(labels),
        )

    def prior(self, labels: Sequence[int]) -> NDArray[np.float32]:
        """Return (K, \\*S) probabilities by joint fusion, all of which are above 0."""
        assert self.shares is not None
        nowhere = np.zeros(self.shape, np.float32)
        found = np.stack([self.shares.get(label, nowhere) for label in labels]).astype(np.float32)
        found += _SMALLEST_SHARE
        return np.asarray(found / found.sum(0), np.float32)


def load_input(
    image: Any,
    labels: Any,
    *,
    truth: Any = None,
    rater_ids: RaterIds | None = None,
    atlas_images: Any = None,
    missing_label: int | None = None,
    owner: str,
    tolerances: Mapping[str, Any],
    of_labels: Mapping[str, Any] = MappingProxyType({}),
) -> DeepInput:
    """Load an image and its labels, and check that they have the same geometry.

    Parameters
    ----------
    labels : list of images
        As for fusers: None stands for a missing rater; a vector image has one rater per component.
    rater_ids : sequence of int, str or None
        By default 1, 2, 3, ..., by position in the list.
    atlas_images : list of images
        Images of the raters' atlases, in the order of the raters, for joint fusion.
    owner : str
        Name with which error messages begin.
    of_labels : mapping
        Further keywords of `convert.load` for label images.
    """
    if image is None:
        raise InputError(
            "needs the image the labels were drawn on, got None; without one, "
            "itk_consensus.LabelVoting(labels) fuses labels by voting",
            owner=owner,
        )
    loaded = convert.load(labels, owner=owner, **of_labels, **tolerances)
    if loaded.geometry.dimension not in (2, 3):
        raise InputError(f"needs 2D or 3D images, got {loaded.geometry.dimension}D", owner=owner)
    stack = LabelStack.multilabel(loaded.arrays, missing_label=missing_label, owner=owner)
    channels = convert.load_channels(image, loaded, owner=owner, parameter="image", **tolerances)
    low, high = min(one.min() for one in channels), max(one.max() for one in channels)
    if not -_LARGEST_INTENSITY <= low <= high <= _LARGEST_INTENSITY:
        raise InputError(
            f"image must hold finite intensities, from -{_LARGEST_INTENSITY:g} to "
            f"{_LARGEST_INTENSITY:g}, it has {low:g} to {high:g}",
            owner=owner,
        )
    ids: tuple[RaterId | None, ...] = tuple(range(1, len(stack.arrays) + 1))
    if rater_ids is not None:
        ids = check_ids(rater_ids, owner)
    if len(ids) != len(stack.arrays):
        raise InputError(
            f"rater_ids must have one entry for each of the {len(stack.arrays)} raters, "
            f"got {len(ids)}",
            owner=owner,
        )
    known = None
    if truth is not None:
        suspect = of_labels.get("suspect")
        drawn = convert.load_one(
            truth, loaded, owner=owner, parameter="truth", suspect=suspect, **tolerances
        )
        known = LabelStack.multilabel([drawn], missing_label=missing_label, owner=f"{owner}: truth")
    shares = None
    if atlas_images is not None:
        shares = _joint_fusion(image, labels, atlas_images, loaded, missing_label, tolerances)
    return DeepInput(loaded, stack, channels, known, ids, shares)


def _joint_fusion(
    image: Any,
    labels: Any,
    atlas_images: Any,
    loaded: LoadedImages,
    missing_label: int | None,
    tolerances: Mapping[str, Any],
) -> dict[int, NDArray[Any]]:
    """Return the probability of each label by joint label fusion."""
    fuser = JointLabelFusionFilter(
        Image=image, AtlasImages=atlas_images, MissingLabel=missing_label, InputsAreLabels=True
    )
    fuser.Execute(labels)
    return {
        int(label): convert.load_one(
            fuser.GetProbabilityImage(label),
            loaded,
            owner=fuser.GetName(),
            parameter="probability",
            **tolerances,
        )
        for label in fuser.fused.labels
    }


def class_labels(
    inputs: Sequence[CaseSummary], number_of_classes: int | None, owner: str
) -> tuple[int, ...]:
    """Return each class's label: 0, 1, ... if the number is given, else those that occur."""
    if number_of_classes is not None:
        labels = tuple(range(number_of_classes))
        for number, one in enumerate(inputs):
            reject_other_labels(one, labels, f"{owner}: case {number}")
        return labels
    found = sorted(set().union(*(one.label_values for one in inputs)))
    if not 2 <= len(found) <= MISSING:
        raise InputError(f"Fit needs 2 to {MISSING} labels, the cases have {found}", owner=owner)
    return tuple(found)


def reject_other_labels(one: CaseSummary, labels: tuple[int, ...], owner: str) -> None:
    """Raise if a label does not belong to a class, or if the missing label does."""
    missing = one.missing_label
    if missing in labels:
        raise ParameterError(
            f"must not be the label of a class {labels}, got {missing}",
            owner=owner,
            parameter="MissingLabel",
        )
    unknown = sorted(label for label in one.label_values if label not in labels)
    if unknown:
        raise InputError(f"labels must be among {labels}, got {unknown}", owner=owner)


def check_ids(rater_ids: Any, owner: str) -> tuple[RaterId | None, ...]:
    """Return the ids of one case's raters; raise unless each is an int, a str or None."""
    wanted = f"{owner}: rater_ids must be a list with an int, a str or None for each rater"
    ids = as_list(rater_ids, wanted)
    odd = [one for one in ids if not (one is None or _is_id(one))]
    if odd:
        raise InputError(f"{wanted}, got {odd[0]!r}")
    return tuple(int(one) if is_integer(one) else one for one in ids)


def ids_per_case(rater_ids: Any, number: int, owner: str) -> list[RaterIds | None]:
    """Return the ids for each case, given either one list for all cases or a list per case."""
    if rater_ids is None:
        return [None] * number
    wanted = f"{owner}: rater_ids must be one list of ids, or a list of ids for each case"
    entries = as_list(rater_ids, wanted)
    nested = [not (entry is None or _is_id(entry)) for entry in entries]
    if not any(nested):
        return [check_ids(entries, owner)] * number
    if not all(nested) or len(nested) != number:
        raise InputError(f"{wanted} ({number}), got {len(nested)} entries")
    return [check_ids(entry, f"{owner}: case {i}") for i, entry in enumerate(entries)]


def as_list(value: Any, wanted: str) -> list[Any]:
    """Convert an iterable (but not a string, mapping or set) to a list; the error message begins
    with `wanted`.
    """
    if isinstance(value, (str, bytes, Mapping, Set)) or not isinstance(value, Iterable):
        raise InputError(f"{wanted}, got {value!r:.80}")
    return list(value)


def _is_id(value: Any) -> bool:
    return isinstance(value, str) or is_integer(value)


def known_raters(inputs: Sequence[CaseSummary]) -> tuple[RaterId, ...]:
    """Return the ids that occur, in order of appearance."""
    seen = dict.fromkeys(name for one in inputs for name in one.rater_ids)
    return tuple(name for name in seen if name is not None and name != 0)


def encode_labels(
    stack: LabelStack, labels: Sequence[int], shape: tuple[int, ...]
) -> NDArray[np.uint8]:
    """Return (A, \\*S) class indices; `MISSING` where a label is missing."""
    indices = np.full((len(stack.arrays), *shape), MISSING, np.uint8)
    for row, array in zip(indices, stack.arrays, strict=True):
        if array is not None:
            for index, value in enumerate(labels):
                row[array == value] = index
    return indices


# -- the cases of Fit -------------------------------------------------------------------------


@dataclass(frozen=True)
class CaseSource:
    """One case as passed to Fit; images may be paths of files."""

    image: Any  #: Arguments of `load_input`
    labels: Any
    truth: Any
    rater_ids: RaterIds | None
    atlas_images: Any
    reading: Mapping[str, Any]  #: Other keyword arguments of `load_input`

    def load(self) -> DeepInput:
        """Read the files, and check that all images have the same geometry."""
        return load_input(
            _open_files(self.image),
            _open_files(self.labels),
            truth=_open_files(self.truth),
            rater_ids=self.rater_ids,
            atlas_images=_open_files(self.atlas_images),
            **self.reading,
        )

    def case(self, labels: Sequence[int], raters: Mapping[RaterId, int]) -> Case:
        """Load the case for training without caching it."""
        return self.load().as_case(labels, raters)

    def present_atlases(self) -> list[int]:
        """Return the indices of labelled atlases; none if there is only one, since no other
        could label it.
        """
        drawn = replace(self, truth=None, atlas_images=None).load().loaded.arrays
        present = [number for number, array in enumerate(drawn) if array is not None]
        return present if len(present) > 1 else []

    def with_atlas_as_truth(self, atlas: int) -> CaseSource:
        """Return the case in which one atlas replaces image and truth, labelled by the others."""
        drawn = replace(self, truth=None, atlas_images=None).load().loaded
        images = [
            None if one is None else convert.to_image(np.ascontiguousarray(one), drawn)
            for one in drawn.arrays
        ]
        others = [None if i == atlas else one for i, one in enumerate(images)]
        image = self.atlas_images[atlas]
        return replace(self, image=image, labels=others, truth=images[atlas])


def case_sources(
    images: Iterable[Any],
    label_lists: Iterable[Any],
    truths: Iterable[Any] | None,
    rater_ids: RaterIds | Sequence[RaterIds] | None,
    atlas_images: Iterable[Any] | None = None,
    *,
    owner: str,
    **reading: Any,
) -> list[CaseSource]:
    """Check the arguments of Fit and return its cases, not yet loaded."""
    images = as_list(images, f"{owner}: Fit needs a list of images")
    label_lists = as_list(label_lists, f"{owner}: Fit needs a list of label lists")
    known = [None] * len(images)
    if truths is not None:
        known = as_list(truths, f"{owner}: Fit needs a list of truths, or None")
    if not images or not len(images) == len(label_lists) == len(known):
        raise InputError(
            f"Fit needs as many label lists (and truths) as images, "
            f"got {len(images)} images, {len(label_lists)} label lists and {len(known)} truths",
            owner=owner,
        )
    without = [number for number, truth in enumerate(known) if truth is None]
    if truths is not None and without:
        raise InputError(
            f"truths must be given for all cases, case {without[0]} has none", owner=owner
        )
    warped = [None] * len(images)
    if atlas_images is not None:
        warped = as_list(
            atlas_images, f"{owner}: Fit needs a list of the atlases' images of a case"
        )
        if truths is None or len(warped) != len(images) or any(one is None for one in warped):
            # Without truths, raters are held out, but joint fusion would already have used them.
            raise InputError(
                f"atlas_images must be given for all {len(images)} cases, and with truths; got "
                f"{len(warped)} and {'no' if truths is None else 'their'} truths",
                owner=owner,
            )
    ids = ids_per_case(rater_ids, len(images), owner)
    return [
        CaseSource(
            image,
            # A case is loaded more than once, so iterators must be stored as lists.
            list(labels) if isinstance(labels, Iterator) else labels,
            truth,
            who,
            atlases,
            {**reading, "owner": f"{owner}: case {number}"},
        )
        for number, (image, labels, truth, who, atlases) in enumerate(
            zip(images, label_lists, known, ids, warped, strict=True)
        )
    ]


def summaries_of(sources: Sequence[CaseSource], owner: str) -> list[CaseSummary]:
    """Load the cases one at a time; check that dimensions and channels agree."""
    # Joint fusion of atlases is not needed here.
    found = [replace(source, atlas_images=None).load().summary() for source in sources]
    if len({len(one.shape) for one in found}) > 1:
        raise InputError("Fit needs cases of one dimension, got 2D and 3D", owner=owner)
    numbers = {one.number_of_channels for one in found}
    if len(numbers) > 1:
        raise InputError(f"Fit needs images of one number of channels, got {numbers}", owner=owner)
    return found


def _open_files(given: Any) -> Any:
    """Replace paths by the images read from them."""
    if isinstance(given, (str, os.PathLike)):
        return read_image(given)
    if isinstance(given, (list, tuple)):
        return [_open_files(one) for one in given]
    return given
