"""Scores of one case: every submission and every reader are compared with the readers.

A submission is scored against all readers but one, each being left out in turn, and a reader is
scored against the others. Both are thus compared with the same number of readers, so the readers'
scores are a fair ceiling.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.assessment.agreement.lesions import pair_objects
from itk_consensus.assessment.agreement.surfaces import Surface, distances_between
from itk_consensus.assessment.findings import Finding
from itk_consensus.assessment.reader_slips import slips
from itk_consensus.assessment.readers import Readers
from itk_consensus.assessment.scoring import rules as rule
from itk_consensus.core.array_types import Floats, Mask
from itk_consensus.core.errors import InputError
from itk_consensus.fusing.near_copies import MOST_RATERS
from itk_consensus.fusing.vote_facts import VoteFacts
from itk_consensus.methods.lesions.objects import number_objects
from itk_consensus.space.boxes import voxel_volume
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.label_stack import LabelStack
from itk_consensus.votes.pair_counts import PairCounts
from itk_consensus.votes.voting import StackVote, VoteRules, rows_as_stack

#: Minimum intersection over union of two matching lesions.
LEAST_OVERLAP = 0.1

#: Key used instead of a label for scores of all structures together.
ALL = "all structures"


@dataclass(frozen=True)
class ScoreSettings:
    """Selection of the measures to compute."""

    rules: tuple[str, ...] = ("soft-dice", "qubiq")  #: Keys of `measures.RULES`
    surfaces: bool = False  #: Whether to measure distances between contours
    tolerance: float = 1.0  #: Tolerance of the surface Dice, in mm
    lesions: bool = False  #: Whether to match connected components


@dataclass(frozen=True)
class Submission:
    """A submitted segmentation of one case."""

    labels: NDArray[Any]  #: Label map
    #: Probability of each foreground label, if it was submitted.
    probabilities: Mapping[int, NDArray[Any]] | None = None
    samples: tuple[NDArray[Any], ...] = ()  #: Label maps, if several were submitted

    @classmethod
    def of_samples(cls, samples: Sequence[NDArray[Any]]) -> Submission:
        """Create from samples: the label map is their vote, the probability their mean."""
        if len(samples) == 1:
            return cls(samples[0])
        stack = LabelStack.multilabel(list(samples), owner="samples")
        labels = [int(label) for label in stack.labels if label]
        shares = {
            label: np.asarray(
                np.mean([sample == label for sample in samples], axis=0, dtype=np.float32)
            )
            for label in labels
        }
        decided = StackVote(stack, VoteRules(ties="background")).decision()
        fused = np.where(decided < 0, 0, stack.labels[decided])
        return cls(fused.astype(samples[0].dtype), shares, tuple(samples))


@dataclass(frozen=True)
class CaseScores:
    """All scores of one case."""

    case: str
    #: Scores by submission or reader, then label, then measure; NaN if undefined. Labels that do
    #: not occur in this case are absent; `ALL` holds scores of all labels together.
    submissions: Mapping[str, Mapping[int | str, Mapping[str, float]]]
    readers: Mapping[str, Mapping[int | str, Mapping[str, float]]]
    #: Dice, and distances if requested, of each submission with each single reader.
    pairs: tuple[Mapping[str, Any], ...]
    #: Labels that any reader drew, with the readers who drew them.
    drawn: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    #: Labels of each submission.
    submitted: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    missing: tuple[str, ...] = ()  #: Submissions without a file that can be compared
    #: Submissions whose file cannot be compared with the readers, and why; also in `missing`.
    refused: Mapping[str, str] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()  #: Readers' files that may be wrong


def score_case(
    case: str,
    readers: Mapping[str, NDArray[Any]],
    submissions: Mapping[str, Submission | None],
    spacing: Sequence[float],
    settings: ScoreSettings,
) -> CaseScores:
    """Score one case.

    Parameters
    ----------
    readers : mapping of str to ndarray
        Label maps on one grid, at least one.
    submissions : mapping of str to Submission or None
        None for a missing file, which is scored as an empty segmentation.
    spacing : sequence of float
        Voxel size per array axis.
    """
    if not readers:
        raise InputError(f"case {case}: needs at least one reader")
    empty = np.zeros_like(next(iter(readers.values())))
    given = {name: one or Submission(empty) for name, one in submissions.items()}
    table = _Table.of(readers, given)
    distances = _Distances.of(table, spacing, settings) if settings.surfaces else None
    scorer = _Scorer(table, distances, voxel_volume(spacing)[0], settings)
    return CaseScores(
        case,
        {name: scorer.score_submission(name) for name in given},
        {name: scorer.score_reader(name) for name in readers} if len(readers) > 1 else {},
        tuple(scorer.pairs(case)),
        table.drawn,
        table.submitted,
        tuple(name for name, one in submissions.items() if one is None),
        findings=_findings(readers, spacing),
    )


def _findings(readers: Mapping[str, NDArray[Any]], spacing: Sequence[float]) -> tuple[Finding, ...]:
    """Return findings about readers' files that may be wrong, by the rules of `assess` and with its
    messages.
    """
    if not 2 <= len(readers) <= MOST_RATERS:
        return ()
    patterns = DecisionPatterns.from_stack(LabelStack.multilabel(list(readers.values())))
    found = slips(Readers(VoteFacts(patterns), spacing))
    return tuple(one.named(tuple(readers)) for one in found if one.concern)


@dataclass(frozen=True)
class _Table:
    """All label maps of a case as patterns: first readers, then submissions, then samples."""

    patterns: DecisionPatterns
    readers: list[str]
    submissions: dict[str, Submission]
    #: (K + 1,) index of each label in the patterns, background first; -1 if it does not occur.
    codes: NDArray[np.intp]
    labels: tuple[int, ...]
    dice: Floats  #: (K, C, C) Dice of all pairs of label maps
    sizes: Floats  #: (K, C) volumes in voxels

    @classmethod
    def of(
        cls,
        readers: Mapping[str, NDArray[Any]],
        submissions: dict[str, Submission],
    ) -> _Table:
        maps = [*readers.values(), *(one.labels for one in submissions.values())]
        samples = [sample for one in submissions.values() for sample in one.samples]
        patterns = DecisionPatterns.from_stack(LabelStack.multilabel([*maps, *samples]))
        where = {int(label): index for index, label in enumerate(patterns.labels)}
        told = (label for one in submissions.values() for label in one.probabilities or ())
        labels = tuple(sorted({*where, *told} - {0}))
        codes = np.array([where.get(label, -1) for label in (0, *labels)], np.intp)
        pairs = PairCounts.of(patterns)
        known = codes[1:] >= 0
        number = patterns.number_of_raters
        # The masks of a label with probabilities but without voxels are empty, so their Dice is 1.
        dice, sizes = np.ones((len(labels), number, number)), np.zeros((len(labels), number))
        dice[known], sizes[known] = pairs.dice[codes[1:][known]], pairs.sizes[codes[1:][known]]
        return cls(patterns, list(readers), submissions, codes, labels, dice, sizes)

    @property
    def drawn(self) -> dict[int, tuple[str, ...]]:
        """Labels that any reader drew, with the readers who drew them."""
        sizes = self.sizes[:, : len(self.readers)]
        return {
            label: tuple(name for name, size in zip(self.readers, given, strict=True) if size)
            for label, given in zip(self.labels, sizes, strict=True)
            if given.any()
        }

    @property
    def submitted(self) -> dict[str, tuple[int, ...]]:
        """Labels of each submission."""
        labels = np.array(self.labels)
        return {
            name: tuple(labels[self.sizes[:, self.column(name)] > 0].tolist())
            for name in self.submissions
        }

    def column(self, name: str) -> int:
        """Return the column of a submission in the patterns."""
        return len(self.readers) + list(self.submissions).index(name)

    def sample_columns(self, name: str) -> range:
        """Return the columns of a submission's samples in the patterns; empty without samples."""
        start = len(self.readers) + len(self.submissions)
        for other, one in self.submissions.items():
            if other == name:
                return range(start, start + len(one.samples))
            start += len(one.samples)
        raise KeyError(name)

    def votes(self, columns: Sequence[int]) -> NDArray[np.intp]:
        """Return the (P,) index of the label with most votes in some columns; ties are
        background.
        """
        rows = rows_as_stack(self.patterns)
        some = replace(rows, arrays=tuple(rows.arrays[column] for column in columns))
        winner = StackVote(some, VoteRules(ties="background")).decision().astype(np.intp)
        winner[winner < 0] = self.codes[0]
        return winner


@dataclass(frozen=True)
class _Distances:
    """(K, C, C) surface measures of all pairs of label maps, with substitutes for empty ones."""

    surface_dice: Floats
    hausdorff95: Floats

    @classmethod
    def of(cls, table: _Table, spacing: Sequence[float], settings: ScoreSettings) -> _Distances:
        patterns, number = table.patterns, len(table.readers) + len(table.submissions)
        found = np.ones((2, len(table.labels), number, number))
        found[1] = 0.0
        for index, code in enumerate(table.codes[1:]):
            if code < 0:
                continue
            said = patterns.patterns[:, :number] == code
            region = patterns.region(np.asarray(said.any(axis=1)), [0] * len(spacing))
            cropped = patterns.crop(region)
            surfaces = [
                Surface.of(cropped.expand(np.ascontiguousarray(said[:, column])))
                for column in range(number)
            ]
            for (i, j), pair in distances_between(surfaces, spacing, settings.tolerance).items():
                values = np.array([pair.surface_dice, pair.hausdorff95])
                if math.isnan(pair.hausdorff):
                    values[:] = 1.0, 0.0
                found[:, index, i, j] = found[:, index, j, i] = values
        assert patterns.codes is not None
        diagonal = math.hypot(*np.multiply(patterns.codes.shape, spacing)[-3:])
        return cls(found[0], np.where(np.isinf(found[1]), diagonal, found[1]))


@dataclass(frozen=True)
class _Segmentation:
    """The segmentation of a scored submission or reader, by voxel or by pattern."""

    column: int  #: Column in the patterns
    mask: Mask  #: (K, N)
    probability: NDArray[Any]  #: (K, N)
    samples: list[Mask]  #: Each (K, N)
    at: NDArray[np.intp] | slice  #: Row of the patterns for each of the N elements
    weights: NDArray[Any] | None  #: (N,) number of voxels, if the N elements are patterns


class _Scorer:
    """Computes the scores of all submissions and readers of one case."""

    def __init__(
        self,
        table: _Table,
        distances: _Distances | None,
        voxel: float,
        settings: ScoreSettings,
    ) -> None:
        self._table, self._distances, self._settings = table, distances, settings
        self._voxel = voxel
        readers = range(len(table.readers))
        #: For each reader, the indices of the other readers; for a single reader, its own index.
        self._others = [[j for j in readers if j != left] for left in readers]
        if len(self._others) == 1:
            self._others = [[0]]
        self._votes = [table.votes(others) for others in self._others]
        said = table.patterns.patterns
        #: (K + 1, P, J) whether each reader gave each label, background first.
        self._marks = np.stack(
            [said[:, : len(table.readers)] == code for code in table.codes]
        )  # fmt: skip
        self._pieces: dict[tuple[str, int, int], NDArray[np.int32]] = {}

    def score_submission(self, name: str) -> dict[int | str, dict[str, float]]:
        """Score against all readers but one, averaged over the choice of the left-out reader."""
        said = self._segmentation_of(name)
        found = [self._scores(said, number) for number in range(len(self._others))]
        return {
            structure: {
                measure: mean_of_known([one[structure][measure] for one in found])
                for measure in found[0][structure]
            }
            for structure in found[0]
        }

    def score_reader(self, name: str) -> dict[int | str, dict[str, float]]:
        """Score a reader against the others."""
        number = self._table.readers.index(name)
        mask = np.asarray(self._marks[1:, :, number])
        counts = self._table.patterns.counts
        said = _Segmentation(number, mask, mask.astype(np.float64), [mask], slice(None), counts)
        return self._scores(said, number)

    def pairs(self, case: str) -> Iterator[dict[str, Any]]:
        """Yield a row for each submission, reader and structure."""
        for name in self._table.submissions:
            column = self._table.column(name)
            for number, reader in enumerate(self._table.readers):
                for index, label in enumerate(self._table.labels):
                    row: dict[str, Any] = {"case": case, "structure": label, "submission": name}
                    row |= {"reader": reader, "dice": self._table.dice[index, column, number]}
                    if self._distances is not None:
                        at = index, column, number
                        row["surface_dice"] = self._distances.surface_dice[at]
                        row["hausdorff95"] = self._distances.hausdorff95[at]
                    yield row

    def _segmentation_of(self, name: str) -> _Segmentation:
        table = self._table
        column, submission = table.column(name), table.submissions[name]
        said, codes = table.patterns.patterns, table.codes[1:]
        masks = np.stack([said[:, column] == code for code in codes])
        samples = [
            np.stack([said[:, at] == code for code in codes]) for at in table.sample_columns(name)
        ]
        if submission.probabilities is None or submission.samples:
            share = np.mean(samples, axis=0) if samples else masks.astype(np.float64)
            counts = table.patterns.counts
            return _Segmentation(column, masks, share, samples or [masks], slice(None), counts)
        # Probabilities differ within a pattern, so each voxel is scored separately.
        at = table.patterns.expand(np.arange(len(said), dtype=np.intp)).ravel()
        nothing = np.zeros(at.shape, np.float32)
        given = submission.probabilities
        probability = np.stack(
            [np.ravel(given[label]) if label in given else nothing for label in table.labels]
        )
        return _Segmentation(column, masks[:, at], probability, [masks[:, at]], at, None)

    def _scores(self, said: _Segmentation, number: int) -> dict[int | str, dict[str, float]]:
        """Score one segmentation against the readers of `self._others[number]`."""
        found: dict[int | str, dict[str, float]] = {
            label: self._structure_scores(said, number, index)
            for index, label in enumerate(self._table.labels)
        }
        if "curvas2024" in self._settings.rules and found:
            found[ALL] = {"curvas_ece": self._multiclass_calibration(said, number)}
        return found

    def _structure_scores(self, said: _Segmentation, number: int, index: int) -> dict[str, float]:
        others = self._others[number]
        sizes = self._table.sizes[index]
        bias = self._voxel * float(sizes[said.column] - sizes[others].mean())
        marks = self._marks[index + 1][said.at][:, others]
        probability = said.probability[index]
        share = marks.mean(axis=1)
        scores = {
            "dice": float(self._table.dice[index, said.column, others].mean()),
            "consensus_dice": self._dice_to_vote(said, number, index),
            "volume_bias": bias,
            "volume_error": abs(bias),
            "calibration_error": rule.plural_calibration_error(probability, share, said.weights),
        }
        if self._distances is not None:
            at = index, said.column, others
            scores["surface_dice"] = float(self._distances.surface_dice[at].mean())
            scores["hausdorff95"] = float(self._distances.hausdorff95[at].mean())
        if self._settings.lesions:
            scores["lesion_f1"] = self._lesion_f1(said, number, index)
        readers = list(marks.T)
        if "soft-dice" in self._settings.rules:
            scores["soft_dice"] = rule.soft_dice(probability, share, said.weights)
        if "qubiq" in self._settings.rules:
            scores["qubiq_dice"] = rule.threshold_averaged_dice(probability, share, said.weights)
        if "curvas2024" in self._settings.rules:
            scores |= self._curvas_scores(said, readers, index, sizes[others])
        if "samples" in self._settings.rules:
            samples = [sample[index] for sample in said.samples]
            weights = said.weights
            scores["energy_distance"] = rule.energy_distance(samples, readers, weights)
            scores["dice_max"] = rule.dice_max(samples, readers, weights)
            scores["dice_match"] = rule.dice_match(samples, readers, weights)
            scores["matched_iou"] = rule.matched_iou(samples, readers, weights)
        return scores

    def _dice_to_vote(self, said: _Segmentation, number: int, index: int) -> float:
        code, patterns = self._table.codes[index + 1], self._table.patterns
        if code < 0:
            return 1.0
        own, vote = patterns.patterns[:, said.column] == code, self._votes[number] == code
        total = patterns.counts @ own + patterns.counts @ vote
        return float(2 * (patterns.counts @ (own & vote)) / total) if total else 1.0

    def _curvas_scores(
        self, said: _Segmentation, readers: Sequence[Mask], index: int, sizes: Floats
    ) -> dict[str, float]:
        probability, weights = said.probability[index], said.weights
        number = np.ones(probability.shape) if weights is None else weights
        volume = float(probability.astype(np.float64, copy=False) @ number)
        return {
            "curvas_dice": rule.consensus_dice(said.mask[index], readers, weights),
            "curvas_confidence": rule.consensus_confidence(probability, readers, weights),
            "curvas_crps": self._voxel * rule.volume_score(volume, sizes),
        }

    def _multiclass_calibration(self, said: _Segmentation, number: int) -> float:
        background = np.clip(1 - said.probability.sum(axis=0), 0, 1)
        every = np.concatenate([background[None], said.probability])
        marks = self._marks[:, said.at]
        return mean_of_known(
            [
                # Labels that are not structures of the study count as background.
                rule.multiclass_calibration_error(
                    every, np.argmax(marks[:, :, other], axis=0), said.weights
                )
                for other in self._others[number]
            ]
        )

    def _lesion_f1(self, said: _Segmentation, number: int, index: int) -> float:
        code = self._table.codes[index + 1]
        if code < 0:
            return 1.0
        own = self._components("own", said.column, index)
        vote = self._components("vote", number, index)
        pairs = pair_objects(own, vote, LEAST_OVERLAP)
        total = sum(map(len, pairs.sizes))
        return 2 * len(pairs.one) / total if total else 1.0

    def _components(self, kind: str, which: int, index: int) -> NDArray[np.int32]:
        """Return a label's numbered connected components, in column `which` of the patterns if
        `kind` is "own", otherwise in vote `which`; results are cached.
        """
        key = kind, which, index
        if key not in self._pieces:
            patterns, code = self._table.patterns, self._table.codes[index + 1]
            said = patterns.patterns[:, which] if kind == "own" else self._votes[which]
            mask = patterns.expand((said == code).view(np.uint8))
            self._pieces[key] = number_objects(mask, "components").places
        return self._pieces[key]


def mean_of_known(values: Sequence[float]) -> float:
    """Return the mean ignoring NaN; NaN if all values are NaN."""
    known = [value for value in values if not math.isnan(value)]
    return sum(known) / len(known) if known else math.nan
