"""ConformalBandFilter: an ambiguity label map whose promise is about whole cases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import nan, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.calibration.band_record import BandRecord, make_record
from itk_consensus.calibration.conformal import NORMALIZATIONS, RISKS, SCORES, UNITS, BandOptions
from itk_consensus.calibration.probabilities import ProbabilityCase
from itk_consensus.calibration.scored_case import (
    band_box,
    check_contour,
    label_spreads,
    score_case,
    score_maps,
)
from itk_consensus.calibration.scores import (
    MOST_LABELS_IN_BITS,
    band_codes,
    label_bits,
    prediction_sets,
)
from itk_consensus.constraints import Boolean, Choice, Real, Text, optional
from itk_consensus.display import Sentence
from itk_consensus.errors import ParameterError
from itk_consensus.filters.calibration_filter import CalibrationFilter
from itk_consensus.filters.parameters import Measurement, Output, Parameter, settings_from
from itk_consensus.filters.runs import Run
from itk_consensus.images import convert
from itk_consensus.images.families.image_family import LoadedImages
from itk_consensus.work import report


@dataclass(frozen=True)
class _Band:
    """The last Execute's answer: sets (K, \\*box) inside a box, background outside."""

    loaded: LoadedImages
    box: tuple[slice, ...]
    sets: NDArray[np.bool_]
    has_two_labels: bool
    guarantee: str


class ConformalBandFilter(CalibrationFilter[BandRecord]):
    """Marks where a consensus may be wrong, with a guarantee for the next case.

    Calibrate on cases with a reference: the truth, or a rater who was held out of the consensus;
    never the consensus itself. Execute then marks 0 background, 1 foreground, 2 ambiguous and
    3 empty. Given a list of probability images, one per label, the result has bit k set where
    label k is possible; GetSetSizeImage() counts them. GetGuarantee() is the promise in one
    sentence. No statistic of the raters can see an error that all of them share.
    """

    record_class = BandRecord

    Alpha = Parameter(
        Real(0.0, 1.0, exclusive=True),
        0.1,
        "Probability that a case is not covered or, for Risk fnr, the expected share missed.",
    )
    Tolerance = Parameter(
        Real(0.0, 1.0),
        0.05,
        "Share of the foreground a covered case may miss; a quarter of it for the background.",
    )
    Unit = Parameter(
        Choice(UNITS),
        "case",
        "What is exchangeable; voxel is the paper's choice and carries no guarantee.",
    )
    Risk = Parameter(
        Choice(RISKS),
        "miscoverage",
        "What is bounded: the probability of missing too much, the mean share "
        "missed, or the probability of any miss.",
    )
    Score = Parameter(Choice(SCORES), "distance", "mm from the consensus contour, or log-odds.")
    Normalization = Parameter(
        Choice(NORMALIZATIONS),
        "rater_spread",
        "Whether distances are measured in units of the spread of the case's raters.",
    )
    Mondrian = Parameter(Boolean(), False, "One threshold, and one guarantee, per label.")
    EmptyPolicy = Parameter(
        Choice(("ambiguous", "keep")), "ambiguous", "What to do with voxels to which no label fits."
    )
    FusionMethod = Parameter(
        optional(Text()),
        None,
        "The method that made the probabilities; a record of another method is refused.",
        default_doc="not said",
    )
    WithoutPromise = Parameter(
        Boolean(),
        False,
        "Whether to accept probabilities of another kind or FusionMethod than the "
        "calibration's, without any guarantee.",
    )

    Spread = Measurement(
        float, "Distance between the raters' contours of the foreground, in mm; NaN if not needed."
    )
    AmbiguousVolume = Measurement(
        float, "Volume in mm³ (area in mm², in 2D) with more than one possible label."
    )
    BandThickness = Measurement(float, "Ambiguous volume per area of the consensus contour, in mm.")
    EmptyFraction = Measurement(
        float, "Share of voxels to which no label fits, whatever EmptyPolicy does with them."
    )

    _band = Output[_Band | None](None)

    # -- calibration ----------------------------------------------------------------------------

    def Calibrate(
        self,
        probabilities: Iterable[Any],
        references: Iterable[Any],
        raters: Iterable[Any] | None = None,
        case_ids: Sequence[str] | None = None,
        provenance: Mapping[str, Any] | None = None,
    ) -> None:
        """Find the threshold from cases whose reference is known.

        Parameters
        ----------
        probabilities : iterable of images, or of lists with one image per label
        references : iterable of label images
            Any value but 0 is foreground if there are two labels.
        raters : iterable of lists of label images, optional
            The raters behind each consensus; needed for rater_spread unless the probabilities are
            vote fractions.
        case_ids : sequence of str, optional
            Kept as hashes only.
        provenance : mapping, optional
            Kept in the record. Known keys: `reference_kind` ("truth" or "held-out rater"),
            `fusion_method` and `rater_count`.
        """
        with self._running():
            self._record = None
            options = self._options()
            scored = [
                score_case(case, options, f"{self.GetName()}: case {i}")
                for i, case in enumerate(self._calibration_cases(probabilities, references, raters))
            ]
            told = {"fusion_method": self.FusionMethod, **(provenance or {})}
            self._record = make_record(scored, case_ids, options, told, self.GetName())
            self._tell(self._record.doubts())

    def _options(self) -> BandOptions:
        options = settings_from(self, BandOptions)
        for parameter, problem in options.contradictions():
            raise self._wrong(parameter, problem)
        return options

    def GetGuarantee(self) -> str:
        """What the calibration promises for the last Execute, or the next, in one sentence."""
        promise = self.GetRecord().guarantee
        return Sentence(self._band.guarantee if self._band is not None else promise)

    def _with(self, record: BandRecord) -> ConformalBandFilter:
        super()._with(record)
        self._last = Run()
        self._tell(record.doubts())
        return self

    # -- use ------------------------------------------------------------------------------------

    def Execute(self, probability: Any, raters: Sequence[Any] | None = None) -> Any:
        """Mark what is certain and what is not.

        Parameters
        ----------
        probability : image, or list of images with one per label
        raters : list of label images, optional
            The raters behind this consensus, as in Calibrate.

        Returns
        -------
        image
            uint8: 0 background, 1 foreground, 2 ambiguous, 3 empty. For a list: bit k set where
            label k is possible (uint8 up to 8 labels, uint16 up to 16, above a vector image with
            one 0/1 component per label).
        """
        record, options = self.GetRecord(), self._options()
        with self._running():
            case, loaded = self._load_case(probability, raters)
            self._check_record(record, options, case)
            check_contour(case, self.GetName())
            promise = self._promise(record, case)
            spreads = label_spreads(case, options, self.GetName())
            self._tell(record.unusual_spreads(spreads))
            report(0.3)
            box = band_box(case, options, spreads, record.tau)
            maps = score_maps(case, options, spreads, box)
            sets = prediction_sets(maps.scores, record.tau)
            report(0.9)
            empty = ~sets.any(axis=0)
            if self.EmptyPolicy == "ambiguous":
                sets |= empty
            self._measure(case, spreads, sets, int(empty.sum()))
            self._band = _Band(
                loaded.without_inputs(), box, sets, len(case.probabilities) == 1, promise
            )
            return self._band_image(self._band)

    def GetSetSizeImage(self) -> Any:
        """How many labels each voxel may have, as uint16, after the last Execute."""
        band = self._made(self._band)
        return _filled(band, band.sets.sum(axis=0, dtype=np.uint16), outside=1)

    def _measure(
        self, case: ProbabilityCase, spreads: tuple[float, ...], sets: NDArray[np.bool_], empty: int
    ) -> None:
        ambiguous = int(np.count_nonzero(sets.sum(axis=0, dtype=np.uint16) > 1))
        self.Spread = spreads[0] if spreads else nan
        self.AmbiguousVolume = ambiguous * prod(case.spacing)
        self.BandThickness = self.AmbiguousVolume / case.contour_areas[0]
        self.EmptyFraction = empty / case.consensus.size

    def _check_record(
        self, record: BandRecord, options: BandOptions, case: ProbabilityCase
    ) -> None:
        given = {"labels": case.labels, "rater_count": case.rater_count}
        made_with = {name: getattr(record, name) for name in given}
        self._reject_other(record.parameters | made_with, asdict(options) | given)

    def _promise(self, record: BandRecord, case: ProbabilityCase) -> str:
        """The guarantee if it applies to this input; otherwise raise, or say that there is none."""
        other = "; ".join(self._differences(record, case))
        if not other:
            return record.guarantee
        if not self.WithoutPromise:
            raise ParameterError(
                f"{other}; calibrate again for it, or set {{WithoutPromise}} to True to "
                "mark it without a promise",
                owner=self.GetName(),
                mentions=("WithoutPromise",),
            )
        return f"Nothing is promised: {other}."

    def _differences(self, record: BandRecord, case: ProbabilityCase) -> Iterator[str]:
        kinds = record.probability_kinds
        if (kind := case.kind) not in (None, *kinds):
            made_on = " and ".join(kinds) or "raters who all agree"
            yield f"the calibration was made on {made_on}, this holds {kind}"
        methods = (record.fusion_method, self.FusionMethod)
        if None not in methods and len(set(methods)) > 1:
            yield "the calibration was made with fusion_method {}, this is {}".format(*methods)

    def _band_image(self, band: _Band) -> Any:
        if band.has_two_labels:
            return _filled(band, band_codes(band.sets), outside=0)
        if len(band.sets) <= MOST_LABELS_IN_BITS:
            return _filled(band, label_bits(band.sets), outside=1)
        members = np.zeros((len(band.sets), *band.loaded.geometry.shape), dtype=np.uint8)
        members[0] = 1
        members[(slice(None), *band.box)] = band.sets
        return convert.to_vector_image(list(members), band.loaded)


def _filled(band: _Band, inside: NDArray[Any], outside: int) -> Any:
    def write(out: NDArray[Any]) -> None:
        out.fill(outside)
        out[band.box] = inside

    return convert.written(write, inside.dtype, band.loaded)
