"""Samples differ as readers do, their mean is the probability, and volumes have intervals."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import SimpleITK as sitk
from scipy.stats import norm
from scipy.stats import t as student

import itk_consensus as ic
from examples.simulation import level_case
from itk_consensus.calibration.sample_segmentations import volume_intervals
from itk_consensus.calibration.samples import (
    ROUND,
    differences_of_masks,
    fit_samples,
    gaussian_field,
    volume_interval,
)
from itk_consensus.core.errors import InputError, NotExecutedError, ParameterError
from itk_consensus.votes.overlap import dice


@pytest.fixture(scope="module")
def readers():
    return ic.sample_case("LIDC-IDRI-0003")


@pytest.fixture(scope="module")
def fuser(readers):
    vote = ic.MajorityVoteFilter()
    vote.Execute(readers)
    return vote


def masks_of(images):
    return [sitk.GetArrayFromImage(image) != 0 for image in images]


def mean_dice(masks):
    return np.mean([dice(a, b) for i, a in enumerate(masks) for b in masks[:i]])


def test_the_mean_of_every_forty_samples_is_the_probability(fuser):
    for widen in (True, False):
        samples = ic.SampleSegmentations(fuser, ROUND, seed=3, widen=widen)
        wanted = sitk.GetArrayFromImage(samples.GetProbabilityImage())
        mean = np.mean(masks_of(samples), axis=0)
        assert np.abs(mean - wanted).max() <= 1 / ROUND + 1e-6
        if not widen:
            share = sitk.GetArrayFromImage(fuser.GetProbabilityImage(1))
            np.testing.assert_allclose(wanted, share, atol=1e-6)


def test_samples_overlap_as_readers_do_and_samples_of_the_vote_alone_more(fuser, readers):
    between_readers = mean_dice(masks_of(readers))
    samples = ic.SampleSegmentations(fuser, ROUND, seed=1)
    assert abs(mean_dice(masks_of(samples)) - between_readers) <= 0.03
    plain = ic.SampleSegmentations(fuser, ROUND, seed=1, widen=False)
    # p is estimated from only J votes, so it underestimates the raters' disagreement by a
    # factor 1 - 1 / J.
    expected = between_readers + (1 - between_readers) / 4
    assert mean_dice(masks_of(plain)) == pytest.approx(expected, abs=0.03)


def test_a_sample_does_not_depend_on_what_was_drawn_before(fuser):
    samples = ic.SampleSegmentations(fuser, 100, seed=5)
    drawn = masks_of(samples)
    again = ic.SampleSegmentations(fuser, 90, seed=5)
    for index in (85, 3, 41, 0):
        np.testing.assert_array_equal(masks_of([again[index]])[0], drawn[index])
    np.testing.assert_array_equal(masks_of([samples[-1]])[0], drawn[-1])
    other = ic.SampleSegmentations(fuser, 1, seed=6)
    assert (masks_of(other)[0] != drawn[0]).any()
    assert len(samples) == 100
    with pytest.raises(IndexError, match="sample 100 of 100"):
        samples[100]


def test_samples_are_images_like_the_inputs_and_files(fuser, readers, tmp_path):
    samples = ic.SampleSegmentations(fuser, 3)
    paths = samples.write(tmp_path)
    assert [path.name for path in paths] == [f"sample-00{i}.nii.gz" for i in range(3)]
    for image, path in zip(samples, paths, strict=True):
        assert image.GetPixelID() == readers[0].GetPixelID()
        assert image.GetSpacing() == readers[0].GetSpacing()
        assert image.GetOrigin() == readers[0].GetOrigin()
        written = sitk.GetArrayFromImage(sitk.ReadImage(str(path)))
        np.testing.assert_array_equal(written, sitk.GetArrayFromImage(image))
    together = sitk.GetArrayFromImage(samples.vector_image())
    for index, image in enumerate(samples):
        np.testing.assert_array_equal(together[..., index], sitk.GetArrayFromImage(image))


def test_samples_have_no_specks_as_noise_would(fuser):
    """Coherent samples of a nodule have few components; independent voxels have many."""

    def pieces(mask):
        image = sitk.GetImageFromArray(mask.astype(np.uint8))
        return sitk.GetArrayFromImage(sitk.ConnectedComponent(image)).max()

    samples = ic.SampleSegmentations(fuser, 10, seed=2)
    p = sitk.GetArrayFromImage(samples.GetProbabilityImage())
    rng = np.random.default_rng(0)
    noise = [pieces(rng.random(p.shape) < p) for _ in range(10)]
    assert np.median([pieces(mask) for mask in masks_of(samples)]) <= 2
    assert np.median(noise) > 20


def test_a_field_is_as_smooth_as_it_was_asked_to_be():
    rng = np.random.default_rng(0)
    fields = np.stack([gaussian_field((12, 30), (2.0, 1.0), 4.0, rng) for _ in range(3000)])
    for axis, step in ((1, 2.0), (2, 1.0)):
        for lag in (1, 3):
            a = np.take(fields, 3, axis)
            b = np.take(fields, 3 + lag, axis)
            correlation = (a * b).mean() / np.sqrt((a**2).mean() * (b**2).mean())
            assert correlation == pytest.approx(np.exp(-((lag * step) ** 2) / 32), abs=0.03)


def test_readers_who_agree_have_one_contour():
    mask = np.zeros((20, 20), np.uint8)
    mask[5:12, 6:15] = 1
    vote = ic.MajorityVoteFilter()
    vote.Execute([mask, mask, mask])
    samples = ic.SampleSegmentations(vote, 3)
    for image in samples:
        np.testing.assert_array_equal(image, mask)
    assert samples.volume() == (63, 63, 63)


def test_readers_who_draw_wider_and_tighter_give_nested_samples():
    y, x = np.indices((60, 60)) - 30
    radii = (14, 16, 18, 20)
    masks = [(y**2 + x**2 <= r**2).astype(np.uint8) for r in radii]
    assert differences_of_masks([m != 0 for m in masks]).one_sided == pytest.approx(1)
    vote = ic.MajorityVoteFilter()
    vote.Execute(masks)
    samples = ic.SampleSegmentations(vote, ROUND)
    assert samples.model.length == np.inf
    drawn = sorted(samples, key=np.sum)
    assert all((small <= large).all() for small, large in itertools.pairwise(drawn))


def test_one_label_of_several_is_sampled():
    rng = np.random.default_rng(0)
    maps = []
    for _ in range(3):
        labels = np.zeros((8, 30, 30), np.int16)
        labels[2:6, 4 : 12 + rng.integers(0, 3), 5:20] = 3
        labels[2:6, 18 : 24 + rng.integers(0, 3), 5:20] = 7
        maps.append(labels)
    fuser = ic.ConsensusFilter()
    fuser.Execute(maps)
    samples = ic.SampleSegmentations(fuser, 2, label=3)
    for drawn in samples:
        assert drawn.dtype == np.int16
        assert set(np.unique(drawn)) == {0, 3}


def test_the_volume_interval_is_students_on_the_logarithm():
    rng = np.random.default_rng(0)
    volumes = np.exp(rng.normal(2.0, 0.1, 200_000))
    found = volume_interval(volumes, 0.9, readers=4)
    reach = 0.1 * student.ppf(0.95, 3) * np.sqrt(1.25)
    np.testing.assert_allclose(np.log(found[1:]), [2 - reach, 2 + reach], atol=0.003)
    assert reach > 0.1 * norm.ppf(0.95)


def test_agreement_says_which_volume_another_rater_would_draw(readers, fuser):
    result = ic.agreement(readers, ic.MajorityVoteFilter(), VolumeIntervals=True)
    (row,) = result.summary()
    found = [row[f"volume_{part}_ml"] for part in ("estimate", "low", "high")]
    np.testing.assert_allclose(found, ic.SampleSegmentations(fuser).volume())
    assert "volume low ml" in result.table()
    assert result.to_dict()["labels"][0]["volume_high_ml"] == found[2]
    assert "volume_low_ml" not in ic.agreement(readers, fuser).summary()[0]
    with pytest.raises(ParameterError, match="VolumeIntervals needs a filter"):
        ic.agreement(readers, VolumeIntervals=True)


def test_volumes_are_those_of_the_samples(fuser):
    samples = ic.SampleSegmentations(fuser, 43)
    drawn = [mask.sum() for mask in masks_of(samples)]
    np.testing.assert_array_equal(samples.model.volumes(43), drawn)


def test_labels_that_cannot_be_sampled_have_no_volume_interval():
    masks = np.zeros((3, 9, 9), np.uint8)
    masks[:, 3:6, 3:6] = 1
    masks[0, 7, 7] = 2
    vote = ic.MajorityVoteFilter()
    vote.Execute(list(masks))
    assert 1 in volume_intervals(vote)
    vote.Execute(list(masks[:1]))
    assert volume_intervals(vote) == {}
    vote.Execute(list(np.zeros((3, 9, 9), np.uint8)))
    assert volume_intervals(vote) == {}


def leaves_out(family, number):
    """Return, case by case, whether the others' interval contains the volume of a left-out
    reader.
    """
    for seed in range(3000, 3000 + number):
        case = level_case(seed, family)
        masks = [member > 0 for member in case.members]
        left_out = masks.pop(seed % len(masks))
        readers = differences_of_masks(masks)
        model = fit_samples(np.mean(masks, axis=0), case.spacing, readers, seed)
        found = volume_interval(model.volumes(80), 0.9, readers.number)
        yield found.low <= np.count_nonzero(left_out) <= found.high


@pytest.mark.slow
@pytest.mark.parametrize("family", ["disc", "thick slices"])
def test_the_volume_interval_covers_a_reader_left_out(family):
    assert 0.85 <= np.mean(list(leaves_out(family, 300))) <= 0.97


def test_what_cannot_be_sampled_is_refused(fuser):
    with pytest.raises(NotExecutedError):
        ic.SampleSegmentations(ic.MajorityVoteFilter())
    with pytest.raises(ParameterError, match="SampleSegmentations: number must be an integer >= 1"):
        ic.SampleSegmentations(fuser, 0)
    with pytest.raises(InputError, match=r"must have label 5, got labels \(0, 1\)"):
        ic.SampleSegmentations(fuser, label=5)
    lone = ic.MajorityVoteFilter()
    lone.Execute([np.eye(9, dtype=np.uint8)])
    with pytest.raises(InputError, match="at least 2 raters, got 1"):
        ic.SampleSegmentations(lone)


def test_volumes_of_arrays_are_voxels_and_of_large_structures_hardly_other_ones():
    z, y, x = np.ogrid[-30:30, -55:55, -55:55]
    balls = (
        (z / (25 + k)) ** 2 + (y / (40 - k)) ** 2 + (x / (42 + 2 * k)) ** 2 < 1 for k in range(3)
    )
    raters = [ball.astype(np.uint8) for ball in balls]
    vote = ic.MajorityVoteFilter()
    vote.Execute(raters)
    coarse = volume_intervals(vote)[1]
    fine = [ic.SampleSegmentations(vote, seed=seed).volume() for seed in range(5)]
    assert coarse.estimate == pytest.approx(np.mean([r.sum() for r in raters]), rel=1e-3)
    assert coarse.estimate == pytest.approx(fine[0].estimate, rel=1e-3)
    # The bounds are computed from two hundred draws; they are within 2 % of the range of bounds for
    # several seeds.
    for end in ("low", "high"):
        ends = [getattr(one, end) for one in fine]
        assert 0.98 * min(ends) < getattr(coarse, end) < 1.02 * max(ends)
