"""LabelFusionFilter: one Execute for every fuser.

A subclass declares its parameters and writes `_fuse(case)`; loading, geometry, patterns, outputs,
events and metadata are the same for all and live here.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from itk_consensus.algorithms.diagnostics import diagnose
from itk_consensus.algorithms.findings import Diagnostics, Estimate
from itk_consensus.algorithms.initialization import StartSummary
from itk_consensus.errors import InputError, NotExecutedError, ParameterError
from itk_consensus.filters.constraints import Integer, optional
from itk_consensus.filters.fused_images import FusedImages
from itk_consensus.filters.fusion_case import FusionCase
from itk_consensus.filters.image_constraints import ImageLike, ImageList
from itk_consensus.filters.parameters import Parameter
from itk_consensus.filters.process_object import ProcessObject
from itk_consensus.images import convert
from itk_consensus.images.loaded_images import LoadedImages
from itk_consensus.labels.class_probabilities import sum_to_one
from itk_consensus.labels.fusions import Fusion
from itk_consensus.labels.label_stack import LabelStack
from itk_consensus.labels.label_types import common_type, holds
from itk_consensus.labels.uncertainty import UNCERTAINTY_KINDS, UncertaintyKind

#: SimpleITK's default for LabelForUndecidedPixels: one more than the largest label.
AUTOMATIC_LABEL = 2**64 - 1


class LabelFusionFilter(ProcessObject):
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
    #: What _fuse looks at. Patterns are made before it is called; a filter that needs something
    #: else says so, and patterns are encoded only if it asks for them.
    needs: ClassVar[str] = "patterns"

    MaskImage = Parameter(
        optional(ImageLike()),
        None,
        "Voxels to fuse (non-zero); outside it the output is background with probability 0.",
        in_cli=False,
    )
    MissingLabel = Parameter(
        optional(Integer()),
        None,
        "The value by which a rater says 'not annotated here'.",
    )
    RaterMasks = Parameter(
        optional(ImageList()),
        None,
        "For each rater an image that is non-zero where the rater annotated, or None: everywhere.",
        in_cli=False,
    )

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
            self._case = case.without_inputs()
            self._fused = FusedImages(self._case.loaded, fusion, tuple(labels), dtype, undecided)
            return self._primary_output()

    def _check_parameters(self) -> None:
        """Checks that concern several parameters at once; a subclass adds its own."""

    @abstractmethod
    def _fuse(self, case: FusionCase) -> Fusion:
        """Run the algorithm and store the measurements."""

    def _make_stack(self, arrays: Sequence[Any], **common: Any) -> LabelStack:
        """How inputs become labels; a binary filter overrides this."""
        return LabelStack.multilabel(arrays, threads=self.NumberOfThreads, **common)

    def _primary_output(self) -> Any:
        """What Execute returns."""
        return self.GetLabelImage()

    def _strata(self, loaded: LoadedImages) -> NDArray[np.uint32] | None:
        """What tells voxels apart beyond their votes, if anything does."""
        return None

    def _load(self, images: Any) -> FusionCase:
        loaded = self._load_images(images)
        stack = self._make_stack(
            loaded.arrays,
            missing_label=self.MissingLabel,
            mask=self._load_one(self.MaskImage, loaded, "MaskImage"),
            rater_masks=self._rater_masks(loaded),
            owner=self.GetName(),
        )
        if stack.mask is not None and not stack.mask.any():
            raise ParameterError(f"{self.GetName()}: MaskImage must mark some voxels, it is empty")
        if not stack.is_annotated:
            raise InputError(f"{self.GetName()}: no rater annotated any of the voxels to fuse")
        case = FusionCase(loaded, stack, self.NumberOfThreads, self._strata(loaded))
        if self.needs == "patterns":
            _ = case.patterns  # encoded now, before the first half of the work is reported done
        return case

    def _load_images(self, images: Any) -> LoadedImages:
        """Inputs as arrays; a filter that takes probabilities overrides this."""
        loaded = self._loaded_with_gaps(images)
        _reject_class_probabilities(loaded, self.GetName())
        return loaded

    def _loaded_with_gaps(self, images: Any) -> LoadedImages:
        return convert.load_with_gaps(images, owner=self.GetName(), **self._tolerances())

    def _rater_masks(self, loaded: LoadedImages) -> list[NDArray[Any] | None] | None:
        """Where each rater annotated: inside its mask, and where its image has a value."""
        has_gaps = any(where is not None for where in loaded.annotated)
        if self.RaterMasks is None:
            return list(loaded.annotated) if has_gaps else None
        masks = [
            self._load_one(m, loaded, f"RaterMasks[{i}]") for i, m in enumerate(self.RaterMasks)
        ]
        # Should their number differ, the stack says so.
        if not has_gaps or len(masks) != len(loaded.annotated):
            return masks
        return [both(*pair) for pair in zip(masks, loaded.annotated, strict=True)]

    def _load_one(self, image: Any, loaded: LoadedImages, parameter: str) -> Any:
        if image is None:
            return None
        return convert.load_one(
            image, loaded, owner=self.GetName(), parameter=parameter, **self._tolerances()
        )

    # -- outputs ----------------------------------------------------------------------------

    @property
    def fused(self) -> FusedImages:
        """What the last Execute made, for other parts of the package to build on."""
        if self._fused is None:
            raise NotExecutedError(f"{self.GetName()}: outputs are known only after Execute")
        return self._fused

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

    def GetUncertaintyImage(self, kind: UncertaintyKind = "entropy") -> Any:
        """How unsure the last Execute's probabilities leave each voxel, as float32; 0 is certain.

        Parameters
        ----------
        kind : "entropy", "disagreement" or "variance"
            - sum p ln p over the labels; 1 - largest p; sum p (1 - p) / 2, which with two labels is
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
        return Estimate.of(fusion, case.patterns)

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
        if self._case is None:
            raise NotExecutedError(f"{self.GetName()}: outputs are known only after Execute")
        return self._case


class UndecidedLabelMixin(ProcessObject):
    """LabelForUndecidedPixels, for the filters that can leave a voxel undecided."""

    LabelForUndecidedPixels = Parameter(
        Integer(),
        AUTOMATIC_LABEL,
        "Label of tied voxels; by default one more than the largest label.",
        default_doc="max label + 1",
    )


def both(mask: NDArray[Any] | None, other: NDArray[Any] | None) -> NDArray[Any] | None:
    """Where neither of two masks is 0; None is a mask that holds everything."""
    if mask is None or other is None:
        return other if mask is None else mask
    return np.asarray((mask != 0) & (other != 0))


def _reject_class_probabilities(loaded: LoadedImages, owner: str) -> None:
    """A softmax image is one rater's opinion of several classes, not several raters."""
    at = 0
    for index, number in enumerate(loaded.components):
        opinion = [array for array in loaded.arrays[at : at + number] if array is not None]
        at += number
        if len(opinion) > 1 and opinion[0].dtype.kind == "f" and sum_to_one(opinion):
            raise InputError(
                f"{owner}: input {index} must hold labels, but its {number} components sum to 1: "
                "they are class probabilities, not raters; use ProbabilityAverageFilter or "
                "LogOpinionPoolFilter"
            )
