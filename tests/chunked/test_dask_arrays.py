"""Dask arrays are fused lazily to dask arrays, with exactly the results of the same images in
memory.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest
from distributed import Client

import itk_consensus as ic
from itk_consensus.batch.workers import LOCAL, dask_client
from itk_consensus.core.errors import GeometryError, InputError, ParameterError
from itk_consensus.fusing.label_fusion import LabelFusionFilter
from itk_consensus.methods.registry import FUSERS

SHAPE = (14, 17, 20)
CHUNKINGS = [(14, 17, 20), (5, 8, 20), (3, 17, 6), ((1, 13), (9, 8), (2, 5, 13))]
BY_PATTERNS = [fuser for fuser in FUSERS if fuser().chunking == "patterns"]
WHOLE = [fuser for fuser in FUSERS if fuser().chunking == "whole"]


def raters(labels: int = 2, number: int = 4, seed: int = 0, shape: Any = SHAPE) -> list[Any]:
    """Return masks of balls with several labels, with individual errors of each rater."""
    rng = np.random.default_rng(seed)
    grid = np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"))
    truth = np.zeros(shape, np.uint8)
    for label in range(1, labels):
        centre = rng.uniform(0.2, 0.8, len(shape)) * shape
        distance = np.sqrt(((grid.T - centre).T ** 2).sum(axis=0))
        truth[distance < min(shape) / 3] = label
    noise = rng.integers(0, labels, (number, *shape)).astype(np.uint8)
    errs = rng.random((number, *shape)) < np.linspace(0.05, 0.3, number).reshape(-1, 1, 1, 1)
    return list(np.where(errs, noise, truth).astype(np.uint8))


def made(fuser: type[LabelFusionFilter]) -> LabelFusionFilter:
    """Return a filter with few iterations, which suffice to compare results bitwise."""
    iterates = hasattr(fuser, "MaximumIterations")
    return fuser(MaximumIterations=5) if iterates else fuser()


def chunked(arrays: list[Any], chunks: Any) -> list[Any]:
    return [None if array is None else da.from_array(array, chunks=chunks) for array in arrays]


def both(fuser: LabelFusionFilter, arrays: list[Any], chunks: Any) -> list[tuple[Any, Any]]:
    """Return the outputs in memory and in chunks, as pairs."""
    pairs = []
    for inputs in (arrays, chunked(arrays, chunks)):
        output = fuser.Execute(inputs)
        pairs.append(
            [
                output,
                fuser.GetLabelImage(),
                fuser.GetProbabilityImage(),
                fuser.GetUncertaintyImage(),
            ]
        )
    whole, parts = pairs
    assert all(isinstance(part, da.Array) for part in parts)
    return list(zip(whole, dask.compute(*parts, scheduler="synchronous"), strict=True))


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """Start a cluster of two worker processes."""
    with (
        dask.config.set({"distributed.admin.system-monitor.gil.enabled": False}),
        dask_client(LOCAL, 2) as client,
    ):
        yield client


@pytest.mark.parametrize("fuser", BY_PATTERNS, ids=lambda fuser: fuser.__name__)
@pytest.mark.parametrize("chunks", CHUNKINGS[2:], ids=str)
def test_a_method_of_patterns_gives_the_same_bits_in_any_chunks(
    fuser: type[LabelFusionFilter], chunks: Any
) -> None:
    for whole, part in both(made(fuser), raters(), chunks):
        assert part.dtype == whole.dtype
        np.testing.assert_array_equal(part, whole)


@pytest.mark.parametrize("fuser", BY_PATTERNS, ids=lambda fuser: fuser.__name__)
def test_many_labels_give_the_same_bits(fuser: type[LabelFusionFilter]) -> None:
    for whole, part in both(made(fuser), raters(labels=12), (7, 9, 20)):
        np.testing.assert_array_equal(part, whole)


@pytest.mark.parametrize("chunks", CHUNKINGS, ids=str)
@pytest.mark.parametrize(
    "fuser",
    [
        ic.MajorityVoteFilter(SmoothingSigma=1.3),
        ic.MajorityVoteFilter(SmoothingSigma=0.6, Threshold=0.5, RaterWeights=(1.0, 2.0, 0.5, 1.0)),
        ic.CorrectedVoteFilter(),
        ic.CorrectedVoteFilter(SmoothingSigma=0.7, RaterWeights=(1.0, 2.0, 0.5, 1.0)),
    ],
    ids=repr,
)
def test_a_method_of_tiles_is_within_1e_6_in_any_chunks(
    fuser: LabelFusionFilter, chunks: Any
) -> None:
    for whole, part in both(fuser, raters(labels=5), chunks):
        np.testing.assert_allclose(part, whole, rtol=0, atol=1e-6)
        assert part.dtype == whole.dtype


def test_two_worker_processes_give_the_same_bits(client: Client) -> None:
    arrays = raters(labels=5)
    parts = chunked(arrays, (7, 17, 20))
    promised = [made(fuser).Execute(parts) for fuser in BY_PATTERNS]
    tiles = [ic.MajorityVote(parts, smoothingSigma=1.0), ic.CorrectedVote(parts)]
    computed = client.gather(client.compute([*promised, *tiles]))
    for fuser, part in zip(BY_PATTERNS, computed, strict=False):
        np.testing.assert_array_equal(part, made(fuser).Execute(arrays), err_msg=fuser.__name__)
    np.testing.assert_allclose(computed[-2], ic.MajorityVote(arrays, smoothingSigma=1.0), atol=1e-6)
    np.testing.assert_allclose(computed[-1], ic.CorrectedVote(arrays), atol=1e-6)
    assert len(client.scheduler_info()["workers"]) == 2


def test_the_callers_client_does_the_work(client: Client) -> None:
    caller = os.getpid()

    def elsewhere(block: Any) -> Any:
        assert os.getpid() != caller
        return block

    meta = np.empty((0, 0, 0), np.uint8)
    arrays = chunked(raters(), (14, 17, 10))
    parts = [array.map_blocks(elsewhere, dtype=np.uint8, meta=meta) for array in arrays]
    np.testing.assert_array_equal(ic.STAPLE(parts).compute(), ic.STAPLE(raters()))


def test_nothing_is_computed_before_somebody_asks() -> None:
    def fail(block: Any) -> Any:
        raise AssertionError("computed")

    lazy = [
        da.zeros(SHAPE, np.uint8, chunks=5).map_blocks(fail, dtype=np.uint8, meta=np.empty(0, "u1"))
        for _ in range(3)
    ]
    for fuser in (ic.STAPLEImageFilter(), ic.CorrectedVoteFilter(), ic.LabelVotingImageFilter()):
        fused = fuser.Execute(lazy)
        assert isinstance(fused, da.Array)
        assert fused.shape == SHAPE
        if fuser.chunking == "patterns":  # a halo may need thicker chunks
            assert fused.chunks == lazy[0].chunks
        with pytest.raises(AssertionError, match="computed"):
            fused.compute(scheduler="synchronous")


def test_measurements_are_those_of_memory() -> None:
    arrays = raters()
    staple = ic.STAPLEImageFilter(NumberOfInitializations=5)
    staple.Execute(arrays)
    wanted = staple.GetSensitivity(), staple.GetLogLikelihoods(), staple.GetLabels()
    staple.Execute(chunked(arrays, (5, 8, 9)))
    assert (staple.GetSensitivity(), staple.GetLogLikelihoods(), staple.GetLabels()) == wanted
    corrected = ic.CorrectedVoteFilter()
    corrected.Execute(raters(labels=4))
    shares = corrected.GetVoteShares()
    corrected.Execute(chunked(raters(labels=4), (5, 8, 9)))
    np.testing.assert_array_equal(corrected.GetVoteShares(), shares)
    assert corrected.GetSmoothingSigmaInMillimetres() == 1.0


@pytest.mark.parametrize(
    "fuser",
    [ic.STAPLEImageFilter, ic.MultiLabelSTAPLEImageFilter, ic.MajorityVoteFilter],
    ids=lambda fuser: fuser.__name__,
)
def test_masks_missing_raters_and_missing_labels_are_heeded(fuser: Any) -> None:
    arrays = raters(labels=3)
    rng = np.random.default_rng(5)
    mask = rng.random(SHAPE) < 0.7
    mask[:5] = False  # some chunks are entirely outside the mask
    seen = [rng.random(SHAPE) < 0.8, None, None, rng.random(SHAPE) < 0.5, None]
    for array in arrays:
        array[8:] = np.where(rng.random(array[8:].shape) < 0.2, 9, array[8:])
        array[:, :, 16:] = 9  # and some contain only missing votes
    inputs = [arrays[0], None, *arrays[1:]]
    filter_ = fuser(MissingLabel=9, MaskImage=mask, RaterMasks=seen)
    wanted = filter_.Execute(inputs), filter_.GetLabelImage()
    lazy = fuser(
        MissingLabel=9,
        MaskImage=da.from_array(mask, chunks=4),
        RaterMasks=[None if one is None else da.from_array(one, chunks=7) for one in seen],
    )
    found = lazy.Execute(chunked(inputs, (5, 8, 4))), lazy.GetLabelImage()
    for whole, part in zip(wanted, dask.compute(*found, scheduler="synchronous"), strict=True):
        np.testing.assert_array_equal(part, whole)


def test_a_prior_image_is_cut_like_the_raters() -> None:
    arrays = raters()
    prior = np.random.default_rng(1).choice([0.2, 0.5, 0.7], SHAPE)
    whole = ic.STAPLE(arrays, prior=prior)
    part = ic.STAPLE(chunked(arrays, (5, 8, 9)), prior=da.from_array(prior, chunks=6))
    np.testing.assert_array_equal(part.compute(scheduler="synchronous"), whole)


def test_a_dice_optimal_map_counts_the_voxels_of_all_chunks() -> None:
    arrays = raters()
    staple = ic.STAPLEImageFilter()
    staple.Execute(arrays)
    whole = staple.GetDiceOptimalImage()
    staple.Execute(chunked(arrays, (5, 8, 9)))
    part = staple.GetDiceOptimalImage().compute(scheduler="synchronous")
    np.testing.assert_array_equal(part, whole)


@pytest.mark.parametrize("shape", [(9, 23), (3, 6, 9, 11)])
def test_images_and_time_series_have_chunks_too(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(3)
    truth = rng.random(shape) < 0.4
    arrays = [(truth ^ (rng.random(shape) < 0.2)).astype(np.int16) for _ in range(3)]
    chunks = tuple((size + 1) // 2 for size in shape)
    for fuser in (ic.MajorityVoteFilter(SmoothingSigma=0.8), ic.CorrectedVoteFilter()):
        part = fuser.Execute(chunked(arrays, chunks)).compute(scheduler="synchronous")
        np.testing.assert_array_equal(part, fuser.Execute(arrays))


@pytest.mark.parametrize("fuser", WHOLE, ids=lambda fuser: fuser.__name__)
def test_what_cannot_be_exact_in_chunks_says_so_and_what_it_needs(fuser: Any) -> None:
    lazy = [da.zeros((1000, 1000, 1000), np.uint8, chunks=500)] * 5
    with pytest.raises(InputError, match=r"cannot be exact in chunks: .+ about [\d.]+ GB"):
        fuser().Execute(lazy)


def test_a_field_over_neighbours_is_no_matter_of_chunks() -> None:
    with pytest.raises(InputError, match="SmoothnessWeight"):
        ic.STAPLE(chunked(raters(), 6), smoothnessWeight=2.0)


def test_probabilities_are_refused_with_their_size() -> None:
    lazy = [da.zeros((10, 10), np.float32)] * 2
    with pytest.raises(InputError, match="not fused in chunks"):
        ic.LogOpinionPool(lazy)


def test_errors_that_need_the_voxels_come_with_them() -> None:
    zeros = [da.full((6, 6), 3, dtype=np.uint8, chunks=3)] * 2
    with pytest.raises(InputError, match="ForegroundValue 1 occurs in no input"):
        ic.STAPLE(zeros).compute(scheduler="synchronous")
    nothing = da.zeros((6, 6), np.uint8, chunks=3)
    with pytest.raises(ParameterError, match="MaskImage must mark some voxels"):
        ic.MultiLabelSTAPLE(zeros, maskImage=nothing).compute(scheduler="synchronous")
    with pytest.raises(InputError, match="no rater annotated"):
        ic.LabelVoting(zeros, missingLabel=3).compute(scheduler="synchronous")


def test_a_label_of_undecided_voxels_that_does_not_fit_is_refused() -> None:
    one, other = np.full((4, 4), 255, np.uint8), np.zeros((4, 4), np.uint8)
    with pytest.raises(ParameterError, match=r"LabelForUndecidedPixels must be set.* 256"):
        ic.LabelVoting(chunked([one, other], 2)).compute(scheduler="synchronous")


def test_shapes_must_agree() -> None:
    with pytest.raises(GeometryError, match="input 1 must have the shape"):
        ic.STAPLE([da.zeros((4, 4)), da.zeros((4, 5))])


def test_outputs_that_need_memory_say_so() -> None:
    consensus = ic.ConsensusFilter()
    consensus.Execute(chunked(raters(), 7))
    with pytest.raises(InputError, match="needs the images in memory"):
        consensus.GetCandidateNames()


def test_nobody_imports_dask_unless_the_caller_did() -> None:
    code = (
        "import sys, numpy, itk_consensus as ic\n"
        "ic.STAPLE([numpy.eye(3, dtype='u1')] * 3)\n"
        "assert not {'dask', 'distributed', 'zarr'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    "fuser",
    [ic.LabelVotingImageFilter(), ic.MultiLabelSTAPLEImageFilter(), ic.CorrectedVoteFilter()],
    ids=repr,
)
def test_masked_chunks_are_missing_votes_as_in_memory(fuser: LabelFusionFilter) -> None:
    """Issue 27, item 9: masks were dropped, and half of the voxels differed from the result in
    memory.
    """
    rng = np.random.default_rng(3)
    gaps = [rng.random(SHAPE) < 0.4 for _ in range(4)]
    gaps[0][:5, :8] = True  # a rater without annotations in a whole chunk
    masked = [np.ma.masked_array(a, g) for a, g in zip(raters(3), gaps, strict=True)]
    wanted = fuser.Execute(masked)
    for chunks in CHUNKINGS[:2]:
        lazy = [
            da.ma.masked_array(da.from_array(a.data, chunks=chunks), a.mask) for a in masked[:2]
        ]
        lazy += [da.from_array(masked[2], chunks=(7, 9, 10)), masked[3]]
        np.testing.assert_array_equal(fuser.Execute(lazy).compute(), wanted)


def test_masks_that_an_array_hides_are_an_error() -> None:
    array = da.from_array(raters()[0], chunks=(5, 8, 20))
    hidden = array.map_blocks(
        lambda chunk: np.ma.masked_array(chunk, chunk > 0), meta=np.empty((0, 0, 0), np.uint8)
    )
    with pytest.raises(InputError, match="a chunk is a masked array"):
        ic.LabelVoting([array, hidden]).compute()
    declared = da.ma.masked_array(array, array > 0)
    with pytest.raises(InputError, match="MaskImage must not be a masked array"):
        ic.LabelVoting([array, array], maskImage=declared)
