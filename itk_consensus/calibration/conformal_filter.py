"""Base class of filters with a conformal guarantee; it checks the guarantee and creates
output maps.
"""

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

Guaranteed = TypeVar("Guaranteed", BandRecord, MarginRecord)
Filter = TypeVar("Filter", bound="ConformalFilter[Any]")


@dataclass(frozen=True, eq=False)
class LabelSets(Result):
    """Result of Execute: label sets (K, \\*box) inside a box; outside it, only background
    is possible.
    """

    loaded: LoadedImages
    box: tuple[slice, ...]
    sets: NDArray[np.bool_]
    has_two_labels: bool
    guarantee: str
    ambiguous_volume: float  #: Volume in mm³ (2D: mm²) with more than one possible label
    thickness: float  #: Volume of the band divided by the area of the consensus contour, in mm
    spread: float = nan  #: Distance between the raters' contours, in mm; NaN if not needed
    empty_fraction: float = nan  #: Share of voxels without any possible label
    doubts: tuple[str, ...] = ()  #: Reasons to doubt the guarantee or the usefulness of the band
    memo: Memo = field(default_factory=Memo, repr=False)


class ConformalFilter(OneKindFilter[Guaranteed]):
    """Base class: a calibration with a guarantee for the next case, and maps of possible labels."""

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
        "Why the guarantee may not hold for this case, whose raters are closer together or farther "
        "apart than those of the calibration; or why its band is of no use.",
        "doubts",
    )

    # -- the guarantee ------------------------------------------------------------------------

    def GetGuarantee(self) -> str:
        """Return, in one sentence, the guarantee for the last Execute or, before it, for
        the next one.
        """
        guarantee = self.GetRecord().guarantee
        result = self._result
        return Sentence(guarantee if result is None else result.guarantee)

    def _take(self: Filter, record: Any) -> Filter:
        super()._take(record)
        self._latest = Latest()
        self._tell(record.doubts())
        return self

    def _provenance(self, provenance: Mapping[str, Any] | None) -> dict[str, Any]:
        return {"fusion_method": self.FusionMethod, **(provenance or {})}

    def _check_record(self, record: Guaranteed, options: Any, case: ProbabilityCase) -> None:
        given = {"labels": case.labels, "rater_count": case.rater_count}
        made_with = {name: getattr(record, name) for name in given}
        self._reject_other(record.parameters | made_with, asdict(options) | given)

    def _guarantee(self, record: Guaranteed, case: ProbabilityCase) -> str:
        """Return the guarantee for this input, or that there is none; raise if the input is
        unsuitable.
        """
        other = "; ".join(self._differences(record, case))
        if not other:
            return record.guarantee
        if not self.WithoutPromise:
            raise ParameterError(
                f"{other}; calibrate again for it, or set {{WithoutPromise}} to True to "
                "mark it without a guarantee",
                owner=self.GetName(),
                mentions=("WithoutPromise",),
            )
        return f"Nothing is guaranteed: {other}."

    # -- the label map ------------------------------------------------------------------------

    def GetSetSizeImage(self) -> Any:
        """Return, as uint16, the number of possible labels at each voxel in the last Execute."""
        band = self.GetResult()
        return _make_map(band, band.sets.sum(axis=0, dtype=np.uint16), outside=1)

    def GetResult(self) -> LabelSets:
        """Return the result of the last Execute."""
        result: LabelSets = super().GetResult()
        return result

    def _label_sets(
        self,
        case: ProbabilityCase,
        loaded: LoadedImages,
        box: Sequence[slice],
        sets: NDArray[np.bool_],
        guarantee: str,
        spreads: Spreads,
    ) -> LabelSets:
        """Make the result from label sets; measure the band and warn of doubts."""
        ambiguous = int(np.count_nonzero(sets.sum(axis=0, dtype=np.uint16) > 1))
        area = case.contour_areas[0]
        volume = ambiguous * prod(case.spacing)
        thickness: float = volume / area if area else nan
        doubts: tuple[str, ...] = (
            *self.GetRecord().unusual_spreads(spreads),
            *_uncertain_labels(case.consensus[tuple(box)], sets, thickness),
        )
        self._tell(doubts)
        return LabelSets(
            loaded.without_inputs(),
            tuple(box),
            sets,
            len(case.probabilities) == 1,
            guarantee,
            volume,
            thickness,
            doubts=doubts,
        )


def _uncertain_labels(
    consensus: NDArray[Any], sets: NDArray[np.bool_], thickness: float
) -> Iterator[str]:
    """Yield a sentence for each label of the consensus that has no certain voxel."""
    certain = sets.sum(axis=0, dtype=np.uint16) == 1
    for label in range(1, len(sets)):
        here = consensus == label
        if here.any() and not (certain & sets[label] & here).any():
            yield (
                f"no voxel is certain to be label {label}: a band of {thickness:.3g} mm takes all "
                "of it, and is of no use here"
            )


def band_image(band: LabelSets) -> Any:
    """Encode label sets as an image: codes for two labels, bits or a vector image for more."""
    if band.has_two_labels:
        return _make_map(band, band_codes(band.sets), outside=0)
    if len(band.sets) <= MOST_LABELS_IN_BITS:
        return _make_map(band, label_bits(band.sets), outside=1)
    members = np.zeros((len(band.sets), *band.loaded.geometry.shape), dtype=np.uint8)
    members[0] = 1
    members[(slice(None), *band.box)] = band.sets
    return convert.to_vector_image(list(members), band.loaded)


def _make_map(band: LabelSets, inside: NDArray[Any], outside: int) -> Any:
    """Return an image that contains `inside` in the box and a constant elsewhere."""

    def write(out: NDArray[Any]) -> None:
        out.fill(outside)
        out[band.box] = inside

    return convert.make_image(write, inside.dtype, band.loaded)
