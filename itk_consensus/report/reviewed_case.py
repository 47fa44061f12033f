"""A fused case for review: the raters' labels, the consensus, and how well they agree."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.agreement.result import AgreementResult
from itk_consensus.agreement.study import AgreementSettings, study_agreement
from itk_consensus.errors import ParameterError
from itk_consensus.filters.consensus_explanation import MANY_LABELS
from itk_consensus.filters.label_fusion import LabelFusionFilter
from itk_consensus.filters.sample_segmentations import volume_intervals
from itk_consensus.report.orientation import Orientation
from itk_consensus.report.text import naming_raters
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.label_stack import LabelStack


@dataclass(frozen=True)
class ReviewedCase:
    """Raters, consensus and dispute of one Execute."""

    names: list[str]  #: Of the J raters
    labels: tuple[int, ...]
    maps: list[NDArray[Any]]  #: Label values; `missing` where the rater did not annotate
    missing: int
    consensus: NDArray[Any]  #: Label values; undecided voxels are 0
    #: Share of the raters, among those who annotated, who differ from the consensus.
    dissent: NDArray[np.float64]
    spacing: tuple[float, ...]  #: Voxel size per array axis
    agreement: AgreementResult  #: Its last column is the consensus
    #: Where the axes run in the patient; None for arrays, which do not say it, and for flat images.
    orientation: Orientation | None = None
    structure_names: Mapping[int, str] = field(default_factory=dict)  #: Of labels, where known
    #: Which of a page's raters these are, where some have not drawn this structure; () for all.
    places: tuple[int, ...] = ()

    @classmethod
    def of(
        cls,
        filter_: LabelFusionFilter,
        names: Sequence[str] | None = None,
        *,
        surfaces: bool = True,
        structure_names: Mapping[int, str] | None = None,
    ) -> ReviewedCase:
        """Review the last Execute of a filter; with `surfaces` also what takes longer."""
        fused, patterns = filter_.fused, filter_.votes
        named = checked_names(names, patterns.number_of_raters, "report")
        missing = max(fused.labels) + 1
        maps = rater_maps(filter_, missing)
        consensus = fused.settled_labels().astype(maps[0].dtype)
        spacing = fused.like.geometry.array_spacing
        inside = None
        if patterns.outside_code is not None:
            inside = np.asarray(patterns.codes != patterns.outside_code)
        stack = LabelStack.multilabel([*maps, consensus], missing_label=missing, mask=inside)
        agreement = study_agreement(
            DecisionPatterns.from_stack(stack),
            spacing,
            [*named, "consensus"],
            AgreementSettings(surfaces),
            reference="consensus",
        )
        if surfaces and len(agreement.labels) <= MANY_LABELS:
            agreement = agreement.with_volumes(volume_intervals(filter_))
        dissent = _dissent(maps, consensus, missing)
        like = fused.like
        placed = like.family.has_space and like.geometry.dimension > 2
        return cls(
            named,
            fused.labels,
            maps,
            missing,
            consensus,
            dissent,
            spacing,
            agreement,
            Orientation.of(like.geometry.direction) if placed else None,
            dict(structure_names or {}),
        )

    def place(self, rater: int) -> int:
        """Which of a page's raters one is; his line is the same for every structure."""
        return self.places[rater] if self.places else rater

    def structure(self, label: int) -> str:
        """What a label is called."""
        return self.structure_names.get(label, f"label {label}")

    def in_words(self, text: str) -> str:
        """A sentence about raters and labels by their numbers, with their names instead."""
        named = naming_raters(text, self.names)
        return naming_labels(named, self.structure_names)

    @property
    def marked(self) -> NDArray[np.bool_]:
        """Voxels that a rater or the consensus gave a label other than 0."""
        marked: NDArray[np.bool_] = self.consensus != 0
        for labels in self.maps:
            marked = marked | ((labels != 0) & (labels != self.missing))
        return marked


def _dissent(
    maps: Sequence[NDArray[Any]], consensus: NDArray[Any], missing: int
) -> NDArray[np.float64]:
    present = np.zeros(consensus.shape, np.float64)
    against = np.zeros(consensus.shape, np.float64)
    for labels in maps:
        annotated = labels != missing
        present += annotated
        against += annotated & (labels != consensus)
    return np.divide(against, present, out=against, where=present > 0)


def rater_maps(filter_: LabelFusionFilter, missing: int) -> list[NDArray[Any]]:
    """What each rater of the last Execute said, as the filter saw it.

    Parameters
    ----------
    missing : int
        What stands where a rater did not annotate; beyond all labels.
    """
    fused, patterns = filter_.fused, filter_.votes
    values = np.array([*fused.labels, missing])
    values = values.astype(np.result_type(*map(np.min_scalar_type, (min(values), missing))))
    votes = patterns.patterns
    return [
        patterns.expand(values[votes[:, j]], outside=missing)
        for j in range(patterns.number_of_raters)
    ]


def checked_names(names: Sequence[str] | None, raters: int, owner: str) -> list[str]:
    """A name for each rater; an error unless there are as many as raters."""
    if names is None:
        return [f"rater {index}" for index in range(raters)]
    if len(names) != raters:
        raise ParameterError(
            f"names must be {raters}, one per rater, got {len(names)}", owner=owner
        )
    return [str(name) for name in names]


def naming_labels(text: str, names: Mapping[int, str]) -> str:
    """Replace labels in a sentence by the names of what they stand for: Label 3, labels 1, 2."""

    def named(found: re.Match[str]) -> str:
        numbers = [int(number) for number in re.findall(r"\d+", found[0])]
        if any(number not in names for number in numbers):
            return found[0]
        return re.sub(r"\d+", lambda one: names[int(one[0])], found[0].split(" ", 1)[1])

    return re.sub(r"\b[Ll]abels? \d+(, \d+)*( and \d+)?", named, text) if names else text
