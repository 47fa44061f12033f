"""FusionResult: the immutable result of a fuser's Execute, from which all outputs are derived."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from itk_consensus.core.errors import InputError, ParameterError
from itk_consensus.core.parameters import measurements_of, parameters_of
from itk_consensus.core.process_object import holds_image
from itk_consensus.core.rater_names import default_rater_names
from itk_consensus.core.results import Memo, Result
from itk_consensus.images import convert
from itk_consensus.images.families.image_family import LoadedImages
from itk_consensus.votes.fusions import Fusion, PatternFusion
from itk_consensus.votes.ties import BACKGROUND, UNDECIDED
from itk_consensus.votes.uncertainty import UncertaintyKind

if TYPE_CHECKING:
    from itk_consensus.core.process_object import ProcessObject
    from itk_consensus.fusing.fusion_case import FusionCase

E = TypeVar("E")

_UNSIGNED = (np.uint8, np.uint16, np.uint32, np.uint64)
_SIGNED = (np.int8, np.int16, np.int32, np.int64)


@dataclass(frozen=True, slots=True)
class MadeBy:
    """The filter that produced a result, and its parameters."""

    kind: type[ProcessObject]
    version: str
    #: Parameters, except images, that differ from a fixed default, by name
    changed: Mapping[str, Any]
    images: tuple[str, ...] = ()  #: Names of image parameters, whose images are not kept

    @classmethod
    def of(cls, filter_: ProcessObject, *, is_kept: bool = True) -> MadeBy:
        """Record the filter's current state; parameters are omitted if the result is not kept."""
        from itk_consensus import __version__

        if not is_kept:
            return cls(type(filter_), __version__, {})
        values = {one: one.value_of(filter_) for one in parameters_of(type(filter_))}
        images = tuple(one.name for one, value in values.items() if holds_image(value))
        changed = {
            one.name: value
            for one, value in values.items()
            if value is not one.default and one.name not in images
        }
        return cls(type(filter_), __version__, changed, images)

    @property
    def parameters(self) -> dict[str, Any]:
        """All parameters by name, except images."""
        return {
            one.name: self.changed.get(one.name, one.default)
            for one in parameters_of(self.kind)
            if one.name not in self.images
        }

    @property
    def filter(self) -> str:
        """Name of the filter's class."""
        return self.kind.__name__

    @property
    def method(self) -> str:
        """Name of the method on the command line; empty if it has none there."""
        return getattr(self.kind, "method", "")


@dataclass(frozen=True, slots=True)
class Fused(Generic[E]):
    """Return value of a fuser's `_fuse`, a pure function of its parameters and the case."""

    fusion: Fusion
    estimate: E  #: The method's own estimates, without voxels; None if there are none
    extras: Mapping[str, Any] = field(default_factory=dict)  #: Other data required by outputs

    def with_case(self, case: FusionCase) -> Fused[E]:
        """Return a copy that refers to the votes of this case instead of the caller's images."""
        return replace(self, fusion=self.fusion.with_votes(case.votes))


@dataclass(frozen=True, eq=False, slots=True)
class FusionResult(Result, Generic[E]):
    """A fusion and its votes; independent of later changes to the filter and the images."""

    case: FusionCase
    fused: Fused[E]
    labels: tuple[int, ...]  #: Label value of each index
    dtype: np.dtype[Any]  #: Dtype of the label image
    undecided: int  #: Label of undecided voxels
    made_by: MadeBy
    memo: Memo = field(default_factory=Memo, repr=False)

    def __repr__(self) -> str:
        shape = " x ".join(map(str, self.like.geometry.size))
        raters = self.case.votes.number_of_raters
        return (
            f"FusionResult({self.made_by.filter}: {raters} raters, {shape} voxels, "
            f"{len(self.labels)} labels)"
        )

    def has_measurement(self, name: str) -> bool:
        """Return whether the filter that produced this result has a measurement of this name."""
        return any(one.name == name for one in measurements_of(self.made_by.kind))

    def __getitem__(self, measurement: str) -> Any:
        """Return the value of a measurement, by name, of the filter that produced this result."""
        for one in measurements_of(self.made_by.kind):
            if one.name == measurement:
                return one.value_in(self)
        names = ", ".join(one.name for one in measurements_of(self.made_by.kind))
        raise KeyError(f"{self.made_by.filter} has no measurement {measurement!r}; it has {names}")

    @property
    def fusion(self) -> Fusion:
        """The fused labels and probabilities, by pattern, by disputed voxel or by voxel."""
        return self.fused.fusion

    @property
    def estimate(self) -> E:
        """The method's own estimates."""
        return self.fused.estimate

    @property
    def extras(self) -> Mapping[str, Any]:
        """Other data of the method required by outputs."""
        return self.fused.extras

    @property
    def like(self) -> LoadedImages:
        """Family, geometry and metadata of the images."""
        return self.case.loaded

    def detach(self) -> FusionResult[E]:
        """Return a copy with all that later outputs require, without the caller's images."""
        case = self.case.without_inputs()
        return replace(self, case=case, fused=self.fused.with_case(case))

    @property
    def rater_names(self) -> tuple[str, ...]:
        """Names of the raters; "rater 0" and so on if they have none."""
        return self.case.names or default_rater_names(self.case.votes.number_of_raters)

    def with_rater_names(self, names: Sequence[str] | None) -> FusionResult[E]:
        """Return a copy with these rater names; None keeps the current names."""
        if names is None:
            return self
        raters = self.case.votes.number_of_raters
        if len(names) != raters:
            raise ParameterError(
                f"names must be {raters}, one per rater, got {len(names)}",
                owner=self.made_by.filter,
            )
        return replace(self, case=self.case.with_rater_names(names))

    # -- images, a new one per call ---------------------------------------------------------

    def label_image(self, fusion: Fusion | None = None) -> Any:
        """Return the label map of this fusion, or of another fusion of the same case."""
        fusion = self.fusion if fusion is None else fusion
        undecided = self.undecided
        if not holds(self.dtype, [undecided]):
            # Searching for undecided voxels may take as long as fusing, so it is done only if
            # needed.
            if fusion.has_undecided:
                raise ParameterError(
                    f"must be set: voxels are tied, and one "
                    f"more than the largest label, {undecided}, does not fit the inputs' type "
                    f"{self.dtype}; set a value that does, or cast the inputs to a wider type",
                    owner=self.made_by.filter,
                    parameter="LabelForUndecidedPixels",
                )
            undecided = 0
        values = np.array([*self.labels, 0, undecided], dtype=self.dtype)
        return self.image(lambda out: fusion.write_labels(values, out), self.dtype)

    def probability_image(self, label: int | None = None) -> Any:
        """Return the probability of a label, as float64; 0 everywhere if no rater used it."""
        label = self.labels[-1] if label is None else label
        return self.image(lambda out: self.write(label, out))

    def dice_optimal_image(self, label: int | None = None) -> Any:
        """Return the mask of a label that maximizes the expected Dice under its probability."""
        from itk_consensus.fusing.dice_optimal_cut import dice_optimal_cut

        label = self.labels[-1] if label is None else label
        if label not in self.labels:
            return self.image(lambda out: out.fill(0), self.dtype)
        index, fusion = self.labels.index(label), self.fusion
        if isinstance(fusion, PatternFusion):
            chosen, _ = dice_optimal_cut(fusion.of_label(index), fusion.patterns.counts)
            values = np.where(chosen, label, 0).astype(self.dtype)
            return self.image(lambda out: fusion.patterns.expand(values, out=out), self.dtype)
        probability = self.probability(label)
        chosen, _ = dice_optimal_cut(probability.ravel())
        mask = np.where(chosen, label, 0).reshape(probability.shape)
        return self.image(lambda out: np.copyto(out, mask, casting="unsafe"), self.dtype)

    def uncertainty_image(self, kind: UncertaintyKind) -> Any:
        """Return the uncertainty of each voxel from its probabilities, as float32."""
        return self.image(lambda out: self.write_uncertainty(kind, out), np.float32)

    def image(self, write: Callable[[NDArray[Any]], Any], dtype: DTypeLike = np.float64) -> Any:
        """Return a new image on the inputs' grid, filled by `write`."""
        return convert.make_image(write, dtype, self.like)

    # -- arrays -----------------------------------------------------------------------------

    def decision(self, labels: Sequence[int]) -> NDArray[Any]:
        """Return each voxel's label as an index into other labels, or a code of `votes.ties`.

        Background and labels that are not in the list become label 0, if the list has it.
        """
        # Voxels outside masks must also be label 0, so that no contour separates them.
        background = labels.index(0) if 0 in labels else BACKGROUND
        known = [labels.index(label) if label in labels else background for label in self.labels]
        values = np.array([*known, background, UNDECIDED], np.min_scalar_type(-len(labels) - 2))
        decision = np.empty(self.like.geometry.shape, values.dtype)
        self.fusion.write_labels(values, decision)
        return decision

    def settled_labels(self) -> NDArray[Any]:
        """Return the label of each voxel; undecided voxels become background."""
        values = np.array([*self.labels, 0, 0], self.dtype)
        return np.asarray(values[self.decision(self.labels)])

    def rater_maps(self, missing: int) -> list[NDArray[Any]]:
        """Return the label map of each rater, as used by the filter.

        Parameters
        ----------
        missing : int
            Value for voxels that a rater did not annotate; greater than all labels.
        """
        values = np.array([*self.labels, missing])
        values = values.astype(np.result_type(*map(np.min_scalar_type, (min(values), missing))))
        patterns = self.case.patterns
        return [
            patterns.expand(values[patterns.patterns[:, j]], outside=missing)
            for j in range(patterns.number_of_raters)
        ]

    def probability(self, label: int) -> NDArray[np.float64]:
        """Return the probability of a label at each voxel."""
        probability = np.empty(self.like.geometry.shape)
        self.write(label, probability)
        return probability

    def probabilities_at(
        self, places: Mapping[int, NDArray[np.int64]]
    ) -> dict[int, NDArray[np.float64]]:
        """Return the probability of each label at some voxels.

        The voxels are given by label, as ascending flat indices. Labels that no rater used are left
        out.
        """
        index = {label: at for at, label in enumerate(self.labels)}
        wanted = {index[label]: where for label, where in places.items() if label in index}
        found = self.fusion.probabilities_at(wanted, self.like.geometry.shape)
        return {self.labels[at]: values for at, values in found.items()}

    def write_uncertainty(self, kind: UncertaintyKind, out: NDArray[Any]) -> None:
        """Write the uncertainty of each voxel from its probabilities."""
        self.fusion.write_uncertainty(kind, len(self.labels), out)

    def write(self, label: int, out: NDArray[Any]) -> None:
        """Write the probability of a label at each voxel."""
        if label in self.labels:
            self.fusion.write_probability(self.labels.index(label), out)
        else:
            out[...] = 0.0


def result_of(made: Any) -> FusionResult[Any]:
    """Return the given result, or the result of a filter's last Execute."""
    if isinstance(made, FusionResult):
        return made
    result = made.GetResult()
    if isinstance(result, FusionResult):
        return result
    raise InputError(
        "this output needs the images in memory: compute() the dask arrays first; label maps, "
        "probabilities, uncertainties and measurements work on dask arrays",
        owner=made.GetName(),
    )


def makes_results(thing: Any) -> bool:
    """Return whether `result_of` accepts an object: a result, or a filter that produces one."""
    return isinstance(thing, FusionResult) or hasattr(thing, "GetProbabilityImage")


def holds(dtype: np.dtype[Any], values: Iterable[int]) -> bool:
    """Return whether an integer type can represent all values."""
    limits = np.iinfo(dtype)
    return all(limits.min <= value <= limits.max for value in values)


def smallest_type(values: Iterable[int]) -> np.dtype[Any]:
    """Return the smallest integer type for the values, which is unsigned if none is negative."""
    values = list(values)
    for candidate in _SIGNED if min(values, default=0) < 0 else _UNSIGNED:
        if holds(np.dtype(candidate), values):
            return np.dtype(candidate)
    raise InputError(f"no integer type holds the labels {min(values)} to {max(values)}")


def common_type(inputs: Iterable[NDArray[Any] | None], labels: Iterable[int]) -> np.dtype[Any]:
    """Return the dtype of a label map for these inputs, given only their dtypes.

    If this dtype cannot represent the labels, the smallest dtype that can is returned.
    """
    labels = list(labels)
    common = label_type(array.dtype for array in inputs if array is not None)
    return common if holds(common, labels) else smallest_type(labels)


def label_type(types: Iterable[np.dtype[Any]]) -> np.dtype[Any]:
    """Return the integer dtype of a label map for inputs of these dtypes.

    This is the inputs' common dtype, if there is one. Booleans result in uint8, floating-point
    types in int32.
    """
    whole: dict[str, np.dtype[Any]] = {"b": np.dtype(np.uint8), "f": np.dtype(np.int32)}
    common = np.result_type(*(whole.get(dtype.kind, dtype) for dtype in types))
    # There is no integer type common to uint64 and a signed type.
    return common.newbyteorder("=") if common.kind in "ui" else np.dtype(np.int64)
