"""LabelFusionFilter: the base class of all fusers.

A subclass declares its parameters and implements `_fuse(case)`. This class handles loading,
geometry, patterns, outputs, events and metadata.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from itk_consensus.core.constraints import Integer, NamedReals, optional
from itk_consensus.core.errors import InputError, ParameterError
from itk_consensus.core.parameters import Parameter, defensive_copy
from itk_consensus.core.process_object import ProcessObject, output_method
from itk_consensus.core.work import report, stage
from itk_consensus.fusing.agreement_limits import LIMIT_NAMES
from itk_consensus.fusing.fusion_case import FusionCase, RaterInputs
from itk_consensus.fusing.fusion_result import (
    Fused,
    FusionResult,
    MadeBy,
    common_type,
    holds,
    result_of,
)
from itk_consensus.images import convert
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.fusions import Fusion
from itk_consensus.votes.ties import BACKGROUND
from itk_consensus.votes.uncertainty import UNCERTAINTY_KINDS, UncertaintyKind

if TYPE_CHECKING:
    from itk_consensus.assessment.findings import Diagnostics
    from itk_consensus.chunked.chunked_result import ChunkedResult

#: SimpleITK's default for LabelForUndecidedPixels: one more than the largest label.
AUTOMATIC_LABEL = 2**64 - 1


class LabelFusionFilter(RaterInputs):
    """Base class of the fusers, which take label images and return one image of the same kind."""

    #: Parameters that the function form also accepts by position, in SimpleITK's order.
    positional: ClassVar[tuple[str, ...]] = ()
    #: Invariances of the filter; the common tests check each of them.
    laws: ClassVar[frozenset[str]] = frozenset(
        {"rater permutation", "relabelling", "unanimity", "background padding"}
    )
    #: Name on the command line.
    method: ClassVar[str] = ""
    #: For the README: assumptions, when to use it, reference.
    summary: ClassVar[str] = ""
    #: Whether Execute returns the label map instead of the foreground probability.
    returns_labels: ClassVar[bool] = True
    #: Whether inputs may be probability images.
    takes_probabilities: ClassVar[bool] = False
    #: Whether inputs may be label images or probabilities, which count as fractions of a vote.
    soft_inputs: ClassVar[bool] = False
    #: Reason why parts of a volume cannot be fused separately; empty if patterns are sufficient.
    chunking_unsupported_reason: ClassVar[str] = (
        "it does not say that its answer follows from votes alone"
    )
    #: Peak memory in bytes per voxel, in addition to the inputs, when fusing five binary raters.
    bytes_per_voxel: ClassVar[int] = 0

    AgreementLimits = Parameter(
        optional(NamedReals(LIMIT_NAMES)),
        None,
        "Other limits than usual for what GetDiagnostics() says of the raters, such as poor_dice; "
        "docs/howto/findings.md lists them.",
    )

    @property
    def foreground(self) -> float | None:
        """Foreground value of a binary method; None for methods that fuse all labels."""
        return None

    # -- Execute ----------------------------------------------------------------------------

    def Execute(self, *images: Any) -> Any:
        """Fuse label images.

        Parameters
        ----------
        images : list of images, or the images themselves
            Images on the same grid: SimpleITK, ITK, nibabel or xarray images, MONAI MetaTensors,
            torch tensors, or NumPy arrays and array-likes. None represents a missing rater, and a
            masked voxel a missing vote; a vector image contains one rater per component. Dask
            arrays are not computed.

        Returns
        -------
        image
            Image of the first input's type, with its geometry and device, and its metadata except
            for data that can identify a person (see KeepMetaData). For dask arrays, a lazy dask
            array that is computed chunk by chunk, with the same result as in memory.
        """
        return self._execute(images[0] if len(images) == 1 else list(images))

    def _execute(
        self,
        inputs: Any,
        *,
        image_of: Callable[[Any], Any] | None = None,
        is_last: bool = False,
    ) -> Any:
        """Fuse, and return an image of the result, by default the primary output.

        With `is_last`, nothing is kept for later outputs.
        """
        image_of = image_of or self.primary_output
        with self._running() as run:
            self._check_parameters()
            if convert.are_chunked(inputs):
                # Imported late, since `chunked` depends on the fusers.
                from itk_consensus.chunked.chunked_result import promised_result

                run.result = promised_result(self, inputs)
                return image_of(run.result)
            result = self._result_of(self._load(inputs), is_kept=not is_last)
            output = image_of(result)
            if is_last:
                # The result is discarded, so that no findings can be requested later.
                self._warn_of_nothing_drawn(result)
            else:
                # Later outputs must not refer to the caller's images, nor be affected by later
                # changes.
                run.result = result.detach()
            return output

    def fuse_once(self, images: Any) -> Any:
        """Execute without keeping any data for later outputs."""
        return self._execute(images, is_last=True)

    def fuse_to_labels(self, images: Sequence[Any]) -> Any:
        """Execute, but always return the label map; for use within the package."""
        return self._execute(images, image_of=lambda result: result.label_image())

    def fuse(self, images: Any, reuse_from: FusionCase | None = None) -> FusionResult[Any]:
        """Execute, but return the result instead of an image; for use within the package.

        `reuse_from` is a case with the same images, as for `_load`.
        """
        with self._running() as run:
            self._check_parameters()
            run.result = result = self._result_of(self._load(images, reuse_from)).detach()
            return result

    def fuse_case(self, case: FusionCase) -> FusionResult[Any]:
        """Execute on a case with votes instead of images; for use within the package."""
        with self._running() as run:
            self._check_parameters()
            run.result = result = self.result_of(case).detach()
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
        """Compute the result of a case as a function of the case and the parameters.

        `fuse` replaces `_fuse` if the algorithm has already been run. A result that is not kept
        does not record the parameters, since this takes as long as an iteration of EM.
        """
        labels = self._label_values(case)
        dtype = common_type(case.loaded.arrays, labels)
        undecided = self.undecided_label(labels, dtype)
        answer = (fuse or self._fuse)(case)
        fused = answer if isinstance(answer, Fused) else Fused(answer, None)
        made_by = MadeBy.of(self, is_kept=is_kept)
        return FusionResult(case, fused, tuple(labels), dtype, undecided, made_by)

    def _check_parameters(self) -> None:
        """Check combinations of several parameters; subclasses add their own checks."""

    @abstractmethod
    def _fuse(self, case: FusionCase) -> Fusion | Fused[Any]:
        """Run the algorithm: a pure function of parameters and case.

        Implementations return `Fused` if the method has its own estimates or data for further
        outputs.
        """

    def primary_output(self, result: FusionResult[Any] | ChunkedResult) -> Any:
        """Return the image that Execute returns."""
        return result.label_image() if self.returns_labels else result.probability_image()

    # -- chunks -----------------------------------------------------------------------------

    @property
    def chunking(self) -> str:
        """How dask arrays are fused: "patterns", "tiles", "blocks" or not at all.

        The options are by their "patterns", in "tiles" with a halo, in "blocks" on one machine that
        stores the compressed votes of all chunks, or not at all.
        """
        if hasattr(self, "fuse_blocks"):
            return "blocks"
        return "patterns" if not self.chunking_unsupported_reason else "whole"

    def require_chunks(self, shape: Sequence[int], types: Sequence[np.dtype[Any]]) -> None:
        """Raise an `InputError` that states the required memory if chunks cannot be processed."""
        if self.chunking == "whole":
            voxels = math.prod(shape)
            needed = voxels * (sum(dtype.itemsize for dtype in types) + self.bytes_per_voxel)
            raise InputError(
                f"cannot be exact in chunks: {self.chunking_unsupported_reason}. In memory "
                f"{voxels} voxels of {len(types)} raters need about {needed / 1e9:.3g} GB: "
                "bring the inputs into memory first",
                owner=self.GetName(),
            )

    # -- outputs ----------------------------------------------------------------------------

    def GetResult(self) -> FusionResult[Any] | ChunkedResult:
        """Return the immutable result of the last Execute."""
        result: FusionResult[Any] | ChunkedResult = self._require_executed(self._result)
        return result

    @property
    def fused(self) -> FusionResult[Any]:
        """Result of the last Execute on images in memory; for use within the package."""
        return result_of(self)

    @property
    def votes(self) -> DecisionPatterns:
        """Votes of the last Execute; for use within the package."""
        with self._making_output():
            return self.fused.case.patterns

    def GetLabels(self) -> tuple[int, ...]:
        """Return the labels that occur in the inputs of the last Execute, in increasing order."""
        return self.GetResult().labels

    @output_method
    def GetLabelImage(self) -> Any:
        """Return the fused label map of the last Execute."""
        return self.GetResult().label_image()

    @output_method
    def GetProbabilityImage(self, label: int | None = None) -> Any:
        """Return the float64 probability of a label at each voxel, from the last Execute.

        By default the largest label that occurs is used, i.e. the foreground of a binary map. A
        label that no rater used has probability 0 everywhere.
        """
        return self.GetResult().probability_image(label)

    @output_method
    def GetDiceOptimalImage(self, label: int | None = None) -> Any:
        """Return the mask of a label that maximizes the expected Dice under its probability.

        The mask may differ from the label map, which contains the most probable label at each
        voxel, where probabilities are far from 0 and 1. By default the largest label that occurs is
        used.
        """
        return self.GetResult().dice_optimal_image(label)

    @output_method
    def GetUncertaintyImage(self, kind: UncertaintyKind = "entropy") -> Any:
        """Return the float32 uncertainty of each voxel from the probabilities; 0 is certain.

        Parameters
        ----------
        kind : "entropy", "disagreement" or "variance"
            Minus the sum of p ln p; 1 - largest p; or sum p (1 - p) / 2, which for two labels is
            the variance p (1 - p) of each.
        """
        if kind not in UNCERTAINTY_KINDS:
            raise ParameterError(
                f"kind of uncertainty must be one of {UNCERTAINTY_KINDS}, got {kind!r}",
                owner=self.GetName(),
            )
        return self.GetResult().uncertainty_image(kind)

    @output_method
    def GetDiagnostics(self, full: bool = True) -> Diagnostics:
        """Return the findings about the last Execute, with their values; computed on demand.

        Findings about the fusion (``.fusion``) indicate whether the result is reliable; findings
        about the raters (``.raters``) indicate how well they agree and which of them may have made
        a gross error. For dask arrays, findings that need voxels are left out, and the votes are
        computed.

        Parameters
        ----------
        full : bool
            Whether to also compare the result with that of Consensus, which takes as long as
            running it.
        """
        # Imported late, since `assessment` depends on the fusers.
        from itk_consensus.assessment.assessment import assess

        result = self.GetResult()
        known = result if isinstance(result, FusionResult) else result.as_table()
        return defensive_copy(assess(known).findings(full))

    def _label_values(self, case: FusionCase) -> list[int]:
        """Return the label value of each index; a binary filter uses its own foreground value."""
        return [int(label) for label in case.votes.labels]

    def undecided_label(self, labels: Sequence[int], dtype: np.dtype[Any]) -> int:
        """Return the label of undecided voxels; raise if the inputs' dtype cannot represent it."""
        given = getattr(self, "LabelForUndecidedPixels", AUTOMATIC_LABEL)
        if given == AUTOMATIC_LABEL:
            return max(labels) + 1
        if not holds(dtype, [given]):
            raise self._parameter_error(
                "LabelForUndecidedPixels", f"must fit the inputs' type {dtype}, got {given}"
            )
        return int(given)

    def _warn_of_nothing_drawn(self, result: FusionResult[Any]) -> None:
        """Warn of raters, and of a result, without any label though most raters drew something.

        Only if votes were counted anyway.
        """
        votes = result.case.votes
        if not isinstance(votes, DecisionPatterns) or 0 not in votes.labels:
            return
        background = int(np.searchsorted(votes.labels, 0))
        annotated = votes.present.any(axis=0)
        drew = ((votes.patterns != background) & votes.present).any(axis=0)
        # Where most raters drew nothing, the structure may be absent.
        if 2 * np.count_nonzero(drew) <= np.count_nonzero(annotated):
            return
        empty = [result.rater_names[rater] for rater in np.flatnonzero(annotated & ~drew)]
        if empty:
            self._warn(
                f"{', '.join(empty)} drew nothing, though most raters did; pass None for a rater "
                "who did not look"
            )
        answers = result.fusion.answers()
        if not any(((part != background) & (part != BACKGROUND)).any() for part in answers):
            self._warn("the result is empty, though most raters drew something")

    def _warn_of_doubts(self, patterns: DecisionPatterns, is_switched: bool) -> None:
        """Warn if there is only one rater, or if labels are switched."""
        if np.count_nonzero(patterns.present.any(axis=0)) == 1:
            self._warn("only one rater: the result is that rater's labels")
        elif is_switched:
            self._warn(
                "label-switched optimum: the mean rater does worse than chance; try another start"
            )


class UndecidedLabelMixin(ProcessObject):
    """Parameter LabelForUndecidedPixels, for filters that can leave voxels undecided."""

    LabelForUndecidedPixels = Parameter(
        Integer(),
        AUTOMATIC_LABEL,
        "Label of tied voxels; by default the largest label + 1.",
        default_doc="max label + 1",
        can_be_unset=True,
    )
