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
from numpy.typing import NDArray

from itk_consensus.algorithms.diagnostics import diagnose
from itk_consensus.algorithms.findings import Diagnostics, Estimate
from itk_consensus.algorithms.majority_vote import majority_vote
from itk_consensus.errors import InputError, NotExecutedError, ParameterError
from itk_consensus.filters.disputed_fusion import DisputedFusion
from itk_consensus.filters.fusion import Fusion, FusionCase, PatternFusion, VolumeFusion
from itk_consensus.filters.kinds import ImageLike, ImageList, Integer, optional
from itk_consensus.filters.parameters import Parameter
from itk_consensus.filters.process_object import ProcessObject
from itk_consensus.images import convert
from itk_consensus.images.loaded_images import LoadedImages
from itk_consensus.labels.decision_patterns import DecisionPatterns
from itk_consensus.labels.label_stack import LabelStack
from itk_consensus.labels.label_types import common_type, holds, widened

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

    MaskImage: Parameter[Any] = Parameter(
        optional(ImageLike()),
        None,
        "Voxels to fuse (non-zero); outside it the output is background with probability 0.",
        in_cli=False,
    )
    MissingLabel: Parameter[int | None] = Parameter(
        optional(Integer()),
        None,
        "The value by which a rater says 'not annotated here'.",
    )
    RaterMasks: Parameter[tuple[Any, ...] | None] = Parameter(
        optional(ImageList()),
        None,
        "For each rater an image that is non-zero where the rater annotated, or None: everywhere.",
        in_cli=False,
    )

    def __init__(self, **parameters: Any) -> None:
        super().__init__(**parameters)
        self._case: FusionCase | None = None
        self._fusion: Fusion | None = None
        # The label value behind each index, and the undecided one, as the last Execute had them:
        # a parameter set later must not change a finished result.
        self._label_table: list[int] = []
        self._undecided_value = 0

    # -- the one way through ----------------------------------------------------------------

    def Execute(self, *images: Any) -> Any:
        """Fuse label images.

        Parameters
        ----------
        images : list of images, or the images themselves
            SimpleITK or itk images, or NumPy arrays, on one grid. None stands for a missing rater;
            a vector image holds one rater per component.

        Returns
        -------
        image
            Of the first input's family, with its geometry and metadata.
        """
        self._case = self._fusion = None
        with self._running():
            self._check_parameters()
            case = self._load(images[0] if len(images) == 1 else list(images))
            self._report(0.5)
            self._label_table = self._label_values(case)
            self._undecided_value = self._undecided_label(self._label_table)
            self._fusion = self._fuse(case)
            self._case = without_inputs(case)
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
        loaded = convert.load(images, owner=self.GetName(), **self._tolerances())
        masks = self.RaterMasks
        stack = self._make_stack(
            loaded.arrays,
            missing_label=self.MissingLabel,
            mask=self._load_one(self.MaskImage, loaded, "MaskImage"),
            rater_masks=None
            if masks is None
            else [self._load_one(m, loaded, f"RaterMasks[{i}]") for i, m in enumerate(masks)],
            owner=self.GetName(),
        )
        strata = self._strata(loaded)
        patterns = DecisionPatterns.from_stack(stack, strata=strata, threads=self.NumberOfThreads)
        if patterns.number_of_voxels == 0:
            raise ParameterError(f"{self.GetName()}: MaskImage must mark some voxels, it is empty")
        if not patterns.present.any():
            raise InputError(f"{self.GetName()}: no rater annotated any of the voxels to fuse")
        return FusionCase(loaded, stack, patterns)

    def _load_one(self, image: Any, loaded: LoadedImages, parameter: str) -> Any:
        if image is None:
            return None
        return convert.load_one(
            image, loaded, owner=self.GetName(), parameter=parameter, **self._tolerances()
        )

    # -- outputs ----------------------------------------------------------------------------

    def GetLabels(self) -> tuple[int, ...]:
        """The labels that occur in the last Execute's inputs, in increasing order."""
        self._done()
        return tuple(self._label_table)

    def GetLabelImage(self) -> Any:
        """The fused label map of the last Execute."""
        case, fusion = self._done()
        labels, undecided = self._label_table, self._undecided_value
        dtype = common_type(case.stack.arrays, labels)
        if fusion.has_undecided:
            dtype = widened(dtype, undecided)
        values = np.array([*labels, 0, undecided if fusion.has_undecided else 0], dtype=dtype)
        output = convert.allocate(dtype, case.loaded)
        fusion.write_labels(values, output.array)
        return output.image()

    def GetProbabilityImage(self, label: int | None = None) -> Any:
        """Probability, as float64, that the truth is this label, after the last Execute.

        Without a label the largest one that occurs is meant, the foreground of a binary map. A
        label that no rater used has probability 0 everywhere.
        """
        self._done()
        labels = self._label_table
        wanted = labels[-1] if label is None else label
        return self._probability_image(labels.index(wanted) if wanted in labels else None)

    def _probability_image(self, index: int | None) -> Any:
        """Probability of the label with this index; zero everywhere for None."""
        case, fusion = self._done()
        output = convert.allocate(np.float64, case.loaded)
        if index is None:
            output.array[...] = 0.0
        else:
            fusion.write_probability(index, output.array)
        return output.image()

    def GetDiagnostics(self) -> Diagnostics:
        """Reasons, each with its number, to believe or doubt the last Execute; made when asked."""
        case, fusion = self._done()
        return diagnose(self._estimate(case, fusion))

    def _estimate(self, case: FusionCase, fusion: Fusion) -> Estimate:
        """The result as the diagnostics see it; a filter that estimates performance adds it."""
        if isinstance(fusion, PatternFusion):
            return Estimate(case.patterns, fusion.decision, fusion.probabilities)
        if isinstance(fusion, (VolumeFusion, DisputedFusion)):
            # The same pattern may get different labels; each such pair is a row of its own.
            patterns, _, decision = case.patterns.split_by(fusion.decision)
            return Estimate(patterns, decision, majority_vote(patterns).fractions)
        vote = majority_vote(case.patterns)
        return Estimate(case.patterns, vote.decision, vote.fractions)

    def _label_values(self, case: FusionCase) -> list[int]:
        """The label value behind each index; a binary filter writes its own foreground."""
        return [int(label) for label in case.patterns.labels]

    def _undecided_label(self, labels: list[int]) -> int:
        """The label of voxels that no label won."""
        return max(labels) + 1

    def _done(self) -> tuple[FusionCase, Fusion]:
        if self._case is None or self._fusion is None:
            raise NotExecutedError(f"{self.GetName()}: outputs are known only after Execute")
        return self._case, self._fusion


class UndecidedLabelMixin(ProcessObject):
    """LabelForUndecidedPixels, for the filters that can leave a voxel undecided."""

    LabelForUndecidedPixels: Parameter[int] = Parameter(
        Integer(),
        AUTOMATIC_LABEL,
        "Label of tied voxels; by default one more than the largest label.",
        default_doc="max label + 1",
    )

    def _undecided_label(self, labels: list[int]) -> int:
        given = self.LabelForUndecidedPixels
        return max(labels) + 1 if given == AUTOMATIC_LABEL else given

    def _check_undecided_label(self, case: FusionCase) -> None:
        """An undecided label that the output type cannot hold must not wrap into another label."""
        given = self.LabelForUndecidedPixels
        dtype = common_type(case.stack.arrays, [int(label) for label in case.patterns.labels])
        if given != AUTOMATIC_LABEL and not holds(dtype, [given]):
            raise ParameterError(
                f"{self.GetName()}: LabelForUndecidedPixels must fit the inputs' type {dtype}, "
                f"got {given}"
            )


def without_inputs(case: FusionCase) -> FusionCase:
    """Keep what outputs need and let the caller's images go; empty arrays remember the types."""
    types = tuple(None if a is None else np.empty(0, a.dtype) for a in case.loaded.arrays)
    loaded = replace(case.loaded, arrays=(), owners=())
    stack = replace(case.stack, arrays=types, mask=None, rater_masks=None)
    return FusionCase(loaded, stack, case.patterns)
