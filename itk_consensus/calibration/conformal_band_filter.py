"""ConformalBandFilter: an ambiguity label map with a guarantee for whole cases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import nan
from typing import Any

from itk_consensus.calibration.band_record import BandRecord, band_record
from itk_consensus.calibration.calibration_filter import RegionMixin, of_cases
from itk_consensus.calibration.conformal import NORMALIZATIONS, RISKS, SCORES, UNITS, BandOptions
from itk_consensus.calibration.conformal_filter import ConformalFilter, band_image
from itk_consensus.calibration.scored_case import (
    ScoredCase,
    band_box,
    check_contour,
    is_circular,
    label_spreads,
    score_case,
    score_maps,
)
from itk_consensus.calibration.scores import prediction_sets
from itk_consensus.core.constraints import Boolean, Choice, Real
from itk_consensus.core.errors import InputError
from itk_consensus.core.parameters import Measurement, Parameter, settings_from
from itk_consensus.core.work import report


class ConformalBandFilter(RegionMixin, ConformalFilter[BandRecord]):
    """Marks where a consensus may be wrong, with a guarantee for the next case.

    Calibrate on cases with a reference: the true segmentation, or a rater who was held out of the
    consensus; never the consensus itself. Execute then marks 0 background, 1 foreground, 2
    ambiguous and 3 empty. Given a list of probability images, one per label, bit k of the result is
    set if label k is possible; GetSetSizeImage() returns the number of possible labels.
    GetGuarantee() returns the guarantee in one sentence. No statistic of the raters can reveal an
    error that all of them share.
    """

    record_class = BandRecord

    Tolerance = Parameter(
        Real(0.0, 1.0),
        0.05,
        "Share of the foreground a covered case may miss; a quarter of it for the background.",
    )
    Unit = Parameter(
        Choice(UNITS),
        "case",
        "The exchangeable unit; voxel is the paper's choice and has no guarantee.",
    )
    Risk = Parameter(
        Choice(RISKS),
        "miscoverage",
        "The bounded risk: the probability of missing too much, the mean share "
        "missed, or the probability of any miss.",
    )
    Score = Parameter(
        Choice(SCORES),
        "distance",
        "Score of a voxel: distance from the consensus contour in mm, or log-odds.",
    )
    Normalization = Parameter(
        Choice(NORMALIZATIONS),
        "rater_spread",
        "Whether distances are measured in units of the spread of the case's raters.",
    )
    Mondrian = Parameter(Boolean(), False, "One threshold, and one guarantee, per label.")
    EmptyPolicy = Parameter(
        Choice(("ambiguous", "keep")),
        "ambiguous",
        "What to do with voxels without any possible label: mark them ambiguous, or keep 3.",
    )
    Spread = Measurement(
        float,
        "Distance between the raters' contours of the foreground, in mm; NaN if not needed.",
        "spread",
    )
    EmptyFraction = Measurement(
        float,
        "Share of voxels without any possible label, regardless of EmptyPolicy.",
        "empty_fraction",
    )

    # -- calibration ----------------------------------------------------------------------------

    def Calibrate(
        self,
        probabilities: Iterable[Any],
        references: Iterable[Any],
        raters: Iterable[Any] | None = None,
        case_ids: Sequence[str] | None = None,
        provenance: Mapping[str, Any] | None = None,
    ) -> None:
        """Determine the threshold from cases whose reference is known.

        Parameters
        ----------
        probabilities : iterable of images, or of lists with one image per label
        references : iterable of label images
            If there are two labels, any value other than 0 is foreground.
        raters : iterable of lists of label images, optional
            The raters fused into each consensus; needed for rater_spread unless the probabilities
            are vote fractions.
        case_ids : sequence of str, optional
            Names of the cases; only hashes are stored.
        provenance : mapping, optional
            Stored in the record. Known keys: `reference_kind` ("truth" or "held-out rater"),
            `fusion_method` and `rater_count`.
        """
        with self._running():
            self._record = None
            options = self._options()
            scored, kept, circular = list[ScoredCase](), list[int](), list[int]()
            for i, case in enumerate(self._calibration_cases(probabilities, references, raters)):
                check_contour(case, f"{self.GetName()}: case {i}")
                if is_circular(case):
                    circular.append(i)
                    continue
                scored.append(score_case(case, options, f"{self.GetName()}: case {i}"))
                kept.append(i)
            if case_ids is not None and len(case_ids) == len(kept) + len(circular):
                case_ids = [case_ids[i] for i in kept]
            self._report_circular(circular, len(kept))
            origin = self._provenance(provenance)
            self._record = band_record(scored, case_ids, options, origin, self.GetName())
            self._tell(self._record.doubts())

    def _report_circular(self, circular: Sequence[int], others: int) -> None:
        """Warn about references that equal their consensus; raise if all do."""
        if circular and not others:
            raise InputError(
                "the reference equals the consensus at every voxel; a circular reference "
                "cannot calibrate, so hold a rater out of the consensus",
                owner=f"{self.GetName()}: case {circular[0]}",
            )
        if circular:
            self._warn(
                f"{of_cases('the reference', circular)} the consensus, voxel by voxel, and "
                f"excluded; the other {others} are used"
            )

    def _options(self) -> BandOptions:
        options = settings_from(self, BandOptions)
        for parameter, problem in options.contradictions():
            raise self._parameter_error(parameter, problem)
        return options

    # -- use ------------------------------------------------------------------------------------

    def Execute(self, probability: Any, raters: Sequence[Any] | None = None) -> Any:
        """Mark which voxels are certain and which are ambiguous.

        Parameters
        ----------
        probability : image, or list of images with one per label
        raters : list of label images, optional
            The raters fused into this consensus, as in Calibrate.

        Returns
        -------
        image
            uint8: 0 background, 1 foreground, 2 ambiguous, 3 empty. For a list: bit k set if label
            k is possible (uint8 for up to 8 labels, uint16 for up to 16, otherwise a vector image
            with one 0/1 component per label).
        """
        record, options = self.GetRecord(), self._options()
        with self._running() as run:
            case, loaded = self._load_case(probability, raters)
            self._check_record(record, options, case)
            check_contour(case, self.GetName())
            guarantee = self._guarantee(record, case)
            spreads = label_spreads(case, options, self.GetName())
            report(0.3)
            box = band_box(case, options, spreads, record.tau)
            maps = score_maps(case, options, spreads, box)
            sets = prediction_sets(maps.scores, record.tau)
            report(0.9)
            empty = ~sets.any(axis=0)
            if self.EmptyPolicy == "ambiguous":
                sets |= empty
            run.result = replace(
                self._label_sets(case, loaded, box, sets, guarantee, spreads),
                spread=spreads[0] if spreads else nan,
                empty_fraction=int(empty.sum()) / case.consensus.size,
            )
            return band_image(run.result)
