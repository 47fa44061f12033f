"""A fuser among MONAI's dictionary transforms."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from monai.data import MetaTensor
from monai.transforms import Compose, MeanEnsembled, VoteEnsembled
from scipy.special import softmax

import itk_consensus as ic
from itk_consensus.core.errors import InputError

KEYS = ["a", "b", "c"]


def softmaxes() -> dict[str, MetaTensor]:
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(3, 4, 6, 7, 8))
    affine = np.diag([2.0, 2.0, 3.0, 1.0])
    maps = softmax(logits, axis=1)
    return {
        key: MetaTensor(torch.from_numpy(one), affine=affine)
        for key, one in zip(KEYS, maps, strict=True)
    }


def test_the_default_is_the_argmax_of_monais_mean() -> None:
    data = softmaxes()
    fuse = Compose([ic.ConsensusEnsembled(KEYS, output_key="fused"), MeanEnsembled(KEYS, "mean")])
    said = fuse(data)
    assert isinstance(said["fused"], MetaTensor)
    assert said["fused"].affine.tolist() == data["a"].affine.tolist()
    np.testing.assert_array_equal(said["fused"][0].numpy(), said["mean"].argmax(0).numpy())
    assert set(data) == set(KEYS)


def test_votes_are_those_of_monai() -> None:
    """Tested with seven label maps, for which there are no ties; also with all under one key."""
    rng = np.random.default_rng(1)
    maps = [torch.from_numpy(rng.integers(0, 2, (1, 5, 6))) for _ in range(7)]
    data = {str(k): one for k, one in enumerate(maps)}
    vote = VoteEnsembled(list(data), "vote", num_classes=2)(data)["vote"]
    ours = ic.ConsensusEnsembled(list(data), ic.MajorityVoteFilter(), "vote")(data)["vote"]
    np.testing.assert_array_equal(ours.numpy(), vote.numpy())
    together = ic.ConsensusEnsembled("maps", ic.MajorityVoteFilter())({"maps": maps})["maps"]
    np.testing.assert_array_equal(together.numpy(), vote.numpy())
    assert isinstance(ours, torch.Tensor)


def test_plain_tensors_name_their_class_axis_and_uncertainty_comes_along() -> None:
    plain = {key: one.as_tensor() for key, one in softmaxes().items()}
    fuser = ic.ProbabilityAverageFilter(ClassAxis=0)
    said = ic.ConsensusEnsembled(KEYS, fuser, "fused", uncertainty_key="doubt")(plain)
    mean = np.mean([plain[key].numpy() for key in KEYS], axis=0)
    np.testing.assert_array_equal(said["fused"].numpy(), mean.argmax(axis=0))
    np.testing.assert_allclose(said["doubt"].numpy(), -(mean * np.log(mean)).sum(0), atol=1e-6)


def test_a_missing_prediction_is_an_error_or_a_missing_rater() -> None:
    data = softmaxes()
    del data["b"]
    with pytest.raises(InputError, match=r"ConsensusEnsembled: data must have .* lacks \['b'\]"):
        ic.ConsensusEnsembled(KEYS)(data)
    said = ic.ConsensusEnsembled(KEYS, output_key="fused", allow_missing_keys=True)(data)
    mean = np.mean([data[key].numpy() for key in ("a", "c")], axis=0)
    np.testing.assert_array_equal(said["fused"][0].numpy(), mean.argmax(axis=0))
