"""Fusers that use the atlases' images, on phantoms with known segmentation."""

from __future__ import annotations

from typing import Any

import contract
import numpy as np
import pytest
import SimpleITK as sitk

import itk_consensus
from itk_consensus import (
    AtlasSelectionFilter,
    JointLabelFusionFilter,
    LocallyWeightedVoteFilter,
    MajorityVoteFilter,
)
from itk_consensus.core.errors import ConsensusError, InputError, ParameterError, ProcessAborted
from itk_consensus.simulation.atlas_phantoms import AtlasCase, atlas_case

SHAPE = (40, 44, 36)
LABELS = 10

every_filter = pytest.mark.parametrize("kind", [LocallyWeightedVoteFilter, JointLabelFusionFilter])


@pytest.fixture(scope="module")
def case() -> AtlasCase:
    return atlas_case(17, SHAPE, LABELS, 6, amplitude=2)


def made(kind: Any, case: AtlasCase, **parameters: Any) -> Any:
    return kind(Image=case.target, AtlasImages=list(case.images), **parameters)


def mean_dice(labels: Any, truth: np.ndarray) -> float:
    found = np.asarray(labels)
    scores = [itk_consensus.dice(found == k, truth == k) for k in range(1, LABELS + 1)]
    return float(np.mean(scores))


@every_filter
def test_images_say_more_than_votes(kind: Any, case: AtlasCase) -> None:
    vote = mean_dice(itk_consensus.MajorityVote(case.maps, TieRule="lowest"), case.truth)
    assert mean_dice(made(kind, case).Execute(case.maps), case.truth) > vote


@pytest.mark.slow
def test_images_beat_the_corrected_vote_and_noise_costs_less_than_images_gain() -> None:
    """In images of noise, the search selects random shifts, so the votes of the atlases are
    displaced.
    """
    gains: dict[Any, list[float]] = {LocallyWeightedVoteFilter: [], JointLabelFusionFilter: []}
    falls: dict[Any, list[float]] = {kind: [] for kind in gains}
    below = []
    for seed in range(3100, 3110):
        case = atlas_case(seed, (56, 64, 56), LABELS, amplitude=2 if seed % 2 else 3.5)
        vote = mean_dice(itk_consensus.MajorityVote(case.maps, TieRule="lowest"), case.truth)
        corrected = mean_dice(itk_consensus.CorrectedVote(case.maps), case.truth)
        rng = np.random.default_rng(seed)
        noise = [rng.normal(100, 30, case.truth.shape).astype(np.float32) for _ in range(9)]
        for kind, gained in gains.items():
            found = mean_dice(made(kind, case).Execute(case.maps), case.truth)
            gained.append(found - corrected)
            below.append(vote - found)
            blind = kind(Image=noise[0], AtlasImages=noise[1:]).Execute(case.maps)
            falls[kind].append(vote - mean_dice(blind, case.truth) - (found - vote))
    assert np.mean(gains[LocallyWeightedVoteFilter]) > 0.012
    assert min(gains[LocallyWeightedVoteFilter]) > -0.002
    assert max(below) <= 0
    for kind, worse in falls.items():
        assert max(worse) < 0, kind


@every_filter
def test_probabilities_sum_to_one_and_agreement_is_kept(kind: Any, case: AtlasCase) -> None:
    filter_ = made(kind, case)
    labels = filter_.Execute(case.maps)
    total = sum(filter_.GetProbabilityImage(label) for label in filter_.GetLabels())
    np.testing.assert_allclose(total, 1, atol=1e-5)
    agreed = np.all([one == case.maps[0] for one in case.maps], axis=0)
    np.testing.assert_array_equal(labels[agreed], case.maps[0][agreed])
    assert sum(filter_.MeanWeights) == pytest.approx(1)


@every_filter
def test_a_brighter_atlas_and_threads_change_nothing(kind: Any, case: AtlasCase) -> None:
    plain = made(kind, case, NumberOfThreads=1).Execute(case.maps)
    brighter = [3 * image + 50 for image in case.images]
    filter_ = kind(Image=case.target, AtlasImages=brighter, NumberOfThreads=3)
    assert np.mean(filter_.Execute(case.maps) != plain) < 1e-4
    np.testing.assert_array_equal(made(kind, case, NumberOfThreads=3).Execute(case.maps), plain)


@every_filter
def test_missing_atlases_masks_and_images_of_simpleitk(kind: Any, case: AtlasCase) -> None:
    mask = np.zeros(SHAPE, np.uint8)
    mask[5:30, 5:40, 5:30] = 1
    maps: list[Any] = [None, *case.maps[1:]]
    images = [None, *case.images[1:]]
    arrays = kind(Image=case.target, AtlasImages=images, MaskImage=mask)
    labels = arrays.Execute(maps)
    assert not labels[mask == 0].any()
    assert arrays.MeanWeights[0] == 0

    def image(array: Any) -> Any:
        return None if array is None else sitk.GetImageFromArray(array)

    other = kind(
        Image=image(case.target), AtlasImages=[image(one) for one in images], MaskImage=image(mask)
    )
    fused = other.Execute([image(one) for one in maps])
    np.testing.assert_array_equal(sitk.GetArrayFromImage(fused), labels)


@every_filter
def test_atlases_that_agree_everywhere_are_believed(kind: Any, case: AtlasCase) -> None:
    filter_ = made(kind, case)
    np.testing.assert_array_equal(filter_.Execute([case.truth] * 6), case.truth)


def test_a_search_finds_labels_that_lie_beside() -> None:
    """An atlas that is shifted by one voxel votes with its best-matching patch."""
    rng = np.random.default_rng(8)
    target = rng.normal(size=(10, 12, 14))
    labels = (rng.random(target.shape) < 0.5).astype(np.uint8)
    maps = [np.roll(labels, step, axis=2) for step in (-1, 1)]
    images = [np.roll(target, step, axis=2) for step in (-1, 1)]
    filter_ = JointLabelFusionFilter(
        Image=target, AtlasImages=images, SearchRadius=1, PatchRadius=1
    )
    fused = filter_.Execute(maps)
    inside = (slice(3, -3),) * 3
    disputed = (maps[0] != maps[1])[inside]
    np.testing.assert_array_equal(fused[inside][disputed], labels[inside][disputed])


def test_a_search_costs_no_more_than_the_image_and_a_patch_that_is_too_large_is_refused() -> None:
    """Searching 240 mm around each voxel of a small image took 19 GB, and with more than 65,535
    shifts, indices overflowed.
    """
    rng = np.random.default_rng(9)
    target = rng.normal(size=(4, 5, 6))
    maps = [(rng.random(target.shape) < 0.5).astype(np.uint8) for _ in range(3)]
    images = [target + rng.normal(size=target.shape) for _ in maps]
    given: dict[str, Any] = {"Image": target, "AtlasImages": images, "PatchRadius": 1}
    everywhere = JointLabelFusionFilter(SearchRadius=5, **given).Execute(maps)
    for radius in (240, 1e15):
        fused = JointLabelFusionFilter(SearchRadius=radius, **given).Execute(maps)
        np.testing.assert_array_equal(fused, everywhere)
    large = np.zeros((45, 45, 45), np.uint8)
    large[20:30] = 1
    maps = [large, np.roll(large, 1, 1), np.roll(large, 2, 0)]
    for name in ("SearchRadius", "PatchRadius"):
        filter_ = JointLabelFusionFilter(Image=large, AtlasImages=maps, **{name: 21})
        with pytest.raises(ParameterError, match=f"{name} must give a box of at most 65535 voxels"):
            filter_.Execute(maps)


@every_filter
def test_what_is_missing_or_wrong_is_named(kind: Any, case: AtlasCase) -> None:
    name, images = kind.__name__, list(case.images)
    for filter_, error, words in (
        (kind(), ParameterError, "Image must be set"),
        (kind(Image=case.target), ParameterError, "AtlasImages must be set"),
        (kind(Image=case.target, AtlasImages=images[1:]), ParameterError, "must have 6 images"),
        (kind(Image=case.target, AtlasImages=[None, *images[1:]]), ParameterError, r"Images\[0\]"),
        (
            kind(Image=case.target * np.nan, AtlasImages=images),
            InputError,
            "Image must hold finite",
        ),
        (kind(Image=case.target[1:], AtlasImages=images), ConsensusError, "Image"),
    ):
        with pytest.raises(error, match=f"{name}: .*{words}"):
            filter_.Execute(case.maps)


# -- every family -----------------------------------------------------------------------------


@every_filter
@pytest.mark.parametrize("family", contract.GUESTS)
def test_atlases_of_every_library_give_the_same_and_are_not_changed(
    kind: Any, family: str, case: AtlasCase
) -> None:
    part = (slice(8, 26), slice(8, 26), slice(8, 26))
    arrays = [case.target[part], *(one[part] for one in case.images), *(m[part] for m in case.maps)]
    hosts = [contract.make_host(np.ascontiguousarray(array))[0] for array in arrays]
    expected = kind(Image=hosts[0], AtlasImages=hosts[1:7]).Execute(hosts[7:])
    guests = [contract.make_guest(np.ascontiguousarray(array), family) for array in arrays]
    if family == "tensor":  # tensors have no voxel size
        hosts = [np.ascontiguousarray(array) for array in arrays]
        expected = kind(Image=hosts[0], AtlasImages=hosts[1:7]).Execute(hosts[7:])
    fused = kind(Image=guests[0], AtlasImages=guests[1:7]).Execute(guests[7:])
    assert contract.guest_header(fused) == contract.guest_header(guests[7])
    same = expected if family == "tensor" else sitk.GetArrayFromImage(expected)
    np.testing.assert_array_equal(contract.guest_array(fused), same)
    for guest, array in zip(guests, arrays, strict=True):
        np.testing.assert_array_equal(contract.guest_array(guest), array)


# -- modalities, exclusions, intensities ---------------------------------------------------------


def image_of(*arrays: Any) -> sitk.Image:
    """Return an image with one component for each array."""
    images = [sitk.GetImageFromArray(np.asarray(array, np.float32)) for array in arrays]
    return images[0] if len(images) == 1 else sitk.Compose(images)


@every_filter
def test_modalities_come_in_a_list_or_as_components(kind: Any, case: AtlasCase) -> None:
    """A second modality reduces Dice if it is noise, and increases it if it is informative."""
    rng = np.random.default_rng(4)
    noise = [rng.normal(size=SHAPE).astype(np.float32) for _ in range(7)]
    lists = [[image, other] for image, other in zip(case.images, noise[1:], strict=True)]
    maps = [sitk.GetImageFromArray(one) for one in case.maps]
    listed = kind(Image=[case.target, noise[0]], AtlasImages=lists).Execute(case.maps)
    composed = kind(
        Image=image_of(case.target, noise[0]), AtlasImages=[image_of(*pair) for pair in lists]
    ).Execute(maps)
    np.testing.assert_array_equal(sitk.GetArrayFromImage(composed), listed)
    one = mean_dice(made(kind, case).Execute(case.maps), case.truth)
    assert mean_dice(listed, case.truth) < one
    twice = kind(Image=[case.target] * 2, AtlasImages=[[i, i] for i in case.images])
    np.testing.assert_array_equal(twice.Execute(case.maps), made(kind, case).Execute(case.maps))
    with pytest.raises(ParameterError, match=r"AtlasImages\[0\] must have the 2 modalities"):
        kind(Image=[case.target] * 2, AtlasImages=list(case.images)).Execute(case.maps)
    with pytest.raises(ParameterError, match=r"Image must be .*a list with an image for each"):
        kind(Image=[])


@every_filter
def test_a_label_is_not_where_it_is_excluded(kind: Any, case: AtlasCase) -> None:
    free = made(kind, case)
    before = free.Execute(case.maps)
    label = int(before[before > 0][0])
    where = np.zeros(SHAPE, np.uint8)
    where[:20] = 1
    filter_ = made(kind, case, ExclusionImages={label: where, 99: where})
    fused = filter_.Execute(case.maps)
    assert (before[:20] == label).any()
    assert not (fused[:20] == label).any()
    np.testing.assert_array_equal(fused[22:], before[22:])
    probability = filter_.GetProbabilityImage(label)
    assert not probability[:20].any()
    total = sum(filter_.GetProbabilityImage(k) for k in filter_.GetLabels())
    assert np.isin(np.round(total, 4), (0, 1)).all()
    with pytest.raises(ParameterError, match="ExclusionImages must be a dict with an image"):
        kind(ExclusionImages=[where])
    with pytest.raises(ConsensusError, match=r"ExclusionImages\[1\]"):
        made(kind, case, ExclusionImages={1: where[1:]}).Execute(case.maps)


@every_filter
def test_fused_intensities_are_nearer_to_the_target_than_any_atlas(
    kind: Any, case: AtlasCase
) -> None:
    filter_ = made(kind, case, FuseIntensities=True)
    labels = filter_.Execute(case.maps)
    np.testing.assert_array_equal(labels, made(kind, case).Execute(case.maps))
    fused = filter_.GetFusedIntensityImage()
    assert fused.dtype == np.float32

    def error(image: Any) -> float:
        return float(np.mean(np.square(image - case.target)))

    assert error(fused) < min(error(image) for image in case.images)
    plain = made(kind, case)
    plain.Execute(case.maps)
    with pytest.raises(ParameterError, match="FuseIntensities must be set"):
        plain.GetFusedIntensityImage()


@every_filter
def test_progress_reaches_the_end(kind: Any, case: AtlasCase) -> None:
    filter_ = made(kind, case, SearchRadius=3)
    seen: list[float] = []
    filter_.AddCommand(sitk.sitkProgressEvent, lambda: seen.append(filter_.GetProgress()))
    filter_.Execute(case.maps)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


@every_filter
def test_abort_ends_a_search(kind: Any, case: AtlasCase) -> None:
    filter_ = made(kind, case, SearchRadius=3)
    seen: list[float] = []

    def abort() -> None:
        seen.append(filter_.GetProgress())
        if filter_.GetProgress() >= 0.5:
            filter_.Abort()

    filter_.AddCommand(sitk.sitkProgressEvent, abort)
    with pytest.raises(ProcessAborted):
        filter_.Execute(case.maps)
    assert seen[-1] < 1.0


# -- selection ----------------------------------------------------------------


@every_filter
def test_a_strong_bias_does_not_make_images_worse_than_votes(kind: Any) -> None:
    biased = atlas_case(23, SHAPE, LABELS, 6, amplitude=2, bias=0.3)
    vote = mean_dice(itk_consensus.MajorityVote(biased.maps, TieRule="lowest"), biased.truth)
    assert mean_dice(made(kind, biased).Execute(biased.maps), biased.truth) > vote


@pytest.mark.parametrize("similarity", ["squared difference", "normalised correlation"])
def test_selection_takes_the_atlases_that_lie_best(similarity: str, case: AtlasCase) -> None:
    overlap = np.array([mean_dice(one, case.truth) for one in case.maps])
    filter_ = AtlasSelectionFilter(NumberOfAtlases=2, Similarity=similarity)
    weights = np.array(filter_.Execute(case.target, case.images))
    assert weights.sum() == 2
    assert overlap[weights == 1].mean() > overlap[weights == 0].mean()
    assert np.argmax(filter_.GetSimilarities()) == np.argmax(overlap)
    chosen = [one for one, weight in zip(case.maps, weights, strict=True) if weight]
    np.testing.assert_array_equal(
        MajorityVoteFilter(RaterWeights=weights).Execute(case.maps),
        MajorityVoteFilter().Execute(chosen),
    )


def test_selection_looks_only_at_its_region_and_leaves_missing_atlases_out(case: AtlasCase) -> None:
    region = np.zeros(SHAPE, np.uint8)
    region[:, :20] = 1
    spoilt = [image.copy() for image in case.images]
    spoilt[0][:, :20] += np.random.default_rng(0).normal(0, 300, (40, 20, 36))
    spoilt[1][:, 20:] = 0
    filter_ = AtlasSelectionFilter(
        NumberOfAtlases=4, MaskImage=region, Similarity="normalised correlation"
    )
    weights = filter_.Execute(case.target, [*spoilt[:5], None])
    assert weights[0] == weights[5] == 0
    assert sum(weights) == 4
    assert np.isnan(filter_.GetSimilarities()[5])
    with pytest.raises(InputError, match="MaskImage must mark some voxels"):
        AtlasSelectionFilter(MaskImage=0 * region).Execute(case.target, spoilt)
    with pytest.raises(InputError, match="AtlasSelectionFilter: input 1 must hold finite"):
        filter_.Execute(case.target, [case.target * np.nan])


def test_an_exponent_at_which_sums_overflow_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"Beta must be .*16"):
        JointLabelFusionFilter(Beta=295.0)
    with pytest.raises(ParameterError, match=r"Power must be .*16"):
        LocallyWeightedVoteFilter(Power=1e15)


def test_the_largest_power_of_equal_images_stays_finite(case: AtlasCase) -> None:
    fuser = LocallyWeightedVoteFilter(Image=case.target, AtlasImages=[case.target] * 3, Power=16.0)
    with np.errstate(all="raise", under="ignore"):
        fuser.Execute(case.maps[:3])
    assert np.isfinite(fuser.GetProbabilityImage()).all()


@every_filter
def test_patches_from_where_nobody_annotated_leave_what_was_said_at_the_voxel(kind: Any) -> None:
    """Where nobody had annotated the patches, the result was background with probability 0."""
    rng = np.random.default_rng(0)
    shape = (4, 6, 7)
    raters = [rng.integers(0, 3, shape).astype(np.uint8) for _ in range(3)]
    annotated = [(rng.random(shape) < 0.3).astype(np.uint8) for _ in raters]
    image, *atlases = (rng.normal(size=shape).astype(np.float32) for _ in range(4))
    fuser = kind(
        Image=image, AtlasImages=atlases, RaterMasks=annotated, PatchRadius=0, SearchRadius=1
    )
    fused = fuser.Execute(raters)
    total = sum(fuser.GetProbabilityImage(label) for label in fuser.GetLabels())
    inside = np.any(annotated, axis=0)
    np.testing.assert_allclose(total[inside], 1, atol=1e-5)
    alone = np.sum(annotated, axis=0) == 1
    said = np.max([r * m for r, m in zip(raters, annotated, strict=True)], axis=0)
    np.testing.assert_array_equal(fused[alone], said[alone])
