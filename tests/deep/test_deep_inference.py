from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from itk_consensus.deep import inference  # noqa: E402
from itk_consensus.deep.cases import Case  # noqa: E402
from itk_consensus.deep.inference import predict, window_grid  # noqa: E402
from itk_consensus.deep.model import ConsensusModel, RaterModel, new_network  # noqa: E402
from itk_consensus.deep.network import NetworkShape  # noqa: E402
from itk_consensus.votes.disputed_voxels import chunks  # noqa: E402


@given(
    st.lists(st.integers(1, 70), min_size=2, max_size=3),
    st.integers(8, 32),
    st.floats(0, 0.9),
)
def test_windows_cover_every_voxel_and_stay_inside(shape, side, overlap):
    covered = np.zeros(shape, int)
    for box in window_grid(shape, [side] * len(shape), overlap):
        assert all(0 <= s.start < s.stop <= extent for s, extent in zip(box, shape, strict=True))
        covered[box] += 1
    assert covered.min() >= 1


def setting(shape, classes=2, raters=3):
    rng = np.random.default_rng(0)
    dimension = len(shape)
    network = new_network(NetworkShape(dimension, classes, raters, 4, True), 0).eval()
    model = ConsensusModel(
        network,
        "truth",
        tuple(range(classes)),
        tuple(range(1, raters + 1)),
        RaterModel.empty(raters, classes, symmetric=False),
    )
    labels = rng.integers(0, classes, (raters, *shape)).astype(np.uint8)
    image = rng.normal(size=shape).astype(np.float32)
    return model, Case(image[None], labels, np.arange(1, raters + 1))


def run(model, case, asked, window, overlap=0.25):
    return predict(
        model,
        case,
        asked,
        window=window,
        overlap=overlap,
        rater_weight=1.0,
        mixed_precision=False,
        progress=lambda share: None,
    )


@pytest.mark.parametrize("shape", [(40, 53), (20, 18, 25)], ids=["2D", "3D"])
def test_a_voxels_answer_does_not_depend_on_which_others_are_asked(shape):
    model, case = setting(shape)
    everything = run(model, case, np.ones(shape, bool), [16] * len(shape))
    asked = np.zeros(shape, bool)
    asked[tuple(side // 3 for side in shape)] = True
    some = run(model, case, asked, [16] * len(shape))
    whole = tuple(slice(0, side) for side in shape)
    assert everything.box == whole
    assert some.box != whole
    inside = asked[some.box]
    np.testing.assert_array_equal(some.probability[:, inside], everything.probability[:, asked])
    np.testing.assert_array_equal(some.evidence[inside], everything.evidence[asked])


def test_blending_agrees_with_monai():
    inferers = pytest.importorskip("monai.inferers")
    shape = (48, 64)
    model, case = setting(shape)

    def alone(window):
        """Run the model on the windows that MONAI passes, in which the image and the labels are
        stacked, and return the probabilities.
        """
        stacked = window.numpy()
        labels = stacked[:, 1:].astype(np.uint8)
        answers = [
            run(model, Case(s[0][None], d, case.raters), np.ones(s[0].shape, bool), s[0].shape)
            for s, d in zip(stacked, labels, strict=True)
        ]
        return torch.from_numpy(np.stack([answer.probability for answer in answers]))

    both = torch.from_numpy(np.concatenate([case.image, case.labels])[None].astype(np.float32))
    theirs = inferers.sliding_window_inference(
        both, (32, 32), 1, alone, overlap=0.5, mode="gaussian", sigma_scale=0.125
    )[0].numpy()
    ours = run(model, case, np.ones(shape, bool), (32, 32), 0.5).probability
    np.testing.assert_allclose(ours, theirs, atol=1e-4)


def test_probabilities_sum_to_one_whatever_the_window():
    shape = (30, 41)
    model, case = setting(shape, classes=4)
    for window in [(64, 64), (16, 16), (9, 33)]:
        answer = run(model, case, np.ones(shape, bool), window)
        np.testing.assert_allclose(answer.probability.sum(0), 1, atol=1e-5)
        assert (answer.evidence >= 0).all()


def test_nothing_asked_is_nothing_done():
    model, case = setting((20, 20))
    assert run(model, case, np.zeros((20, 20), bool), (16, 16)).probability.size == 0


def test_windows_of_one_batch_do_not_touch_each_other(monkeypatch):
    model, case = setting((48, 64))
    single = run(model, case, np.ones((48, 64), bool), (16, 16)).probability
    several = []
    whole = inference._predict_windows

    def counted(model, case, places, *others):
        several.append(len(places))
        return whole(model, case, places, *others)

    monkeypatch.setattr(inference, "_predict_windows", counted)
    monkeypatch.setattr(inference, "chunks", lambda number, _: chunks(number, 4))
    batched = run(model, case, np.ones((48, 64), bool), (16, 16)).probability
    assert max(several) == 4
    np.testing.assert_allclose(batched, single, atol=1e-6)
