"""Gibbs sampling of label map and rater performance; its cost does not depend on the voxel count.

The collapsed sampler of eq. 26 would visit every voxel. Sampling the parameters as well avoids
this: given a map, the label prior and the confusion matrices have Dirichlet posteriors (eq. 21);
given these parameters, voxels are independent (eq. 7), so the number of a pattern's voxels with
each label is a single multinomial draw. Both conditional distributions are exact, so the stationary
distribution of the chain is p(t, omega | D). Equation numbers refer to "When Does Consensus Beat
Voting?".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from itk_consensus.core.array_types import Floats
from itk_consensus.core.work import current
from itk_consensus.methods.direct_inference.label_evidence import LabelEvidence

#: Number of batches for estimating the Monte Carlo error by batch means.
_BATCHES = 32


@dataclass(frozen=True)
class SamplingPlan:
    """Length of the chain."""

    number: int = 0  #: Number of samples kept; 0 disables sampling
    burn_in: int = 100  #: Number of samples discarded before the kept ones
    random_seed: int = 0


@dataclass(frozen=True)
class GibbsSamples:
    """Summary of the samples."""

    #: (P, K) probability of each label at a voxel of each pattern: the mean of eq. 7 over the
    #: samples.
    marginals: Floats
    #: (P, K) Monte Carlo standard errors of the marginals, by batch means; NaN with one batch.
    marginal_errors: Floats
    #: (M, J, K) sampled probability that a rater recognises a label: the diagonal of the
    #: confusions.
    performance: Floats
    confusion: Floats  #: (J, K, K) posterior mean of the confusions [rater, observed, true]
    prior: Floats  #: (K,) posterior mean of the label prior


def sample(
    model: LabelEvidence,
    start: Floats,
    plan: SamplingPlan,
) -> GibbsSamples | None:
    """Run the chain, starting from a (P, K) array of voxel counts per pattern and label; return
    None if aborted before the first sample.

    Progress is reported, and Abort is checked, after each sample.
    """
    rng = np.random.default_rng(plan.random_seed)
    allocation = start
    batch_sums = np.zeros((_BATCHES, *start.shape))
    batch_sizes = np.zeros(_BATCHES)
    performance: list[Floats] = []
    confusion_sum, prior_sum = np.zeros_like(model.patterns.tally(start)), np.zeros(start.shape[1])
    for step in range(-plan.burn_in, plan.number):
        confusion, prior = _draw_parameters(model, allocation, rng)
        probabilities = _label_probabilities(model, confusion, prior)
        allocation = rng.multinomial(model.patterns.counts, probabilities).astype(np.float64)
        if step >= 0:
            batch = step * _BATCHES // plan.number
            batch_sums[batch] += probabilities
            batch_sizes[batch] += 1
            performance.append(np.einsum("jkk->jk", confusion))
            confusion_sum += confusion
            prior_sum += prior
        if not current().on_iteration(step + plan.burn_in + 1):
            break
    if not performance:
        return None
    filled = batch_sizes > 0
    means = batch_sums[filled] / batch_sizes[filled, None, None]
    return GibbsSamples(
        batch_sums.sum(axis=0) / batch_sizes.sum(),
        _error_of_mean(means),
        np.array(performance),
        confusion_sum / len(performance),
        prior_sum / len(performance),
    )


def _draw_parameters(
    model: LabelEvidence, allocation: Floats, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Draw confusions (J, K, K) and a label prior (K,) given the map (eq. 21)."""
    confusion = rng.standard_gamma(model.patterns.tally(allocation) + model.pseudo_counts + 1)
    prior = rng.standard_gamma(allocation.sum(axis=0) + model.prior_concentration)
    return confusion / confusion.sum(axis=1, keepdims=True), prior / prior.sum()


def _label_probabilities(model: LabelEvidence, confusion: Floats, prior: Floats) -> Floats:
    """Return the (P, K) posterior of eq. 7."""
    labels = len(prior)
    log_joint = model.patterns.sum_over_raters(np.log(confusion).reshape(-1, labels)) + np.log(
        prior
    )
    joint = np.exp(log_joint - log_joint.max(axis=1, keepdims=True))
    return np.asarray(joint / joint.sum(axis=1, keepdims=True))


def _error_of_mean(batch_means: Floats) -> Floats:
    """Return the standard error of the mean, assuming independent batches."""
    if len(batch_means) == 1:
        return np.full(batch_means.shape[1:], np.nan)
    return np.asarray(batch_means.std(axis=0, ddof=1) / np.sqrt(len(batch_means)))
