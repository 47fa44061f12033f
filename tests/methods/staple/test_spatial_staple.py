"""Spatial STAPLE against its equations, written out voxel by voxel and window by window."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stacks import Drawn, encode

from examples.simulation import spatial_case
from itk_consensus.core.work import working
from itk_consensus.fusing.iteration import StopRule
from itk_consensus.methods.staple.spatial.performance_field import (
    FieldSettings,
    confusion_field,
)
from itk_consensus.methods.staple.spatial.windowed_staple import (
    SpatialResult,
    SpatialSettings,
    spatial_staple,
)
from itk_consensus.votes.overlap import dice


@dataclass(frozen=True)
class WrittenOut:
    """Independent implementation of section 2.5.

    `digits` is (J, *shape), K where a rater is missing; `inside` is the mask.
    """

    digits: np.ndarray
    inside: np.ndarray
    labels: int
    settings: SpatialSettings

    def windows(self):
        shape, radii = self.inside.shape, self.settings.fields.radii
        for at in itertools.product(*map(range, shape)):
            yield at, tuple(slice(max(0, k - r), k + r + 1) for k, r in zip(at, radii, strict=True))

    def votes(self, at) -> list[int]:
        return [d for d in self.digits[(slice(None), *at)].tolist() if d < self.labels]

    def disputed(self, at) -> bool:
        return bool(self.inside[at]) and len(set(self.votes(at))) > 1

    def start(self) -> np.ndarray:
        """Return the vote; ties are resolved to the lowest label."""
        posterior = np.zeros((self.labels, *self.inside.shape))
        for at, _ in self.windows():
            votes = self.votes(at)
            if self.inside[at] and votes:
                posterior[(max(sorted(votes), key=votes.count), *at)] = 1
        return posterior

    def target(self, posterior: np.ndarray, rater: int) -> np.ndarray:
        fields, labels = self.settings.fields, self.labels
        if fields.target != "global":
            right = fields.diagonal if fields.target == "diagonal" else 1 / labels
            wrong = (1 - right) / (labels - 1)
            return np.where(np.eye(labels, dtype=bool), right, wrong)
        return self.theta(posterior, rater, np.ones(self.inside.shape, bool), None)

    def theta(self, posterior, rater: int, window, target) -> np.ndarray:
        """Return the (K, K) confusion matrix from the voxels of one window; unregularised
        without a target.
        """
        said, inside = self.digits[rater][window], self.inside[window]
        seen = [inside & (said == d) for d in range(self.labels)]
        counts = np.array([s.sum() for s in seen])
        rare = np.minimum(counts, counts.sum() - counts)
        sigma = np.maximum(counts.sum() / self.labels - rare, 1) * self.settings.fields.kappa
        diagonal, other = self.settings.fields.pseudo_counts
        theta = np.zeros((self.labels, self.labels))
        for t in range(self.labels):
            truth = posterior[t][window]
            column = np.array([truth[s].sum() for s in seen])
            column += [diagonal if d == t else other for d in range(self.labels)]
            if target is not None:
                column += sigma[t] * target[:, t]
            fallback = np.full(self.labels, 1 / self.labels) if target is None else target[:, t]
            theta[:, t] = column / column.sum() if column.sum() > 0 else fallback
        return theta

    def fields(self, posterior: np.ndarray, rater: int) -> np.ndarray:
        target = self.target(posterior, rater)
        field = np.zeros((self.labels, self.labels, *self.inside.shape))
        for at, window in self.windows():
            field[(slice(None), slice(None), *at)] = self.theta(posterior, rater, window, target)
        return field

    def step(self, posterior: np.ndarray) -> np.ndarray:
        raters = [j for j, d in enumerate(self.digits) if (d < self.labels).any()]
        fields = {j: self.fields(posterior, j) for j in raters}
        new = posterior.copy()
        for at, window in self.windows():
            if not self.disputed(at):
                continue
            # Labels for which nobody voted at the voxel are not considered.
            given = np.isin(np.arange(self.labels), self.votes(at))
            prior = self.prior(posterior, window) * given
            for j in raters:
                said = self.digits[(j, *at)]
                if said < self.labels:
                    prior = prior * fields[j][(said, slice(None), *at)]
            new[(slice(None), *at)] = prior / prior.sum()
        return new

    def prior(self, posterior: np.ndarray, window) -> np.ndarray:
        mode = self.settings.prior
        if mode == "fixed":
            return self.settings.fixed_prior
        if mode == "global":
            window = tuple(slice(None) for _ in self.inside.shape)
        mass = posterior[(slice(None), *window)].reshape(self.labels, -1).sum(axis=1)
        return mass / mass.sum()


def whole(result: SpatialResult) -> np.ndarray:
    """Return the (K, *shape) posterior: one-hot where raters agree, zero where none annotated."""
    patterns = result.voxels.patterns
    known = patterns.present.any(axis=1)
    volumes = []
    for label, posterior in enumerate(result.posterior):
        volume = patterns.expand(np.where(known, result.vote.probabilities[:, label], 0.0))
        result.voxels.write(posterior, volume)
        volumes.append(volume)
    return np.array(volumes)


def label_map(result: SpatialResult) -> np.ndarray:
    decision = result.voxels.patterns.expand(result.vote.decision.astype(np.int32))
    result.voxels.write(result.decision, decision)
    return decision


@st.composite
def cases(draw: st.DrawFn, most_labels: int = 3) -> tuple[Drawn, SpatialSettings]:
    """Draw small noisy stacks with gaps, and settings with windows smaller or larger than the
    volume.
    """
    shape = draw(st.sampled_from([(13,), (7, 8), (4, 5, 5)]))
    labels = draw(st.integers(2, most_labels))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    truth = rng.integers(0, labels, shape)
    arrays = [
        np.where(rng.random(shape) < 0.3, rng.integers(0, labels, shape), truth).astype(np.uint8)
        for _ in range(draw(st.integers(2, 4)))
    ]
    for label in range(labels):
        arrays[0].flat[label] = label
    gaps = draw(st.booleans())
    rater_masks = [(rng.random(shape) < 0.8) if gaps else None for _ in arrays]
    mask = (rng.random(shape) < 0.8) if draw(st.booleans()) else None
    if mask is not None:
        mask.flat[0] = True
    drawn = Drawn(list(arrays), None, mask, rater_masks if gaps else None)
    fields = FieldSettings(
        tuple(draw(st.integers(0, 4)) for _ in shape),
        draw(st.sampled_from([0.0, 0.01, 1.0])),
        draw(st.sampled_from(["global", "uniform", "diagonal"])),
        draw(st.sampled_from([0.7, 0.9])),
        draw(st.sampled_from([(0.0, 0.0), (2.0, 0.0), (1.5, 0.5)])),
    )
    prior = draw(st.sampled_from(["local", "global", "fixed"]))
    fixed = rng.dirichlet(np.ones(labels) * 5)
    return drawn, SpatialSettings(fields, prior, fixed, StopRule(0.0, draw(st.integers(1, 3))))


def written_out(drawn: Drawn, wanted: SpatialSettings) -> WrittenOut:
    shape = drawn.present[0].shape
    inside = np.ones(shape, bool) if drawn.mask is None else drawn.mask
    digits = drawn.digits().T.reshape(-1, *shape)
    return WrittenOut(digits, inside, len(drawn.labels()), wanted)


@settings(max_examples=25)
@given(cases())
def test_fields_equal_the_equations_at_every_voxel(case):
    drawn, wanted = case
    result = spatial_staple(encode(drawn), wanted)
    reference, posterior = written_out(drawn, wanted), whole(result)
    for rater in range(len(drawn.arrays)):
        expected = reference.fields(posterior, rater)
        for d, t in itertools.product(range(reference.labels), repeat=2):
            field = confusion_field(result, rater, d, t)
            np.testing.assert_allclose(field, expected[d, t], atol=1e-6)


@settings(max_examples=25)
@given(cases())
def test_iterations_equal_the_equations_at_every_voxel(case):
    drawn, wanted = case
    # Without pseudo-counts, an estimate of exactly 0 is replaced with the lowest probability of a
    # vote.
    fields = replace(wanted.fields, pseudo_counts=(1.5, 0.5))
    wanted = replace(wanted, fields=fields)
    reference = written_out(drawn, wanted)
    expected = reference.start()
    for _ in range(wanted.stop.maximum_iterations):
        expected = reference.step(expected)
    np.testing.assert_allclose(whole(spatial_staple(encode(drawn), wanted)), expected, atol=2e-5)


def defaults(*radii: int, **more) -> SpatialSettings:
    return SpatialSettings(FieldSettings(tuple(radii)), **more)


def test_background_beyond_the_windows_does_not_matter():
    small = spatial_case("none", 3).raters
    edge = [0, 1, 2, -1, -2, -3]
    small[:, edge] = small[:, :, edge] = False
    large = np.pad(small, [(0, 0), (30, 5), (0, 61)])
    results = [
        spatial_staple(encode(Drawn(list(stack.astype(np.uint8)))), defaults(3, 3))
        for stack in (small, large)
    ]
    np.testing.assert_array_equal(results[0].posterior, results[1].posterior)


def masks_of_a_volume() -> list[np.ndarray]:
    _, raters = spatial_case("before", 0)
    return list(np.repeat(raters[:, None, 30:98, 30:98], 20, axis=1).astype(np.uint8))


def parcels_of_a_volume() -> list[np.ndarray]:
    """Return twelve labels, one of which is so large that several threads process it."""
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 12, (5, 4, 4)) * (rng.random((5, 4, 4)) < 0.6)
    truth = truth.repeat(8, 0).repeat(7, 1).repeat(7, 2)
    wrong = rng.random((4, *truth.shape)) < 0.15
    return list(np.where(wrong, rng.integers(0, 12, wrong.shape), truth).astype(np.uint8))


@pytest.mark.parametrize("raters", [masks_of_a_volume, parcels_of_a_volume])
def test_threads_do_not_change_a_bit(raters):
    drawn = Drawn(raters())
    first, *others = (
        working(threads=n)(spatial_staple)(encode(drawn), defaults(2, 9, 9, stop=StopRule(0.0, 3)))
        for n in (1, 2, 7)
    )
    for other in others:
        np.testing.assert_array_equal(first.posterior, other.posterior)
        np.testing.assert_array_equal(
            confusion_field(first, 1, 1, 1), confusion_field(other, 1, 1, 1)
        )


def test_raters_good_on_one_side_have_fields_that_say_so():
    _, raters = spatial_case("none", 0)
    result = spatial_staple(encode(Drawn(list(raters.astype(np.uint8)))), defaults(12, 12))
    left, right = (slice(None), slice(0, 40)), (slice(None), slice(88, 128))
    for rater, (good, poor) in ((0, (left, right)), (5, (right, left))):
        specificity = confusion_field(result, rater, 0, 0)
        assert specificity[good].mean() == pytest.approx(0.98, abs=0.01)
        assert specificity[poor].mean() == pytest.approx(0.80, abs=0.02)


def test_unanimous_raters_leave_nothing_to_estimate():
    mask = np.zeros((5, 6), np.uint8)
    mask[1:3, 2:4] = 1
    result = spatial_staple(encode(Drawn([mask, mask, mask])), defaults(2, 2))
    assert result.converged
    assert result.change.size == 0
    np.testing.assert_array_equal(label_map(result), mask)


def test_a_label_that_nobody_gave_a_voxel_has_no_probability_there():
    rng = np.random.default_rng(2)
    raters = list(rng.integers(0, 4, (3, 9, 9)).astype(np.uint8))
    posterior = whole(spatial_staple(encode(Drawn(raters)), defaults(3, 3, stop=StopRule(0.0, 2))))
    given = np.array([(np.array(raters) == label).any(axis=0) for label in range(4)])
    assert (posterior[~given] == 0).all()
    np.testing.assert_allclose(posterior.sum(axis=0), 1, atol=1e-6)


def test_a_tie_that_nothing_breaks_stays_undecided():
    first = np.array([[0, 1]] * 4, np.uint8)
    result = spatial_staple(
        encode(Drawn([first, 1 - first])),
        SpatialSettings(FieldSettings((9, 9), pseudo_counts=(1e9, 1e9)), "fixed"),
    )
    assert (label_map(result) == -1).all()


def test_an_observer_that_declines_ends_with_the_current_estimate():
    _, raters = spatial_case("after", 0)
    patterns = encode(Drawn(list(raters.astype(np.uint8))))
    stopped = working(on_iteration=lambda number: number < 2)(spatial_staple)(
        patterns, defaults(9, 9)
    )
    capped = spatial_staple(patterns, defaults(9, 9, stop=StopRule(0.0, 2)))
    assert not stopped.converged
    assert len(stopped.change) == 2
    np.testing.assert_array_equal(stopped.posterior, capped.posterior)


def test_the_trace_ends_where_the_tolerance_is_met():
    _, raters = spatial_case("none", 0)
    result = spatial_staple(encode(Drawn(list(raters.astype(np.uint8)))), defaults(12, 12))
    assert result.converged
    assert result.change[-1] <= 1e-4 < result.change[:-1].min()
    assert np.isfinite(result.log_likelihood).all()
    assert len(result.log_likelihood) == len(result.change)


def halves(seed: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return a disc on 64 x 64 and six raters, each accurate in one half of it."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:64, :64]
    truth = np.hypot((y - 32) / 17, (x - 32) / 23) < 1
    raters = []
    for number in range(6):
        good = (x < 32) == (number < 3)
        sensitivity, specificity = np.where(good, 0.95, 0.6), np.where(good, 0.98, 0.8)
        draw = rng.random(truth.shape)
        raters.append(np.where(truth, draw < sensitivity, draw >= specificity).astype(np.uint8))
    return truth, raters


def fused(raters: list[np.ndarray], kappa: float, target: str) -> SpatialResult:
    settings = SpatialSettings(FieldSettings((10, 10), kappa=kappa, target=target))
    return spatial_staple(encode(Drawn(raters)), settings)


@pytest.mark.parametrize("target", ["global", "uniform", "diagonal"])
def test_a_large_kappa_leads_to_the_target_and_a_small_one_to_the_window(target):
    _, raters = halves(0)
    large, small, local = (fused(raters, kappa, target) for kappa in (1e7, 1e-7, 0.0))
    wanted = large.settings.fields.targets(large.theta)
    for rater, d, t in itertools.product((0, 5), range(2), range(2)):
        field = confusion_field(large, rater, d, t)
        np.testing.assert_allclose(field, wanted[rater, d, t], atol=1e-4)
        np.testing.assert_allclose(
            confusion_field(small, rater, d, t), confusion_field(local, rater, d, t), atol=1e-4
        )


@pytest.mark.parametrize("target", ["global", "uniform", "diagonal"])
def test_no_kappa_is_worse_than_both_of_its_limits(target):
    scores = []
    for truth, raters in map(halves, range(3)):
        maps = [label_map(fused(raters, k, target)) == 1 for k in (0, 0.01, 1, 100, 1e4, 1e7)]
        scores.append([dice(one, truth) for one in maps])
    local, *between, limit = np.mean(scores, axis=0)
    assert min(between) >= min(local, limit)
    assert target == "uniform" or limit > 0.98


def test_a_global_performance_below_chance_is_no_target():
    settings = FieldSettings((1,), target="global")
    good = np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2)
    assert settings.valid_target(good) == "global"
    assert settings.valid_target(good[:, ::-1]) == "diagonal"
    np.testing.assert_array_equal(
        settings.targets(good[:, ::-1]), replace(settings, target="diagonal").targets(good)
    )


def mean_dice(jitter: str, seeds: range, wanted: SpatialSettings) -> tuple[float, float]:
    """Return the mean Dice of Spatial STAPLE and of the vote."""
    scores = []
    for seed in seeds:
        truth, raters = spatial_case(jitter, seed)
        result = spatial_staple(encode(Drawn(list(raters.astype(np.uint8)))), wanted)
        vote = raters.sum(axis=0) > len(raters) / 2
        scores.append((dice(label_map(result) == 1, truth), dice(vote, truth)))
    fused, voted = np.mean(scores, axis=0)
    return float(fused), float(voted)


@pytest.mark.slow
@pytest.mark.parametrize(("jitter", "least"), [("none", 0.98), ("before", 0.90)])
def test_table_4_raters_with_the_papers_prior_and_strength(jitter, least):
    wanted = SpatialSettings(FieldSettings((12, 12), kappa=1.0), "fixed")
    fused, _ = mean_dice(jitter, range(10), wanted)
    assert fused >= least


@pytest.mark.slow
@pytest.mark.parametrize("jitter", ["none", "before"])
def test_a_prior_of_one_half_needs_another_target_than_the_global_one(jitter):
    """The paper's setting gives results between global STAPLE's and worse ones."""
    local, paper, limit = (
        mean_dice(
            jitter,
            range(4),
            SpatialSettings(FieldSettings((12, 12), kappa=kappa, target="global"), "fixed"),
        )[0]
        for kappa in (0.0, 1.0, 1e7)
    )
    assert local < limit < 0.8
    assert paper >= local
    assert paper < limit + 0.05


@pytest.mark.slow
@pytest.mark.parametrize("jitter", ["after", "none", "before"])
def test_table_4_raters_with_the_defaults_are_never_below_the_vote(jitter):
    fused, voted = mean_dice(jitter, range(100, 124), defaults(20, 20))
    assert fused >= voted
