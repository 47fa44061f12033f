"""Consensus and the coherence vote in chunks are bitwise equal to those in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import dask
import dask.array as da
import numpy as np
import pytest
import SimpleITK as sitk
import zarr
from distributed import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lengths import by_length
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

import itk_consensus as ic
from itk_consensus.batch.workers import LOCAL, dask_client
from itk_consensus.chunked import block_chunks
from itk_consensus.chunked.big_volumes import fuse_volumes
from itk_consensus.chunked.chunked_result import ChunkedResult, work_of
from itk_consensus.chunked.graph import ArrayInputs
from itk_consensus.core.errors import ConsensusError, InputError
from itk_consensus.fusing import near_copies
from itk_consensus.fusing.fusion_result import label_type
from itk_consensus.fusing.label_fusion import LabelFusionFilter
from itk_consensus.methods.consensus import blocked_masks, scale_bands
from itk_consensus.methods.shape import averaged_blocks
from itk_consensus.space.blocks import Blocked, Blocks
from itk_consensus.space.pieces import block_finders, block_pieces, label_pieces, raters_by_piece
from itk_consensus.votes.ties import TIE_RULES
from itk_consensus.votes.uncertainty import UNCERTAINTY_KINDS

FILTERS = (ic.CoherenceVoteFilter, ic.ConsensusFilter)

#: Largest shape for each number of dimensions: several blocks, each smaller than the halo of the
#: bands.
LARGEST = {2: (60, 60), 3: (30, 30, 30), 4: (3, 13, 13, 13)}


#: Spacings with thick slices or three different voxel sides, some of them so long that no scale
#: reaches the next voxel.
ANISOTROPIC = {
    2: [(2.5, 1.0), (0.7, 6.0)],
    3: [(3.0, 0.8, 0.8), (0.5, 1.1, 9.0)],
    4: [(7.0, 2.0, 1.0, 1.0), (0.1, 1.0, 0.6, 4.0)],
}


OUTPUTS = [
    *(("probability_image", label) for label in (None, 0, 1, 2, 7)),
    *(("uncertainty_image", kind) for kind in UNCERTAINTY_KINDS),
]


class Drawn(NamedTuple):
    """Raters of a volume, other inputs, chunks, and block sizes."""

    raters: list[Any]
    given: dict[str, Any]
    spacing: tuple[float, ...]  #: In mm, in array order
    chunks: tuple[tuple[int, ...], ...]
    side: int
    packed_side: int
    full_grid: int
    output: (
        tuple[str, Any] | None
    )  #: Output requested besides the label map: a method, and its argument


def smooth(rng: np.random.Generator, shape: tuple[int, ...], sigma: float) -> NDArray[Any]:
    """Return smooth noise of unit variance."""
    found = gaussian_filter(rng.standard_normal(shape), sigma, mode="wrap")
    return np.asarray(found / max(found.std(), 1e-9))


@st.composite
def drawn_cases(draw: Callable[..., Any], dimension: int) -> Drawn:
    """Draw structures outlined by several raters with individual errors, in uneven chunks."""
    shape = tuple(draw(st.integers(min(6, n), n)) for n in LARGEST[dimension])
    number, labels = draw(st.integers(1, 7)), draw(st.integers(2, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2999)))
    truth = smooth(rng, shape, 2.0)
    levels = [0.8, 1.3, 1.6][: labels - 1]
    raters: list[Any] = []
    for _ in range(number):
        own = truth + rng.choice([0.1, 0.5, 1.0]) * smooth(rng, shape, float(rng.integers(3)))
        labelled = np.digitize(own, levels).astype(np.uint8)
        if rng.random() < 0.3:
            labelled[smooth(rng, shape, 3.0) > 0] = 0
        raters.append(labelled)
    if number >= 4 and draw(st.booleans()):
        raters[-1] = raters[0]
    given: dict[str, Any] = {}
    if draw(st.integers(0, 3)) == 0:
        given["MaskImage"] = (rng.random(shape) < 0.9).astype(np.uint8)
    if draw(st.integers(0, 3)) == 0:
        looked = [(smooth(rng, shape, 2.0) > -0.1).astype(np.uint8) for _ in raters]
        given["RaterMasks"] = [one if rng.random() < 0.5 else None for one in looked]
    if number > 1 and draw(st.integers(0, 3)) == 0:
        raters[int(rng.integers(number))] = None
    return Drawn(
        raters,
        given,
        tuple(draw(st.sampled_from([(1.0,) * dimension, *ANISOTROPIC[dimension]]))),
        tuple(_uneven(rng, size) for size in shape),
        draw(st.sampled_from([12, 16, 32])),
        draw(st.sampled_from([5, 8, 16])),
        draw(st.sampled_from([10, scale_bands.VOXELS_OF_FULL_GRID])),
        draw(st.sampled_from(OUTPUTS)),
    )


def _uneven(rng: np.random.Generator, size: int) -> tuple[int, ...]:
    """Return the sizes of one to seven chunks."""
    cuts = rng.choice(np.arange(1, size), min(size - 1, int(rng.integers(7))), replace=False)
    return tuple(int(n) for n in np.diff([0, *sorted(cuts), size]))


def told(result: Any, output: tuple[str, Any] | None) -> tuple[Any, ...]:
    """Return the label map and another output, their types, the labels and the estimate."""
    images = [result.label_image()]
    if output is not None:
        images.append(getattr(result, output[0])(output[1]))
    arrays = [
        image.compute(scheduler="synchronous")
        if isinstance(image, da.Array)
        else sitk.GetArrayFromImage(image)
        for image in images
    ]
    types = [voxels.dtype for voxels in arrays]
    return *arrays, types, result.labels, result.estimate


def each(function: Callable[[Any], Any], given: Any) -> Any:
    """Apply a function to an image, to each image of a list, or to each value of a dictionary."""
    if isinstance(given, dict):
        return {name: each(function, one) for name, one in given.items()}
    if isinstance(given, list):
        return [each(function, one) for one in given]
    return None if given is None else function(given)


def in_memory(filter_: Callable[..., LabelFusionFilter], drawn: Drawn) -> tuple[Any, ...]:
    """Return the outputs for images in memory with this spacing, or the type of the error."""

    def image(array: NDArray[Any]) -> sitk.Image:
        found = sitk.GetImageFromArray(array, isVector=False)
        found.SetSpacing(drawn.spacing[::-1])
        return found

    fuser = filter_(**each(image, drawn.given))
    try:
        fuser.Execute(each(image, drawn.raters))
    except ConsensusError as error:
        return (type(error),)
    return told(fuser.GetResult(), drawn.output)


def in_chunks(filter_: Callable[..., LabelFusionFilter], drawn: Drawn) -> tuple[Any, ...]:
    """Return the same for dask arrays; volumes on disk have a spacing, but dask arrays have
    none.
    """
    given, raters = each(partial(da.from_array, chunks=drawn.chunks), [drawn.given, drawn.raters])
    fuser = filter_(**given)
    try:
        if set(drawn.spacing) == {1.0}:
            fuser.Execute(raters)
            return told(fuser.GetResult(), drawn.output)
        types = [rater.dtype for rater in raters if rater is not None]
        shape = tuple(map(sum, drawn.chunks))
        work = work_of(fuser, shape, drawn.spacing, types, raters)
        inputs = ArrayInputs.make(raters, fuser.images_among_parameters(), work)
        result = ChunkedResult(work, inputs, label_type(types), fuser.without_images())
        return told(result, drawn.output)
    except ConsensusError as error:
        return (type(error),)


def check(filter_: Callable[..., LabelFusionFilter], drawn: Drawn) -> None:
    """Check that the results in chunks and in memory are equal."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (blocked_masks, near_copies):
            patch.setattr(module, "SIDE", drawn.side)
        patch.setattr(block_chunks, "_PACKED_SIDE", drawn.packed_side)
        patch.setattr(scale_bands, "VOXELS_OF_FULL_GRID", drawn.full_grid)
        wanted, found = in_memory(filter_, drawn), in_chunks(filter_, drawn)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("dimension", LARGEST)
@settings(max_examples=3, deadline=None)
@given(st.data())
def test_chunks_come_to_the_bits_of_memory(dimension: int, data: st.DataObject) -> None:
    drawn = data.draw(drawn_cases(dimension))
    for filter_ in FILTERS:
        check(filter_, drawn)


@pytest.mark.slow
@pytest.mark.parametrize("dimension", LARGEST)
@settings(max_examples=by_length(12, 60), deadline=None)
@given(st.data())
def test_many_more_chunkings_come_to_the_bits_of_memory(
    dimension: int, data: st.DataObject
) -> None:
    drawn = data.draw(drawn_cases(dimension))
    for filter_ in FILTERS:
        check(filter_, drawn)


def check_shape_average(drawn: Drawn) -> None:
    """Check that shape-based averaging gives the same labels in chunks and in memory."""
    choice = np.random.default_rng(drawn.raters[0].sum() if drawn.raters[0] is not None else 0)
    filter_ = partial(
        ic.ShapeBasedAveragingFilter,
        TieRule=str(choice.choice(TIE_RULES)),
        TrimFraction=float(choice.choice([0.0, 0.3])),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(averaged_blocks, "SIDE", drawn.side)
        patch.setattr(averaged_blocks, "FIRST_REACH", 1.5)
        check(filter_, drawn._replace(output=None))


@pytest.mark.parametrize("dimension", LARGEST)
@settings(max_examples=4, deadline=None)
@given(st.data())
def test_shape_averages_of_chunks_are_those_of_memory(dimension: int, data: st.DataObject) -> None:
    check_shape_average(data.draw(drawn_cases(dimension)))


@pytest.mark.slow
@pytest.mark.parametrize("dimension", LARGEST)
@settings(max_examples=by_length(15, 100), deadline=None)
@given(st.data())
def test_many_more_shape_averages_of_chunks_are_those_of_memory(
    dimension: int, data: st.DataObject
) -> None:
    check_shape_average(data.draw(drawn_cases(dimension)))


def ome_store(path: Path, voxels: NDArray[Any], drawn: Drawn, chunks: tuple[int, ...]) -> Path:
    """Write an OME-Zarr image with the spacing of a drawn case."""
    group = zarr.create_group(str(path), zarr_format=3)
    group.create_array("0", shape=voxels.shape, chunks=chunks, dtype=voxels.dtype)[:] = voxels
    names = "tzyx"[-voxels.ndim :]
    axes = [{"name": name, "type": "time" if name == "t" else "space"} for name in names]
    transforms = [{"type": "scale", "scale": list(drawn.spacing)}]
    datasets = [{"path": "0", "coordinateTransformations": transforms}]
    group.attrs["ome"] = {"version": "0.5", "multiscales": [{"axes": axes, "datasets": datasets}]}
    return path


def in_stores(drawn: Drawn, folder: Path) -> Any:
    """Return the fused voxels of stores with this spacing, or the type of the error."""
    chunks = tuple(map(max, drawn.chunks))
    paths = [
        ome_store(folder / f"{number}.zarr", voxels, drawn, chunks)
        for number, voxels in enumerate([*drawn.raters, *drawn.given.values()])
    ]
    number, output = len(drawn.raters), folder / "fused.zarr"
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(blocked_masks, "SIDE", drawn.side)
            mask = paths[number] if drawn.given else None
            fuse_volumes(paths[:number], output, ic.ConsensusFilter(), mask=mask, block=chunks)
    except ConsensusError as error:
        return type(error)
    return zarr.open_array(str(output), path="0", mode="r")[:]


def check_stores(drawn: Drawn, folder: Path) -> None:
    """Check that stores and images in memory give the same label map."""
    mask = {name: image for name, image in drawn.given.items() if name == "MaskImage"}
    raters = [rater for rater in drawn.raters if rater is not None]
    drawn = drawn._replace(raters=raters, given=mask)
    with TemporaryDirectory(dir=folder) as place:
        found = in_stores(drawn, Path(place))
    np.testing.assert_array_equal(found, in_memory(ic.ConsensusFilter, drawn)[0])


@pytest.mark.parametrize("dimension", LARGEST)
@settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_stores_of_any_spacing_come_to_the_bits_of_memory(
    dimension: int, tmp_path: Path, data: st.DataObject
) -> None:
    check_stores(data.draw(drawn_cases(dimension)), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("dimension", LARGEST)
@settings(max_examples=by_length(6, 30), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_many_more_stores_come_to_the_bits_of_memory(
    dimension: int, tmp_path: Path, data: st.DataObject
) -> None:
    check_stores(data.draw(drawn_cases(dimension)), tmp_path)


@settings(max_examples=by_length(30, 60), deadline=None)
@given(st.integers(1, 5), st.integers(0, 10**6), st.booleans(), st.integers(1, 7))
def test_pieces_of_blocks_are_those_of_the_whole(
    dimension: int, seed: int, corners: bool, side: int
) -> None:
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, 14 if dimension < 4 else 6, dimension).tolist())
    mask = rng.random(shape) < rng.choice([0.1, 0.3, 0.5, 0.9])
    corner = rng.integers(0, 5, dimension).tolist()
    box = tuple(slice(at, at + size) for at, size in zip(corner, shape, strict=True))

    def read(block: tuple[slice, ...]) -> NDArray[Any]:
        pairs = zip(block, corner, strict=True)
        return mask[tuple(slice(part.start - at, part.stop - at) for part, at in pairs)]

    whole = label_pieces(mask, corners=corners)
    found = block_pieces(Blocked.made(Blocks.of(box, side), read), corners=corners)
    np.testing.assert_array_equal(found.places.array(), whole.places)
    np.testing.assert_array_equal(found.sizes, whole.sizes)
    for piece in range(1, whole.number + 1):
        parts = zip(whole.box(piece), corner, strict=True)
        assert found.box(piece) == tuple(slice(p.start + at, p.stop + at) for p, at in parts)
    bits = (rng.integers(0, 8, shape) * mask).astype(np.uint8)[None]

    def bits_in(block: tuple[slice, ...]) -> NDArray[np.uint8]:
        pairs = zip(block, corner, strict=True)
        return bits[(0, *(slice(p.start - at, p.stop - at) for p, at in pairs))][None]

    for one, other in zip(
        block_finders(found, bits_in, 3), raters_by_piece(whole, bits, 3), strict=True
    ):
        np.testing.assert_array_equal(one, other)


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """Start a cluster of two worker processes."""
    with (
        dask.config.set({"distributed.admin.system-monitor.gil.enabled": False}),
        dask_client(LOCAL, 2) as client,
    ):
        yield client


@pytest.mark.parametrize("filter_", FILTERS, ids=lambda filter_: filter_.__name__)
def test_two_workers_give_the_same_bytes(filter_: type[LabelFusionFilter], client: Client) -> None:
    rng = np.random.default_rng(3)
    truth = smooth(rng, (30, 33, 36), 3.0)
    raters = [(truth + 0.4 * smooth(rng, truth.shape, 1.0) > 0.9).astype(np.uint8) for _ in "abcde"]
    lazy = [da.from_array(rater, chunks=(11, 20, 9)) for rater in raters]
    found = filter_().Execute(lazy).compute()
    assert found.tobytes() == filter_().Execute(raters).tobytes()


def test_of_chunks_there_is_no_dice_optimal_map() -> None:
    lazy = [da.zeros((8, 8), np.uint8, chunks=4)] * 3
    filter_ = ic.ConsensusFilter()
    filter_.Execute(lazy)
    with pytest.raises(InputError, match=r"ConsensusFilter: .*memory first"):
        filter_.GetDiceOptimalImage()
