"""HybridFusionFilter: one fuser inside, another where the contour is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.algorithms.hybrid import contour_band
from itk_consensus.algorithms.majority_vote import majority_vote
from itk_consensus.errors import ParameterError
from itk_consensus.filters.fusion import Fusion, FusionCase, VolumeFusion
from itk_consensus.filters.kinds import LENGTH, Choice, Kind, optional
from itk_consensus.filters.label_fusion import LabelFusionFilter, UndecidedLabelMixin
from itk_consensus.filters.parameters import Measurement, Parameter, parameters_of
from itk_consensus.labels.distance import VOLUME_AXES
from itk_consensus.labels.ties import BACKGROUND, UNDECIDED

#: The paper's band, in smallest voxel sides on each side of the contour.
DEFAULT_BAND = 3.0


@dataclass(frozen=True)
class Fuser(Kind[Any]):
    """A fuser, or the name by which the command line knows one."""

    annotation = "str | LabelFusionFilter"

    @property
    def names(self) -> tuple[str, ...]:
        """All methods."""
        # The registry lists the hybrid too, so it can be asked only when everything is loaded.
        from itk_consensus.filters.registry import METHODS

        return tuple(METHODS)

    @property
    def wanted(self) -> str:
        return "a label fusion filter or one of " + ", ".join(self.names)

    def accept(self, value: Any) -> Any:
        return value if isinstance(value, LabelFusionFilter) else Choice(self.names).accept(value)


class HybridFusionFilter(UndecidedLabelMixin, LabelFusionFilter):
    """Takes the interior fuser's answer, except in a band around the contour.

    Both fusers see the same images, with the hybrid's mask, missing label, tolerances and threads
    if set. Give them as filters to choose their parameters and read their measurements, or by name.
    """

    method = "hybrid"
    # Not relabelling: the default boundary filter, consensus, takes label 0 for the background.
    laws = frozenset({"rater permutation"})
    summary = (
        "Assumes that what is right inside a structure need not be right at its contour. Use to "
        "keep a fuser you trust inside from moving the contour, or the other way round. The "
        "paper, section 4.5."
    )

    InteriorFilter: Parameter[Any] = Parameter(
        Fuser(), "vote", "Fuser whose answer is taken away from the contour."
    )
    BoundaryFilter: Parameter[Any] = Parameter(
        Fuser(), "consensus", "Fuser whose answer is taken in the band."
    )
    BandWidth: Parameter[float | None] = Parameter(
        optional(LENGTH),
        None,
        "How far, in mm, the band reaches on both sides of the contour.",
        default_doc="3 smallest voxel sides",
    )
    BandContour: Parameter[str] = Parameter(
        Choice(("vote", "interior")),
        "vote",
        "The contour that the band follows: the majority vote's or the interior fuser's.",
    )

    BandVoxels: Measurement[int] = Measurement("int", "Number of voxels in the band.")

    def __init__(self, **parameters: Any) -> None:
        super().__init__(**parameters)
        self._running_fuser: LabelFusionFilter | None = None

    def Abort(self) -> None:
        """Stop at the next chance, the fuser at work included."""
        super().Abort()
        if self._running_fuser is not None:
            self._running_fuser.Abort()

    def _check_parameters(self) -> None:
        for name in ("InteriorFilter", "BoundaryFilter"):
            if getattr(self, name) is self:
                raise ParameterError(
                    f"{self.GetName()}: {name} must be another filter, got the hybrid itself"
                )

    def _fuse(self, case: FusionCase) -> Fusion:
        self._check_undecided_label(case)
        interior = self._answer(self.InteriorFilter, case)
        self._report(0.7)
        boundary = self._answer(self.BoundaryFilter, case)
        self._report(0.9)
        inside = interior.decision()
        band = self._band(case, inside)
        decision = np.where(band, boundary.decision(), inside)
        self.BandVoxels = int(np.count_nonzero(band))

        def probability(label: int) -> NDArray[np.float64]:
            return np.where(band, boundary.probability(label), interior.probability(label))

        return VolumeFusion(decision, probability)

    def _answer(self, given: str | LabelFusionFilter, case: FusionCase) -> _Answer:
        fuser = _made(given)
        with self._lent(fuser):
            fuser.Execute(list(case.loaded.owners))
        own_case, fusion = fuser._done()
        return _Answer(
            fusion, fuser._label_values(own_case), self._label_values(case), case.stack.shape
        )

    @contextmanager
    def _lent(self, fuser: LabelFusionFilter) -> Iterator[None]:
        """Let a fuser work on this filter's terms, and give it back as it was."""
        own = dict(fuser._values)
        shared = {parameter.name for parameter in parameters_of(LabelFusionFilter)}
        fuser._values.update({k: v for k, v in self._values.items() if k in shared})
        self._running_fuser = fuser
        try:
            yield
        finally:
            fuser._values.clear()
            fuser._values.update(own)
            self._running_fuser = None

    def _band(self, case: FusionCase, interior: NDArray[np.int32]) -> NDArray[np.bool_]:
        width = self.BandWidth
        if width is None:
            width = DEFAULT_BAND * min(case.spacing[-VOLUME_AXES:])
        contoured = interior
        if self.BandContour == "vote":
            vote = majority_vote(case.patterns).decision.astype(np.int32)
            outside = _background_index(self._label_values(case))
            contoured = case.patterns.expand(vote, outside=outside)
        return contour_band(contoured, width, case.spacing, self.NumberOfThreads)


@dataclass(frozen=True)
class _Answer:
    """A fuser's result in terms of the hybrid's labels."""

    fusion: Fusion
    labels: list[int]
    wanted: list[int]
    shape: tuple[int, ...]

    def decision(self) -> NDArray[np.int32]:
        """Index of the hybrid's label per voxel, or a code of `labels.ties`."""
        # A label that the hybrid does not have is the background of a binary fuser.
        known = [self.wanted.index(v) if v in self.wanted else BACKGROUND for v in self.labels]
        # Fusers write 0 outside their mask, so 0 has to stand for background here.
        values = np.array([*known, BACKGROUND, UNDECIDED], np.int32) - np.int32(BACKGROUND)
        decision = np.empty(self.shape, np.int32)
        self.fusion.write_labels(values, decision)
        decision += np.int32(BACKGROUND)
        decision[decision == BACKGROUND] = _background_index(self.wanted)
        return decision

    def probability(self, label: int) -> NDArray[np.float64]:
        """Probability of the hybrid's label with this index."""
        probability = np.zeros(self.shape)
        if self.wanted[label] in self.labels:
            self.fusion.write_probability(self.labels.index(self.wanted[label]), probability)
        return probability


def _background_index(labels: list[int]) -> int:
    """The label that background is, if raters use it; contours must not part the two."""
    return labels.index(0) if 0 in labels else BACKGROUND


def _made(given: str | LabelFusionFilter) -> LabelFusionFilter:
    from itk_consensus.filters.registry import METHODS

    return METHODS[given]() if isinstance(given, str) else given
