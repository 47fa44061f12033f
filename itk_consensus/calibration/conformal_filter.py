"""What filters with a conformal promise share: when it holds, and the label map they write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import nan, prod
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from itk_consensus.calibration.band_record import BandRecord
from itk_consensus.calibration.calibration_filter import OneKindFilter
from itk_consensus.calibration.margins import MarginRecord
from itk_consensus.calibration.probabilities import ProbabilityCase, Spreads
from itk_consensus.calibration.scores import MOST_LABELS_IN_BITS, band_codes, label_bits
from itk_consensus.core.constraints import Boolean, Real
from itk_consensus.core.display import Sentence
from itk_consensus.core.errors import ParameterError
from itk_consensus.core.parameters import Measurement, Parameter
from itk_consensus.core.results import Memo, Result
from itk_consensus.core.runs import Latest
from itk_consensus.images import convert
from itk_consensus.images.families.image_family import LoadedImages

Promise = TypeVar("Promise", BandRecord, MarginRecord)
Filter = TypeVar("Filter", bound="ConformalFilter[Any]")


@dataclass(frozen=True, eq=False)
class LabelSets(Result):
    """What an Execute makes: sets (K, \\*box) inside a box, background outside."""

    loaded: LoadedImages
    box: tuple[slice, ...]
    sets: NDArray[np.bool_]
    has_two_labels: bool
    guarantee: str
    ambiguous_volume: float  #: In mm³, in 2D mm², with more than one possible label
    thickness: float  #: That volume per area of the consensus contour, in mm
    spread: float = nan  #: Between the raters' contours, in mm; NaN if it was not needed
    empty_fraction: float = nan  #: Share of voxels to which no label fits
    doubts: tuple[str, ...] = ()  #: Why the promise, or the band, may be worth little here
    memo: Memo = field(default_factory=Memo, repr=False)


class ConformalFilter(OneKindFilter[Promise]):
    """Base: a calibration whose promise is about the next case, and maps of possible labels."""

    Alpha = Parameter(
        Real(0.0, 1.0, exclusive=True),
        0.1,
        "Probability that a case is not covered or, where the mean share missed is bounded, "
        "that share.",
    )
    WithoutPromise = Parameter(
        Boolean(),
        False,
        "Whether to accept probabilities of another kind or FusionMethod than the "
        "calibration's, without any guarantee.",
    )

    AmbiguousVolume = Measurement(
        float,
        "Volume in mm³ (area in mm², in 2D) with more than one possible label.",
        "ambiguous_volume",
    )
    BandThickness = Measurement(
        float, "Ambiguous volume per area of the consensus contour, in mm.", "thickness"
    )

    Doubts = Measurement(
        tuple[str, ...],
        "Why the promise may not hold for this case, whose raters are closer together or farther "
        "apart than those of the calibration; or why its band is of no use.",
        "doubts",
    )

    # -- the promise --------------------------------------------------------------------------

    def GetGuarantee(self) -> str:
        """What the calibration promises for the last Execute, or the next, in one sentence."""
        promise = self.GetRecord().guarantee
        result = self._result
        return Sentence(promise if result is None else result.guarantee)

    def _take(self: Filter, record: Any) -> Filter:
        super()._take(record)
        self._latest = Latest()
        self._tell(record.doubts())
        return self

    def _provenance(self, provenance: Mapping[str, Any] | None) -> dict[str, Any]:
        return {"fusion_method": self.FusionMethod, **(provenance or {})}

    def _check_record(self, record: Promise, options: Any, case: ProbabilityCase) -> None:
        given = {"labels": case.labels, "rater_count": case.rater_count}
        made_with = {name: getattr(record, name) for name in given}
        self._reject_other(record.parameters | made_with, asdict(options) | given)

    def _promise(self, record: Promise, case: ProbabilityCase) -> str:
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

    # -- the label map ------------------------------------------------------------------------

    def GetSetSizeImage(self) -> Any:
        """How many labels each voxel may have, as uint16, after the last Execute."""
        band = self.GetResult()
        return _filled(band, band.sets.sum(axis=0, dtype=np.uint16), outside=1)

    def GetResult(self) -> LabelSets:
        """What the last Execute made."""
        result: LabelSets = super().GetResult()
        return result

    def _sets(
        self,
        case: ProbabilityCase,
        loaded: LoadedImages,
        box: Sequence[slice],
        sets: NDArray[np.bool_],
        promise: str,
        spreads: Spreads,
    ) -> LabelSets:
        """The sets of labels, measured, with doubts that are told."""
        ambiguous = int(np.count_nonzero(sets.sum(axis=0, dtype=np.uint16) > 1))
        area = case.contour_areas[0]
        volume = ambiguous * prod(case.spacing)
        thickness: float = volume / area if area else nan
        doubts: tuple[str, ...] = (
            *self.GetRecord().unusual_spreads(spreads),
            *_useless(case.consensus[tuple(box)], sets, thickness),
        )
        self._tell(doubts)
        return LabelSets(
            loaded.without_inputs(),
            tuple(box),
            sets,
            len(case.probabilities) == 1,
            promise,
            volume,
            thickness,
            doubts=doubts,
        )


def _useless(consensus: NDArray[Any], sets: NDArray[np.bool_], thickness: float) -> Iterator[str]:
    """Labels of the consensus of which no voxel is certain."""
    certain = sets.sum(axis=0, dtype=np.uint16) == 1
    for label in range(1, len(sets)):
        here = consensus == label
        if here.any() and not (certain & sets[label] & here).any():
            yield (
                f"no voxel is certain to be label {label}: a band of {thickness:.3g} mm takes all "
                "of it, and is of no use here"
            )


def band_image(band: LabelSets) -> Any:
    """The sets as a label map: of two labels codes, of more bits, of many components."""
    if band.has_two_labels:
        return _filled(band, band_codes(band.sets), outside=0)
    if len(band.sets) <= MOST_LABELS_IN_BITS:
        return _filled(band, label_bits(band.sets), outside=1)
    members = np.zeros((len(band.sets), *band.loaded.geometry.shape), dtype=np.uint8)
    members[0] = 1
    members[(slice(None), *band.box)] = band.sets
    return convert.to_vector_image(list(members), band.loaded)


def _filled(band: LabelSets, inside: NDArray[Any], outside: int) -> Any:
    def write(out: NDArray[Any]) -> None:
        out.fill(outside)
        out[band.box] = inside

    return convert.written(write, inside.dtype, band.loaded)
