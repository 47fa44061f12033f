"""Record of the agreement between a case's raters, stored for the tables of the study."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from itk_consensus.assessment.agreement.chance import ChanceTerms, Ratings
from itk_consensus.assessment.agreement.left_out import left_out_dice
from itk_consensus.assessment.agreement.next_reading import next_reading
from itk_consensus.assessment.agreement.result import AgreementResult
from itk_consensus.assessment.agreement.study import REGIONS
from itk_consensus.core.constraints import Integer, Real, Text, optional
from itk_consensus.fusing.fusion_result import FusionResult
from itk_consensus.report.image_file import label_counts
from itk_consensus.storage.record import Anything, Each, Members, OnePart, Part, Record
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.overlap import dice

_LABEL = Integer(-(2**63), 2**63)
_VOLUME = Real(0.0)
_TEXT = Text(may_be_empty=True)


@dataclass(frozen=True)
class LabelRecord(Part):
    """Agreement on one label of a case."""

    label: Annotated[int, _LABEL]
    volumes: Annotated[tuple[float, ...], Each(_VOLUME)]  #: Volume by each rater
    consensus: Annotated[float, _VOLUME]  #: Volume of the consensus
    #: Dice of each rater with the vote of the others.
    left_out: Annotated[tuple[float | None, ...], Each(optional(Real(0.0, 1.0)))]
    #: Prediction interval for the volume drawn by another rater; None if it was not requested.
    expected: Annotated[tuple[float, ...] | None, optional(Each(Real()))]
    #: `ChanceTerms.numbers` for this label against the rest, by region.
    chance: Annotated[Mapping[str, tuple[float, ...]], Members(Each(Real()))]
    #: Expected change in the consensus due to one more reading: the share of voxels that change,
    #: and the change in volume; None with a single rater.
    next_reading: Annotated[tuple[float, ...] | None, optional(Each(Real(0.0)))]


@dataclass(frozen=True)
class RepeatRecord(Part):
    """A rater's repeated reading of a case."""

    rater: Annotated[str, _TEXT]
    reading: Annotated[str, _TEXT]
    labels: Annotated[tuple[int, ...], Each(_LABEL)]
    volumes: Annotated[tuple[float, ...], Each(_VOLUME)]  #: Volume of each label
    dice: Annotated[tuple[float, ...], Each(Real(0.0, 1.0))]  #: Dice with the rater's first reading

    def volume_of(self, label: int) -> float:
        """Return the volume of a label; 0 if it was not drawn in this case."""
        return dict(zip(self.labels, self.volumes, strict=True)).get(label, 0.0)


@dataclass(frozen=True)
class CaseStudy(Record):
    """Data of one case from which the tables of the study are computed."""

    schema: ClassVar[str] = "itk_consensus case of a study"

    raters: Annotated[tuple[str, ...], Each(_TEXT)]
    unit: Annotated[str, _TEXT]  #: Unit of the volumes
    labels: Annotated[tuple[LabelRecord, ...], Each(OnePart(LabelRecord))]
    #: Rows of `AgreementResult.pairs`.
    pairs: Annotated[tuple[dict[str, Any], ...], Each(Members(Anything()))]
    repeats: Annotated[tuple[RepeatRecord, ...], Each(OnePart(RepeatRecord))]

    @classmethod
    def of(
        cls,
        result: FusionResult[Any],
        agreement: AgreementResult,
        consensus: NDArray[Any],
        repeats: Iterable[tuple[str, str, NDArray[Any]]] = (),
    ) -> CaseStudy:
        """Make the record of a result; `agreement` may include the consensus as its reference.

        Parameters
        ----------
        repeats : iterable of (rater, reading, label map)
            Repeated readings, which are excluded from the fusion.
        """
        raters = len(agreement.raters) - (agreement.reference is not None)
        votes = result.case.patterns
        left_out = left_out_dice(votes)
        index = {int(value): k for k, value in enumerate(votes.labels)}
        counts = label_counts(consensus, "consensus")
        ratings = Ratings.of(votes)
        spacing = result.like.geometry.spacing[:3]
        voxel = math.prod(spacing) / (1000 if agreement.volume_unit == "ml" else 1)
        labels = tuple(
            LabelRecord(
                one.label,
                tuple(one.volumes[:raters].tolist()),
                counts.get(one.label, 0) * voxel,
                tuple(_none_if_not_finite(float(value)) for value in left_out[index[one.label]]),
                None if one.expected_volume is None else tuple(one.expected_volume),
                {
                    region: tuple(
                        ChanceTerms.of(
                            ratings.against_the_rest(index[one.label], region)
                        ).numbers.tolist()
                    )
                    for region in REGIONS
                },
                _next_reading(votes, index[one.label], voxel),
            )
            for one in agreement.labels
        )
        names = tuple(agreement.raters[:raters])
        pairs = tuple(
            {key: _none_if_not_finite(value) for key, value in row.items()}
            for row in agreement.pairs()
            if row["second"] in names
        )
        values = tuple(record.label for record in labels)
        again = tuple(_repeat(result, names, one, values, voxel) for one in repeats)
        return cls(names, agreement.volume_unit, labels, pairs, again)

    def mean_left_out(self) -> list[float]:
        """Return the (J,) Dice of each rater with the vote of the others, averaged over labels."""
        return [_mean([one.left_out[j] for one in self.labels]) for j in range(len(self.raters))]


def _next_reading(votes: DecisionPatterns, label: int, voxel: float) -> tuple[float, ...] | None:
    found = next_reading(votes, label)
    return None if found is None else (found.share, found.voxels * voxel)


def _repeat(
    result: FusionResult[Any],
    names: Sequence[str],
    repeat: tuple[str, str, NDArray[Any]],
    labels: tuple[int, ...],
    voxel: float,
) -> RepeatRecord:
    rater, reading, array = repeat
    votes = result.case.patterns
    first = votes.patterns[:, list(names).index(rater)]
    index = {int(value): k for k, value in enumerate(votes.labels)}
    volumes, overlaps = [], []
    for label in labels:
        again = np.asarray(array == label)
        volumes.append(float(np.count_nonzero(again)) * voxel)
        overlaps.append(dice(again, votes.expand((first == index[label]).view(np.uint8))))
    return RepeatRecord(rater, reading, labels, tuple(volumes), tuple(overlaps))


def common_rater_names(case: str, names: Sequence[str]) -> list[str]:
    """Return rater names without the name of the case, so that they are the same in every case."""
    short = [name.replace(case, "").strip(" _-./") for name in names]
    return short if len({*short} - {""}) == len(names) else list(names)


def _none_if_not_finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _mean(values: Sequence[float | None]) -> float:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else float("nan")
