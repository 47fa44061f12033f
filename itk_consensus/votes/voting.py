"""Voting voxel by voxel, without patterns, in one compiled pass over the raters.

The rules are those of `votes.ties`; methods/voting/majority_vote.py votes on patterns.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus import _kernels
from itk_consensus.core.array_types import Floats
from itk_consensus.core.errors import InputError
from itk_consensus.core.work import current
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.fusions import DecisionTable, Fusion, PatternFusion
from itk_consensus.votes.kept_stack import KeptStack
from itk_consensus.votes.label_stack import LabelStack
from itk_consensus.votes.ties import BACKGROUND, SAME_VOTES, TIE_RULES, UNDECIDED, TieRule
from itk_consensus.votes.uncertainty import UNCERTAINTY_KINDS, UncertaintyKind, uncertainty
from itk_consensus.votes.votes import LabelVotes


@dataclass(frozen=True)
class VoteRules:
    """Parameters of a vote."""

    #: (J,) weight >= 0 of each rater's vote, including missing raters; None: equal weights.
    weights: Floats | None = None
    #: Share of the votes that a label must exceed; None: the label with the most votes wins.
    threshold: float | None = None
    #: How to resolve a tie. A voxel that no rater annotated, or where no label exceeds the
    #: threshold, becomes background if that is the rule, and undecided otherwise.
    ties: TieRule = "undecided"


PLURALITY = VoteRules()


@dataclass(frozen=True)
class StackVote:
    """A majority vote over a stack, computed lazily."""

    stack: LabelStack
    rules: VoteRules = PLURALITY
    #: (K,) overall label frequencies; by default those of this stack, which may be part of a larger
    #: volume.
    given_frequencies: Floats | None = None

    def at(self, places: NDArray[np.int64]) -> StackVote:
        """Return the same vote at some voxels, given by flat indices, as a 1D stack."""
        known = self.frequencies if self.looks_at_frequencies else None
        return replace(self, stack=self.stack.at(places), given_frequencies=known)

    def write_labels(self, values: NDArray[Any], out: NDArray[Any]) -> None:
        """Write the label of every voxel.

        Parameters
        ----------
        values : (K + 2,) ndarray
            Values to write for each label of the stack, for background and for undecided voxels.
            Voxels outside the mask are set to background.
        out : ndarray of the stack's shape
            C-contiguous array of the values' dtype.
        """
        labels = len(self.stack.labels)
        if values.shape != (labels + 2,):
            raise InputError(f"StackVote: must get {labels + 2} values, got shape {values.shape}")
        self._check_out(out, values.dtype)
        _kernels.vote(
            self._votes,
            self.stack.bits,
            labels,
            self._mask,
            self._weights,
            -1.0 if self.rules.threshold is None else self.rules.threshold,
            SAME_VOTES * float(self._weights.sum()),
            TIE_RULES.index(self.rules.ties),
            self.frequencies if self.rules.ties == "prior" else np.zeros(labels),
            np.ascontiguousarray(values),
            out.reshape(-1),
            current().threads,
        )

    def decision(self) -> NDArray[np.int64]:
        """Return the label index of every voxel, or a code of `votes.ties`."""
        codes = [*range(len(self.stack.labels)), BACKGROUND, UNDECIDED]
        decision = np.empty(self.stack.shape, np.int64)
        self.write_labels(np.array(codes, np.int64), decision)
        return decision

    def write_share(self, label: int, out: NDArray[Any]) -> None:
        """Write the share of the votes for the label with this index; 0 outside the mask.

        At voxels that no rater annotated, the overall frequency of the label is written.
        """
        labels = len(self.stack.labels)
        if not 0 <= label < labels:
            raise InputError(f"StackVote: label index must be 0 to {labels - 1}, got {label}")
        self._check_out(out, out.dtype if out.dtype.kind == "f" else np.dtype(np.float64))
        _kernels.vote_share(
            self._votes,
            labels,
            label,
            self._mask,
            self._weights,
            float(self.frequencies[label]) if self._nobody_possible else 0.0,
            out.reshape(-1),
            current().threads,
        )

    def write_uncertainty(self, kind: UncertaintyKind, out: NDArray[np.float32]) -> None:
        """Write the uncertainty of each voxel from the shares of all labels; 0 outside the mask."""
        self._check_out(out, np.dtype(np.float32))
        nobody = np.zeros(1)
        if self._nobody_possible:
            uncertainty(kind, self.frequencies[:, None], nobody)
        _kernels.vote_uncertainty(
            self._votes,
            len(self.stack.labels),
            UNCERTAINTY_KINDS.index(kind),
            self._mask,
            self._weights,
            float(nobody[0]),
            out.reshape(-1),
            current().threads,
        )

    @cached_property
    def frequencies(self) -> Floats:
        """(K,) share of each label in all (weighted) votes inside the mask."""
        if self.given_frequencies is not None:
            return self.given_frequencies
        return self.frequencies_of(self.counts)

    def frequencies_of(self, counts: NDArray[np.int64]) -> Floats:
        """Return the (K,) share of each label in all (weighted) votes, given (J', K) counts."""
        mass = self._weights @ counts
        return np.asarray(mass / mass.sum())

    @property
    def looks_at_frequencies(self) -> bool:
        """Whether the result may depend on the label frequencies."""
        return self.rules.ties == "prior" or self._nobody_possible

    @property
    def _nobody_possible(self) -> bool:
        """Whether there may be voxels without any vote of positive weight."""
        return self.stack.may_be_missing or not self._weights.all()

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """(J', K) voxels inside the mask to which each present rater assigned each label."""
        extent = int(np.prod(self.stack.shape))
        return _kernels.vote_counts(
            self._votes, len(self.stack.labels), self._mask, extent, current().threads
        )

    @cached_property
    def _votes(self) -> list[_kernels.RaterVotes]:
        return self.stack.votes()

    @cached_property
    def _weights(self) -> Floats:
        """(J',) weights of the present raters."""
        present = [array is not None for array in self.stack.arrays]
        if self.rules.weights is None:
            return np.ones(sum(present))
        weights = np.asarray(self.rules.weights, dtype=np.float64)
        if weights.shape != (len(present),) or not (weights >= 0).all():
            raise InputError(
                f"StackVote: must have {len(present)} weights >= 0, got {weights.tolist()}"
            )
        return weights[present]

    @property
    def _mask(self) -> NDArray[np.uint8] | None:
        return None if self.stack.mask is None else self.stack.mask.reshape(-1)

    def _check_out(self, out: NDArray[Any], dtype: np.dtype[Any]) -> None:
        fits = out.dtype == dtype and out.shape == self.stack.shape
        if not fits or not out.flags.c_contiguous or not out.flags.writeable:
            raise InputError(
                f"StackVote: out must be {dtype} {self.stack.shape}, C-contiguous and writable, "
                f"got {out.dtype} {out.shape}"
            )


def rows_as_stack(patterns: DecisionPatterns) -> LabelStack:
    """Convert a table of patterns to a stack with one voxel per pattern."""
    labels = np.arange(patterns.number_of_labels)
    missing = None if patterns.is_complete else len(labels)
    columns = tuple(np.ascontiguousarray(patterns.patterns.T))
    return LabelStack(columns, labels, missing_label=missing)


@dataclass(frozen=True)
class StackVoteFusion(Fusion):
    """A vote as a fusion, computed voxel by voxel; patterns are used only for tables."""

    stack: LabelStack | KeptStack
    on: Callable[[DecisionPatterns], PatternFusion]  #: The same vote on patterns
    rules: VoteRules = PLURALITY

    follows_votes = True

    def with_votes(self, votes: LabelVotes) -> Fusion:
        assert isinstance(votes, LabelStack | KeptStack)
        return replace(self, stack=votes)

    def volume(self) -> NDArray[np.int32]:
        decision = np.empty(self.stack.shape, np.int32)
        codes = [*range(len(self.stack.labels)), BACKGROUND, UNDECIDED]
        self.write_labels(np.array(codes, np.int32), decision)
        return decision

    def as_table(self, patterns: DecisionPatterns) -> DecisionTable:
        return self.on(patterns).as_table(patterns)

    def write_labels(self, values: NDArray[Any], out: NDArray[Any]) -> None:
        for planes, vote in self._parts():
            vote.write_labels(values, out[planes])

    def write_probability(self, label: int, out: NDArray[Any]) -> None:
        for planes, vote in self._parts():
            vote.write_share(label, out[planes])

    def probabilities_at(
        self, places: Mapping[int, NDArray[np.int64]], shape: tuple[int, ...]
    ) -> dict[int, NDArray[np.float64]]:
        found = {label: np.empty(len(where)) for label, where in places.items()}
        plane = math.prod(shape[1:])
        for planes, vote in self._parts():
            first, last = (plane * (planes.start or 0), plane * (planes.stop or shape[0]))
            for label, where in places.items():
                here = slice(*where.searchsorted([first, last]))
                if here.start < here.stop:
                    vote.at(where[here] - first).write_share(label, found[label][here])
        return found

    def write_uncertainty(self, kind: UncertaintyKind, labels: int, out: NDArray[Any]) -> None:
        for planes, vote in self._parts():
            vote.write_uncertainty(kind, out[planes])

    def _parts(self) -> Iterator[tuple[slice, StackVote]]:
        """Yield the vote slab by slab if the stack must be decompressed, otherwise in one part."""
        if isinstance(self.stack, LabelStack):
            yield slice(None), self._vote(self.stack)
            return
        for planes, _, stack in self.stack.slabs():
            vote = self._vote(stack)
            if vote.looks_at_frequencies:
                vote = replace(vote, given_frequencies=self._frequencies)
            yield planes, vote

    @cached_property
    def _frequencies(self) -> Floats:
        """(K,) label frequencies of a kept stack, over all of its planes."""
        assert isinstance(self.stack, KeptStack)
        counts: Any = 0
        for _, _, stack in self.stack.slabs():
            vote = self._vote(stack)
            counts = counts + vote.counts
        return vote.frequencies_of(counts)

    def _vote(self, stack: LabelStack) -> StackVote:
        return StackVote(stack, self.rules)
