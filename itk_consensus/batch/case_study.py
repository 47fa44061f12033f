"""What a case says about its raters, kept beside its consensus for the tables of the study."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.assessment.agreement.left_out import left_out_dice
from itk_consensus.assessment.agreement.result import AgreementResult
from itk_consensus.core.errors import FileError
from itk_consensus.fusing.fusion_result import FusionResult
from itk_consensus.images.files import read_bytes
from itk_consensus.report.image_file import label_counts


@dataclass(frozen=True)
class LabelRecord:
    """One label of a case."""

    label: int
    volumes: list[float]  #: Of each rater
    consensus: float | None  #: Volume of the consensus
    left_out: list[float | None]  #: Dice of each rater with the vote of the others
    #: What another rater's volume is expected to be, from and to; None if it was not asked for.
    expected: list[float] | None = None


@dataclass(frozen=True)
class CaseStudy:
    """All that the study wants to know of one case."""

    raters: list[str]
    unit: str  #: Of volumes
    labels: list[LabelRecord]
    pairs: list[dict[str, Any]]  #: As of `AgreementResult.pairs`

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
        labels = [
            LabelRecord(
                one.label,
                one.volumes[:raters].tolist(),
                counts.get(one.label, 0) * voxel,
                [_known(value) for value in left_out[index[one.label]]],
                None if one.expected_volume is None else list(one.expected_volume),
            )
            for one in agreement.labels
        ]
        names = list(agreement.raters[:raters])
        pairs = [
            {key: _known(value) for key, value in row.items()}
            for row in agreement.pairs()
            if row["second"] in names
        ]
        return cls(names, agreement.volume_unit, labels, pairs)

    def to_json(self) -> str:
        """The text of its file."""
        content = {**vars(self), "labels": [vars(one) for one in self.labels]}
        return json.dumps(content, allow_nan=False, ensure_ascii=False) + "\n"

    @classmethod
    def read(cls, path: Path) -> CaseStudy | None:
        """What a file says; None if it is damaged or gone."""
        try:
            content = json.loads(read_bytes(path))
            labels = [LabelRecord(**one) for one in content.pop("labels")]
            return cls(labels=labels, **content)
        except (FileError, ValueError, TypeError, AttributeError, KeyError, RecursionError):
            return None

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
