"""Window sums and label distances against brute force over every window and voxel."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import distance_transform_edt
from stacks import Drawn, encode

from itk_consensus.core.work import working
from itk_consensus.fusing.iteration import StopRule
from itk_consensus.methods.staple.spatial.performance_field import FieldSettings
from itk_consensus.methods.staple.spatial.windowed_staple import SpatialSettings, spatial_staple
from itk_consensus.simulation.atlas_phantoms import atlas_labels
from itk_consensus.votes.disputed_voxels import DisputedVoxels
from itk_consensus.votes.fields.label_distances import LabelDistances
from itk_consensus.votes.fields.window_frame import WindowFrame


@st.composite
def stacks(draw: st.DrawFn) -> Drawn:
    """Draw noisy raters of a few labels in one to four dimensions, with gaps and masks."""
    shape = draw(st.sampled_from([(23,), (9, 11), (5, 70, 4), (40, 3, 5), (2, 4, 5, 6)]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    truth = rng.integers(0, draw(st.integers(2, 5)), shape)
    wrong = draw(st.sampled_from([0.05, 0.4]))
    arrays = [
        np.where(rng.random(shape) < wrong, rng.integers(0, 5, shape), truth).astype(np.uint8)
        for _ in range(draw(st.sampled_from([3, 9])))
    ]
    masks = [rng.random(shape) < 0.8 for _ in arrays] if draw(st.booleans()) else None
    inside = rng.random(shape) < 0.9 if draw(st.booleans()) else None
    return Drawn(list(arrays), None, inside, masks)


def windows(drawn: Drawn, radii: tuple[int, ...]):
    """Return the digits in the window of each disputed voxel, by brute force."""
    shape = drawn.present[0].shape
    labels = len(drawn.labels())
    digits = drawn.digits().T.reshape(-1, *shape).astype(int)
    if drawn.mask is not None:
        digits[:, ~drawn.mask] = labels
    for at in np.ndindex(shape):
        own = digits[(slice(None), *at)]
        if len(set(own[own < labels])) > 1:
            box = tuple(slice(max(0, k - r), k + r + 1) for k, r in zip(at, radii, strict=True))
            yield digits[(slice(None), *box)].reshape(len(digits), -1)


@settings(max_examples=40)
@given(stacks(), st.integers(0, 6), st.sampled_from([1, 2, 7]))
def test_counts_equal_those_of_every_window(drawn, radius, threads):
    shape = drawn.present[0].shape
    radii = (0,) * (len(shape) - min(len(shape), 3)) + (radius,) * min(len(shape), 3)
    patterns = encode(drawn)
    with working(threads=threads):
        frame = WindowFrame(patterns, radii)
        parts = [frame.counts(planes) for planes in frame.parts]
        seen, said = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        labels = patterns.number_of_labels
        found = list(windows(drawn, radii))
        assert len(frame) == len(found)
        for voxel, around in enumerate(found):
            assert seen[voxel, 0] == (around < labels).any(axis=0).sum()
            for rater, votes in enumerate(around):
                counts = np.bincount(votes, minlength=labels + 1)[:labels]
                assert not frame.gaps or seen[voxel, 1 + rater] == counts.sum()
                assert labels != 2 or said[voxel, rater] == counts[1]


@pytest.mark.parametrize("prior", ["local", "fixed"])
@pytest.mark.parametrize("target", ["diagonal", "global"])
def test_one_two_and_seven_threads_give_the_same_bits(prior, target):
    arrays = list(atlas_labels(5, (70, 16, 16), 5, 3).maps)
    fields = FieldSettings((3, 3, 3), target=target)
    wanted = SpatialSettings(fields, prior, stop=StopRule(0.0, 3))
    results = [working(threads=n)(spatial_staple)(encode(Drawn(arrays)), wanted) for n in (1, 2, 7)]
    for other in results[1:]:
        np.testing.assert_array_equal(results[0].posterior, other.posterior)
        np.testing.assert_array_equal(results[0].decision, other.decision)
        np.testing.assert_array_equal(results[0].log_likelihood, other.log_likelihood)


def test_parts_do_not_change_a_bit():
    arrays = [np.pad(a, 3, mode="edge") for a in atlas_labels(5, (50, 20, 20), 3, 3).maps]
    wanted = SpatialSettings(FieldSettings((3, 3, 3)), stop=StopRule(0.0, 3))
    # Raters who annotated nothing change only the number of parts.
    few, many = (encode(Drawn([*arrays, *[None] * absent])) for absent in (0, 22))
    assert len(WindowFrame(few, (3, 3, 3)).parts) == 1
    assert len(WindowFrame(many, (3, 3, 3)).parts) > 4
    alone, among = (spatial_staple(patterns, wanted) for patterns in (few, many))
    np.testing.assert_array_equal(alone.posterior, among.posterior)
    np.testing.assert_array_equal(alone.log_likelihood, among.log_likelihood)
    np.testing.assert_array_equal(alone.theta, among.theta[:3])


def test_counts_made_at_once_do_not_grow_with_raters():
    most = {}
    for raters in (8, 40):
        arrays = list(np.random.default_rng(3).integers(0, 2, (raters, 400, 4, 4)).astype(np.uint8))
        frame = WindowFrame(encode(Drawn(arrays)), (20, 2, 2))
        assert [low for _, low, _ in frame.parts[1:]] == [high for _, _, high in frame.parts[:-1]]
        most[raters] = max(frame.counts(planes).said.size for planes in frame.parts)
    assert most[40] <= 1.1 * most[8]


def test_votes_of_two_bytes_give_the_bits_of_one():
    narrow = encode(Drawn(list(atlas_labels(5, (30, 12, 12), 5, 3).maps)))
    wide = replace(narrow, patterns=narrow.patterns.astype(np.uint16))
    wanted = SpatialSettings(FieldSettings((3, 3, 3)), stop=StopRule(0.0, 2))
    one, two = (spatial_staple(patterns, wanted) for patterns in (narrow, wide))
    assert narrow.patterns.dtype == np.uint8
    np.testing.assert_array_equal(one.posterior, two.posterior)
    np.testing.assert_array_equal(one.log_likelihood, two.log_likelihood)


@settings(max_examples=40)
@given(stacks(), st.sampled_from([1, 2, 7]), st.booleans())
def test_label_distances_equal_scipys_in_the_box(drawn, threads, with_missing):
    shape = drawn.present[0].shape
    if len(shape) > 3:
        return
    patterns = encode(drawn)
    with working(threads=threads):
        region = tuple(slice(side // 4, side) for side in shape)
        voxels = DisputedVoxels(patterns, region)
        spacing = (0.5, 1.0, 3.0)[: len(shape)]
        labels = patterns.number_of_labels
        digits = drawn.digits().T.reshape(-1, *shape).astype(int)
        if drawn.mask is not None:
            digits[:, ~drawn.mask] = labels
        for label in range(labels):
            found = LabelDistances(patterns, spacing).of(
                [0, 2], label, region, voxels.places, with_missing=with_missing
            )
            for row, rater in zip(found, (0, 2), strict=True):
                said = digits[rater][region]
                inside = (said == label) | (with_missing & (said == labels))
                expected = np.where(inside, -_nearest(~inside, spacing), _nearest(inside, spacing))
                np.testing.assert_allclose(row, voxels.take(expected), rtol=1e-6)
            sums, weights = np.zeros(found.shape[1]), np.array([0.3, 2.5])
            if with_missing or not np.isfinite(found).all():
                continue
            LabelDistances(patterns, spacing).add_weighted(
                sums, weights, [0, 2], label, region, voxels.places
            )
            np.testing.assert_array_equal(
                sums, weights[0] * found[0].astype(float) + weights[1] * found[1].astype(float)
            )


def _nearest(there: np.ndarray, spacing: tuple[float, ...]) -> np.ndarray:
    if not there.any():
        return np.full(there.shape, np.inf)
    return np.asarray(distance_transform_edt(~there, sampling=spacing))
