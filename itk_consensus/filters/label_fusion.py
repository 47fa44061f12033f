"""LabelFusionFilter: one Execute for every fuser.

A subclass declares its parameters and writes `_fuse(case)`; loading, geometry, patterns, outputs,
events and metadata are the same for all and live here.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from itk_consensus.algorithms.diagnostics import diagnose
from itk_consensus.algorithms.findings import Diagnostics, Estimate
from itk_consensus.algorithms.initialization import StartSummary
from itk_consensus.algorithms.majority_vote import StackVoteFusion
from itk_consensus.errors import ParameterError
from itk_consensus.filters.constraints import Integer
from itk_consensus.filters.fused_images import FusedImages
from itk_consensus.filters.fusion_case import FusionCase
from itk_consensus.filters.parameters import Parameter, parameters_of
from itk_consensus.filters.process_object import ProcessObject
from itk_consensus.filters.rater_inputs import RaterInputs
from itk_consensus.labels.decision_patterns import DecisionPatterns
from itk_consensus.labels.fusions import Fusion, PatternFusion
from itk_consensus.labels.kept_stack import KeptStack
from itk_consensus.labels.label_types import common_type, holds
from itk_consensus.labels.uncertainty import UNCERTAINTY_KINDS, UncertaintyKind

#: SimpleITK's default for LabelForUndecidedPixels: one more than the largest label.
AUTOMATIC_LABEL = 2**64 - 1


class LabelFusionFilter(RaterInputs):
    """Base of the fusers: a list of label images in, one image of the same kind out."""

    #: Parameters that the function form also takes by position, in SimpleITK's order.
    positional: ClassVar[tuple[str, ...]] = ()
    #: Laws the filter obeys, each tested by the common suite.
    laws: ClassVar[frozenset[str]] = frozenset(
        {"rater permutation", "relabelling", "unanimity", "background padding"}
    )
    #: Name on the command line.
    method: ClassVar[str] = ""
    #: What the README's table says: what it assumes, when to use it, reference.
    summary: ClassVar[str] = ""
    #: Whether images of probabilities are welcome among the inputs.
    takes_probabilities: ClassVar[bool] = False
    #: Whether outputs can be asked for after Execute; a function form returns one and is done.
    _outlives_execute = True

    def __init__(self, **parameters: Any) -> None:
        super().__init__(**parameters)
        self._case: FusionCase | None = None
        self._fused: FusedImages | None = None

    # -- the one way through ----------------------------------------------------------------

    def Execute(self, *images: Any) -> Any:
        """Fuse label images.

        Parameters
        ----------
        images : list of images, or the images themselves
            On one grid: images of SimpleITK, itk, nibabel or xarray, MONAI's MetaTensors, torch
            tensors, NumPy arrays or whatever can be seen as one. None stands for a missing rater, a
            masked voxel for a missing vote; a vector image holds one rater per component.

        Returns
        -------
        image
            Of the first input's family, with its geometry and metadata, on its device.
        """
        self._case = self._fused = None
        with self._running():
            self._check_parameters()
            case = self._load(images[0] if len(images) == 1 else list(images))
            self._report(0.5)
            labels = self._label_values(case)
            dtype = common_type(case.loaded.arrays, labels)
            undecided = self._undecided_label(labels, dtype)
            fusion = self._fuse(case)
            like = case.loaded.without_inputs()
            self._case = case
            self._fused = FusedImages(like, fusion, tuple(labels), dtype, undecided)
            output = self._primary_output()
            if self._outlives_execute:
                self._let_inputs_go(case)
            return output

    def _let_inputs_go(self, case: FusionCase) -> None:
        """Later outputs must neither hold the caller's images nor follow what becomes of them."""
        self._case = case.without_inputs()
        fused, kept = self.fused, self._case.kept
        if isinstance(kept, KeptStack) and isinstance(fused.fusion, StackVoteFusion):
            self._fused = replace(fused, fusion=replace(fused.fusion, stack=kept))

    def _check_parameters(self) -> None:
        """Checks that concern several parameters at once; a subclass adds its own."""

    @abstractmethod
    def _fuse(self, case: FusionCase) -> Fusion:
        """Run the algorithm and store the measurements."""

    def _primary_output(self) -> Any:
        """What Execute returns."""
        return self.GetLabelImage()

    # -- outputs ----------------------------------------------------------------------------

    @property
    def fused(self) -> FusedImages:
        """What the last Execute made, for other parts of the package to build on."""
        return self._made(self._fused)

    @property
    def votes(self) -> DecisionPatterns:
        """The votes of the last Execute, for other parts of the package to build on."""
        return self._executed_case().patterns

    def GetLabels(self) -> tuple[int, ...]:
        """The labels that occur in the last Execute's inputs, in increasing order."""
        return self.fused.labels

    def GetLabelImage(self) -> Any:
        """The fused label map of the last Execute."""
        return self.fused.label_image()

    def GetProbabilityImage(self, label: int | None = None) -> Any:
        """Probability, as float64, that the truth is this label, after the last Execute.

        Without a label the largest one that occurs is meant, the foreground of a binary map. A
        label that no rater used has probability 0 everywhere.
        """
        return self.fused.probability_image(self.fused.labels[-1] if label is None else label)

    def GetDiceOptimalImage(self, label: int | None = None) -> Any:
        """The map of one label with the highest expected Dice under its probability.

        It may differ from the label map, which takes the most probable label of each voxel, where
        probabilities are far from 0 and 1. Without a label the largest one that occurs is meant.
        """
        return self.fused.dice_optimal_image(self.fused.labels[-1] if label is None else label)

    def GetUncertaintyImage(self, kind: UncertaintyKind = "entropy") -> Any:
        """How unsure the last Execute's probabilities leave each voxel, as float32; 0 is certain.

        Parameters
        ----------
        kind : "entropy", "disagreement" or "variance"
            Minus the sum of p ln p; 1 - largest p; sum p (1 - p) / 2, which with two labels is
            the variance p (1 - p) of either.
        """
        if kind not in UNCERTAINTY_KINDS:
            raise ParameterError(
                f"{self.GetName()}: kind of uncertainty must be one of {UNCERTAINTY_KINDS}, "
                f"got {kind!r}"
            )
        return self.fused.uncertainty_image(kind)

    def GetDiagnostics(self) -> Diagnostics:
        """Reasons, each with its number, to believe or doubt the last Execute; made when asked."""
        return diagnose(self._estimate(self._executed_case(), self.fused.fusion))

    def _estimate(self, case: FusionCase, fusion: Fusion) -> Estimate:
        """The result as the diagnostics see it; a filter that estimates performance adds it."""
        return replace(
            Estimate.of(fusion, case.patterns),
            consensus_dice=self._consensus_dice(case, fusion),
            parameters=frozenset(parameter.name for parameter in parameters_of(type(self))),
            looks_at_neighbours=not isinstance(fusion, PatternFusion),
        )

    def _consensus_dice(self, case: FusionCase, fusion: Fusion) -> float | None:
        """How much of a result is what the raters share; None if it is that by definition."""
        return case.shared_consensus.overlap(fusion.volume(), case.patterns.labels)

    def _label_values(self, case: FusionCase) -> list[int]:
        """The label value behind each index; a binary filter writes its own foreground."""
        return [int(label) for label in case.stack.labels]

    def _undecided_label(self, labels: Sequence[int], dtype: np.dtype[Any]) -> int:
        """The label of voxels that no label won; one that does not fit must not wrap around."""
        given = getattr(self, "LabelForUndecidedPixels", AUTOMATIC_LABEL)
        if given == AUTOMATIC_LABEL:
            return max(labels) + 1
        if not holds(dtype, [given]):
            raise ParameterError(
                f"{self.GetName()}: LabelForUndecidedPixels must fit the inputs' type {dtype}, "
                f"got {given}"
            )
        return int(given)

    def _warn_of_doubts(self, case: FusionCase, starts: StartSummary) -> None:
        """Warn of a result that says no more than one rater, or the opposite of what is meant."""
        if np.count_nonzero(case.patterns.present.any(axis=0)) == 1:
            self._warn("one rater only; the answer is that rater's labels")
        elif starts.switched[starts.winner]:
            self._warn("label-switched optimum: the mean rater does worse than chance")

    def _executed_case(self) -> FusionCase:
        return self._made(self._case)


class UndecidedLabelMixin(ProcessObject):
    """LabelForUndecidedPixels, for the filters that can leave a voxel undecided."""

    LabelForUndecidedPixels = Parameter(
        Integer(),
        AUTOMATIC_LABEL,
        "Label of tied voxels; by default one more than the largest label.",
        default_doc="max label + 1",
    )
