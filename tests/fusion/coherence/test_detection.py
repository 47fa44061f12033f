from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import beta, binom

from itk_consensus.fusion.coherence.detection import BEING_THERE, FINDING, JOINING, presence


def exact_presence(finders: list[int], raters: int) -> np.ndarray:
    """Integrated on a fine grid of the three rates, by the Binomials as they are written."""
    at = (np.arange(60) + 0.5) / 60
    weights = [beta.pdf(at, *prior) for prior in (FINDING, JOINING, BEING_THERE)]
    total, there = 0.0, np.zeros(len(finders))
    k = np.array(finders)
    for (d, pd), (e, pe) in itertools.product(*(zip(at, w, strict=True) for w in weights[:2])):
        true = binom.pmf(k, raters, d) / (1 - binom.pmf(0, raters, d))
        false = binom.pmf(k - 1, raters - 1, e)
        p = at[:, None]
        either = p * true + (1 - p) * false
        weight = pd * pe * weights[2] * either.prod(axis=1)
        total += weight.sum()
        there += (weight[:, None] * p * true / either).sum(axis=0)
    return there / total


@pytest.mark.parametrize(
    ("finders", "raters"), [([3], 5), ([1, 4, 4], 4), ([5, 5, 5, 2], 5), ([2, 2, 3, 1, 2], 6)]
)
def test_rates_are_averaged_over_their_priors(finders, raters):
    found = presence(np.array(finders), raters)
    np.testing.assert_allclose(found, exact_presence(finders, raters), atol=0.02)


def test_more_finders_make_an_object_likelier_and_the_order_does_not_matter():
    finders = np.array([1, 2, 3, 4, 5, 5, 2])
    found = presence(finders, 5)
    assert (np.diff(found[:5]) > 0).all()
    np.testing.assert_array_equal(presence(finders[::-1], 5), found[::-1])


def test_an_object_of_two_is_believed_where_others_are_overlooked_as_often():
    often, seldom = [2, 3, 2, 3, 2, 3, 4], [5, 5, 5, 4, 5, 5, 2]
    assert presence(np.array(often), 5)[0] > 0.5
    assert presence(np.array(seldom), 5)[-1] < 0.25


def test_inventing_many_alone_is_not_rewarded():
    assert presence(np.array([4, 4, 4, *[1] * 12]), 4)[-1] < 0.1
