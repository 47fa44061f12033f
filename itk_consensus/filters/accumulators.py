"""Raters one at a time: hundreds of candidates are fused exactly, and none of them is held.

>>> votes = MajorityVoteAccumulator(TieRule="lowest")
>>> for path in candidates:
...     votes.add(sitk.ReadImage(path))
>>> fused = votes.GetLabelImage()
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.errors import InputError, NotExecutedError
from itk_consensus.filters.fused_images import FusedImages, common_type
from itk_consensus.filters.label_fusion import LabelFusionFilter
from itk_consensus.filters.majority_vote import MajorityVoteFilter
from itk_consensus.filters.pattern_chunks import fuse_patterns
from itk_consensus.fusion.voting.majority_vote import decide_shares
from itk_consensus.images import convert
from itk_consensus.images.families.image_family import LoadedImages
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.fusions import VolumeFusion
from itk_consensus.votes.growing_patterns import GrowingPatterns
from itk_consensus.votes.label_stack import LabelStack, label_array
from itk_consensus.votes.vote_accumulator import VoteAccumulator

Array = NDArray[Any]


class _OneByOne:
    """Images that come one by one and lie where the first does."""

    def __init__(self) -> None:
        self._like: LoadedImages | None = None
        self._types: list[Array] = []

    @property
    def NumberOfRaters(self) -> int:
        """How many were added."""
        return len(self._types)

    def _stack(self, image: Any) -> LabelStack:
        """One rater's labels; the image is not kept."""
        owner = type(self).__name__
        if self._like is None:
            loaded = convert.load([image], owner=owner)
            if len(loaded.arrays) != 1:
                raise InputError(f"{owner}: add takes one rater at a time, got a vector image")
            array, like = loaded.arrays[0], loaded.without_inputs()
        else:
            like = self._like
            array = convert.load_one(
                image, like, owner=owner, parameter=f"input {self.NumberOfRaters}"
            )
        stack = LabelStack.multilabel([array], owner=owner)
        self._like = like
        self._types.append(np.empty(0, stack.arrays[0].dtype))  # type: ignore[union-attr]
        return stack

    def _reference(self) -> LoadedImages:
        if self._like is None:
            raise NotExecutedError(f"{type(self).__name__}: outputs are known after the first add")
        return self._like


class MajorityVoteAccumulator(_OneByOne):
    """The vote of any number of label images, added one at a time.

    The result is that of MajorityVoteFilter; memory is that of the votes of a few labels.

    Parameters
    ----------
    parameters
        Threshold, TieRule and LabelForUndecidedPixels of MajorityVoteFilter.
    """

    def __init__(self, **parameters: Any) -> None:
        super().__init__()
        self._filter = MajorityVoteFilter(**parameters)
        self._votes: VoteAccumulator | None = None
        known = {"Threshold", "TieRule", "LabelForUndecidedPixels"}
        for name in self._filter._values:
            if name not in known:
                raise InputError(
                    f"MajorityVoteAccumulator: parameters must be among {sorted(known)}, got {name}"
                )

    def add(self, image: Any) -> None:
        """Count one more rater."""
        stack = self._stack(image)
        if self._votes is None:
            self._votes = VoteAccumulator(stack.shape)
        array = stack.arrays[0]
        assert array is not None
        self._votes.add(array)

    def GetLabels(self) -> tuple[int, ...]:
        """The labels that occurred, in increasing order."""
        return tuple(sorted(self._counted().totals))

    def GetLabelImage(self) -> Any:
        """The label map of all raters so far."""
        return self._fused().label_image()

    def GetProbabilityImage(self, label: int | None = None) -> Any:
        """Share of the votes for a label, as float64; by default for the largest."""
        return self._fused().probability_image(label)

    def _counted(self) -> VoteAccumulator:
        self._reference()
        assert self._votes is not None
        return self._votes

    def _fused(self) -> FusedImages:
        like, labels = self._reference(), list(self.GetLabels())
        dtype = common_type(self._types, labels)
        undecided = self._filter._undecided_label(labels, dtype)
        fusion = VolumeFusion(self._decision(), self._share)
        return FusedImages(like, fusion, tuple(labels), dtype, undecided, self._filter.GetName())

    def _decision(self) -> NDArray[Any]:
        """Label index of every voxel, or a code of `votes.ties`."""
        votes, labels = self._counted(), label_array(self.GetLabels(), "MajorityVoteAccumulator")
        totals = np.array([votes.totals[int(label)] for label in labels], np.float64)
        frequencies = totals / totals.sum()
        # Signed, for the codes of ties.
        decision = np.empty(votes.shape, np.min_scalar_type(-len(labels) - 1))
        for box, here, counts in votes.tiles():
            scores = counts.reshape(len(here), -1).T.astype(np.float64)
            total = np.full((len(scores), 1), float(votes.raters))
            known = np.searchsorted(labels, here)
            tile = decide_shares(
                scores,
                total,
                here,
                self._filter.Threshold,
                self._filter.TieRule,
                frequencies[known],
                0.0,  # whole votes
            )
            indices = np.where(tile >= 0, known[tile], tile)
            decision[box] = indices.reshape(counts.shape[1:])
        return decision

    def _share(self, label: int) -> NDArray[np.float64]:
        votes, value = self._counted(), self.GetLabels()[label]
        share = np.zeros(votes.shape)
        for box, here, counts in votes.tiles():
            if value in here:
                share[box] = counts[here.tolist().index(value)] / votes.raters
        return share


class PatternAccumulator(_OneByOne):
    """The decision patterns of any number of label images, added one at a time.

    Whatever needs patterns only is then fused by `fuse`, as often as wanted, with the result that
    all images together would give. Memory is a code per voxel and the table of patterns.
    """

    def __init__(self) -> None:
        super().__init__()
        self._grown: GrowingPatterns | None = None
        self._tables: list[NDArray[Any]] = []

    def add(self, image: Any) -> None:
        """Tell voxels apart by one more rater."""
        stack = self._stack(image)
        if self._grown is None:
            self._grown = GrowingPatterns(stack.shape)
        array = stack.arrays[0]
        assert array is not None
        self._grown.add(array, stack.labels.astype(array.dtype))
        self._tables.append(stack.labels)

    def patterns(self, foreground: float | None = None) -> DecisionPatterns:
        """The patterns of all raters so far, with codes.

        Parameters
        ----------
        foreground : float, optional
            Tell only this label from all others, as binary filters do.
        """
        self._reference()
        if foreground is None:
            labels = label_array(
                {int(v) for table in self._tables for v in table}, "PatternAccumulator"
            )
            digits = [np.searchsorted(labels, t.astype(labels.dtype)) for t in self._tables]
        else:
            labels = np.array([0, 1])
            digits = [(table == foreground).astype(np.int64) for table in self._tables]
        assert self._grown is not None
        return self._grown.table(labels, digits)

    def fuse(self, filter_: LabelFusionFilter) -> Any:
        """What the filter's Execute would return for all images together.

        Raises
        ------
        InputError
            The filter looks at more than votes, or has masks.
        """
        foreground = getattr(filter_, "ForegroundValue", None)
        like = replace(self._reference(), arrays=tuple(self._values()))
        filter_._require_chunks(like.geometry.shape, [array.dtype for array in self._types])
        if filter_.MaskImage is not None or filter_.RaterMasks is not None:
            raise InputError(f"{filter_.GetName()}: an accumulator takes no masks")
        with filter_._running():
            filter_._check_parameters()
            case, fused = fuse_patterns(filter_, self.patterns(foreground), like)
            filter_._case, filter_._images = case, fused
            return filter_._primary_output()

    def _values(self) -> list[Array]:
        """The values of each rater, in its own type."""
        return [
            table.astype(empty.dtype)
            for table, empty in zip(self._tables, self._types, strict=True)
        ]
