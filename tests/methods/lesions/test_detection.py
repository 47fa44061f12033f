from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.special import expit, logit, logsumexp
from scipy.stats import beta, binom

from itk_consensus.methods.lesions import detection
from itk_consensus.methods.lesions.detection import BEING_THERE, FINDING, JOINING, detect


def table(finders, raters, seed=0):
    """Return an (N, J) table with the given number of random finders of each object."""
    rng = np.random.default_rng(seed)
    return np.stack([rng.permutation(raters) < number for number in finders])


def there(finders, raters, seed=0):
    return detect(table(finders, raters, seed), np.full(len(finders), 50)).there


def exact_presence(found: np.ndarray) -> np.ndarray:
    """Compute the reference for equal readers and one size, integrated on a fine grid object by
    object.
    """
    raters = found.shape[1]
    at = (np.arange(80) + 0.5) / 80
    rare = at / 5  # the grid covers the whole prior
    number, total, answer = found.sum(axis=1), 0.0, np.zeros(len(found))
    finding, joining, being = (
        beta.pdf(at, *FINDING),
        beta.pdf(rare, *JOINING),
        beta.pdf(at, *BEING_THERE),
    )
    for (d, pd), (e, pe) in itertools.product(
        zip(at, finding, strict=True), zip(rare, joining, strict=True)
    ):
        true = d**number * (1 - d) ** (raters - number) / (1 - (1 - d) ** raters)
        # Each finder may be the source of a false object, with equal probability among all
        # readers.
        false = number / raters * e ** (number - 1) * (1 - e) ** (raters - number)
        p = at[:, None]
        either = p * true + (1 - p) * false
        weight = pd * pe * being * either.prod(axis=1)
        total += weight.sum()
        answer += (weight[:, None] * p * true / either).sum(axis=0)
    return answer / total


@pytest.mark.parametrize("finders", [[3], [1, 4, 4], [5, 5, 5, 2], [2, 2, 3, 1, 2]])
def test_rates_that_readers_share_are_averaged_over_their_priors(finders, monkeypatch):
    monkeypatch.setattr(detection, "RATER_SPREAD", 1e-9)
    monkeypatch.setattr(detection, "AUTHOR_COUNT", 1e9)
    found = table(finders, 5)
    np.testing.assert_allclose(
        detect(found, np.ones(len(found))).there, exact_presence(found), atol=0.03
    )


def test_more_finders_make_an_object_likelier():
    found = table([1, 2, 3, 4, 5, 5, 2], 5)
    judged = detect(found, np.ones(7)).there
    assert (np.diff(judged[:5]) > 0).all()


def test_two_of_five_are_believed_where_others_are_overlooked_as_often_and_less_where_not():
    often, seldom = [2, 3, 2, 3, 2, 3, 4], [5, 5, 5, 5, 5, 5, 5, 5, 5, 2]
    assert there(often, 5)[0] > 0.5
    assert there(seldom, 5)[-1] < there(often, 5)[0]


def test_inventing_many_alone_is_not_rewarded():
    found = np.zeros((15, 4), bool)
    found[:3], found[3:, 1] = True, True
    judged = detect(found, np.ones(15))
    assert judged.there[-1] < 0.1
    assert judged.false_finds[1].mean > 10
    assert judged.false_finds[0].high < judged.false_finds[1].low
    # A mark made by one reader alone is more credible if this reader made no other such marks.
    other = np.append(found, [[False, False, True, False]], axis=0)
    both = detect(other, np.ones(16)).there
    assert both[-1] > both[3]


def test_a_small_object_may_be_overlooked_where_large_ones_are_not():
    sizes = np.array([400, 400, 400, 400, 20, 20, 20, 20])
    found = table([5, 5, 5, 5, 2, 2, 3, 2], 5)
    turned = found[::-1]
    assert detect(found, sizes).there[5] > detect(turned, sizes).there[0]


def test_order_of_objects_and_readers_changes_nothing():
    rng = np.random.default_rng(4)
    found = rng.random((30, 5)) < 0.6
    found = found[found.any(axis=1)]
    sizes = rng.integers(5, 500, len(found))
    objects, readers = rng.permutation(len(found)), rng.permutation(5)
    one, other = detect(found, sizes), detect(found[objects][:, readers], sizes[objects])
    np.testing.assert_allclose(other.there, one.there[objects], rtol=0, atol=1e-9)
    for rates in ("sensitivity", "false_finds"):
        first, second = (np.array(getattr(each, rates)) for each in (one, other))
        np.testing.assert_allclose(second, first[readers], rtol=0, atol=1e-9)


def test_who_did_not_look_did_not_overlook():
    found = table([2] * 6, 4, seed=2)
    asked = detect(found, np.ones(6)).there
    looked = found.copy()
    looked[:, 0] = True
    assert (detect(found, np.ones(6), looked).there > asked).all()


def test_a_reader_who_saw_nothing_changes_nothing():
    found = table([3, 4, 1, 2, 4], 4)
    absent = np.append(found, np.zeros((5, 1), bool), axis=1)
    looked = np.append(np.ones_like(found), np.zeros((5, 1), bool), axis=1)
    np.testing.assert_allclose(
        detect(absent, np.ones(5), looked).there, detect(found, np.ones(5)).there, atol=1e-9
    )


def test_a_cohort_knows_more_of_its_readers_than_a_case():
    rng = np.random.default_rng(5)
    found = drawn(rng, 20, np.array([0.5, 0.7, 0.8, 0.9]), np.ones(4))[0]
    alone, pooled = detect(found[:8], np.ones(8)), detect(found, np.ones(len(found)), cases=20)
    widths = [np.diff([(i.low, i.high) for i in one.sensitivity]).mean() for one in (alone, pooled)]
    # The intervals narrow less than for independent objects, since the uncertainty about isolated
    # marks is common to all objects.
    assert widths[1] < widths[0] / 1.5


def test_what_readers_numbers_may_be_follows_from_the_curvature_of_the_likelihood():
    rng = np.random.default_rng(8)
    found, _, sizes = drawn(rng, 6, np.array([0.6, 0.7, 0.9]), np.ones(3))
    looked = found | (rng.random(found.shape) < 0.9)
    answer = detect(found, sizes, looked)

    def fit(step):
        deviations, authors = answer._deviations + step[:3], answer._authors * np.exp(step[3:])
        return logsumexp(
            detection._log_likelihood(answer._rows, answer._rates, deviations, authors)[0]
        )

    # Second differences for all pairs of directions.
    steps = 0.02 * np.eye(6)
    curvature = [
        [(fit(a + b) - fit(a - b) - fit(b - a) + fit(-a - b)) / (4 * 0.02**2) for a in steps]
        for b in steps
    ]
    prior = np.repeat([detection.RATER_SPREAD**-2.0, detection.AUTHOR_COUNT], 3)
    wanted = np.linalg.inv(np.diag(prior) - np.array(curvature))
    np.testing.assert_allclose(answer._posterior.covariance, wanted, rtol=0.02, atol=0.005)


def test_nothing_found_is_nothing_there():
    assert detect(np.zeros((0, 3), bool), np.zeros(0)).there.shape == (0,)


def test_readers_without_objects_are_as_the_prior_has_them():
    rates = detect(np.zeros((0, 3), bool), np.zeros(0)).sensitivity
    usual = logit(np.random.default_rng(0).beta(*FINDING, 100_000))
    usual = expit(usual + np.random.default_rng(1).normal(0, detection.RATER_SPREAD, 100_000))
    wanted = usual.mean(), *np.quantile(usual, (0.025, 0.975))
    np.testing.assert_allclose(rates, [wanted] * 3, atol=0.03)


def drawn(rng, cases, sensitivity, false_finds, rise=0.0):
    """Draw the objects of some cases, whether each is true, and their sizes."""
    found, true, sizes = [], [], []
    for _ in range(cases):
        size = 2.0 ** rng.uniform(3, 7, 8)
        chance = expit(logit(sensitivity) + rise * (np.log2(size)[:, None] - 5))
        found.append(rng.random(chance.shape) < chance)
        own = np.repeat(np.arange(len(sensitivity)), rng.poisson(false_finds))
        found.append(np.eye(len(sensitivity), dtype=bool)[own])
        true.append(np.repeat([True, False], [8, len(own)]))
        sizes += [size, 2.0 ** rng.uniform(3, 7, len(own))]
    found, true, sizes = map(np.concatenate, (found, true, sizes))
    some = found.any(axis=1)
    return found[some], true[some], sizes[some]


DRAWS = 120


def assert_covers(hits: list[bool]) -> None:
    """Check that the coverage is 95 to 99 %, within the binomial error."""
    number, cover = len(hits), np.mean(hits)
    assert binom.ppf(0.025, number, 0.95) / number <= cover
    assert cover <= binom.ppf(0.975, number, 0.99) / number


@pytest.mark.slow
@pytest.mark.parametrize("rise", [0.0, 0.4])
@pytest.mark.parametrize("cases", [1, 10])
def test_intervals_cover_and_probabilities_do_not_exaggerate_in_repeated_draws(cases, rise):
    rng = np.random.default_rng(3000 + cases)
    hits, false_hits, judged, truths = [], [], [], []
    for _ in range(DRAWS):
        # Readers are drawn from the priors.
        usual = logit(rng.beta(*FINDING))
        sensitivity = expit(usual + rng.normal(0, detection.RATER_SPREAD, 4))
        false_finds = rng.gamma(1.0, 1.0, 4)
        found, true, sizes = drawn(rng, cases, sensitivity, false_finds, rise)
        if not true.any():
            continue
        answer = detect(found, sizes, cases=cases)
        wanted = expit(logit(sensitivity) + rise * (np.log2(sizes[true])[:, None] - 5)).mean(axis=0)
        hits += [i.low <= w <= i.high for i, w in zip(answer.sensitivity, wanted, strict=True)]
        false_hits += [
            i.low <= w <= i.high for i, w in zip(answer.false_finds, false_finds, strict=True)
        ]
        judged += answer.there.tolist()
        truths += true.tolist()
    print(f"cases {cases}, rise {rise}: cover {np.mean(hits):.3f}, {np.mean(false_hits):.3f}")
    assert_covers(hits)
    assert_covers(false_hits)
    judged, truths = np.array(judged), np.array(truths)
    for low, high in itertools.pairwise((0, 0.25, 0.5, 0.75, 1.01)):
        within = (judged >= low) & (judged < high)
        # The probabilities are conservative: uncertain objects may be real more often than
        # estimated, but not less often.
        if within.sum() >= 50:
            assert judged[within].mean() < truths[within].mean() + 0.05
