"""FusionResult: what an Execute of a fuser makes. Everything else reads it; nothing changes it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from itk_consensus.core.errors import InputError, ParameterError
from itk_consensus.core.parameters import measurements_of, parameters_of
from itk_consensus.core.process_object import holds_image
from itk_consensus.core.rater_names import numbered
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


@dataclass(frozen=True)
class MadeBy:
    """Which filter made a result, and with which parameters."""

    kind: type[ProcessObject]
    version: str
    parameters: Mapping[str, Any]  #: All of them by name, but images

    @classmethod
    def of(cls, filter_: ProcessObject, *, is_kept: bool = True) -> MadeBy:
        """The filter as it is now; without parameters where nobody keeps the result."""
        from itk_consensus import __version__

        if not is_kept:
            return cls(type(filter_), __version__, {})
        values = {one.name: one.value_of(filter_) for one in parameters_of(type(filter_))}
        known = {name: value for name, value in values.items() if not holds_image(value)}
        return cls(type(filter_), __version__, known)

    @property
    def filter(self) -> str:
        """The name of the filter's class."""
        return self.kind.__name__

    @property
    def method(self) -> str:
        """The name on the command line; empty if it has none there."""
        return getattr(self.kind, "method", "")


@dataclass(frozen=True)
class Fused(Generic[E]):
    """What a fuser's `_fuse` returns: a pure function of its parameters and the case."""

    fusion: Fusion
    estimate: E  #: The method's own numbers, and numbers only; None if it has none
    extras: Mapping[str, Any] = field(default_factory=dict)  #: Whatever else outputs are made from

    def keeping(self, case: FusionCase) -> Fused[E]:
        """The same without the caller's images."""
        return replace(self, fusion=self.fusion.keeping(case.votes))


@dataclass(frozen=True, eq=False)
class FusionResult(Result, Generic[E]):
    """A fusion and the votes it came from; parameters and images changed later do not change it."""

    case: FusionCase
    fused: Fused[E]
    labels: tuple[int, ...]  #: The label value behind each index
    dtype: np.dtype[Any]  #: Of the label image
    undecided: int  #: The label of voxels that no label won
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
        """Whether the filter that made this measures something of this name."""
        return any(one.name == name for one in measurements_of(self.made_by.kind))

    def __getitem__(self, measurement: str) -> Any:
        """The value of a measurement of the filter that made this, by its name."""
        for one in measurements_of(self.made_by.kind):
            if one.name == measurement:
                return one.value_in(self)
        names = ", ".join(one.name for one in measurements_of(self.made_by.kind))
        raise KeyError(f"{self.made_by.filter} has no measurement {measurement!r}, but {names}")

    @property
    def fusion(self) -> Fusion:
        """The answer, by pattern, by disputed voxel or by voxel."""
        return self.fused.fusion

    @property
    def estimate(self) -> E:
        """The method's own numbers."""
        return self.fused.estimate

    @property
    def extras(self) -> Mapping[str, Any]:
        """What else the method knows."""
        return self.fused.extras

    @property
    def like(self) -> LoadedImages:
        """Family, geometry and metadata of the images."""
        return self.case.loaded

    def detached(self) -> FusionResult[E]:
        """What later outputs need, without the caller's images or what they become."""
        case = self.case.without_inputs()
        return replace(self, case=case, fused=self.fused.keeping(case))

    @property
    def rater_names(self) -> tuple[str, ...]:
        """What each rater is called; "rater 0" and so on, if they have no names."""
        return self.case.names or numbered(self.case.votes.number_of_raters)

    def named(self, names: Sequence[str] | None) -> FusionResult[E]:
        """The same of raters who are called so; None leaves them their names."""
        if names is None:
            return self
        raters = self.case.votes.number_of_raters
        if len(names) != raters:
            raise ParameterError(
                f"names must be {raters}, one per rater, got {len(names)}",
                owner=self.made_by.filter,
            )
        return replace(self, case=self.case.named(names))

    # -- images, a new one per call ---------------------------------------------------------

    def label_image(self, fusion: Fusion | None = None) -> Any:
        """The label map; of another fusion of the same case, if one is given."""
        fusion = self.fusion if fusion is None else fusion
        undecided = self.undecided
        if not holds(self.dtype, [undecided]):
            # Looking for undecided voxels may take as long as fusing: only if much depends on it.
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
        """Probability of a label, as float64; 0 everywhere if no rater used the label."""
        label = self.labels[-1] if label is None else label
        return self.image(lambda out: self.write(label, out))

    def dice_optimal_image(self, label: int | None = None) -> Any:
        """The label where that makes the expected Dice under its probability highest; else 0."""
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
        """How unsure the probabilities leave each voxel, as float32."""
        return self.image(lambda out: self.write_uncertainty(kind, out), np.float32)

    def image(self, write: Callable[[NDArray[Any]], Any], dtype: DTypeLike = np.float64) -> Any:
        """An image whose every voxel `write` fills in."""
        return convert.written(write, dtype, self.like)

    # -- arrays -----------------------------------------------------------------------------

    def decision(self, labels: Sequence[int]) -> NDArray[Any]:
        """Each voxel's index into other labels, or a code of `votes.ties`.

        Background, and a label that is not among the others, is label 0 if they have it.
        """
        # No contour must part what raters and masks leave out.
        background = labels.index(0) if 0 in labels else BACKGROUND
        known = [labels.index(label) if label in labels else background for label in self.labels]
        values = np.array([*known, background, UNDECIDED], np.min_scalar_type(-len(labels) - 2))
        decision = np.empty(self.like.geometry.shape, values.dtype)
        self.fusion.write_labels(values, decision)
        return decision

    def settled_labels(self) -> NDArray[Any]:
        """The label of each voxel; undecided voxels, which have none, are background."""
        values = np.array([*self.labels, 0, 0], self.dtype)
        return np.asarray(values[self.decision(self.labels)])

    def rater_maps(self, missing: int) -> list[NDArray[Any]]:
        """What each rater said, as the filter saw it.

        Parameters
        ----------
        missing : int
            What stands where a rater did not annotate; beyond all labels.
        """
        values = np.array([*self.labels, missing])
        values = values.astype(np.result_type(*map(np.min_scalar_type, (min(values), missing))))
        patterns = self.case.patterns
        return [
            patterns.expand(values[patterns.patterns[:, j]], outside=missing)
            for j in range(patterns.number_of_raters)
        ]

    def probability(self, label: int) -> NDArray[np.float64]:
        """Probability of a label at each voxel."""
        probability = np.empty(self.like.geometry.shape)
        self.write(label, probability)
        return probability

    def probabilities_at(
        self, places: Mapping[int, NDArray[np.int64]]
    ) -> dict[int, NDArray[np.float64]]:
        """Probability of each label at some voxels, given by label as ascending flat indices.

        Labels that no rater used are left out.
        """
        index = {label: at for at, label in enumerate(self.labels)}
        wanted = {index[label]: where for label, where in places.items() if label in index}
        found = self.fusion.probabilities_at(wanted, self.like.geometry.shape)
        return {self.labels[at]: values for at, values in found.items()}

    def write_uncertainty(self, kind: UncertaintyKind, out: NDArray[Any]) -> None:
        """Write how unsure the probabilities leave each voxel."""
        self.fusion.write_uncertainty(kind, len(self.labels), out)

    def write(self, label: int, out: NDArray[Any]) -> None:
        """Write the probability of a label at each voxel."""
        if label in self.labels:
            self.fusion.write_probability(self.labels.index(label), out)
        else:
            out[...] = 0.0


def result_of(made: Any) -> FusionResult[Any]:
    """A result, or what the last Execute of a filter made."""
    if isinstance(made, FusionResult):
        return made
    result = made.GetResult()
    if isinstance(result, FusionResult):
        return result
    raise InputError(
        "of dask arrays there are label maps, probabilities, uncertainties "
        "and measurements only; this output needs the images in memory: compute() them first",
        owner=made.GetName(),
    )


def makes_results(thing: Any) -> bool:
    """Whether `result_of` finds a result in it, or would after Execute."""
    return isinstance(thing, FusionResult) or hasattr(thing, "GetProbabilityImage")


def holds(dtype: np.dtype[Any], values: Iterable[int]) -> bool:
    """Whether every value fits the integer type."""
    limits = np.iinfo(dtype)
    return all(limits.min <= value <= limits.max for value in values)


def smallest_type(values: Iterable[int]) -> np.dtype[Any]:
    """The smallest integer type that holds the values, unsigned if none is negative."""
    values = list(values)
    for candidate in _SIGNED if min(values, default=0) < 0 else _UNSIGNED:
        if holds(np.dtype(candidate), values):
            return np.dtype(candidate)
    raise InputError(f"no integer type holds the labels {min(values)} to {max(values)}")


def common_type(inputs: Iterable[NDArray[Any] | None], labels: Iterable[int]) -> np.dtype[Any]:
    """The type of a label map made from these inputs, by their types alone.

    Only labels that it cannot hold, beyond all that anybody draws, give the smallest that does.
    """
    labels = list(labels)
    common = label_type(array.dtype for array in inputs if array is not None)
    return common if holds(common, labels) else smallest_type(labels)


def label_type(types: Iterable[np.dtype[Any]]) -> np.dtype[Any]:
    """The integer type of label maps made from inputs of these types: theirs, if they have one.

    Booleans give uint8, floating types int32.
    """
    whole: dict[str, np.dtype[Any]] = {"b": np.dtype(np.uint8), "f": np.dtype(np.int32)}
    common = np.result_type(*(whole.get(dtype.kind, dtype) for dtype in types))
    # There is no integer type for uint64 and a signed one together.
    return common.newbyteorder("=") if common.kind in "ui" else np.dtype(np.int64)
