"""One Execute's input: how raters are loaded, and what a fuser's _fuse sees of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from itk_consensus.errors import InputError, ParameterError
from itk_consensus.filters.constraints import Integer, optional
from itk_consensus.filters.image_constraints import ImageLike, ImageList
from itk_consensus.filters.parameters import Parameter, parameters_of
from itk_consensus.filters.process_object import ProcessObject
from itk_consensus.fusion.coherence.shared_consensus import SharedConsensus, shared_consensus
from itk_consensus.images import convert
from itk_consensus.images.families.image_family import LoadedImages
from itk_consensus.neighbourhood.boxes import voxel_sides
from itk_consensus.votes.class_probabilities import sum_to_one
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.encoding import MOST_FEW
from itk_consensus.votes.kept_stack import KeptStack
from itk_consensus.votes.label_stack import LabelStack
from itk_consensus.votes.packed_votes import PackedVotes


@dataclass(frozen=True)
class FusionCase:
    """Loaded images and their labels."""

    loaded: LoadedImages
    stack: LabelStack
    strata: NDArray[np.uint32] | None = None  #: What tells voxels apart beyond their votes
    #: What the stack held, once the caller's images are gone.
    kept: KeptStack | PackedVotes | None = None

    @cached_property
    def patterns(self) -> DecisionPatterns:
        """The votes as decision patterns, encoded when first asked for."""
        stack = self.stack if self.kept is None else self.kept.restored()
        return DecisionPatterns.from_stack(stack, strata=self.strata)

    @cached_property
    def shared_consensus(self) -> SharedConsensus:
        """What the raters share, found when first asked for."""
        stack = self.stack if self.kept is None and self.stack.arrays else None
        return shared_consensus(self.patterns, self.spacing, stack=stack)

    @cached_property
    def packed(self) -> PackedVotes | None:
        """The votes as bits, where there are two labels, none missing, and too many patterns.

        Patterns that are made already are packed themselves: sums over them are to the last bit
        those over voxels, so that it does not show in a result where the votes came from.
        """
        stack = self.stack
        if len(stack.labels) != 2 or self.strata is not None:
            return None
        if "patterns" not in vars(self) and not stack.may_be_missing:
            if 2 ** sum(array is not None for array in stack.arrays) <= MOST_FEW:
                return None
            few = DecisionPatterns.if_few(stack)
            if few is None:
                return PackedVotes.from_stack(stack)
            vars(self)["patterns"] = few
        patterns = self.patterns
        if len(patterns.counts) <= MOST_FEW or patterns.strata is not None:
            return None
        present = patterns.present
        is_complete = np.array_equal(present.all(axis=0), present.any(axis=0))
        return PackedVotes.from_patterns(patterns) if is_complete else None

    @property
    def spacing(self) -> tuple[float, ...]:
        """Voxel size in mm, in the order of the array axes."""
        return self.loaded.geometry.array_spacing

    @property
    def smallest_side(self) -> float:
        """The smallest voxel side in mm, along axes of space."""
        return float(min(voxel_sides(self.spacing)))

    def has_votes_of(self, other: FusionCase) -> bool:
        """Whether all that is made of one case's votes serves the other too."""
        return (
            self.strata is None
            and other.strata is None
            and have_same_votes(self.stack, other.stack)
        )

    def without_inputs(self) -> FusionCase:
        """Keep what outputs need, and let the caller's images go."""
        encoded = "patterns" in vars(self)
        bare = replace(
            self,
            loaded=self.loaded.without_inputs(),
            stack=replace(self.stack, arrays=(), mask=None, rater_masks=None),
            strata=None if encoded else self.strata,
            kept=None if encoded else vars(self).get("packed") or self._kept_stack,
        )
        if encoded:
            vars(bare)["patterns"] = self.patterns
        return bare

    @cached_property
    def _kept_stack(self) -> KeptStack:
        return KeptStack.of(self.stack)

    @property
    def lasting_votes(self) -> LabelStack | KeptStack | DecisionPatterns:
        """Of a case without inputs: its votes, as later outputs read them."""
        if self.kept is None:
            return self.patterns
        return self.kept if isinstance(self.kept, KeptStack) else self.kept.restored()


class RaterInputs(ProcessObject):
    """Base of filters whose Execute takes a list of label images."""

    #: What the filter looks at. Patterns are made while loading; a filter that needs something
    #: else says so, and patterns are encoded only if it asks for them.
    needs: ClassVar[str] = "patterns"
    #: Whether the images of the next Execute are part of larger ones.
    _is_part = False
    #: A case that is at work on the same images; it is taken if it has the same votes.
    _beside: FusionCase | None = None

    MaskImage = Parameter(
        optional(ImageLike()),
        None,
        "Voxels to fuse (non-zero); outside it the output is background with probability 0.",
        in_cli=False,
    )
    MissingLabel = Parameter(
        optional(Integer()),
        None,
        "The value by which a rater says 'not annotated here'.",
    )
    RaterMasks = Parameter(
        optional(ImageList()),
        None,
        "For each rater an image that is non-zero where the rater annotated, or None: everywhere.",
        in_cli=False,
    )

    def _make_stack(self, arrays: Sequence[Any], **common: Any) -> LabelStack:
        """How inputs become labels; a binary filter overrides this."""
        return LabelStack.multilabel(arrays, is_part=self._is_part, **common)

    def _strata(self, loaded: LoadedImages) -> NDArray[np.uint32] | None:
        """What tells voxels apart beyond their votes, if anything does."""
        return None

    def _load(self, images: Any) -> FusionCase:
        case = self._case_of(images)
        if self._beside is not None and self._beside.has_votes_of(case):
            case = self._beside
        mask = case.stack.mask
        self._require_votes(mask is None or bool(mask.any()), case.stack.is_annotated)
        if self.needs == "patterns":
            _ = case.patterns  # encoded now, before the first half of the work is reported done
        return case

    def _case_of(self, images: Any) -> FusionCase:
        loaded = self._load_images(images)
        stack = self._make_stack(
            loaded.arrays,
            missing_label=self.MissingLabel,
            mask=self._load_one(self.MaskImage, loaded, "MaskImage"),
            rater_masks=self._rater_masks(loaded),
            owner=self.GetName(),
        )
        return FusionCase(loaded, stack, self._strata(loaded))

    def _require_votes(self, has_voxels: bool, is_annotated: bool) -> None:
        if not has_voxels:
            raise ParameterError(f"{self.GetName()}: MaskImage must mark some voxels, it is empty")
        if not is_annotated:
            raise InputError(f"{self.GetName()}: no rater annotated any of the voxels to fuse")

    def _load_images(self, images: Any) -> LoadedImages:
        """Inputs as arrays; a filter that takes probabilities overrides this."""
        loaded = self._loaded_with_gaps(images)
        _reject_class_probabilities(loaded, self.GetName())
        return loaded

    def _loaded_with_gaps(self, images: Any) -> LoadedImages:
        return convert.load_with_gaps(images, owner=self.GetName(), **self._loading())

    def _rater_masks(self, loaded: LoadedImages) -> list[NDArray[Any] | None] | None:
        """Where each rater annotated: inside its mask, and where its image has a value."""
        has_gaps = any(where is not None for where in loaded.annotated)
        if self.RaterMasks is None:
            return list(loaded.annotated) if has_gaps else None
        masks = [
            self._load_one(m, loaded, f"RaterMasks[{i}]") for i, m in enumerate(self.RaterMasks)
        ]
        # Should their number differ, the stack says so.
        if not has_gaps or len(masks) != len(loaded.annotated):
            return masks
        return [both(*pair) for pair in zip(masks, loaded.annotated, strict=True)]

    def _terms(self) -> dict[str, Any]:
        """What was set of the parameters that every filter of raters has, to lend to another."""
        shared = {parameter.name for parameter in parameters_of(RaterInputs)}
        return {name: value for name, value in self._values.items() if name in shared}

    def _load_one(self, image: Any, loaded: LoadedImages, parameter: str) -> Any:
        if image is None:
            return None
        return convert.load_one(
            image, loaded, owner=self.GetName(), parameter=parameter, **self._tolerances()
        )


def have_same_votes(one: LabelStack, other: LabelStack) -> bool:
    """Whether every rater says the same in two stacks, by the same table of labels."""
    first, second = ((*s.arrays, s.mask, *(s.rater_masks or ())) for s in (one, other))
    return (
        len(first) == len(second)
        and all(map(_is_same, first, second))
        and np.array_equal(one.labels, other.labels)
        and _value_of_label_one(one) == _value_of_label_one(other)
        and one.missing_label == other.missing_label
    )


def _is_same(one: NDArray[Any] | None, other: NDArray[Any] | None) -> bool:
    """Whether two arrays hold the same, which nobody needs to look for in the same memory."""
    if one is None or other is None:
        return one is other
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    return one.ctypes.data == other.ctypes.data or bool(np.array_equal(one, other))


def _value_of_label_one(stack: LabelStack) -> float | None:
    """Where 0 and 1 are the labels, whatever kind of stack it is."""
    is_mask = stack.foreground is None and stack.labels.tolist() == [0, 1]
    return 1 if is_mask else stack.foreground


def both(mask: NDArray[Any] | None, other: NDArray[Any] | None) -> NDArray[Any] | None:
    """Where neither of two masks is 0; None is a mask that holds everything."""
    if mask is None or other is None:
        return other if mask is None else mask
    return np.asarray((mask != 0) & (other != 0))


def _reject_class_probabilities(loaded: LoadedImages, owner: str) -> None:
    """A softmax image is one rater's opinion of several classes, not several raters."""
    at = 0
    for index, number in enumerate(loaded.components):
        opinion = [array for array in loaded.arrays[at : at + number] if array is not None]
        at += number
        if len(opinion) > 1 and opinion[0].dtype.kind == "f" and sum_to_one(opinion):
            raise InputError(
                f"{owner}: input {index} must hold labels, but its {number} components sum to 1: "
                "they are class probabilities, not raters; use ProbabilityAverageFilter or "
                "LogOpinionPoolFilter"
            )
