"""The single place in which every output image of a fuser is created."""

from __future__ import annotations

import numpy as np
import pytest
from contract import ASKEW, FAMILIES, Fuser, geometry, make, raters, to_array
from scipy.stats import entropy

from itk_consensus.core.errors import NotExecutedError
from itk_consensus.methods.registry import FUSERS
from itk_consensus.methods.voting.label_voting_filter import LabelVotingImageFilter
from itk_consensus.votes.ties import BACKGROUND, UNDECIDED


@pytest.mark.parametrize("fuser", FUSERS)
def test_the_entropy_of_the_probabilities_becomes_an_image(fuser: Fuser) -> None:
    mask = np.ones((9, 11), np.uint8)
    mask[:2] = 0
    filter_ = fuser(MaskImage=mask)
    filter_.Execute(raters())
    found = filter_.GetUncertaintyImage("entropy")
    shares = [filter_.GetProbabilityImage(label) for label in filter_.GetLabels()]
    expected = np.where(mask == 1, entropy(np.where(mask == 1, shares, 1.0), axis=0), 0.0)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert found.dtype == np.float32


@pytest.mark.parametrize("family", FAMILIES)
def test_derived_images_have_the_family_and_space_of_the_first_input(family: str) -> None:
    images = [make(array, family, space=ASKEW) for array in raters()]
    filter_ = LabelVotingImageFilter()
    filter_.Execute(images)
    unsure = filter_.GetUncertaintyImage("disagreement")
    assert geometry(unsure) == geometry(images[0])
    assert to_array(unsure).dtype == np.float32

    def write(out: np.ndarray) -> None:
        out[...] = 3

    assert (to_array(filter_.fused.image(write, np.uint8)) == 3).all()


def test_decisions_can_be_told_in_other_labels() -> None:
    tied = [np.array([[0, 2, 2, 5, 5]], np.uint8), np.array([[0, 2, 5, 5, 5]], np.uint8)]
    filter_ = LabelVotingImageFilter(MaskImage=np.array([[1, 1, 1, 1, 0]], np.uint8))
    filter_.Execute(tied)
    fused = filter_.fused
    assert fused.decision([0, 2, 5]).tolist() == [[0, 1, UNDECIDED, 2, 0]]
    assert fused.decision([5, 9]).tolist() == [[BACKGROUND, BACKGROUND, UNDECIDED, 0, BACKGROUND]]
    assert fused.decision([5, 0]).tolist() == [[1, 1, UNDECIDED, 0, 1]]
    assert fused.probability(5).tolist() == [[0, 0, 0.5, 1, 0]]
    assert not fused.probability(9).any()


def test_there_are_no_images_before_execute() -> None:
    with pytest.raises(NotExecutedError, match=r"LabelVotingImageFilter: .*after Execute"):
        _ = LabelVotingImageFilter().fused
