"""ConformalMarginFilter: a margin in mm by which to widen or shrink a consensus."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from itk_consensus.calibration.conformal_filter import ConformalFilter, band_image
from itk_consensus.calibration.margins import (
    DIRECTIONS,
    MarginOptions,
    MarginRecord,
    margin_box,
    margin_record,
    margin_scores,
    margin_sets,
)
from itk_consensus.calibration.probabilities import ProbabilityCase
from itk_consensus.calibration.scored_case import known_spreads
from itk_consensus.core.constraints import Choice, Real
from itk_consensus.core.parameters import Parameter, settings_from
from itk_consensus.core.work import report


class ConformalMarginFilter(ConformalFilter[MarginRecord]):
    """A margin in mm around a consensus, with a guarantee for the next case.

    Calibrate on cases with a reference: the true segmentation, or a rater who was held out of the
    consensus. The margin is the smallest one by which the widened consensus covers the reference
    (or the shrunk one lies within it) in enough cases that the next case is covered with
    probability 1 - Alpha. Execute marks 0 outside, 1 inside and 2 margin; given a list of
    probability images, one per label, each label has its own margin and bit k is set if label k is
    possible. GetRecord().tau contains the margins. Given raters, the record also contains the width
    of a ConformalBandFilter with the same guarantee, which adapts to each case's raters.
    """

    record_class = MarginRecord

    Direction = Parameter(
        Choice(DIRECTIONS),
        "outward",
        "Whether the consensus is widened to cover the reference, shrunk to lie within "
        "it, or both with one margin.",
    )
    CoveredShare = Parameter(
        Real(0.0, 1.0),
        1.0,
        "Share of the reference's volume that must lie within the margin for a case to count as "
        "covered; inward, the share of the consensus that is not certain and wrong.",
    )
    CraniocaudalRatio = Parameter(
        Real(0.0, 1e3, exclusive=True),
        1.0,
        "Ratio of the margin along the patient (physical z) to that across; 1: isotropic.",
    )

    def Calibrate(
        self,
        probabilities: Iterable[Any],
        references: Iterable[Any],
        raters: Iterable[Any] | None = None,
        case_ids: Sequence[str] | None = None,
        provenance: Mapping[str, Any] | None = None,
    ) -> None:
        """Determine the margin from cases whose reference is known.

        Parameters
        ----------
        probabilities : iterable of images, or of lists with one image per label
            The consensus is the set of voxels at which they are at least one half, or largest. An
            empty consensus cannot be widened to cover a reference that is not empty.
        references : iterable of label images
            If there are two labels, any value other than 0 is foreground.
        raters : iterable of lists of label images, optional
            The raters fused into each consensus, to compare the margin with a band.
        case_ids : sequence of str, optional
            Names of the cases; only hashes are stored.
        provenance : mapping, optional
            As in ConformalBandFilter.
        """
        with self._running():
            self._record = None
            options = settings_from(self, MarginOptions)
            scored = [
                margin_scores(
                    case, options, known_spreads(case, False, f"{self.GetName()}: case {i}")
                )
                for i, case in enumerate(self._checked_cases(probabilities, references, raters))
            ]
            origin = self._provenance(provenance)
            self._record = margin_record(scored, case_ids, options, origin, self.GetName())
            self._tell(self._record.doubts())

    def Execute(self, probability: Any, raters: Sequence[Any] | None = None) -> Any:
        """Mark inside, margin and outside.

        Parameters
        ----------
        probability : image, or list of images with one per label
        raters : list of label images, optional
            The raters fused into this consensus, as many as in Calibrate. If raters are given to
            both, Doubts reports whether they are unusually close together or far apart.

        Returns
        -------
        image
            As in ConformalBandFilter: 0 outside, 1 inside, 2 margin; for a list, bit k is set if
            label k is possible.
        """
        record, options = self.GetRecord(), settings_from(self, MarginOptions)
        with self._running() as run:
            case, loaded = self._load_case(probability, raters)
            self._check_axes(case)
            self._check_record(record, options, case)
            guarantee = self._guarantee(record, case)
            measured = bool(record.cases[0].spread_mm)
            spreads = known_spreads(case, False, self.GetName()) if measured else ()
            report(0.3)
            if case.consensus.any():
                box = margin_box(case, options, record.tau)
            else:
                self._warn("the consensus is empty, so there is no margin")
                box = (slice(0, 0),) * case.consensus.ndim
            sets = margin_sets(case, options, record.tau, box)
            report(0.9)
            run.result = self._label_sets(case, loaded, box, sets, guarantee, spreads)
            return band_image(run.result)

    def _checked_cases(self, *columns: Any) -> Iterable[ProbabilityCase]:
        for case in self._calibration_cases(*columns):
            self._check_axes(case)
            yield case

    def _check_axes(self, case: ProbabilityCase) -> None:
        if len(case.spacing) < 3 and self.CraniocaudalRatio != 1:
            raise self._parameter_error(
                "CraniocaudalRatio", f"must be 1 for 2D images, got {self.CraniocaudalRatio:g}"
            )
