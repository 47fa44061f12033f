"""What a case says about its raters, kept beside its consensus for the tables of the study."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.assessment.agreement.chance import ChanceTerms, Ratings
from itk_consensus.assessment.agreement.left_out import left_out_dice
from itk_consensus.assessment.agreement.result import AgreementResult
from itk_consensus.assessment.agreement.study import REGIONS
from itk_consensus.core.errors import FileError
from itk_consensus.fusing.fusion_result import FusionResult
from itk_consensus.images.files import read_bytes
from itk_consensus.report.image_file import label_counts
from itk_consensus.votes.overlap import dice


@dataclass(frozen=True)
class LabelRecord:
    """One label of a case."""

    label: int
    volumes: list[float]  #: Of each rater
    consensus: float | None  #: Volume of the consensus
    left_out: list[float | None]  #: Dice of each rater with the vote of the others
    #: What another rater's volume is expected to be, from and to; None if it was not asked for.
    expected: list[float] | None = None
    #: What agreement beyond chance is made of, of this label against the rest, by region.
    chance: dict[str, list[float]] = field(default_factory=dict)


@dataclass(frozen=True)
class RepeatRecord:
    """A further reading of a rater."""

    rater: str
    reading: str
    volumes: dict[int, float]  #: By label
    dice: dict[int, float]  #: With the rater's first reading


@dataclass(frozen=True)
class CaseStudy:
    """All that the study wants to know of one case."""

    raters: list[str]
    unit: str  #: Of volumes
    labels: list[LabelRecord]
    pairs: list[dict[str, Any]]  #: As of `AgreementResult.pairs`
    repeats: list[RepeatRecord] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        result: FusionResult[Any],
        agreement: AgreementResult,
        consensus: NDArray[Any],
        repeats: Iterable[tuple[str, str, NDArray[Any]]] = (),
    ) -> CaseStudy:
        """From a result; `agreement` may have the consensus as its reference.

        Parameters
        ----------
        repeats : iterable of (rater, reading, label map)
            Further readings.
        """
        raters = len(agreement.raters) - (agreement.reference is not None)
        votes = result.case.patterns
        left_out = left_out_dice(votes)
        index = {int(value): k for k, value in enumerate(votes.labels)}
        counts = label_counts(consensus, "consensus")
        ratings = Ratings.of(votes)
        spacing = result.like.geometry.spacing[:3]
        voxel = math.prod(spacing) / (1000 if agreement.volume_unit == "ml" else 1)
        labels = [
            LabelRecord(
                one.label,
                one.volumes[:raters].tolist(),
                counts.get(one.label, 0) * voxel,
                [_known(value) for value in left_out[index[one.label]]],
                None if one.expected_volume is None else list(one.expected_volume),
                {
                    region: ChanceTerms.of(
                        ratings.against_the_rest(index[one.label], region)
                    ).numbers.tolist()
                    for region in REGIONS
                },
            )
            for one in agreement.labels
        ]
        names = list(agreement.raters[:raters])
        pairs = [
            {key: _known(value) for key, value in row.items()}
            for row in agreement.pairs()
            if row["second"] in names
        ]
        again = [
            _repeat(result, names, one, [record.label for record in labels], voxel)
            for one in repeats
        ]
        return cls(names, agreement.volume_unit, labels, pairs, again)

    def to_json(self) -> str:
        """The text of its file."""
        content = {
            **vars(self),
            "labels": [vars(one) for one in self.labels],
            "repeats": [vars(one) for one in self.repeats],
        }
        return json.dumps(content, allow_nan=False, ensure_ascii=False) + "\n"

    @classmethod
    def read(cls, path: Path) -> CaseStudy | None:
        """What a file says; None if it is damaged or gone."""
        try:
            content = json.loads(read_bytes(path))
            labels = [LabelRecord(**one) for one in content.pop("labels")]
            repeats = [_read_repeat(one) for one in content.pop("repeats")]
            return cls(labels=labels, repeats=repeats, **content)
        except (FileError, ValueError, TypeError, AttributeError, KeyError, RecursionError):
            return None

    def mean_left_out(self) -> list[float]:
        """(J,) Dice of each rater with the vote of the others, averaged over labels."""
        return [_mean([one.left_out[j] for one in self.labels]) for j in range(len(self.raters))]


def _repeat(
    result: FusionResult[Any],
    names: Sequence[str],
    repeat: tuple[str, str, NDArray[Any]],
    labels: Sequence[int],
    voxel: float,
) -> RepeatRecord:
    rater, reading, array = repeat
    votes = result.case.patterns
    first = votes.patterns[:, list(names).index(rater)]
    index = {int(value): k for k, value in enumerate(votes.labels)}
    volumes, overlaps = {}, {}
    for label in labels:
        again = np.asarray(array == label)
        volumes[label] = float(np.count_nonzero(again)) * voxel
        overlaps[label] = dice(again, votes.expand((first == index[label]).view(np.uint8)))
    return RepeatRecord(rater, reading, volumes, overlaps)


def _read_repeat(content: dict[str, Any]) -> RepeatRecord:
    """JSON has no numbers for keys."""
    numbers = {
        name: {int(label): float(value) for label, value in content[name].items()}
        for name in ("volumes", "dice")
    }
    return RepeatRecord(content["rater"], content["reading"], **numbers)


def same_raters(case: str, names: Sequence[str]) -> list[str]:
    """What raters are called in every case: their files' names without the name of the case."""
    short = [name.replace(case, "").strip(" _-./") for name in names]
    return short if len({*short} - {""}) == len(names) else list(names)


def _known(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _mean(values: Sequence[float | None]) -> float:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else float("nan")
