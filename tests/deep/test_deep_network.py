from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from itk_consensus.deep.cases import MISSING  # noqa: E402
from itk_consensus.deep.model import RaterModel, new_network  # noqa: E402
from itk_consensus.deep.network import NetworkShape, one_hot, rater_log_likelihood  # noqa: E402


def batch(dimension, classes, raters, cases=2, side=16):
    rng = np.random.default_rng(0)
    space = (side,) * dimension
    labels = rng.integers(0, classes, (cases, raters, *space)).astype(np.uint8)
    image = rng.normal(size=(cases, 1, *space)).astype(np.float32)
    ids = np.tile(np.arange(1, raters + 1), (cases, 1))
    return torch.from_numpy(image), torch.from_numpy(labels), torch.from_numpy(ids)


def run(network, image, labels, ids):
    votes = one_hot(labels, network.shape.classes)
    raters, classes = network.shape.raters, network.shape.classes
    model = RaterModel.empty(raters, classes, symmetric=True)
    log_rates = torch.from_numpy(model.log_rates())[ids]
    with torch.no_grad():
        return network(image, votes, ids, rater_log_likelihood(votes, log_rates))


@pytest.fixture(params=[(2, 2), (2, 4), (3, 3)], ids=["2D", "2D, 4 classes", "3D"])
def trained(request):
    dimension, classes = request.param
    network = new_network(NetworkShape(dimension, classes, 5, 4, True), 0)
    # Embeddings and the head are initialised with zeros; to test which rater is which, raters must
    # differ.
    for weight in (network.label_stream.modulate.weight, network.head[-1].weight):
        torch.nn.init.normal_(weight, generator=torch.manual_seed(1))
    return network.eval()


def test_concentrations_are_at_least_one_and_of_the_images_shape(trained):
    shape = trained.shape
    image, labels, ids = batch(shape.dimension, shape.classes, 5)
    alpha = run(trained, image, labels, ids)
    assert alpha.shape == (2, shape.classes, *image.shape[2:])
    assert alpha.dtype == torch.float32
    assert (alpha >= 1).all()


def test_the_order_of_the_raters_does_not_matter(trained):
    image, labels, ids = batch(trained.shape.dimension, trained.shape.classes, 5)
    order = [3, 0, 4, 2, 1]
    first, second = (
        run(trained, image, labels, ids),
        run(trained, image, labels[:, order], ids[:, order]),
    )
    torch.testing.assert_close(first, second, rtol=1e-5, atol=1e-5)


def test_who_drew_what_matters(trained):
    image, labels, ids = batch(trained.shape.dimension, trained.shape.classes, 5)
    first, second = run(trained, image, labels, ids), run(trained, image, labels, ids.flip(1))
    assert (first - second).abs().max() > 1e-3


def test_a_missing_rater_is_one_who_was_never_there(trained):
    image, labels, ids = batch(trained.shape.dimension, trained.shape.classes, 5)
    absent = labels.clone()
    absent[:, 3:] = MISSING
    torch.testing.assert_close(
        run(trained, image, absent, ids), run(trained, image, labels[:, :3], ids[:, :3])
    )


def test_voxels_that_nobody_annotated_stay_finite_forwards_and_backwards(trained):
    image, labels, ids = batch(trained.shape.dimension, trained.shape.classes, 3)
    labels[:] = MISSING
    votes = one_hot(labels, trained.shape.classes)
    likelihood = torch.zeros(2, trained.shape.classes, *image.shape[2:])
    alpha = trained(image, votes, ids, likelihood)
    alpha.sum().backward()
    assert torch.isfinite(alpha).all()
    assert all(torch.isfinite(p.grad).all() for p in trained.parameters() if p.grad is not None)


def test_a_network_of_the_image_alone_ignores_the_raters():
    network = new_network(NetworkShape(2, 2, 5, 4, False), 0).eval()
    image, labels, ids = batch(2, 2, 5)
    assert torch.equal(run(network, image, labels, ids), run(network, image, 1 - labels, ids))


def test_first_weights_depend_on_the_seed_only():
    shape = NetworkShape(2, 2, 3, 4, True)
    torch.manual_seed(123)
    before = torch.rand(1)
    torch.manual_seed(123)
    first, second, other = (new_network(shape, seed).state_dict() for seed in (7, 7, 8))
    assert torch.rand(1) == before
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert any(not torch.equal(first[name], other[name]) for name in first)


def test_rater_likelihood_is_the_sum_over_those_present():
    rng = np.random.default_rng(3)
    rates = rng.dirichlet(np.ones(3), (4, 3))
    labels = rng.integers(0, 3, (1, 4, 5, 5)).astype(np.uint8)
    labels[0, 2, :2] = MISSING
    expected = np.zeros((3, 5, 5))
    for k in range(3):
        for a in range(4):
            for place in np.ndindex(5, 5):
                if labels[0, a][place] != MISSING:
                    expected[k][place] += np.log(rates[a, k, labels[0, a][place]])
    votes = one_hot(torch.from_numpy(labels), 3)
    ours = rater_log_likelihood(votes, torch.from_numpy(np.log(rates).astype(np.float32))[None])
    np.testing.assert_allclose(ours[0].numpy(), expected, rtol=1e-5)


def test_a_symmetric_rater_model_has_one_accuracy_and_equal_errors():
    tally = np.zeros((3, 3, 3))
    tally[1] = [[900, 50, 50], [0, 80, 20], [0, 0, 100]]
    rates = np.exp(RaterModel(tally, symmetric=True).log_rates())
    np.testing.assert_allclose(rates.sum(2), 1, rtol=1e-5)
    assert np.ptp(np.diagonal(rates[1])) < 1e-6
    assert np.ptp(rates[1][~np.eye(3, dtype=bool)]) < 1e-6
    assert rates[1, 0, 0] == pytest.approx((1080 + 8) / (1200 + 10), rel=1e-4)


def test_an_unknown_rater_is_an_average_one():
    tally = np.zeros((3, 2, 2))
    tally[1], tally[2] = [[90, 10], [10, 90]], [[70, 30], [30, 70]]
    accuracy = RaterModel(tally, symmetric=False).accuracy()
    assert accuracy[2] < accuracy[0] < accuracy[1]
