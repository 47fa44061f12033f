"""A result as pages show it: the raters' labels, the consensus, and how well they agree."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.assessment.agreement.result import AgreementResult
from itk_consensus.assessment.agreement.study import AgreementSettings
from itk_consensus.assessment.assessment import Assessment, assess
from itk_consensus.assessment.findings import Diagnostics, Finding
from itk_consensus.fusing.fusion_result import FusionResult
from itk_consensus.methods.consensus.consensus_explanation import MANY_LABELS
from itk_consensus.report.orientation import Orientation
from itk_consensus.review.case import missing_of


@dataclass(frozen=True)
class ShownCase:
    """A result as a page shows it, voxel by voxel."""

    result: FusionResult[Any]
    surfaces: bool = True  #: Whether distances between contours of few labels are shown, too
    structure_names: Mapping[int, str] = field(default_factory=dict)  #: Of labels, where known
    #: Which of a page's raters these are, where some have not drawn this structure; () for all.
    places: tuple[int, ...] = ()
    known: tuple[Finding, ...] = ()  #: About its raters, which the result cannot tell

    @property
    def names(self) -> list[str]:
        """Of the J raters."""
        return list(self.result.rater_names)

    @property
    def labels(self) -> tuple[int, ...]:
        """That occur."""
        return self.result.labels

    @property
    def spacing(self) -> tuple[float, ...]:
        """Voxel size per array axis."""
        return self.result.case.spacing

    @property
    def missing(self) -> int:
        """What stands in `maps` where a rater did not annotate."""
        return missing_of(self.result)

    @cached_property
    def maps(self) -> list[NDArray[Any]]:
        """Label values by rater; `missing` where the rater did not annotate."""
        return self.result.rater_maps(self.missing)

    @cached_property
    def consensus(self) -> NDArray[Any]:
        """Label values; undecided voxels are 0."""
        return self.result.settled_labels().astype(self.maps[0].dtype)

    @cached_property
    def dissent(self) -> NDArray[np.float64]:
        """Share of the raters, among those who annotated, who differ from the consensus."""
        return _dissent(self.maps, self.consensus, self.missing)

    @property
    def assessment(self) -> Assessment:
        """What is thought of the result."""
        return assess(self.result, known=self.known)

    @cached_property
    def agreement(self) -> AgreementResult:
        """Of the raters; the last column is the consensus."""
        # Of many labels both take longer than everything else; `itk-consensus agreement` has them.
        surfaces = self.surfaces and len(self.labels) <= MANY_LABELS
        found = self.assessment.agreement(AgreementSettings(surfaces))
        return found.with_volumes(self.assessment.volumes) if surfaces else found

    @property
    def findings(self) -> Diagnostics:
        """What there is to say about fusion and raters, but for a comparison with Consensus."""
        return self.assessment.findings(full=False)

    @property
    def orientation(self) -> Orientation | None:
        """Where the axes run in the patient; None for arrays, which do not say, and flat images."""
        like = self.result.like
        placed = like.family.has_space and like.geometry.dimension > 2
        return Orientation.of(like.geometry.direction) if placed else None

    def place(self, rater: int) -> int:
        """Which of a page's raters one is; his line is the same for every structure."""
        return self.places[rater] if self.places else rater

    def structure(self, label: int) -> str:
        """What a label is called."""
        return self.structure_names.get(label, f"label {label}")

    def in_words(self, text: str) -> str:
        """A sentence about labels by their numbers, with their names instead."""
        return naming_labels(text, self.structure_names)

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


def naming_labels(text: str, names: Mapping[int, str]) -> str:
    """Replace labels in a sentence by the names of what they stand for: Label 3, labels 1, 2."""

    def named(found: re.Match[str]) -> str:
        numbers = [int(number) for number in re.findall(r"\d+", found[0])]
        if any(number not in names for number in numbers):
            return found[0]
        return re.sub(r"\d+", lambda one: names[int(one[0])], found[0].split(" ", 1)[1])

    return re.sub(r"\b[Ll]abels? \d+(, \d+)*( and \d+)?", named, text) if names else text
