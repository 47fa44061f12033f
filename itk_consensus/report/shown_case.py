"""The data for a page: the raters' labels, the consensus, agreement and findings."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.assessment.agreement.reader_bias import PADDING, ConsensusSurface
from itk_consensus.assessment.agreement.result import AgreementResult
from itk_consensus.assessment.agreement.study import AgreementSettings
from itk_consensus.assessment.assessment import Assessment, assess
from itk_consensus.assessment.findings import Diagnostics, Finding
from itk_consensus.core.results import Memo
from itk_consensus.fusing.fusion_result import FusionResult
from itk_consensus.fusing.vote_facts import MANY_LABELS
from itk_consensus.report.orientation import Orientation
from itk_consensus.review.case import missing_of
from itk_consensus.space.boxes import Box, bounding_box


@dataclass(frozen=True)
class ShownCase:
    """A result with all data shown on its page, computed lazily."""

    result: FusionResult[Any]
    #: Whether to measure distances between contours, unless there are many labels.
    surfaces: bool = True
    structure_names: Mapping[int, str] = field(default_factory=dict)  #: Names of labels
    #: Page-wide indices of the raters, if only some of them drew this structure; () for all.
    places: tuple[int, ...] = ()
    known: tuple[Finding, ...] = ()  #: Findings that cannot be derived from the result alone
    memo: Memo = field(default_factory=Memo, init=False, repr=False, compare=False)

    @property
    def names(self) -> list[str]:
        """Names of the J raters."""
        return list(self.result.rater_names)

    @property
    def labels(self) -> tuple[int, ...]:
        """Labels that occur in the votes or the consensus."""
        return self.result.labels

    @property
    def spacing(self) -> tuple[float, ...]:
        """Voxel size per array axis."""
        return self.result.case.spacing

    @property
    def missing(self) -> int:
        """Value in `maps` at voxels that a rater did not annotate."""
        return missing_of(self.result)

    @cached_property
    def maps(self) -> list[NDArray[Any]]:
        """Label map of each rater; `missing` at voxels that the rater did not annotate."""
        return self.result.rater_maps(self.missing)

    @cached_property
    def consensus(self) -> NDArray[Any]:
        """Label map of the consensus; undecided voxels are 0."""
        return self.result.settled_labels().astype(self.maps[0].dtype)

    @cached_property
    def dissent(self) -> NDArray[np.float64]:
        """Share of the raters who differ from the consensus, among those who annotated."""
        return _dissent(self.maps, self.consensus, self.missing)

    @property
    def assessment(self) -> Assessment:
        """Assessment of the result."""
        return assess(self.result, known=self.known)

    @cached_property
    def agreement(self) -> AgreementResult:
        """Agreement of the raters; the last column is the consensus."""
        # Surfaces and volumes are too slow for many labels; `itk-consensus agreement` computes
        # them.
        surfaces = self.surfaces and len(self.labels) <= MANY_LABELS
        found = self.assessment.agreement(AgreementSettings(surfaces))
        return found.with_volumes(self.assessment.volumes) if surfaces else found

    def box(self, label: int) -> Box | None:
        """Return a label's bounding box over raters and consensus; None if it does not occur."""
        return self.memo.get_or_make(("box", label), lambda: self._box(label))

    def _box(self, label: int) -> Box | None:
        drawn = self.consensus == label
        for labels in self.maps:
            drawn |= labels == label
        return bounding_box(drawn)

    def surface(self, label: int) -> ConsensusSurface | None:
        """Return the consensus surface in the padded `box`; None if the label is absent, or
        in 4D.
        """
        return self.memo.get_or_make(("surface", label), lambda: self._surface(label))

    def _surface(self, label: int) -> ConsensusSurface | None:
        box, axes = self.box(label), self.consensus.ndim
        mask = None if box is None or axes > 3 else self.consensus[box] == label
        if mask is None or not mask.any():
            return None
        like, ways = self.result.like, np.eye(axes)
        if like.family.has_space:  # ITK's axes are the array axes in reverse order
            ways = np.reshape(like.geometry.direction, (axes, axes))[:, ::-1]
        return ConsensusSurface(np.pad(mask, PADDING), self.spacing, ways)

    @property
    def findings(self) -> Diagnostics:
        """Findings on fusion and raters, without the comparison with Consensus."""
        return self.assessment.findings(full=False)

    @property
    def orientation(self) -> Orientation | None:
        """Anatomical orientation of the axes; None for plain arrays and 2D images."""
        like = self.result.like
        placed = like.family.has_space and like.geometry.dimension > 2
        return Orientation.of(like.geometry.direction) if placed else None

    def place(self, rater: int) -> int:
        """Return a rater's index on the page, which determines its line style."""
        return self.places[rater] if self.places else rater

    def structure(self, label: int) -> str:
        """Return the name of a label."""
        return self.structure_names.get(label, f"label {label}")

    def in_words(self, text: str) -> str:
        """Replace label numbers in a text by structure names."""
        return naming_labels(text, self.structure_names)

    @property
    def marked(self) -> NDArray[np.bool_]:
        """Voxels that are foreground in the consensus or in any rater's map."""
        marked: NDArray[np.bool_] = self.consensus != 0
        for labels in self.maps:
            marked = marked | ((labels != 0) & (labels != self.missing))
        return marked


def _dissent(
    maps: Sequence[NDArray[Any]], consensus: NDArray[Any], missing: int
) -> NDArray[np.float64]:
    annotated = np.zeros(consensus.shape, np.uint16)
    against = np.zeros(consensus.shape, np.uint16)
    for labels in maps:
        said = labels != missing
        annotated += said
        against += said & (labels != consensus)
    shares = np.zeros(consensus.shape)
    disputed = np.nonzero(against)
    shares[disputed] = against[disputed] / annotated[disputed]
    return shares


def naming_labels(text: str, names: Mapping[int, str]) -> str:
    """Replace labels in a text, such as "Label 3" or "labels 1, 2", by structure names."""

    def named(found: re.Match[str]) -> str:
        numbers = [int(number) for number in re.findall(r"\d+", found[0])]
        if any(number not in names for number in numbers):
            return found[0]
        return re.sub(r"\d+", lambda one: names[int(one[0])], found[0].split(" ", 1)[1])

    return re.sub(r"\b[Ll]abels? \d+(, \d+)*( and \d+)?", named, text) if names else text
