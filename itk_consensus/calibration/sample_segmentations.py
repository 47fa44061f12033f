"""SampleSegmentations: random segmentations that another rater might have drawn."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from itk_consensus.calibration.samples import (
    ROUND,
    ReaderDifferences,
    SampleModel,
    SampleRound,
    VolumeInterval,
    differences_of_label,
    fit_samples,
    pool_blocks,
    volume_interval,
)
from itk_consensus.core.constraints import Boolean, Integer, Kind, Real
from itk_consensus.core.errors import InputError
from itk_consensus.core.parameters import Parameter
from itk_consensus.fusing.fusion_result import FusionResult, result_of
from itk_consensus.images import convert
from itk_consensus.images.files import write_image
from itk_consensus.space.boxes import voxel_volume
from itk_consensus.storage.files import PathLike

T = TypeVar("T")

_OWNER = "SampleSegmentations"
#: Boxes around a structure with more voxels than this are downsampled to at most this number.
_VOXELS_OF_A_VOLUME = 200_000


class SampleSegmentations:
    """Random label maps around a consensus that differ from each other as much as its raters do.

    A sequence whose members are computed lazily: ``samples[3]`` does not depend on earlier
    accesses, and only one field and one map are in memory. The mean of forty samples, or of a
    multiple of forty, equals the probability of GetProbabilityImage() to within 1/40.

    That probability is the fuser's, widened until two samples overlap as much as two raters do,
    since another rater may differ even where a few raters agree. With ``widen=False`` it is the
    fuser's own, and samples are more similar to each other than raters are.

    Parameters
    ----------
    fuser : LabelFusionFilter or FusionResult
        A filter after its Execute, or its result, with at least two raters.
    number : int
        Number of samples.
    seed : int
        Seed of the random numbers.
    label : int, optional
        The label to sample; by default the largest one, which is the foreground of masks.
    widen : bool
        Whether to widen the fuser's probability to match the differences between raters.

    Examples
    --------
    >>> fuser = itk_consensus.ConsensusFilter()
    >>> fuser.Execute(images)
    >>> samples = itk_consensus.SampleSegmentations(fuser, 40, seed=1)
    >>> doses = [mean_dose(dose, contour) for contour in samples]
    >>> samples.volume()
    """

    def __init__(
        self,
        fuser: Any,
        number: int = ROUND,
        seed: int = 0,
        label: int | None = None,
        widen: bool = True,
    ) -> None:
        self.number = _check_value("number", Integer(1, 10**6), number)
        seed = _check_value("seed", Integer(0, 2**63 - 1), seed)
        widen = _check_value("widen", Boolean(), widen)
        self._fused = result_of(fuser)
        labels = self._fused.labels
        self.label = labels[-1] if label is None else _check_value("label", Integer(), label)
        probability, differences = _of_label(self._fused, self.label)
        spacing = self._fused.like.geometry.array_spacing
        self._model = fit_samples(probability, spacing, differences, seed, widen=widen)
        self._round: tuple[int, SampleRound] | None = None

    def __len__(self) -> int:
        return self.number

    def __getitem__(self, index: int) -> Any:
        if not -self.number <= index < self.number:
            raise IndexError(f"{_OWNER}: sample {index} of {self.number}")
        return self._image(self._mask(index % self.number))

    def __iter__(self) -> Iterator[Any]:
        return (self[index] for index in range(self.number))

    @property
    def model(self) -> SampleModel:
        """The random model of the samples; `length` is its correlation length in mm."""
        return self._model

    def GetProbabilityImage(self) -> Any:
        """Return the probability from which samples are drawn, as float32."""

        def write(out: NDArray[Any]) -> None:
            out.fill(0)
            out[self._model.box] = self._model.probability

        return self._fused.image(write, np.float32)

    def volume(self, level: float = 0.9) -> VolumeInterval:
        """Return the mean volume of the samples, and a prediction interval for another rater's.

        Volumes are in ml (2D images: mm²; arrays: voxels). The interval is computed from 200
        samples, or from `number` if that is more.
        """
        level = _check_value("level", Real(0.0, 1.0, exclusive=True), level)
        voxel, _ = voxel_volume(self._fused.like.geometry.array_spacing)
        volumes = self._model.volumes(max(5 * ROUND, self.number)) * voxel
        return volume_interval(volumes, level, self._model.readers)

    def write(self, folder: PathLike, suffix: str = ".nii.gz") -> list[Path]:
        """Write each sample to a file (sample-000 and so on) and return the paths."""
        digits = max(3, len(str(self.number - 1)))
        paths = [Path(folder) / f"sample-{i:0{digits}}{suffix}" for i in range(self.number)]
        for path, image in zip(paths, self, strict=True):
            write_image(image, path)
        return paths

    def vector_image(self) -> Any:
        """Return all samples, held in memory together, as the components of one vector image."""
        maps = []
        for index in range(self.number):
            maps.append(np.zeros(self._fused.like.geometry.shape, self._fused.dtype))
            maps[-1][self._model.box][self._mask(index)] = self.label
        return convert.to_vector_image(maps, self._fused.like)

    def _mask(self, index: int) -> NDArray[np.bool_]:
        number, turn = divmod(index, ROUND)
        if self._round is None or self._round[0] != number:
            self._round = None  # release it so that two fields are never in memory at once
            self._round = (number, self._model.round_of(number))
        return self._round[1].mask(turn)

    def _image(self, mask: NDArray[np.bool_]) -> Any:
        def write(out: NDArray[Any]) -> None:
            out.fill(0)
            out[self._model.box][mask] = self.label

        return self._fused.image(write, self._fused.dtype)


def volume_intervals(fuser: Any) -> dict[int, VolumeInterval]:
    """Return each label's expected volume for another rater, with its 90 % prediction interval.

    Labels without an interval are omitted: labels of probability 0 everywhere, labels with a
    single rater, and images that are neither 2D nor 3D. Large structures are sampled on a coarser
    grid, which hardly affects their volumes.
    """
    result = result_of(fuser)
    spacing, found = result.like.geometry.array_spacing, {}
    for label in result.labels:
        if label:
            with suppress(InputError):
                probability, differences = _of_label(result, label)
                few, side = pool_blocks(probability, _VOXELS_OF_A_VOLUME)
                model = fit_samples(few, [side * step for step in spacing], differences, 0)
                voxel = side ** len(spacing) * voxel_volume(spacing)[0]
                volumes = model.volumes(5 * ROUND) * voxel
                found[label] = volume_interval(volumes, 0.9, model.readers)
    return found


def _of_label(
    result: FusionResult[Any], label: int
) -> tuple[NDArray[np.float64], ReaderDifferences]:
    """Return the probability of a label, and how raters differ on it."""

    def require(holds: bool, problem: str) -> None:
        if not holds:
            raise InputError(f"the fused images {problem}", owner=_OWNER)

    dimension, raters = result.like.geometry.dimension, result.case.facts
    require(dimension in (2, 3), f"must be 2D or 3D, got {dimension}D")
    require(label in result.labels, f"must have label {label}, got labels {result.labels}")
    require(raters.patterns.number_of_raters > 1, "must be of at least 2 raters, got 1")
    probability = result.probability(label)
    require(bool(probability.any()), f"must have label {label} with a probability above 0")
    return probability, differences_of_label(raters.pairs, result.labels.index(label))


def _check_value(name: str, kind: Kind[T], value: Any) -> T:
    """Validate a parameter's value with the same error message as filters."""
    parameter = Parameter(kind, lambda _: value, "")
    parameter.name = name
    return parameter.check(_OWNER, value)
