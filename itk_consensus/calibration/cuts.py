"""Cuts (thresholds) of probabilities, learned from cases with a reference if they help.

For raters and networks that share a bias, the best cut differs from one half. A cut is evaluated by
leave-one-out cross-validation, and used only if its gain over one half is significant.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from itk_consensus.calibration.probabilities import (
    EPSILON,
    KINDS,
    ProbabilityCase,
    clip_probability,
    consensus_labels,
    one_per_label,
)
from itk_consensus.calibration.record import CalibrationRecord
from itk_consensus.core.array_types import Floats
from itk_consensus.core.constraints import Choice, Integer, Real, Text, optional
from itk_consensus.storage.record import Each, Members, OnePart, Part

MEASURES = ("dice", "volume")

CUTS: Floats = np.arange(1, 100) / 100
"""Candidate cuts."""

HALF = 49
"""Index of one half in `CUTS`."""

FEWEST_CASES = 3
USUAL_CASES = 10
_CONFIDENCE = 0.9


def cut_scores(probability: NDArray[Any], reference: NDArray[np.bool_], measure: str) -> Floats:
    """Return the (99,) agreement of a probability with a reference, for each of `CUTS`.

    Parameters
    ----------
    measure : str
        "dice", or "volume": the smaller of the two volumes over the larger one.
    """
    # In single precision, 0.7 is slightly less than 0.7, but it must still reach a cut of 0.7.
    step = np.searchsorted(CUTS, np.asarray(probability, np.float64).ravel() + EPSILON, "right")
    every = np.bincount(step, minlength=len(CUTS) + 1)
    right = np.bincount(step[reference.ravel()], minlength=len(CUTS) + 1)
    marked, hits = (counts[::-1].cumsum()[::-1][1:] for counts in (every, right))
    size = int(np.count_nonzero(reference))
    if measure == "dice":
        return _ratio(2 * hits, marked + size)
    return _ratio(np.minimum(marked, size), np.maximum(marked, size))


def _ratio(part: NDArray[Any], whole: NDArray[Any]) -> Floats:
    """Return a ratio of counts; 1 if both masks are empty."""
    return np.asarray(np.where(whole > 0, part / np.maximum(whole, 1), 1.0))


def best_cut(scores: Floats) -> int:
    """Return the index of the best cut: one half if it is among the best, else the median
    of the best.
    """
    if scores[HALF] >= scores.max():
        return HALF
    best = np.flatnonzero(scores == scores.max())
    return int(best[len(best) // 2])


@dataclass(frozen=True)
class LabelCut(Part):
    """The cut of one label, and its cross-validated gain over one half."""

    #: The cut in use; one half if the learned one is rejected
    cut: Annotated[float, Real(0.0, 1.0, exclusive=True)]
    learned: Annotated[float, Real(0.0, 1.0, exclusive=True)]  #: The best cut over all cases
    gain: Annotated[float, Real(-1.0, 1.0)]  #: Mean gain over cases, each left out in turn
    gain_low: Annotated[float, Real()]  #: gain_low, gain_high: 90 % interval of that mean
    gain_high: Annotated[float, Real()]

    @property
    def is_on(self) -> bool:
        """Whether the learned cut is used."""
        return self.gain_low > 0

    def contradictions(self) -> Iterator[tuple[str, str]]:
        """Yield inconsistent fields: an invalid interval, or a cut that contradicts it."""
        if not self.gain_low <= self.gain <= self.gain_high:
            yield "gain", "must lie in its interval"
        if self.cut != (self.learned if self.is_on else CUTS[HALF]):
            yield "cut", "must be the learned one if its gain is above 0, else one half"

    @classmethod
    def learn(cls, scores: Floats) -> LabelCut:
        """Learn from the (cases, 99) scores of at least two cases."""
        number, total = len(scores), scores.sum(axis=0)
        gains = np.array([own[best_cut(total - own)] - own[HALF] for own in scores])
        mean = float(gains.mean())
        error = float(gains.std(ddof=1)) / number**0.5
        reach = float(scipy.special.stdtrit(number - 1, (1 + _CONFIDENCE) / 2)) * error
        learned = float(CUTS[best_cut(total)])
        is_on = mean - reach > 0
        return cls(learned if is_on else 0.5, learned, mean, mean - reach, mean + reach)


class CutCase(NamedTuple):
    """The data of a case from which cuts are learned."""

    scores: Floats  #: (K - 1, 99) scores of each cut, for each label except the background
    rater_count: int | None
    kind: str | None  #: See `ProbabilityCase.kind`


def cut_case(case: ProbabilityCase, measure: str) -> CutCase:
    """Evaluate all cuts on a case, label by label."""
    reference = case.reference_labels()
    own = enumerate(against_the_rest(case.probabilities), start=1)
    scores = np.stack([cut_scores(p, reference == label, measure) for label, p in own])
    return CutCase(scores, case.rater_count, case.kind)


def against_the_rest(probabilities: Sequence[NDArray[Any]]) -> Iterator[NDArray[Any]]:
    """Yield p / (p + r) for each label except the background, where r is the largest other
    probability.

    This is at least one half if the label is the most probable one. With two labels it equals the
    foreground's probability.
    """
    every = one_per_label(probabilities)
    if len(every) == 2:
        yield every[1]
        return
    for label in range(1, len(every)):
        rival = np.maximum.reduce([p for other, p in enumerate(every) if other != label])
        yield every[label] / np.maximum(every[label] + rival, EPSILON)


def cut_labels(probabilities: Sequence[NDArray[Any]], cuts: Sequence[float]) -> NDArray[np.uint16]:
    """Return the label map for given cuts: with two labels, foreground if p reaches its cut.

    With several labels, it is the most probable one after each probability is divided by the odds
    of its cut.
    """
    if len(probabilities) == 1:
        return np.asarray(probabilities[0] >= cuts[0] - EPSILON).astype(np.uint16)
    if all(cut == CUTS[HALF] for cut in cuts):
        return consensus_labels(probabilities)
    offsets = (0.0, *(-scipy.special.logit(cut) for cut in cuts))
    return consensus_labels(
        [
            np.log(clip_probability(p)) + offset
            for p, offset in zip(probabilities, offsets, strict=True)
        ]
    )


@dataclass(frozen=True)
class CutRecord(CalibrationRecord):
    """Learned cuts."""

    schema = "itk_consensus cut"
    readable_properties = ("meaning",)

    cuts: Annotated[tuple[LabelCut, ...], Each(OnePart(LabelCut), 1)]  #: For labels 1 to K - 1
    measure: Annotated[str, Choice(MEASURES)]
    #: Number of cases from which the cuts were learned
    number: Annotated[int, Integer(FEWEST_CASES), "n"]
    labels: Annotated[int, Integer(2, 2**16)]  #: K, including the background
    rater_count: Annotated[int | None, optional(Integer(1))]
    fusion_method: Annotated[str | None, optional(Text(may_be_empty=True))]
    #: The `KINDS` to which the cases' probabilities belong.
    probability_kinds: Annotated[tuple[str, ...], Each(Choice(KINDS), 0, len(KINDS))]
    versions: Annotated[Mapping[str, str], Members(Text(may_be_empty=True))]

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the filter that made the record."""
        return {"measure": self.measure}

    @property
    def meaning(self) -> str:
        """Description of the learned cuts in a sentence."""
        return "; ".join(self._label_sentences()) + "."

    def _label_sentences(self) -> Iterator[str]:
        for label, one in enumerate(self.cuts, start=1):
            if f"{one.learned:g}" == "0.5":
                yield f"label {label} is best cut at 0.5, as without calibration"
                continue
            found = (
                f"cutting label {label} at {one.learned:g} instead of 0.5 gains {one.gain:+.3f} "
                f"{self.measure} on cases left out ({one.gain_low:+.3f} to {one.gain_high:+.3f})"
            )
            yield found if one.is_on else f"{found}, which may be chance, so 0.5 is used"

    def contradictions(self) -> Iterator[tuple[str, str]]:
        """Yield inconsistent fields: a wrong number of cuts."""
        if len(self.cuts) != self.labels - 1:
            yield "cuts", f"must be one for each of {self.labels - 1} labels"

    def doubts(self) -> Iterator[str]:
        """Yield reasons for caution that a user of the record should know."""
        if self.number < USUAL_CASES:
            yield f"the cut is learned from {self.number} cases; {USUAL_CASES} are recommended"
