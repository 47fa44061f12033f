"""LabelFusionFilter: one Execute for every fuser.

A subclass declares its parameters and writes `_fuse(case)`; loading, geometry, patterns, outputs,
events and metadata are the same for all and live here.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from itk_consensus.constraints import Integer, NamedReals, optional
from itk_consensus.diagnostics.diagnose import diagnose
from itk_consensus.diagnostics.findings import UNKNOWN, Diagnostics, Estimate
from itk_consensus.diagnostics.of_readers import diagnose_readers
from itk_consensus.diagnostics.reader_limits import LIMIT_NAMES, ReaderLimits
from itk_consensus.diagnostics.readers import Readers
from itk_consensus.errors import InputError, ParameterError
from itk_consensus.filters.chunked_images import ChunkedImages, promised_images
from itk_consensus.filters.fused_images import FusedImages, common_type, holds
from itk_consensus.filters.fusion_case import FusionCase, RaterInputs
from itk_consensus.filters.parameters import (
    Deferred,
    Output,
    Parameter,
    measurements_of,
    parameters_of,
)
from itk_consensus.filters.process_object import ProcessObject, made_later
from itk_consensus.fusion.coherence.near_copies import near_copies
from itk_consensus.fusion.staple.staple_result import StartSummary
from itk_consensus.images import convert
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.fusions import Fusion
from itk_consensus.votes.uncertainty import UNCERTAINTY_KINDS, UncertaintyKind
from itk_consensus.work import report, stage

#: What an Execute leaves behind, in memory or to be made chunk by chunk.
Images = FusedImages | ChunkedImages

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

    _case = Output[FusionCase | None](None)
    _images = Output[Any](None)  #: `Images`

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
        self, inputs: Any, *, beside: FusionCase | None = None, is_last: bool = False
    ) -> Any:
        """Fuse; nothing is kept for later outputs if what is returned is the last to be asked for.

        `beside` is a case of the same images, as of `_load`.
        """
        with self._running():
            self._check_parameters()
            if convert.are_chunked(inputs):
                return self._promise(inputs)
            case = self._load(inputs, beside)
            report(0.5)
            labels = self._label_values(case)
            dtype = common_type(case.loaded.arrays, labels)
            undecided = self._undecided_label(labels, dtype)
            with stage(0.5, 0.99):
                fusion = self._fuse(case)
            like = case.loaded.without_inputs()
            images = FusedImages(like, fusion, tuple(labels), dtype, undecided, self.GetName())
            self._case, self._images = case, images
            output = self._primary_output()
            if not is_last:
                # Later outputs must neither hold the caller's images nor follow what they become.
                self._case = case.without_inputs()
                self._images = replace(images, fusion=fusion.keeping(self._case.votes))
            return output

    def _promise(self, arrays: Any) -> Any:
        """Outputs and measurements of dask arrays, made chunk by chunk when they are computed."""
        self._images = chunked = promised_images(self, arrays)
        for measurement in measurements_of(type(self)):
            name = measurement.name
            self._measured[name] = Deferred(partial(chunked.measurement, name), reads_inputs=True)
        return self._primary_output()

    def _check_parameters(self) -> None:
        """Checks that concern several parameters at once; a subclass adds its own."""

    @abstractmethod
    def _fuse(self, case: FusionCase) -> Fusion:
        """Run the algorithm and store the measurements."""

    def _primary_output(self) -> Any:
        """What Execute returns."""
        return self.GetLabelImage() if self.returns_labels else self.GetProbabilityImage()

    def fused_labels(self, images: Sequence[Any]) -> Any:
        """Execute, for other parts of the package that want the label map whatever it returns."""
        output = self.Execute(images)
        return output if self.returns_labels else self.GetLabelImage()

    # -- chunks -----------------------------------------------------------------------------

    @property
    def chunking(self) -> str:
        """How dask arrays are fused: by their "patterns", in "tiles" with a halo, or not at all."""
        return "patterns" if not self.whole_because else "whole"

    def _require_chunks(self, shape: Sequence[int], types: Sequence[np.dtype[Any]]) -> None:
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

    @property
    def fused(self) -> FusedImages:
        """What the last Execute made, for other parts of the package to build on."""
        images = self._outputs
        if isinstance(images, FusedImages):
            return images
        raise InputError(
            "of dask arrays there are label maps, probabilities, uncertainties "
            "and measurements only; this output needs the images in memory: compute() them first",
            owner=self.GetName(),
        )

    @property
    def _outputs(self) -> Images:
        images: Images = self._made(self._images)
        return images

    @property
    def votes(self) -> DecisionPatterns:
        """The votes of the last Execute, for other parts of the package to build on."""
        with self._making_output():
            return self._executed_case().patterns

    def GetLabels(self) -> tuple[int, ...]:
        """The labels that occur in the last Execute's inputs, in increasing order."""
        return self._outputs.labels

    @made_later
    def GetLabelImage(self) -> Any:
        """The fused label map of the last Execute."""
        return self._outputs.label_image()

    @made_later
    def GetProbabilityImage(self, label: int | None = None) -> Any:
        """Probability, as float64, that the truth is this label, after the last Execute.

        Without a label the largest one that occurs is meant, the foreground of a binary map. A
        label that no rater used has probability 0 everywhere.
        """
        return self._outputs.probability_image(label)

    @made_later
    def GetDiceOptimalImage(self, label: int | None = None) -> Any:
        """The map of one label with the highest expected Dice under its probability.

        It may differ from the label map, which takes the most probable label of each voxel, where
        probabilities are far from 0 and 1. Without a label the largest one that occurs is meant.
        """
        return self._outputs.dice_optimal_image(label)

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
        return self._outputs.uncertainty_image(kind)

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
        case = self._executed_case()
        readers = Readers(case.patterns, case.spacing, ReaderLimits(**(self.AgreementLimits or {})))
        found = diagnose(self._estimate(case, self.fused.fusion, full))
        return Diagnostics((*found.findings, *diagnose_readers(readers)))

    def _estimate(self, case: FusionCase, fusion: Fusion, full: bool) -> Estimate:
        """The result as the diagnostics see it."""
        groups = near_copies(case.patterns)
        copies = tuple(tuple(group) for group in groups if len(group) > 1)
        known = {"copies": copies} | self._estimated(case)
        if case.patterns.outside_code is not None:
            # A mask fixes what is analysed, whatever lies around it.
            known["fuse_again"] = None
        return replace(
            Estimate.of(fusion, case.patterns),
            consensus_dice=self._consensus_dice(case, fusion, full),
            parameters=frozenset(parameter.name for parameter in parameters_of(type(self))),
            looks_at_neighbours=not fusion.follows_votes,
            **known,
        )

    def _estimated(self, case: FusionCase) -> dict[str, Any]:
        """What the method knows beside its answer, by the names of `Estimate`."""
        return {}

    def _consensus_dice(self, case: FusionCase, fusion: Fusion, full: bool) -> float | None:
        """How much of a result is what the raters share; None if it is that by definition."""
        if not full:
            return UNKNOWN
        return case.shared_consensus.overlap(fusion.volume(), case.patterns.labels)

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

    def _warn_of_doubts(self, case: FusionCase, starts: StartSummary) -> None:
        """Warn of a result of one rater only, or with switched labels."""
        if np.count_nonzero(case.patterns.present.any(axis=0)) == 1:
            self._warn("one rater only; the answer is that rater's labels")
        elif starts.switched[starts.winner]:
            self._warn("label-switched optimum: the mean rater does worse than chance")

    def _executed_case(self) -> FusionCase:
        _ = self.fused
        return self._made(self._case)


class UndecidedLabelMixin(ProcessObject):
    """LabelForUndecidedPixels, for the filters that can leave a voxel undecided."""

    LabelForUndecidedPixels = Parameter(
        Integer(),
        AUTOMATIC_LABEL,
        "Label of tied voxels; by default the largest label + 1.",
        default_doc="max label + 1",
        can_be_unset=True,
    )
