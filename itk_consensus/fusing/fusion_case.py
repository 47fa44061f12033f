"""Input of an Execute: how raters are loaded, and the case that is passed to a fuser's `_fuse`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.constraints import ImageLike, ImageList, Integer, optional
from itk_consensus.core.errors import InputError
from itk_consensus.core.parameters import Parameter, parameters_of
from itk_consensus.core.results import Memo
from itk_consensus.fusing.label_inputs import LabelInputs
from itk_consensus.images import convert
from itk_consensus.images.families.image_family import LoadedImages
from itk_consensus.space.boxes import voxel_sides
from itk_consensus.votes.class_probabilities import SoftVotes, sum_to_one
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.kept_stack import KeptStack
from itk_consensus.votes.label_stack import LabelStack
from itk_consensus.votes.votes import LabelVotes, patterns_of, smallest_form

if TYPE_CHECKING:
    from itk_consensus.fusing.vote_facts import VoteFacts


@dataclass(frozen=True, slots=True)
class FusionCase:
    """Loaded images and the raters' votes in them."""

    loaded: LoadedImages
    votes: LabelVotes  #: Votes in the form required by the filter
    #: Voxels of the images, as long as the caller's images are referenced.
    stack: LabelStack | None = None
    #: The inputs, if they are probabilities; the votes are then the most probable labels.
    opinions: SoftVotes | None = None
    #: Values derived from the votes, which are kept when the caller's images are dropped.
    memo: Memo = field(default_factory=Memo, repr=False, compare=False)

    @property
    def patterns(self) -> DecisionPatterns:
        """The votes as decision patterns."""
        if isinstance(self.votes, DecisionPatterns):
            return self.votes
        return self.memo.get_or_make("patterns", lambda: patterns_of(self.votes))

    @property
    def facts(self) -> VoteFacts:
        """Facts about the raters that follow from their votes alone, computed once."""
        from itk_consensus.fusing.vote_facts import VoteFacts

        return self.memo.get_or_make("facts", lambda: VoteFacts(self.patterns))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the raters; () if they have none."""
        given, raters = self.loaded.names, self.votes.number_of_raters
        if len(given) == raters:
            return given
        parts = zip(given, self.loaded.components, strict=False)
        several = [f"{name}[{j}]" if n > 1 else name for name, n in parts for j in range(n)]
        return tuple(several) if len(several) == raters else ()

    def with_rater_names(self, names: Sequence[str]) -> FusionCase:
        """Return a copy with these rater names."""
        return replace(self, loaded=replace(self.loaded, names=tuple(map(str, names))))

    @property
    def spacing(self) -> tuple[float, ...]:
        """Voxel size in mm, in the order of the array axes."""
        return self.loaded.geometry.array_spacing

    @property
    def smallest_side(self) -> float:
        """Smallest voxel side in mm, along the spatial axes."""
        return float(min(voxel_sides(self.spacing)))

    def without_inputs(self) -> FusionCase:
        """Return a copy with all that outputs require, without the caller's images."""
        votes = self.votes
        if self.stack is not None and votes is self.stack:
            votes = KeptStack.of(self.stack)
        loaded = self.loaded.without_inputs()
        return replace(self, loaded=loaded, votes=votes, stack=None, opinions=None)


class RaterInputs(LabelInputs):
    """Base class of filters whose Execute takes a list of label images."""

    #: Form of the votes required by the filter: "patterns", "votes" as in the images, or "bits" if
    #: there would be too many patterns. Votes are converted to this form while loading.
    needs: ClassVar[str] = "patterns"

    MaskImage = Parameter(
        optional(ImageLike()),
        None,
        "Voxels to fuse (non-zero); outside it the output is background with probability 0.",
        in_cli=False,
    )
    MissingLabel = Parameter(
        optional(Integer()),
        None,
        "The label that means 'not annotated here'.",
    )
    RaterMasks = Parameter(
        optional(ImageList()),
        None,
        "One image per rater, non-zero where the rater annotated; None: everywhere.",
        in_cli=False,
    )

    def _make_stack(self, arrays: Sequence[Any], **common: Any) -> LabelStack:
        """Make the label stack of the inputs; a binary filter overrides this."""
        packed = self.needs == "votes"  # such filters keep voxels instead of patterns
        return LabelStack.multilabel(arrays, may_be_empty=True, packed=packed, **common)

    def _strata(self, loaded: LoadedImages) -> NDArray[np.uint32] | None:
        """Return strata, which separate voxels with equal votes into patterns; None: no strata."""
        return None

    def _load(self, images: Any, reuse_from: FusionCase | None = None) -> FusionCase:
        """Load whole images as a case.

        `reuse_from` is a case with the same images, whose patterns are reused if its votes are
        equal.
        """
        case = self.case_of(images, self.needs, reuse_from)
        stack = case.stack
        assert stack is not None
        if not len(stack.labels):
            raise InputError(
                "every voxel of every input is missing: check MissingLabel", owner=self.GetName()
            )
        self.require_votes(stack.mask is None or bool(stack.mask.any()), stack.is_annotated)
        return case

    def case_of(
        self, images: Any, needs: str = "patterns", reuse_from: FusionCase | None = None
    ) -> FusionCase:
        """Load images, possibly parts of larger ones, as a case with votes in the required form."""
        loaded = self._load_with_gaps(images)
        _reject_class_probabilities(loaded, self.GetName())
        return self._case_of_labels(loaded, needs, reuse_from)

    def _case_of_labels(
        self, loaded: LoadedImages, needs: str, reuse_from: FusionCase | None
    ) -> FusionCase:
        stack = self._make_stack(
            loaded.arrays, missing_label=self.MissingLabel, **self._where(loaded)
        )
        self._check_for_intensities(loaded, len(stack.labels))
        strata = self._strata(loaded)
        votes: LabelVotes = stack
        if needs == "bits" and strata is None:
            votes = smallest_form(stack)
        elif (
            needs != "votes"
            and reuse_from is not None
            and strata is None
            and _can_share_patterns(reuse_from, stack)
        ):
            votes = reuse_from.patterns
        elif needs != "votes":
            votes = DecisionPatterns.from_stack(stack, strata=strata)
        return FusionCase(loaded, votes, stack)

    def _where(self, loaded: LoadedImages) -> dict[str, Any]:
        """Return keyword arguments for a stack: its mask, rater masks and the owner for errors."""
        return {
            "mask": self._load_mask(self.MaskImage, loaded, "MaskImage"),
            "rater_masks": self._rater_masks(loaded),
            "owner": self.GetName(),
        }

    def require_votes(self, has_voxels: bool, is_annotated: bool) -> None:
        if not has_voxels:
            raise self._parameter_error("MaskImage", "must mark some voxels, it is empty")
        if not is_annotated:
            raise InputError(
                "no rater annotated any of the voxels to fuse: check MaskImage, RaterMasks and "
                "MissingLabel",
                owner=self.GetName(),
            )

    def _load_with_gaps(self, images: Any) -> LoadedImages:
        return convert.load_with_gaps(
            images, owner=self.GetName(), **self._loading_options(), **self._label_options()
        )

    def _rater_masks(self, loaded: LoadedImages) -> list[NDArray[Any] | None] | None:
        """Return masks of where each rater annotated: inside the rater's mask and valid image."""
        has_gaps = any(where is not None for where in loaded.annotated)
        if self.RaterMasks is None:
            return list(loaded.annotated) if has_gaps else None
        masks = [
            self._load_mask(m, loaded, f"RaterMasks[{i}]") for i, m in enumerate(self.RaterMasks)
        ]
        # A wrong number of masks is reported when the stack is created.
        if not has_gaps or len(masks) != len(loaded.annotated):
            return masks
        return [intersect_masks(*pair) for pair in zip(masks, loaded.annotated, strict=True)]

    def _shared_parameters(self) -> dict[str, Any]:
        """Return the values set for the parameters that all fusers share."""
        shared = {parameter.name for parameter in parameters_of(RaterInputs)}
        return {name: value for name, value in self._values.items() if name in shared}

    def case_on(self, images: Any, parameters: Mapping[str, Any]) -> FusionCase:
        """Load images as this filter would with some parameters changed."""
        return self._clone_sharing_runs(parameters)._load(images)

    def _load_one(self, image: Any, loaded: LoadedImages, parameter: str, **wanted: Any) -> Any:
        if image is None:
            return None
        return convert.load_one(
            image, loaded, owner=self.GetName(), parameter=parameter, **self._tolerances(), **wanted
        )

    def _load_mask(self, image: Any, loaded: LoadedImages, parameter: str) -> Any:
        return self._load_one(image, loaded, parameter, **self._label_options())


def _can_share_patterns(case: FusionCase, stack: LabelStack) -> bool:
    """Return whether the patterns of a case also apply to a stack."""
    return case.stack is not None and have_same_votes(case.stack, stack)


def have_same_votes(one: LabelStack, other: LabelStack) -> bool:
    """Return whether two stacks have equal votes, masks and labels."""
    first, second = ((*s.arrays, s.mask, *(s.rater_masks or ())) for s in (one, other))
    return (
        len(first) == len(second)
        and all(map(_is_same, first, second))
        and np.array_equal(one.labels, other.labels)
        and _value_of_label_one(one) == _value_of_label_one(other)
        and one.missing_label == other.missing_label
    )


def _is_same(one: NDArray[Any] | None, other: NDArray[Any] | None) -> bool:
    """Return whether two arrays are equal; arrays that share memory are not compared."""
    if one is None or other is None:
        return one is other
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    return one.ctypes.data == other.ctypes.data or bool(np.array_equal(one, other))


def _value_of_label_one(stack: LabelStack) -> float | None:
    """Return the value of label 1 in a stack with labels 0 and 1, binary or multi-label."""
    is_mask = stack.foreground is None and stack.labels.tolist() == [0, 1]
    return 1 if is_mask else stack.foreground


def intersect_masks(mask: NDArray[Any] | None, other: NDArray[Any] | None) -> NDArray[Any] | None:
    """Return the intersection of two masks; None represents a mask of all voxels."""
    if mask is None or other is None:
        return other if mask is None else mask
    return np.asarray((mask != 0) & (other != 0))


def _reject_class_probabilities(loaded: LoadedImages, owner: str) -> None:
    """Raise if a vector image contains one rater's class probabilities, not several raters."""
    at = 0
    for index, number in enumerate(loaded.components):
        opinion = [array for array in loaded.arrays[at : at + number] if array is not None]
        at += number
        if len(opinion) > 1 and opinion[0].dtype.kind == "f" and sum_to_one(opinion):
            raise InputError(
                f"must hold labels, but its {number} components sum to 1: they are class "
                "probabilities, not raters; use ProbabilityAverageFilter or LogOpinionPoolFilter",
                owner=owner,
                input_index=index,
            )
