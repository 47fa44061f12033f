"""Gain of a trained network over other fusers on held-out cases, and findings on it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from itk_consensus.assessment.findings import Finding, Severity
from itk_consensus.deep.cases import MISSING
from itk_consensus.deep.deep_inputs import DeepInput, encode_labels
from itk_consensus.deep.worth import VOTE, Gain, Interval
from itk_consensus.images import convert
from itk_consensus.methods.consensus.consensus_filter import ConsensusFilter
from itk_consensus.votes.fusions import StoredShares, VolumeFusion
from itk_consensus.votes.overlap import dice

if TYPE_CHECKING:
    from itk_consensus.deep.model import ConsensusModel

#: Maximum number of raters held out in turn in a case without a truth.
_HELD_OUT_RATERS = 3

#: Additional vote share that breaks ties but does not change majorities.
_CASTING_VOTE = np.float32(1e-6)

#: Returns the class of every voxel of a case.
Decide = Callable[[DeepInput], NDArray[np.uint8]]


def gain_of(
    network: Decide,
    cases: Iterable[DeepInput],
    labels: Sequence[int],
    *,
    by_truth: bool,
    with_atlases: bool,
) -> Gain:
    """Return the network's gain in Dice over other fusers on held-out cases.

    If held-out raters are the reference, ties of the vote are broken in favour of the network's
    label: a binary vote of seven raters cannot be tied but one of six can, and resolving such ties
    is not a gain over the vote of seven.

    Parameters
    ----------
    network : callable
        Fuses a case by the network.
    labels : sequence of int
        Label of each class.
    by_truth : bool
        Whether the reference is the truth; otherwise it is a held-out rater of each case.
    with_atlases : bool
        Whether raters have images, so that joint fusion is the fallback instead of the vote.
    """
    others = {VOTE: vote_of(labels), "Consensus": consensus_of(labels)}
    if with_atlases:
        others = {"joint fusion": joint_fusion_of(labels), **others}
    rows = []
    for turn, case in enumerate(cases):
        judged = (
            [(case, case.true_classes(labels))]
            if by_truth
            else _leave_one_rater_out(case, labels, turn)
        )
        scores = []
        for shown, judge in judged:
            ours = network(shown)
            if not by_truth:
                others[VOTE] = vote_of(labels, casting=ours)
            answers = (ours, *(decide(shown) for decide in others.values()))
            scores.append([mean_dice(one, judge, len(labels)) for one in answers])
        if scores:
            own, *theirs = np.mean(scores, axis=0)
            rows.append([float(own - one) for one in theirs])
    columns = zip(*rows, strict=True) if rows else [()] * len(others)
    return Gain(by_truth, dict(zip(others, columns, strict=True)))


def gain_over(
    one: Decide, other: Decide, cases: Iterable[DeepInput], labels: Sequence[int]
) -> Interval:
    """Return one fuser's gain in Dice with the truth over another fuser."""
    gains = []
    for case in cases:
        truth = case.true_classes(labels)
        dices = [mean_dice(decide(case), truth, len(labels)) for decide in (one, other)]
        gains.append(dices[0] - dices[1])
    return Interval.of(gains)


def mean_dice(found: NDArray[np.uint8], judge: NDArray[np.uint8], classes: int) -> float:
    """Return the mean Dice over the foreground classes of `judge`, ignoring its missing voxels."""
    known = judge != MISSING
    found, judge = found[known], judge[known]
    used = [index for index in range(1, classes) if (judge == index).any()] or range(1, classes)
    return float(np.mean([dice(found == index, judge == index) for index in used]))


def vote_of(labels: Sequence[int], casting: NDArray[np.uint8] | None = None) -> Decide:
    """Return a fuser by vote; a tie goes to the class of `casting` if tied, else to the first."""

    def decide(given: DeepInput) -> NDArray[np.uint8]:
        shares = vote_shares(given, labels)
        if casting is not None:
            for index, share in enumerate(shares):
                share[casting == index] += _CASTING_VOTE
        return np.asarray(shares.argmax(0), np.uint8)

    return decide


def joint_fusion_of(labels: Sequence[int]) -> Decide:
    """Return a fuser by joint fusion, for cases whose raters have images."""
    return lambda given: given.prior(labels).argmax(0).astype(np.uint8)


def fuse_raters(given: DeepInput, labels: Sequence[int]) -> VolumeFusion:
    """Fuse without the network: joint fusion if raters have images, else the vote."""
    shares = vote_shares(given, labels) if given.shares is None else given.prior(labels)
    return VolumeFusion(shares.argmax(0).astype(np.uint8), WidenedShares(shares))


@dataclass(frozen=True)
class WidenedShares(StoredShares):
    """`StoredShares` converted to float64 when they are read."""

    def of_label(self, label: int) -> NDArray[np.float64]:
        return super().of_label(label).astype(np.float64)


def vote_shares(given: DeepInput, labels: Sequence[int]) -> NDArray[np.float32]:
    """Return the (K, \\*S) share of raters for each class; 0 where no rater annotated."""
    drawn = encode_labels(given.stack, labels, given.shape)
    present = np.maximum((drawn != MISSING).sum(0, dtype=np.float32), 1)
    return np.stack([(drawn == k).sum(0, dtype=np.float32) / present for k in range(len(labels))])


def consensus_of(labels: Sequence[int]) -> Decide:
    """Return a fuser by ConsensusFilter."""

    def decide(given: DeepInput) -> NDArray[np.uint8]:
        images = [
            None if array is None else convert.to_image(np.ascontiguousarray(array), given.loaded)
            for array in given.stack.arrays
        ]
        fuser = ConsensusFilter(MissingLabel=given.stack.missing_label)
        found = fuser.fuse(images).decision(labels)
        return np.where((found < 0) | (found >= len(labels)), 0, found).astype(np.uint8)

    return decide


def _leave_one_rater_out(
    case: DeepInput, labels: Sequence[int], turn: int
) -> Iterator[tuple[DeepInput, NDArray[np.uint8]]]:
    """Yield the case without one of its raters, and the labels of that rater.

    `turn` is the number of the case; it determines which raters are held out first.
    """
    drawn = encode_labels(case.stack, labels, case.shape)
    present = [i for i, array in enumerate(case.stack.arrays) if array is not None]
    if len(present) < 2:
        return
    for step in range(min(_HELD_OUT_RATERS, len(present))):
        rater = present[(turn + step) % len(present)]
        arrays = tuple(None if i == rater else a for i, a in enumerate(case.stack.arrays))
        yield replace(case, stack=replace(case.stack, arrays=arrays)), drawn[rater]


def findings(
    model: ConsensusModel, without_gain: str, unlike: Sequence[str] | None
) -> Iterator[Finding]:
    """Yield findings on a model and, if it was executed, on the image."""
    gain = gain_or_unknown(model)
    answer = f"{gain.instead} answers" if without_gain == "raters" else "the network answers"
    facts = {"gain": str(gain), "instead": gain.instead.removeprefix("the "), "answer": answer}
    severity: Severity = None if gain.is_shown else "look"
    yield Finding("gain", Interval.of(gain.over[VOTE]).mean, severity, facts=facts)
    note: Severity = "note" if model.improving else None
    yield Finding("training", float(model.improving), note, kind="" if note else "fine")
    if unlike is not None:
        yield unlike_finding(unlike)


def gain_or_unknown(model: ConsensusModel) -> Gain:
    """Return a model's gain, or an empty one for files of old versions that do not contain it."""
    return model.gain or Gain(by_truth=False, over={VOTE: (), "Consensus": ()})


def unlike_finding(unlike: Sequence[str]) -> Finding:
    """Return the finding on properties in which an image differs from the training images."""
    fields = " and ".join(unlike)
    severity: Severity = "look" if unlike else None
    kind = "" if unlike else "fine"
    return Finding("likeness", float(len(unlike)), severity, facts={"fields": fields}, kind=kind)
