"""ChunkedResult: the result for dask arrays, whose outputs are lazy dask arrays."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from itk_consensus.chunked.block_chunks import BlockWork
from itk_consensus.chunked.passes import ChunkedWork, Estimated, ImageKey, Request
from itk_consensus.chunked.pattern_chunks import PatternWork
from itk_consensus.chunked.tile_chunks import TileWork
from itk_consensus.core.errors import GeometryError, InputError, ParameterError
from itk_consensus.core.parameters import Measurement
from itk_consensus.core.results import Memo, Result
from itk_consensus.fusing.fusion_case import FusionCase
from itk_consensus.fusing.fusion_result import (
    Fused,
    FusionResult,
    MadeBy,
    label_type,
    smallest_type,
)
from itk_consensus.fusing.near_copies import same_masks
from itk_consensus.fusing.vote_facts import VoteFacts
from itk_consensus.images.families.image_family import Family, LoadedImages
from itk_consensus.images.geometry import ArrayGeometry, ImageGeometry
from itk_consensus.methods.voting.tile_votes import TileVoteFilter
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.fusions import DecisionTable, Fusion
from itk_consensus.votes.uncertainty import UncertaintyKind

if TYPE_CHECKING:  # this module imports dask
    from itk_consensus.chunked.graph import ChunkedInputs
    from itk_consensus.fusing.label_fusion import LabelFusionFilter


#: Assessment rules that need voxels; they are omitted for chunked volumes.
RULES_OF_VOXELS = (
    *("mirrored mask", "shifted mask"),
    *("gaps between slices", "cut at the border", "surface Dice"),
)


@dataclass(frozen=True, eq=False)
class ChunkedResult(Result):
    """Result of Execute on dask arrays; counterpart of `FusionResult` for images in memory."""

    reads_inputs = True

    work: ChunkedWork
    inputs: ChunkedInputs
    dtype: np.dtype[Any]  #: Data type of label maps, derived from those of the inputs
    filter_: LabelFusionFilter  #: The filter, without images among its parameters
    memo: Memo = field(default_factory=Memo, repr=False)

    def label_image(self) -> Any:
        """The label map."""
        return self._output("label_image", self.dtype)

    def probability_image(self, label: int | None = None) -> Any:
        """Probability of a label, as float64."""
        return self._output("probability_image", np.float64, label)

    def dice_optimal_image(self, label: int | None = None) -> Any:
        """Map of a label that maximizes the expected Dice under its probability; 0 elsewhere."""
        return self._output("dice_optimal_image", self.dtype, label)

    def uncertainty_image(self, kind: UncertaintyKind) -> Any:
        """Uncertainty of each voxel from its probabilities, as float32."""
        return self._output("uncertainty_image", np.float32, kind)

    @property
    def labels(self) -> tuple[int, ...]:
        """The labels that occur; accessing them computes the gathering passes."""
        return self._estimated.labels

    @property
    def estimate(self) -> Any:
        """The method's own estimates; accessing them computes the gathering passes."""
        return self._estimated.estimate

    def measured(self, measurement: Measurement[Any]) -> Any:
        if callable(measurement.read):
            raise InputError(f"{measurement.name} needs the images in memory: compute() them first")
        return super().measured(measurement)

    def is_known(self, measurement: Measurement[Any]) -> bool:
        return False

    def as_table(self) -> FusionResult[Any]:
        """The part of the result that is known without voxels, for an assessment; accessing it
        computes the gathering passes.
        """
        shape = tuple(map(sum, self.inputs.layout.chunks))
        return table_result(self.filter_, self._estimated, ArrayGeometry.of_shape(shape))

    @property
    def _estimated(self) -> Estimated:
        from itk_consensus.chunked.graph import estimated

        return self.memo.get_or_make("estimated", lambda: estimated(self.work, self.inputs))

    def _output(self, method: str, dtype: DTypeLike, *arguments: Any) -> Any:
        from itk_consensus.chunked.graph import lazy_output

        return lazy_output(self.work, self.inputs, Request(method, arguments, dtype))


def promised_result(filter_: LabelFusionFilter, arrays: Any) -> ChunkedResult:
    """Create lazy outputs of a filter for dask arrays, from their shapes and data types only."""
    from itk_consensus.chunked.graph import ArrayInputs

    owner = filter_.GetName()
    if isinstance(arrays, Mapping):
        arrays = list(arrays.values())
    if not isinstance(arrays, (list, tuple)):
        raise InputError(
            f"needs a list of images, got one array of shape {arrays.shape}; "
            "pass list(a) if the first axis is the rater",
            owner=owner,
        )
    present = [array for array in arrays if array is not None]
    images = filter_.images_among_parameters()
    masks = filter_.RaterMasks
    if masks is not None and len(masks) != len(arrays):
        raise InputError(
            f"must have {len(arrays)} entries, got {len(masks)}",
            owner=owner,
            parameter="RaterMasks",
        )
    _require_one_shape(present, images, owner)
    shape = tuple(int(size) for size in present[0].shape)
    work = work_of(filter_, shape, (1.0,) * len(shape), [array.dtype for array in present], arrays)
    return ChunkedResult(
        work,
        ArrayInputs.make(arrays, images, work),
        label_type(array.dtype for array in present),
        filter_.without_images(),
    )


@dataclass(frozen=True)
class TableFusion(Fusion):
    """A fusion known only by how often each vote pattern occurs with each label, not where."""

    table: DecisionTable

    def as_table(self, patterns: DecisionPatterns) -> DecisionTable:
        return self.table

    def volume(self) -> NDArray[Any]:
        raise InputError("the voxels of a volume in chunks are not in memory")

    def write_labels(self, values: NDArray[Any], out: NDArray[Any]) -> None:
        self.volume()

    def write_probability(self, label: int, out: NDArray[Any]) -> None:
        self.volume()

    def write_uncertainty(self, kind: UncertaintyKind, labels: int, out: NDArray[Any]) -> None:
        self.volume()


@dataclass(frozen=True)
class VoteTableFusion(TableFusion):
    """The same for methods whose result depends only on the votes."""

    follows_votes = True


def table_result(
    filter_: LabelFusionFilter, estimated: Estimated, geometry: ImageGeometry
) -> FusionResult[Any]:
    """Return a result without voxels, from which findings, verdict and agreement can be derived.

    Raises
    ------
    InputError
        The filter does not count combinations of votes and resulting labels.
    """
    table = estimated.table
    if table is None:
        raise InputError(
            "of chunks it counts no votes, which an assessment needs: bring the inputs into "
            "memory first",
            owner=filter_.GetName(),
        )
    patterns = table.patterns
    if patterns.number_of_voxels < math.prod(geometry.shape):
        patterns = replace(patterns, outside_code=len(patterns.counts))  # there is a mask
    # Near copies can be detected only from voxels, as Consensus has done; here only equal masks are
    # found.
    copies = getattr(estimated.estimate, "copied_raters", same_masks(patterns))
    alone = set(range(patterns.number_of_raters)).difference(*copies)
    groups = [*map(list, copies), *([rater] for rater in sorted(alone))]
    loaded = LoadedImages((), geometry, Family.NUMPY, {}, ())
    case = FusionCase(loaded, patterns)
    case.memo.get_or_make("facts", lambda: VoteFacts(patterns, groups))
    fusion = TableFusion if filter_.chunking == "blocks" else VoteTableFusion
    labels = estimated.labels
    return FusionResult(
        case,
        Fused(fusion(table), estimated.estimate),
        labels,
        smallest_type(labels),
        max(labels) + 1,
        MadeBy.of(filter_),
    )


def work_of(
    filter_: LabelFusionFilter,
    shape: tuple[int, ...],
    spacing: tuple[float, ...],
    types: Sequence[np.dtype[Any]],
    raters: Sequence[Any],
) -> ChunkedWork:
    """Create the passes that run a filter on chunks.

    Raises
    ------
    InputError
        The filter cannot compute an exact result in chunks.
    """
    filter_.require_chunks(shape, types)
    bare = filter_.without_images()
    if isinstance(bare, TileVoteFilter) and bare.chunking == "tiles":
        return TileWork(bare, shape, spacing, tuple(rater is not None for rater in raters))
    if bare.chunking == "blocks":
        return BlockWork(bare, shape, spacing)
    return PatternWork(bare, len(shape))


def _require_one_shape(arrays: Sequence[Any], images: Mapping[ImageKey, Any], owner: str) -> None:
    first = arrays[0]
    inputs = {f"input {i}": array for i, array in enumerate(arrays)}
    others = {
        name if index is None else f"{name}[{index}]": image
        for (name, index), image in images.items()
    }
    for name, array in (inputs | others).items():
        if not hasattr(array, "shape") or not hasattr(array, "dtype"):
            raise InputError(
                f"{name} must be an array like the others, got {type(array).__name__}", owner=owner
            )
        if any(size != size for size in array.shape):
            raise InputError(f"{name} must have a known shape: compute_chunk_sizes()", owner=owner)
        if array.shape != first.shape:
            raise GeometryError(
                f"{name} must have the shape {first.shape} of input 0, got {array.shape}",
                owner=owner,
            )
        if name in others and isinstance(getattr(array, "_meta", array), np.ma.MaskedArray):
            raise InputError(
                f"{name} must not be a masked array: pass its .filled(value)", owner=owner
            )
        if array.dtype.kind not in "biuf":
            raise ParameterError(f"{name} must hold numbers, got {array.dtype}", owner=owner)
