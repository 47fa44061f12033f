"""ConformalMarginFilter: how many mm to add to a consensus, or to take off it."""

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

    Calibrate on cases with a reference: the truth, or a rater who was held out of the consensus.
    The margin is the smallest with which the widened consensus covers the reference (or lies
    within it, made smaller) in so many of them that the next case is covered with probability
    1 - Alpha. Execute marks 0 outside, 1 inside and 2 margin; given a list of probability images,
    one per label, each label has a margin of its own and bit k is set where label k is possible.
    GetRecord().tau are the margins. Given raters, the record also says how wide a
    ConformalBandFilter would be, which follows each case's raters, with the same promise.
    """

    record_class = MarginRecord

    Direction = Parameter(
        Choice(DIRECTIONS),
        "outward",
        "Whether the consensus is widened to cover the reference, made smaller to lie within "
        "it, or both with one margin.",
    )
    CoveredShare = Parameter(
        Real(0.0, 1.0),
        1.0,
        "Share of the reference's volume that a covered case has within the margin; inward, the "
        "share of the consensus that is not certain and wrong.",
    )
    CraniocaudalRatio = Parameter(
        Real(0.0, 1e3, exclusive=True),
        1.0,
        "The margin along the patient (physical z), in margins across; 1: isotropic.",
    )

    def Calibrate(
        self,
        probabilities: Iterable[Any],
        references: Iterable[Any],
        raters: Iterable[Any] | None = None,
        case_ids: Sequence[str] | None = None,
        provenance: Mapping[str, Any] | None = None,
    ) -> None:
        """Find the margin from cases whose reference is known.

        Parameters
        ----------
        probabilities : iterable of images, or of lists with one image per label
            The consensus is where they are at least one half, or largest. It may be empty: no
            margin then covers a reference that is not.
        references : iterable of label images
            Any value but 0 is foreground if there are two labels.
        raters : iterable of lists of label images, optional
            The raters behind each consensus, to compare the margin with a band.
        case_ids : sequence of str, optional
            Kept as hashes only.
        provenance : mapping, optional
            As of ConformalBandFilter.
        """
        with self._running():
            self._record = None
            options = settings_from(self, MarginOptions)
            scored = [
                margin_scores(
                    case, options, known_spreads(case, False, f"{self.GetName()}: case {i}")
                )
                for i, case in enumerate(self._checked(probabilities, references, raters))
            ]
            told = self._provenance(provenance)
            self._record = margin_record(scored, case_ids, options, told, self.GetName())
            self._tell(self._record.doubts())

    def Execute(self, probability: Any, raters: Sequence[Any] | None = None) -> Any:
        """Mark what is inside, what is margin and what is outside.

        Parameters
        ----------
        probability : image, or list of images with one per label
        raters : list of label images, optional
            The raters behind this consensus: as many as in Calibrate, or the record is refused.
            With raters in both, Doubts says if they are closer together or farther apart here.

        Returns
        -------
        image
            As of ConformalBandFilter: 0 outside, 1 inside, 2 margin; for a list bit k set where
            label k is possible.
        """
        record, options = self.GetRecord(), settings_from(self, MarginOptions)
        with self._running() as run:
            case, loaded = self._load_case(probability, raters)
            self._check_axes(case)
            self._check_record(record, options, case)
            promise = self._promise(record, case)
            measured = bool(record.cases[0].spread_mm)
            spreads = known_spreads(case, False, self.GetName()) if measured else ()
            report(0.3)
            if case.consensus.any():
                box = margin_box(case, options, record.tau)
            else:
                self._warn("the consensus is empty: there is nothing to put a margin around")
                box = (slice(0, 0),) * case.consensus.ndim
            sets = margin_sets(case, options, record.tau, box)
            report(0.9)
            run.result = self._sets(case, loaded, box, sets, promise, spreads)
            return band_image(run.result)

    def _checked(self, *columns: Any) -> Iterable[ProbabilityCase]:
        for case in self._calibration_cases(*columns):
            self._check_axes(case)
            yield case

    def _check_axes(self, case: ProbabilityCase) -> None:
        if len(case.spacing) < 3 and self.CraniocaudalRatio != 1:
            raise self._wrong(
                "CraniocaudalRatio", f"must be 1 for 2D images, got {self.CraniocaudalRatio:g}"
            )
