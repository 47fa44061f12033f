"""What a trained network gains where training did not look, and what speaks against it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from itk_consensus.assessment.findings import Finding, Severity
from itk_consensus.deep.cases import MISSING
from itk_consensus.deep.deep_inputs import DeepInput, encoded
from itk_consensus.deep.worth import VOTE, Gain, Interval
from itk_consensus.images import convert
from itk_consensus.methods.consensus.consensus_filter import ConsensusFilter
from itk_consensus.votes.fusions import StoredShares, VolumeFusion
from itk_consensus.votes.overlap import dice

if TYPE_CHECKING:
    from itk_consensus.deep.model import ConsensusModel

#: Of a case whose truth nobody knows so many raters are held out, one after the other.
_HELD_OUT_RATERS = 3

#: Of a vote: what breaks ties and turns no majority.
_CASTING_VOTE = np.float32(1e-6)

#: The class of every voxel of a case.
Decide = Callable[[DeepInput], NDArray[np.uint8]]


def gain_of(
    network: Decide,
    cases: Iterable[DeepInput],
    labels: Sequence[int],
    *,
    by_truth: bool,
    with_atlases: bool,
) -> Gain:
    """Dice beyond other fusers of cases that training did not see.

    Where raters judge, the vote breaks ties as the network does: seven raters never tie, but six of
    them do, and breaking these ties better is no gain over the vote of seven.

    Parameters
    ----------
    network : callable
        Its answer to a case.
    labels : sequence of int
        Of each class.
    by_truth : bool
        Whether the cases' truths judge, or raters of each case whom nobody is shown.
    with_atlases : bool
        Whether raters have images, so that joint fusion is to be fallen back on, not the vote.
    """
    others = {VOTE: vote_of(labels), "Consensus": consensus_of(labels)}
    if with_atlases:
        others = {"joint fusion": joint_fusion_of(labels), **others}
    rows = []
    for turn, case in enumerate(cases):
        judged = (
            [(case, case.true_classes(labels))] if by_truth else _without_one(case, labels, turn)
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
    """Dice with the truth that one answer gains over another."""
    gains = []
    for case in cases:
        truth = case.true_classes(labels)
        dices = [mean_dice(decide(case), truth, len(labels)) for decide in (one, other)]
        gains.append(dices[0] - dices[1])
    return Interval.of(gains)


def mean_dice(found: NDArray[np.uint8], judge: NDArray[np.uint8], classes: int) -> float:
    """Of the classes but the first, where the judge has an opinion, and of those that he uses."""
    known = judge != MISSING
    found, judge = found[known], judge[known]
    used = [index for index in range(1, classes) if (judge == index).any()] or range(1, classes)
    return float(np.mean([dice(found == index, judge == index) for index in used]))


def vote_of(labels: Sequence[int], casting: NDArray[np.uint8] | None = None) -> Decide:
    """The vote; of tied classes that of `casting` wins if it is one of them, else the first."""

    def decide(given: DeepInput) -> NDArray[np.uint8]:
        shares = vote_shares(given, labels)
        if casting is not None:
            for index, share in enumerate(shares):
                share[casting == index] += _CASTING_VOTE
        return np.asarray(shares.argmax(0), np.uint8)

    return decide


def joint_fusion_of(labels: Sequence[int]) -> Decide:
    """Joint fusion's answer, of cases whose raters have images."""
    return lambda given: given.prior(labels).argmax(0).astype(np.uint8)


def raters_answer(given: DeepInput, labels: Sequence[int]) -> VolumeFusion:
    """What is fallen back on: joint fusion of raters that have images, else the vote."""
    shares = vote_shares(given, labels) if given.shares is None else given.prior(labels)
    return VolumeFusion(shares.argmax(0).astype(np.uint8), WidenedShares(shares))


@dataclass(frozen=True)
class WidenedShares(StoredShares):
    """The same, as float64."""

    def of_label(self, label: int) -> NDArray[np.float64]:
        return super().of_label(label).astype(np.float64)


def vote_shares(given: DeepInput, labels: Sequence[int]) -> NDArray[np.float32]:
    """(K, \\*S) share of the raters that chose each class; 0 where there are none."""
    drawn = encoded(given.stack, labels, given.shape)
    present = np.maximum((drawn != MISSING).sum(0, dtype=np.float32), 1)
    return np.stack([(drawn == k).sum(0, dtype=np.float32) / present for k in range(len(labels))])


def consensus_of(labels: Sequence[int]) -> Decide:
    """ConsensusFilter's answer."""

    def decide(given: DeepInput) -> NDArray[np.uint8]:
        images = [
            None if array is None else convert.to_image(np.ascontiguousarray(array), given.loaded)
            for array in given.stack.arrays
        ]
        fuser = ConsensusFilter(MissingLabel=given.stack.missing_label)
        found = fuser.fuse(images).decision(labels)
        return np.where((found < 0) | (found >= len(labels)), 0, found).astype(np.uint8)

    return decide


def _without_one(
    case: DeepInput, labels: Sequence[int], turn: int
) -> Iterator[tuple[DeepInput, NDArray[np.uint8]]]:
    """The case without one of its raters, and what that one drew; raters take turns."""
    drawn = encoded(case.stack, labels, case.shape)
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
    """What is to be said of a model, and of an image it was asked about."""
    gain = known_gain(model)
    answer = f"{gain.instead} answers" if without_gain == "raters" else "the network answers"
    facts = {"gain": str(gain), "instead": gain.instead.removeprefix("the "), "answer": answer}
    severity: Severity = None if gain.is_shown else "look"
    yield Finding("gain", Interval.of(gain.over[VOTE]).mean, severity, facts=facts)
    note: Severity = "note" if model.improving else None
    yield Finding("training", float(model.improving), note, kind="" if note else "fine")
    if unlike is not None:
        yield unlike_finding(unlike)


def known_gain(model: ConsensusModel) -> Gain:
    """A model's gain; of one whose file does not say, nothing is known."""
    return model.gain or Gain(by_truth=False, over={VOTE: (), "Consensus": ()})


def unlike_finding(unlike: Sequence[str]) -> Finding:
    """Whether an image is of the kind that the model was trained on."""
    fields = " and ".join(unlike)
    severity: Severity = "look" if unlike else None
    kind = "" if unlike else "fine"
    return Finding("likeness", float(len(unlike)), severity, facts={"fields": fields}, kind=kind)
