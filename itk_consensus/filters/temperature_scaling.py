"""TemperatureScalingFilter: probabilities that say how often they are right."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.calibration.conformal_scores import box_around
from itk_consensus.calibration.json_record import library_versions
from itk_consensus.calibration.reliability import Reliability
from itk_consensus.calibration.scaling_record import (
    ScalingComparison,
    ScalingRecord,
    ScalingReport,
)
from itk_consensus.calibration.temperature_scaling import (
    METHODS,
    Scaling,
    ScalingTable,
    fit_scaling,
    smoothed_votes,
)
from itk_consensus.errors import ConsensusWarning, InputError, NotExecutedError, ParameterError
from itk_consensus.filters.calibration_filter import CalibrationFilter, ProbabilityCase
from itk_consensus.filters.constraints import Choice
from itk_consensus.filters.parameters import Parameter
from itk_consensus.images import convert
from itk_consensus.labels.distance import signed_distance

Arrays = Sequence[NDArray[Any]]


class TemperatureScalingFilter(CalibrationFilter[ScalingRecord]):
    """Make probabilities honest: fit on cases with a reference, apply to others.

    The fit sees the region only: what any rater marked, widened by RegionMargin. GetReport()
    compares before and after, in the region and in the whole image; a rising ECE warns. Scaled
    probabilities are calibrated on average, not in any single case.
    """

    record_class = ScalingRecord

    Method: Parameter[str] = Parameter(
        Choice(METHODS),
        "temperature_bias",
        "What is fitted: a temperature and a bias per label, a temperature, or a rising curve.",
    )

    def __init__(self, **parameters: Any) -> None:
        super().__init__(**parameters)
        self._comparison: ScalingComparison | None = None

    def Calibrate(
        self,
        probabilities: Iterable[Any],
        references: Iterable[Any],
        raters: Iterable[Any] | None = None,
    ) -> None:
        """Fit to cases whose reference is known.

        Parameters
        ----------
        probabilities : iterable of images, or of lists with one image per label
        references : iterable of label images
            Any value but 0 is foreground if there are two labels.
        raters : iterable of lists of label images, optional
            Their union is the region; without them the region is around the consensus. Vote
            fractions need them: the number of raters decides what a vote is worth.
        """
        images = (list(probabilities), list(references), None if raters is None else list(raters))
        with self._running():
            self._record = self._comparison = None
            tables, rater_counts = [], set()
            for case in self._calibration_cases(*images):
                region = self._region(case)
                voxels = [p[region] for p in self._inputs(case, case.rater_count)]
                tables.append(ScalingTable.of(voxels, case.reference_labels()[region]))
                rater_counts.add(case.rater_count)
            self._check_cases(tables, rater_counts)
            self._report(0.5)
            scaling = fit_scaling(ScalingTable.joined(tables), self.Method)
            self._comparison = self._compare(scaling, *images)
            self._record = ScalingRecord(
                method=self.Method,
                scaling=scaling,
                labels=tables[0].counts.shape[1],
                number=len(tables),
                region_margin=self.RegionMargin,
                probability_is_vote_fraction=self.ProbabilityIsVoteFraction,
                rater_count=rater_counts.pop(),
                report=self._comparison.report(),
                versions=library_versions(),
            )
            self._warn_if_worse(self._record.report)

    def Evaluate(
        self,
        probabilities: Iterable[Any],
        references: Iterable[Any],
        raters: Iterable[Any] | None = None,
    ) -> ScalingReport:
        """Compare before and after on other cases than the fitted ones."""
        record = self.GetRecord()
        with self._running():
            self._comparison = self._compare(record.scaling, probabilities, references, raters)
            return self._comparison.report()

    def GetReport(self) -> ScalingReport:
        """Reliability before and after, on the cases the scaling was fitted to."""
        return self.GetRecord().report

    def GetComparison(self) -> ScalingComparison:
        """The binned frequencies of the last Calibrate or Evaluate, for reliability diagrams."""
        if self._comparison is None:
            raise NotExecutedError(f"{self.GetName()}: needs Calibrate or Evaluate first")
        return self._comparison

    def Execute(self, probability: Any) -> Any:
        """Scale a probability image, or a list with one image per label.

        Returns
        -------
        image or list of images
            Of float64, as many as were given.
        """
        record = self.GetRecord()
        with self._running():
            self._check_record(record)
            case = self._load_case(probability)
            if case.labels != record.labels:
                raise InputError(
                    f"{self.GetName()}: the calibration was made with {record.labels} labels, "
                    f"this has {case.labels}; calibrate again for it"
                )
            self._report(0.2)
            scaled = record.scaling.apply(self._inputs(case, record.rater_count))
            images = [convert.to_image(array, case.loaded) for array in scaled]
            return images if isinstance(probability, (list, tuple)) else images[0]

    @classmethod
    def FromRecord(cls, record: ScalingRecord) -> TemperatureScalingFilter:
        """Make a filter with a calibration and the options it was made with."""
        filter_ = cls(
            Method=record.method,
            RegionMargin=record.region_margin,
            ProbabilityIsVoteFraction=record.probability_is_vote_fraction,
        )
        filter_._record = record
        return filter_

    def _check_record(self, record: ScalingRecord) -> None:
        for name, wanted in {
            "Method": record.method,
            "ProbabilityIsVoteFraction": record.probability_is_vote_fraction,
        }.items():
            if getattr(self, name) != wanted:
                raise ParameterError(
                    f"{self.GetName()}: the calibration was made with {name} {wanted}, "
                    f"this is {getattr(self, name)}; calibrate again for it"
                )

    def _check_cases(self, tables: Sequence[ScalingTable], rater_counts: set[int | None]) -> None:
        if not tables:
            raise InputError(f"{self.GetName()}: Calibrate needs at least one case, got none")
        if not any(len(table.counts) for table in tables):
            raise InputError(f"{self.GetName()}: nothing to fit: no case has any foreground")
        found = {
            "labels": {table.counts.shape[1] for table in tables},
            "raters": {count or 0 for count in rater_counts},
        }
        for what, numbers in found.items():
            if len(numbers) > 1:
                listed = ", ".join(str(number) for number in sorted(numbers))
                raise InputError(
                    f"{self.GetName()}: cases must have equally many {what}, got {listed}"
                )

    def _inputs(self, case: ProbabilityCase, rater_count: int | None) -> Arrays:
        """The probabilities to scale; shares of votes are smoothed first."""
        if not self.ProbabilityIsVoteFraction:
            return case.probabilities
        if rater_count is None:
            raise ParameterError(
                f"{self.GetName()}: ProbabilityIsVoteFraction needs raters in Calibrate; "
                "their number decides what a vote is worth"
            )
        return smoothed_votes(case.probabilities, rater_count)

    def _region(self, case: ProbabilityCase) -> NDArray[np.bool_]:
        """What any rater marked, or else the consensus, widened by the margin."""
        marked = [np.asarray(mask) != 0 for mask in case.raters or (case.consensus,)]
        union = reduce(np.logical_or, marked)
        region = np.zeros(union.shape, dtype=bool)
        if union.any():
            box = box_around(union, self.RegionMargin, case.spacing)
            distance = signed_distance(union[box], case.spacing, threads=self.NumberOfThreads)
            region[box] = distance <= self.RegionMargin
        return region

    def _compare(
        self,
        scaling: Scaling,
        probabilities: Iterable[Any],
        references: Iterable[Any],
        raters: Iterable[Any] | None,
    ) -> ScalingComparison:
        cases = [
            self._compare_case(case, scaling)
            for case in self._calibration_cases(probabilities, references, raters)
        ]
        return reduce(add, cases)

    def _compare_case(self, case: ProbabilityCase, scaling: Scaling) -> ScalingComparison:
        reference, region = case.reference_labels(), self._region(case)
        before = _per_label(case.probabilities)
        after = _per_label(scaling.apply(self._inputs(case, case.rater_count)))
        return ScalingComparison(
            Reliability.of([p[region] for p in before], reference[region]),
            Reliability.of([p[region] for p in after], reference[region]),
            Reliability.of(before, reference),
            Reliability.of(after, reference),
        )

    def _warn_if_worse(self, report: ScalingReport) -> None:
        before, after = report.region_before.class_ece, report.region_after.class_ece
        if after > before:
            warnings.warn(
                f"{self.GetName()}: Method {self.Method} raised the expected calibration error in "
                f"the region from {before:.4f} to {after:.4f}",
                ConsensusWarning,
                stacklevel=3,
            )


def _per_label(probabilities: Arrays) -> Arrays:
    """One array per label, also if only the foreground's was given."""
    return [1 - probabilities[0], probabilities[0]] if len(probabilities) == 1 else probabilities
