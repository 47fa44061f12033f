"""The tables of a study, computed from the records of its cases: pairs, raters, cases.

The Dice of a rater with the vote of the others is the human ceiling: a method with an equal Dice is
as good as a rater. Its interval is bootstrapped over cases.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from itk_consensus.assessment.agreement.chance import Region
from itk_consensus.assessment.agreement.study import REGIONS
from itk_consensus.assessment.resampling import mean_interval
from itk_consensus.batch.case_study import CaseStudy, common_rater_names
from itk_consensus.batch.reliability_table import label_reliability
from itk_consensus.calibration.samples import VolumeInterval
from itk_consensus.core.array_types import Floats

Row = dict[str, Any]

#: Name of the row that pools all raters.
ALL_RATERS = "all raters"


@dataclass(frozen=True)
class Study:
    """All finished cases of a batch."""

    cases: Mapping[str, CaseStudy]
    names: Mapping[int, str] = field(default_factory=dict)  #: Names of labels, if known

    def structure(self, label: int) -> str:
        """Return the name of a label."""
        return self.names.get(label, f"label {label}")

    @property
    def raters(self) -> list[str]:
        """All raters of any case."""
        found = (name for case in self.cases for name in self.raters_of(case))
        return list(dict.fromkeys(found))

    def raters_of(self, case: str) -> list[str]:
        """Return the names of a case's raters, without the name of the case, so that they are the
        same in all cases.
        """
        return common_rater_names(case, self.cases[case].raters)

    def missing(self, case: str) -> list[str]:
        """Return the raters of at least two other cases who are missing in this case."""
        here = set(self.raters_of(case))
        often = [name for name in self.raters if self._number(name) > 1]
        return [name for name in often if name not in here]

    def _number(self, rater: str) -> int:
        return sum(rater in self.raters_of(case) for case in self.cases)

    def pairs(self) -> list[Row]:
        """Return a row for each case, label and pair of raters."""
        rows = []
        for case, study in self.cases.items():
            called = dict(zip(study.raters, self.raters_of(case), strict=True))
            for pair in study.pairs:
                named = {key: called.get(pair[key], pair[key]) for key in ("first", "second")}
                row = {"case": case, "structure": self.structure(pair["label"])}
                rows.append({**row, **pair, **named})
        return rows

    def of_cases(self) -> list[Row]:
        """Return a row for each case and label."""
        rows = []
        for case, study in self.cases.items():
            for one in study.labels:
                dice = [row["dice"] for row in study.pairs if row["label"] == one.label]
                volumes = np.array(one.volumes)
                expected = {} if one.expected is None else _volumes(one.expected, study.unit)
                rows.append(
                    {
                        "case": case,
                        "structure": self.structure(one.label),
                        "label": one.label,
                        "raters": len(study.raters),
                        "raters_who_left_it_out": int((volumes == 0).sum()),
                        "missing_raters": "; ".join(self.missing(case)),
                        f"consensus_{study.unit}": one.consensus,
                        f"smallest_{study.unit}": float(volumes.min()),
                        f"largest_{study.unit}": float(volumes.max()),
                        **expected,
                        "volume_variation": _variation(volumes),
                        "mean_dice": _round(np.mean(dice)) if dice else None,
                        "lowest_dice": _round(min(dice)) if dice else None,
                    }
                )
        return rows

    def of_raters(self) -> list[Row]:
        """Return a row for each rater and label, and one for all raters together (the human
        ceiling).
        """
        rows = []
        labels = sorted({one.label for study in self.cases.values() for one in study.labels})
        for label in labels:
            ceiling = []
            for rater in self.raters:
                found = list(self._of_rater(rater, label))
                dice = np.array([one.dice for one in found if one.dice is not None])
                bias = np.array([one.bias for one in found if one.bias is not None])
                ceiling += [one for one in found if one.dice is not None]
                rows.append(self._rater_row(rater, label, len(found), dice, bias))
            # The bootstrap resamples cases, not raters, since raters are not independent within a
            # case.
            by_case: dict[str, list[float]] = {}
            for one in ceiling:
                assert one.dice is not None
                by_case.setdefault(one.case, []).append(one.dice)
            means = np.array([np.mean(values) for values in by_case.values()])
            rows.append(self._rater_row(ALL_RATERS, label, len(means), means, np.empty(0)))
        return rows

    def farthest_rater(self) -> FarthestRater | None:
        """The rater and label with the lowest Dice with the others' vote, relative to the others'
        own Dice in the same cases.

        None unless at least two cases have three raters or more: with only two raters, it is
        impossible to say which one deviates.
        """
        found = []
        for label in sorted({one.label for study in self.cases.values() for one in study.labels}):
            dice = self._dice_to_others(label)
            known = np.isfinite(dice)
            for column, rater in enumerate(self.raters):
                rows = known[:, column] & (known.sum(axis=1) > 2)
                if rows.sum() < 2:
                    continue
                own = dice[rows, column]
                usual = np.nanmean(np.delete(dice[rows], column, axis=1), axis=1)
                is_clear = mean_interval(own - usual).high < 0
                means = float(own.mean()), float(usual.mean())
                found.append(FarthestRater(rater, label, len(own), *means, is_clear))
        # A rater who is clearly farther takes precedence over one who may be farther only by
        # chance.
        return min(found, key=lambda one: (not one.is_clear, one.dice - one.others), default=None)

    def _dice_to_others(self, label: int) -> Floats:
        """(N, J) Dice with the vote of the others by case and rater; NaN where undefined."""
        dice = np.full((len(self.cases), len(self.raters)), np.nan)
        rows = {case: row for row, case in enumerate(self.cases)}
        for column, rater in enumerate(self.raters):
            for one in self._of_rater(rater, label):
                dice[rows[one.case], column] = np.nan if one.dice is None else one.dice
        return dice

    def next_readings(self) -> list[Row]:
        """Return a row for each case and label, sorted by the change expected from another
        reading.
        """
        rows = [
            {
                "case": case,
                "structure": self.structure(one.label),
                "label": one.label,
                "raters": len(study.raters),
                "expected_change": _round(one.next_reading[0]),
                f"expected_change_{study.unit.replace('^', '')}": _round(one.next_reading[1]),
            }
            for case, study in self.cases.items()
            for one in study.labels
            if one.next_reading is not None
        ]
        return sorted(rows, key=lambda row: -row["expected_change"])

    def reliability(self) -> list[Row]:
        """Return a row for each structure and statistic of reliability, with its interval."""
        labels = sorted({one.label for study in self.cases.values() for one in study.labels})
        return [
            {"structure": self.structure(label), **row}
            for label in labels
            for row in label_reliability(
                self.volumes(label),
                {region: self._chance(label, region) for region in REGIONS},
                next(iter(self.cases.values())).unit,
            )
        ]

    def _chance(self, label: int, region: Region) -> Floats:
        """Return the (N, T) terms of chance-corrected agreement for each case with the label."""
        records = (one for study in self.cases.values() for one in study.labels)
        found = (one.chance.get(region) for one in records if one.label == label)
        return np.array([numbers for numbers in found if numbers])

    def volumes(self, label: int) -> Floats:
        """Return the (N, J, M) volumes of a label by case, rater and reading; NaN if missing.

        Volumes are 0 in a case in which the label was not drawn.
        """
        raters = {name: number for number, name in enumerate(self.raters)}
        again: dict[tuple[int, int], list[float]] = {}
        first = np.full((len(self.cases), len(raters)), np.nan)
        for row, (case, study) in enumerate(self.cases.items()):
            called = [raters[name] for name in self.raters_of(case)]
            known = {one.label: one.volumes for one in study.labels}
            first[row, called] = known.get(label, 0.0)
            for one in study.repeats:
                place = row, called[study.raters.index(one.rater)]
                again.setdefault(place, []).append(one.volume_of(label))
        table = np.full((*first.shape, 1 + max(map(len, again.values()), default=0)), np.nan)
        table[:, :, 0] = first
        for (row, column), volumes in again.items():
            table[row, column, 1 : 1 + len(volumes)] = volumes
        return table

    def _rater_row(self, rater: str, label: int, cases: int, dice: Floats, bias: Floats) -> Row:
        low, high = bootstrap_interval(dice)
        return {
            "rater": rater,
            "structure": self.structure(label),
            "label": label,
            "cases": cases,
            "volume_bias_percent": _round(bias.mean()) if bias.size else None,
            "volume_bias_sd_percent": _round(bias.std(ddof=1)) if bias.size > 1 else None,
            "dice_to_vote_of_others": _round(dice.mean()) if dice.size else None,
            "dice_low": low,
            "dice_high": high,
        }

    def _of_rater(self, rater: str, label: int) -> Iterable[_OfRater]:
        for case, study in self.cases.items():
            called = self.raters_of(case)
            if rater not in called:
                continue
            number = called.index(rater)
            for one in study.labels:
                if one.label == label:
                    others = [v for j, v in enumerate(one.volumes) if j != number]
                    mean = float(np.mean(others)) if others else 0.0
                    bias = 100 * (one.volumes[number] / mean - 1) if mean else None
                    yield _OfRater(case, one.left_out[number], bias)


@dataclass(frozen=True)
class FarthestRater:
    """A rater's mean Dice with the vote of the others, and that of the other raters in the
    same cases.
    """

    rater: str
    label: int
    cases: int
    dice: float
    others: float
    is_clear: bool  #: Whether the 95 % interval of the difference (by case) is below 0


@dataclass(frozen=True)
class _OfRater:
    case: str
    dice: float | None  #: Dice with the vote of the others
    bias: float | None  #: Bias of the volume, in % of the others' mean


def bootstrap_interval(values: Floats) -> tuple[float | None, float | None]:
    """Return the bootstrap interval of the mean over cases; None with fewer than two values."""
    if values.size < 2:
        return None, None
    found = mean_interval(values)
    return _round(found.low), _round(found.high)


def outliers(values: Mapping[str, float]) -> set[str]:
    """Return the cases below Tukey's fence: the lower quartile minus 1.5 interquartile ranges."""
    if len(values) < 5:
        return set()
    low, high = np.percentile(list(values.values()), (25, 75))
    return {case for case, value in values.items() if value < low - 1.5 * (high - low)}


def columns(rows: Sequence[Row]) -> list[str]:
    """Return the union of the columns of rows, in order of first occurrence."""
    return list(dict.fromkeys(name for row in rows for name in row))


def _volumes(expected: Sequence[float], unit: str) -> Row:
    return {
        f"volume_{part}_{unit}": _round(value)
        for part, value in zip(VolumeInterval._fields, expected, strict=True)
    }


def _variation(volumes: Floats) -> float | None:
    if volumes.size < 2 or not volumes.mean():
        return None
    return _round(volumes.std(ddof=1) / volumes.mean())


def _round(value: Any) -> float:
    return round(float(value), 6)
