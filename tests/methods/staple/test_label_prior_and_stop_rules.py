"""Pseudo-counts of eq. 16, EM's two stopping rules and initial theta, against EM in plain NumPy."""

from __future__ import annotations

import warnings
from itertools import product
from math import lgamma

import numpy as np
import pytest
from scipy.special import xlogy

import itk_consensus
from itk_consensus.core.errors import ParameterError


def raters(labels: int, seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = np.zeros((14, 15), np.uint8)
    truth[4:11, 5:12] = 1
    truth[4:7, 5:8] = labels - 1
    draws = [(rng.random(truth.shape) < wrong) for wrong in (0.05, 0.15, 0.3, 0.2)]
    return [np.where(d, rng.integers(0, labels, d.shape), truth).astype(np.uint8) for d in draws]


class NumPyEM:
    """Section 2.2 on voxels, starting from the vote or from theta; labels with equal votes
    share a voxel.
    """

    def __init__(self, votes: list[np.ndarray], labels: int, prior_counts, counts=(0.0, 0.0)):
        self.votes = np.array([v.ravel() for v in votes])
        self.labels, self.prior_counts = labels, np.broadcast_to(prior_counts, labels)
        self.counts = np.where(np.eye(labels, dtype=bool), *counts)
        shares = np.array([(self.votes == k).mean(axis=0) for k in range(labels)])
        self.frequencies = shares.mean(axis=1)
        most = shares == shares.max(axis=0)
        self.truth = most / most.sum(axis=0)
        self.prior = self.frequencies
        self.theta = np.full((len(votes), labels, labels), np.nan)

    def from_theta(self, right: float) -> NumPyEM:
        self.theta[:] = np.where(np.eye(self.labels), right, (1 - right) / (self.labels - 1))
        self._e_step()
        return self

    def step(self, estimate_prior: bool = True) -> None:
        for j, said in enumerate(self.votes):
            table = np.array([(self.truth * (said == d)).sum(axis=1) for d in range(self.labels)])
            table += self.counts
            self.theta[j] = table / table.sum(axis=0)
        if estimate_prior:
            mass = self.truth.sum(axis=1) + self.prior_counts
            self.prior = mass / mass.sum()
        self._e_step()

    def _e_step(self) -> None:
        joint = self.prior[:, None] * np.prod(
            [theta[said].T for theta, said in zip(self.theta, self.votes, strict=True)], axis=0
        )
        self.truth = joint / joint.sum(axis=0)
        self.log_likelihood = np.log(joint.sum(axis=0)).sum()

    @property
    def log_posterior(self) -> float:
        of_theta = sum(xlogy(self.counts, theta).sum() for theta in self.theta)
        return float(self.log_likelihood + of_theta + xlogy(self.prior_counts, self.prior).sum())


@pytest.mark.parametrize("counts", [0.0, 7.0, (5.0, 40.0), (300.0, 0.0)])
def test_prior_pseudo_counts_of_two_labels_equal_a_numpy_em(counts):
    images = raters(2)
    em = NumPyEM(images, 2, counts, (2.0, 0.0))
    for _ in range(12):
        em.step()
    for several in (1, 3):  # as bits, and as a table of patterns
        staple = itk_consensus.STAPLEImageFilter(
            Variant="advanced",
            PriorPseudoCounts=counts,
            MaximumIterations=12,
            Tolerance=0.0,
            NumberOfInitializations=several,
        )
        fused = staple.Execute(images)
        if several == 1:
            np.testing.assert_allclose(fused.ravel(), em.truth[1], atol=1e-9)
            assert staple.GetEstimatedPrior() == pytest.approx(em.prior[1], abs=1e-9)
        first = staple.GetStarts().log_posterior[0]
        assert first == pytest.approx(em.log_posterior, abs=1e-6)


@pytest.mark.parametrize("counts", [0.0, 7.0, (5.0, 40.0, 1.0)])
def test_prior_pseudo_counts_of_three_labels_equal_a_numpy_em(counts):
    images = raters(3)
    em = NumPyEM(images, 3, counts, (2.0, 0.0))
    for _ in range(12):
        em.step()
    staple = itk_consensus.MultiLabelSTAPLEImageFilter(
        Variant="advanced",
        PriorPseudoCounts=counts,
        MaximumNumberOfIterations=12,
        TerminationUpdateThreshold=0.0,
    )
    staple.Execute(images)
    np.testing.assert_allclose(staple.GetEstimatedPriorProbabilities(), em.prior, atol=1e-9)
    for label in range(3):
        shares = staple.GetProbabilityImage(label).ravel()
        np.testing.assert_allclose(shares, em.truth[label], atol=1e-6)
    assert staple.GetLogPosterior() == pytest.approx(em.log_posterior, abs=1e-6)


def test_every_case_of_a_cohort_has_the_pseudo_counts():
    images = raters(2)
    common = {"Variant": "advanced", "PriorPseudoCounts": (3.0, 90.0)}
    cohort = itk_consensus.CohortSTAPLEFilter(**common)
    cohort.Execute([images, images])
    assert cohort.GetPriors()[0] == pytest.approx(cohort.GetPriors()[1])
    plain = itk_consensus.CohortSTAPLEFilter(Variant="advanced")
    plain.Execute([images, images])
    assert cohort.GetPriors()[0] > plain.GetPriors()[0] + 0.1


def test_the_log_posterior_never_falls_with_prior_pseudo_counts():
    staple = itk_consensus.STAPLEImageFilter(
        Variant="advanced", PriorPseudoCounts=(2.0, 50.0), NumberOfInitializations=4
    )
    staple.Execute(raters(2))
    for trace in staple.GetStarts().trace.T:
        steps = np.diff(trace[~np.isnan(trace)])
        assert (steps > -1e-8).all()


def test_direct_inference_counts_voxels_before_it_sees_any():
    """Computes eq. 25 by enumeration of all maps of a few voxels."""
    votes = np.array([[0, 0, 1, 1, 1], [0, 1, 1, 0, 1], [0, 0, 0, 1, 1]], np.uint8)
    alpha = (0.5, 6.0)

    def evidence(truth) -> float:
        truth, total = np.array(truth), 0.0
        parts = [[(truth == k).sum() + alpha[k] + 1 for k in range(2)]]
        empty = [[a + 1 for a in alpha]]
        for said in votes:
            for t in range(2):
                parts.append([((said == d) & (truth == t)).sum() + 1 + (d == t) for d in range(2)])
                empty.append([1 + (d == t) for d in range(2)])
        for sign, several in ((1, parts), (-1, empty)):
            for one in several:
                total += sign * (sum(map(lgamma, one)) - lgamma(sum(one)))
        return total

    best = max(product(range(2), repeat=5), key=evidence)
    direct = itk_consensus.DirectInferenceFilter(PseudoCounts=(1, 0), PriorPseudoCounts=alpha)
    images = [v[None] for v in votes]
    found = direct.Execute(images)
    assert direct.GetLogEvidence() == pytest.approx(evidence(best), abs=1e-9)
    assert evidence(found[0]) == pytest.approx(evidence(best), abs=1e-9)
    mass = np.bincount(found[0], minlength=2) + np.array(alpha) + 1
    np.testing.assert_allclose(direct.GetEstimatedPriorProbabilities(), mass / mass.sum())


def test_sampled_priors_follow_their_pseudo_counts():
    images = raters(2)
    means = []
    for counts in (0.0, (0.0, 2000.0)):
        direct = itk_consensus.DirectInferenceFilter(NumberOfSamples=200, PriorPseudoCounts=counts)
        direct.Execute(images)
        means.append(direct.GetEstimatedPriorProbabilities()[1])
    assert means[0] < 0.4
    assert means[1] > 0.9


@pytest.mark.parametrize("tolerance", [1.0, 1e-3, 1e-6])
def test_the_likelihood_rule_stops_a_step_after_a_numpy_em_does(tolerance):
    images = raters(2)
    em, scores = NumPyEM(images, 2, 0.0), []
    while len(scores) < 2 or abs(scores[-1] - scores[-2]) > tolerance:
        em.step(estimate_prior=False)
        scores.append(em.log_likelihood)
    staple = itk_consensus.STAPLEImageFilter(
        Initialization="majority_vote", StopCriterion="likelihood", Tolerance=tolerance
    )
    staple.Execute(images)
    assert staple.GetConverged()
    # The index of an iteration counts from 0, as in SimpleITK.
    assert staple.GetElapsedIterations() == len(scores)
    em.step(estimate_prior=False)
    assert staple.GetLogLikelihood() == pytest.approx(em.log_likelihood, abs=1e-8)


def test_the_likelihood_rule_lets_every_start_stop_by_itself():
    several = itk_consensus.STAPLEImageFilter(
        StopCriterion="likelihood", Tolerance=1e-6, NumberOfInitializations=5
    )
    several.Execute(raters(2))
    one = itk_consensus.STAPLEImageFilter(StopCriterion="likelihood", Tolerance=1e-6)
    one.Execute(raters(2))
    assert several.GetStarts().iterations[0] == one.GetElapsedIterations()
    assert len(set(several.GetStarts().iterations.tolist())) > 1


@pytest.mark.parametrize("right", [0.6, 0.99, 0.9999])
def test_theta_begins_with_the_performance_that_is_asked_for(right):
    images = raters(2)
    em = NumPyEM(images, 2, 0.0).from_theta(right)
    em.step(estimate_prior=False)
    for several in (1, 2):
        staple = itk_consensus.STAPLEImageFilter(
            Initialization="theta",
            InitialPerformance=right,
            MaximumIterations=1,
            NumberOfInitializations=several,
        )
        staple.Execute(images)
        found = staple.GetStarts().log_likelihood[0]
        # The first iteration starts with the M-step from the posterior given theta.
        assert found == pytest.approx(em.log_likelihood, abs=1e-8)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"PriorPseudoCounts": 3.0}, "needs EstimatePrior"),
        ({"EstimatePrior": True, "PriorPseudoCounts": (1.0, 2.0, 3.0)}, "one for each of 2 labels"),
        ({"SmoothnessWeight": 2.0, "StopCriterion": "likelihood"}, "leave PriorPseudoCounts"),
        ({"InitialPerformance": 1.0}, "InitialPerformance must be"),
    ],
)
def test_what_would_mean_nothing_is_refused(parameters, words):
    with pytest.raises(ParameterError, match=words):
        itk_consensus.STAPLEImageFilter(**parameters).Execute(raters(2))


def test_votes_that_the_start_rules_out_stop_by_their_parameters_without_a_warning():
    """The likelihood is 0 at every step, and the difference between two log-likelihoods is NaN."""
    patterns = [[0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 0, 0, 1, 1], [0, 0, 1, 1, 0, 1, 0, 1],
                [0, 1, 0, 1, 0, 0, 0, 1]]  # fmt: skip
    times = [116, 7, 14, 1, 10, 1, 1, 10]
    raters = [np.repeat(one, times)[None].astype(np.uint8) for one in patterns]
    by_likelihood, by_parameters = (
        itk_consensus.MultiLabelSTAPLEImageFilter(MaximumNumberOfIterations=500, **rule)
        for rule in ({"StopCriterion": "likelihood"}, {"TerminationUpdateThreshold": 1e-12})
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fused = by_likelihood.Execute(raters)
    assert by_likelihood.GetLogLikelihood() == -np.inf
    np.testing.assert_array_equal(fused, by_parameters.Execute(raters))
