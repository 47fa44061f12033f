"""What a case says about its raters, kept beside its consensus for the tables of the study."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from itk_consensus.assessment.agreement.left_out import left_out_dice
from itk_consensus.assessment.agreement.result import AgreementResult
from itk_consensus.core.constraints import Integer, Real, Text, optional
from itk_consensus.fusing.fusion_result import FusionResult
from itk_consensus.report.image_file import label_counts
from itk_consensus.storage.record import Anything, Each, Members, OnePart, Part, Record

_VOLUME = Real(0.0)


@dataclass(frozen=True)
class LabelRecord(Part):
    """One label of a case."""

    label: Annotated[int, Integer(-(2**63), 2**63)]
    volumes: Annotated[tuple[float, ...], Each(_VOLUME)]  #: Of each rater
    consensus: Annotated[float, _VOLUME]  #: Volume of the consensus
    #: Dice of each rater with the vote of the others.
    left_out: Annotated[tuple[float | None, ...], Each(optional(Real(0.0, 1.0)))]
    #: What another rater's volume is expected to be, from and to; None if it was not asked for.
    expected: Annotated[tuple[float, ...] | None, optional(Each(Real()))] = None


@dataclass(frozen=True)
class CaseStudy(Record):
    """All that the study wants to know of one case."""

    schema: ClassVar[str] = "itk_consensus case of a study"

    raters: Annotated[tuple[str, ...], Each(Text())]
    unit: Annotated[str, Text()]  #: Of volumes
    labels: Annotated[tuple[LabelRecord, ...], Each(OnePart(LabelRecord))]
    #: As of `AgreementResult.pairs`.
    pairs: Annotated[tuple[dict[str, Any], ...], Each(Members(Anything()))]

    @classmethod
    def of(
        cls, result: FusionResult[Any], agreement: AgreementResult, consensus: NDArray[Any]
    ) -> CaseStudy:
        """From a result; `agreement` may have the consensus as its reference."""
        raters = len(agreement.raters) - (agreement.reference is not None)
        votes = result.case.patterns
        left_out = left_out_dice(votes)
        index = {int(value): k for k, value in enumerate(votes.labels)}
        counts = label_counts(consensus, "consensus")
        spacing = result.like.geometry.spacing[:3]
        voxel = math.prod(spacing) / (1000 if agreement.volume_unit == "ml" else 1)
        labels = tuple(
            LabelRecord(
                one.label,
                tuple(one.volumes[:raters].tolist()),
                counts.get(one.label, 0) * voxel,
                tuple(_known(float(value)) for value in left_out[index[one.label]]),
                None if one.expected_volume is None else tuple(one.expected_volume),
            )
            for one in agreement.labels
        )
        names = tuple(agreement.raters[:raters])
        pairs = tuple(
            {key: _known(value) for key, value in row.items()}
            for row in agreement.pairs()
            if row["second"] in names
        )
        return cls(names, agreement.volume_unit, labels, pairs)

    def mean_left_out(self) -> list[float]:
        """(J,) Dice of each rater with the vote of the others, averaged over labels."""
        return [_mean([one.left_out[j] for one in self.labels]) for j in range(len(self.raters))]


def same_raters(case: str, names: Sequence[str]) -> list[str]:
    """What raters are called in every case: their files' names without the name of the case."""
    short = [name.replace(case, "").strip(" _-./") for name in names]
    return short if len({*short} - {""}) == len(names) else list(names)


def _known(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _mean(values: Sequence[float | None]) -> float:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else float("nan")
