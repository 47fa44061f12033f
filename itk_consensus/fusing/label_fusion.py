"""LabelFusionFilter: one Execute for every fuser.

A subclass declares its parameters and writes `_fuse(case)`; loading, geometry, patterns, outputs,
events and metadata are the same for all and live here.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from itk_consensus.core.constraints import Integer, NamedReals, optional
from itk_consensus.core.errors import InputError, ParameterError
from itk_consensus.core.parameters import Parameter, handed_out
from itk_consensus.core.process_object import ProcessObject, made_later
from itk_consensus.core.work import report, stage
from itk_consensus.fusing.fusion_case import FusionCase, RaterInputs
from itk_consensus.fusing.fusion_result import (
    Fused,
    FusionResult,
    MadeBy,
    common_type,
    holds,
    result_of,
)
from itk_consensus.fusing.reader_limits import LIMIT_NAMES
from itk_consensus.images import convert
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.fusions import Fusion
from itk_consensus.votes.uncertainty import UNCERTAINTY_KINDS, UncertaintyKind

if TYPE_CHECKING:
    from itk_consensus.assessment.findings import Diagnostics
    from itk_consensus.chunked.chunked_result import ChunkedResult

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
    #: For the README: what it assumes, when to use it, reference.
    summary: ClassVar[str] = ""
    #: Whether Execute returns the label map, and not the foreground's probability.
    returns_labels: ClassVar[bool] = True
    #: Whether images of probabilities are welcome among the inputs.
    takes_probabilities: ClassVar[bool] = False
    #: Whether label images may give way to probabilities, which count as shares of a vote.
    soft_inputs: ClassVar[bool] = False
    #: Why parts of a volume cannot be fused on their own; empty if patterns tell all.
    whole_because: ClassVar[str] = "it does not say that its answer follows from votes alone"
    #: Memory beyond the inputs that fusing a whole volume of five binary raters takes at most.
    bytes_per_voxel: ClassVar[int] = 0

    AgreementLimits = Parameter(
        optional(NamedReals(LIMIT_NAMES)),
        None,
        "Other limits than usual for what GetDiagnostics() says of the raters, such as poor_dice; "
        "docs/howto/findings.md lists them.",
    )

    @property
    def foreground(self) -> float | None:
        """The one value a binary method looks for; None for methods that fuse all labels."""
        return None

    # -- the one way through ----------------------------------------------------------------

    def Execute(self, *images: Any) -> Any:
        """Fuse label images.

        Parameters
        ----------
        images : list of images, or the images themselves
            On one grid: images of SimpleITK, itk, nibabel or xarray, MONAI's MetaTensors, torch
            tensors, NumPy arrays or whatever can be seen as one. None stands for a missing rater, a
            masked voxel for a missing vote; a vector image holds one rater per component. Dask
            arrays are not computed.

        Returns
        -------
        image
            Of the first input's family, with its geometry, on its device; of its metadata
            all but what can identify a person, unless KeepMetaData says otherwise. A dask
            array, if inputs are dask arrays: lazy, made chunk by chunk, and exact.
        """
        return self._execute(images[0] if len(images) == 1 else list(images))

    def _execute(
        self,
        inputs: Any,
        *,
        image_of: Callable[[Any], Any] | None = None,
        is_last: bool = False,
    ) -> Any:
        """Fuse, and return an image of the result, by default the filter's own.

        Nothing is kept for later outputs if that image is the last to be asked for.
        """
        image_of = image_of or self.primary_output
        with self._running() as run:
            self._check_parameters()
            if convert.are_chunked(inputs):
                # The one way into what knows chunks, which is built on the fusers.
                from itk_consensus.chunked.chunked_result import promised_result

                run.result = promised_result(self, inputs)
                return image_of(run.result)
            result = self._result_of(self._load(inputs), is_kept=not is_last)
            output = image_of(result)
            if not is_last:
                # Later outputs must neither hold the caller's images nor follow what they become.
                run.result = result.detached()
            return output

    def fused_once(self, images: Any) -> Any:
        """Execute, where what it returns is the last to be asked for: nothing is kept."""
        return self._execute(images, is_last=True)

    def fused_labels(self, images: Sequence[Any]) -> Any:
        """Execute, for other parts of the package that want the label map whatever it returns."""
        return self._execute(images, image_of=lambda result: result.label_image())

    def fuse(self, images: Any, reuse_from: FusionCase | None = None) -> FusionResult[Any]:
        """Execute, for other parts of the package that want the result and no image.

        `reuse_from` is a case of the same images, as of `_load`.
        """
        with self._running() as run:
            self._check_parameters()
            run.result = result = self._result_of(self._load(images, reuse_from)).detached()
            return result

    def fuse_case(self, case: FusionCase) -> FusionResult[Any]:
        """Execute, for other parts of the package that bring the votes themselves."""
        with self._running() as run:
            self._check_parameters()
            run.result = result = self.result_of(case).detached()
            return result

    def _result_of(self, case: FusionCase, *, is_kept: bool = True) -> FusionResult[Any]:
        report(0.5)
        with stage(0.5, 0.99):
            return self.result_of(case, is_kept=is_kept)

    def result_of(
        self,
        case: FusionCase,
        fuse: Callable[[FusionCase], Fusion] | None = None,
        *,
        is_kept: bool = True,
    ) -> FusionResult[Any]:
        """What Execute makes of a case: a function of the case and the parameters.

        `fuse` stands in for `_fuse` where the algorithm has run already. What nobody keeps need not
        know the parameters, which takes a function form as long as an iteration of EM.
        """
        labels = self._label_values(case)
        dtype = common_type(case.loaded.arrays, labels)
        undecided = self._undecided_label(labels, dtype)
        answer = (fuse or self._fuse)(case)
        fused = answer if isinstance(answer, Fused) else Fused(answer, None)
        made_by = MadeBy.of(self, is_kept=is_kept)
        return FusionResult(case, fused, tuple(labels), dtype, undecided, made_by)

    def _check_parameters(self) -> None:
        """Checks that concern several parameters at once; a subclass adds its own."""

    @abstractmethod
    def _fuse(self, case: FusionCase) -> Fusion | Fused[Any]:
        """Run the algorithm: a function of parameters and case, which keeps nothing on the filter.

        Whoever estimates more than a fusion, or makes more outputs from it, returns `Fused`.
        """

    def primary_output(self, result: FusionResult[Any] | ChunkedResult) -> Any:
        """What Execute returns."""
        return result.label_image() if self.returns_labels else result.probability_image()

    # -- chunks -----------------------------------------------------------------------------

    @property
    def chunking(self) -> str:
        """How dask arrays are fused: by their "patterns", in "tiles" with a halo, or not at all."""
        return "patterns" if not self.whole_because else "whole"

    def require_chunks(self, shape: Sequence[int], types: Sequence[np.dtype[Any]]) -> None:
        """Raise an `InputError`, with the memory that is needed, unless chunks are enough."""
        if self.chunking == "whole":
            voxels = math.prod(shape)
            needed = voxels * (sum(dtype.itemsize for dtype in types) + self.bytes_per_voxel)
            raise InputError(
                f"cannot be exact in chunks: {self.whole_because}. In memory "
                f"{voxels} voxels of {len(types)} raters need about {needed / 1e9:.3g} GB: "
                "bring the inputs into memory first",
                owner=self.GetName(),
            )

    # -- outputs ----------------------------------------------------------------------------

    def GetResult(self) -> FusionResult[Any] | ChunkedResult:
        """What the last Execute made: a value that later ones do not change."""
        result: FusionResult[Any] | ChunkedResult = self._made(self._result)
        return result

    @property
    def fused(self) -> FusionResult[Any]:
        """What the last Execute made of images in memory, for other parts of the package."""
        return result_of(self)

    @property
    def votes(self) -> DecisionPatterns:
        """The votes of the last Execute, for other parts of the package to build on."""
        with self._making_output():
            return self.fused.case.patterns

    def GetLabels(self) -> tuple[int, ...]:
        """The labels that occur in the last Execute's inputs, in increasing order."""
        return self.GetResult().labels

    @made_later
    def GetLabelImage(self) -> Any:
        """The fused label map of the last Execute."""
        return self.GetResult().label_image()

    @made_later
    def GetProbabilityImage(self, label: int | None = None) -> Any:
        """Probability, as float64, that the truth is this label, after the last Execute.

        Without a label the largest one that occurs is meant, the foreground of a binary map. A
        label that no rater used has probability 0 everywhere.
        """
        return self.GetResult().probability_image(label)

    @made_later
    def GetDiceOptimalImage(self, label: int | None = None) -> Any:
        """The map of one label with the highest expected Dice under its probability.

        It may differ from the label map, which takes the most probable label of each voxel, where
        probabilities are far from 0 and 1. Without a label the largest one that occurs is meant.
        """
        return self.GetResult().dice_optimal_image(label)

    @made_later
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
                f"kind of uncertainty must be one of {UNCERTAINTY_KINDS}, got {kind!r}",
                owner=self.GetName(),
            )
        return self.GetResult().uncertainty_image(kind)

    @made_later
    def GetDiagnostics(self, full: bool = True) -> Diagnostics:
        """Checks of the last Execute, each with its number; made on demand.

        Those about the fusion (``.fusion``) say whether the result can be believed, those about the
        raters (``.raters``) how far these agree and who of them may have slipped.

        Parameters
        ----------
        full : bool
            Whether to compare the result with Consensus, too, which takes as long as fusing by it.
        """
        # What thinks of results is built on the fusers.
        from itk_consensus.assessment.assessment import assess

        return handed_out(assess(self.fused).findings(full))

    def _label_values(self, case: FusionCase) -> list[int]:
        """The label value behind each index; a binary filter writes its own foreground."""
        return [int(label) for label in case.votes.labels]

    def _undecided_label(self, labels: Sequence[int], dtype: np.dtype[Any]) -> int:
        """The label of voxels that no label won; one that does not fit must not wrap around."""
        given = getattr(self, "LabelForUndecidedPixels", AUTOMATIC_LABEL)
        if given == AUTOMATIC_LABEL:
            return max(labels) + 1
        if not holds(dtype, [given]):
            raise self._wrong(
                "LabelForUndecidedPixels", f"must fit the inputs' type {dtype}, got {given}"
            )
        return int(given)

    def _warn_of_doubts(self, patterns: DecisionPatterns, is_switched: bool) -> None:
        """Warn of a result of one rater only, or with switched labels."""
        if np.count_nonzero(patterns.present.any(axis=0)) == 1:
            self._warn("one rater only; the answer is that rater's labels")
        elif is_switched:
            self._warn("label-switched optimum: the mean rater does worse than chance")


class UndecidedLabelMixin(ProcessObject):
    """LabelForUndecidedPixels, for the filters that can leave a voxel undecided."""

    LabelForUndecidedPixels = Parameter(
        Integer(),
        AUTOMATIC_LABEL,
        "Label of tied voxels; by default the largest label + 1.",
        default_doc="max label + 1",
        can_be_unset=True,
    )
