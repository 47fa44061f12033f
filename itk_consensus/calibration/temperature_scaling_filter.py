"""TemperatureScalingFilter: calibrates probabilities to match observed frequencies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from operator import add
from typing import Any

from numpy.typing import NDArray

from itk_consensus.calibration.calibration_filter import CalibrationFilter, RegionMixin
from itk_consensus.calibration.conformal_record import check_alike
from itk_consensus.calibration.probabilities import ProbabilityCase, smoothed_votes
from itk_consensus.calibration.record import library_versions
from itk_consensus.calibration.reliability import ScalingComparison, ScalingReport
from itk_consensus.calibration.scaling import (
    METHODS,
    Scaling,
    ScalingChoice,
    ScalingRecord,
    ScalingTable,
    choose_scaling,
    compare,
    region_of,
)
from itk_consensus.core.constraints import Choice
from itk_consensus.core.errors import InputError, NotExecutedError
from itk_consensus.core.parameters import Parameter, defensive_copy
from itk_consensus.core.work import report
from itk_consensus.images import convert


class TemperatureScalingFilter(RegionMixin, CalibrationFilter[ScalingRecord]):
    """Calibrates probabilities: fit on cases with a reference, apply to others.

    The fit uses only the region marked by any rater, dilated by RegionMargin. GetReport() compares
    the reliability before and after scaling, in the region and in the whole image. A warning is
    issued if the ECE increases. If scaling does not reduce the cross-validated log loss,
    probabilities are left unchanged, also with a warning. Scaled probabilities are calibrated on
    average, not for each case.
    """

    record_class = ScalingRecord

    Method = Parameter(
        Choice(METHODS),
        "temperature_bias",
        "The model: a temperature and a bias per label, a temperature, or a monotonic curve.",
    )

    _comparison: ScalingComparison | None = None

    def Calibrate(
        self,
        probabilities: Iterable[Any],
        references: Iterable[Any],
        raters: Iterable[Any] | None = None,
    ) -> None:
        """Fit the scaling to cases whose reference is known.

        Parameters
        ----------
        probabilities : iterable of images, or of lists with one image per label
        references : iterable of label images
            If there are two labels, any value other than 0 is foreground.
        raters : iterable of lists of label images, optional
            Their union is the region; without raters, the region is around the consensus. Required
            for vote fractions, whose smoothing depends on the number of raters.
        """
        images = (list(probabilities), list(references), None if raters is None else list(raters))
        with self._running():
            self._record = self._comparison = None
            tables, rater_counts = [], set()
            for case in self._calibration_cases(*images):
                region = region_of(case, self.RegionMargin)
                voxels = [p[region] for p in self._inputs(case, case.rater_count)]
                tables.append(ScalingTable.of(voxels, case.reference_labels()[region]))
                rater_counts.add(case.rater_count)
            self._check_cases(tables, rater_counts)
            report(0.5)
            choice = choose_scaling(tables, self.Method)
            scaling = choice.scaling
            self._comparison = self._compare(scaling, self._calibration_cases(*images))
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
            self._tell(_warnings(self.Method, self._record.report, choice))

    def Evaluate(
        self,
        probabilities: Iterable[Any],
        references: Iterable[Any],
        raters: Iterable[Any] | None = None,
    ) -> ScalingReport:
        """Compare reliability before and after scaling on cases that were not used in the fit."""
        record = self.GetRecord()
        with self._running():
            cases = self._calibration_cases(probabilities, references, raters)
            self._comparison = self._compare(record.scaling, cases)
            return self._comparison.report()

    def GetReport(self) -> ScalingReport:
        """Return the reliability before and after scaling, on the cases used in the fit."""
        return self.GetRecord().report

    def GetComparison(self) -> ScalingComparison:
        """Return the binned frequencies of the last Calibrate or Evaluate."""
        if self._comparison is None:
            raise NotExecutedError("needs Calibrate or Evaluate first", owner=self.GetName())
        return defensive_copy(self._comparison)

    def Execute(self, probability: Any) -> Any:
        """Scale a probability image, or a list with one image per label.

        Parameters
        ----------
        probability : image, or list of images with one per label

        Returns
        -------
        image or list of images
            As many images as were given, of type float64.
        """
        record = self.GetRecord()
        with self._running():
            given = {name: getattr(self, name) for name in ("Method", "ProbabilityIsVoteFraction")}
            made_with = (record.method, record.probability_is_vote_fraction)
            self._reject_other(dict(zip(given, made_with, strict=True)), given)
            case, loaded = self._load_case(probability)
            if case.labels != record.labels:
                raise InputError(
                    f"the calibration was made with {record.labels} labels, "
                    f"this has {case.labels}; calibrate again for it",
                    owner=self.GetName(),
                )
            report(0.2)
            scaled = record.scaling.apply(self._inputs(case, record.rater_count))
            images = [convert.to_image(array, loaded) for array in scaled]
            return images if isinstance(probability, (list, tuple)) else images[0]

    def _check_cases(self, tables: Sequence[ScalingTable], rater_counts: set[int | None]) -> None:
        if not tables:
            raise InputError("Calibrate needs at least one case, got none", owner=self.GetName())
        if not any(len(table.counts) for table in tables):
            raise InputError(
                "nothing to fit: no case has any foreground; add cases that have",
                owner=self.GetName(),
            )
        check_alike(
            self.GetName(),
            labels={table.counts.shape[1] for table in tables},
            raters={count or 0 for count in rater_counts},
        )

    def _inputs(self, case: ProbabilityCase, rater_count: int | None) -> Sequence[NDArray[Any]]:
        """Return the probabilities to scale; vote fractions are smoothed first."""
        if not self.ProbabilityIsVoteFraction:
            return case.probabilities
        if rater_count is None:
            raise self._parameter_error(
                "ProbabilityIsVoteFraction",
                "needs raters in Calibrate, since smoothing of votes depends on their number",
            )
        return smoothed_votes(case.probabilities, rater_count)

    def _compare(self, scaling: Scaling, cases: Iterable[ProbabilityCase]) -> ScalingComparison:
        return reduce(add, [self._compare_case(case, scaling) for case in cases])

    def _compare_case(self, case: ProbabilityCase, scaling: Scaling) -> ScalingComparison:
        scaled = scaling.apply(self._inputs(case, case.rater_count))
        return compare(case, scaled, region_of(case, self.RegionMargin))


def _warnings(method: str, report: ScalingReport, choice: ScalingChoice) -> Iterator[str]:
    if choice.is_identity:
        yield (
            f"Method {method} would not lower the log loss of cases left out of the fit "
            f"({choice.before:.4f} to {choice.after:.4f} nats); probabilities are left unchanged"
        )
    before, after = report.region_before.class_ece, report.region_after.class_ece
    if after > before:
        yield (
            f"Method {method} raised the expected calibration error in the region from "
            f"{before:.4f} to {after:.4f}"
        )
