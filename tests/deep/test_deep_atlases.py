"""Atlases as raters: joint fusion uses their images, and the network starts from its result."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import SimpleITK as sitk
from cohort_lists import QUICK, image_list, label_lists, sitk_image, truth_list

torch = pytest.importorskip("torch")

from itk_consensus import JointLabelFusionFilter  # noqa: E402
from itk_consensus.core.errors import InputError  # noqa: E402
from itk_consensus.deep.cases import MISSING, Batch, drop_raters  # noqa: E402
from itk_consensus.deep.deep_consensus_filter import DeepConsensusFilter  # noqa: E402
from itk_consensus.deep.deep_inputs import case_sources  # noqa: E402
from itk_consensus.deep.model import new_network  # noqa: E402
from itk_consensus.deep.network import NetworkShape, one_hot  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::itk_consensus.core.errors.ConsensusWarning")
UNTRAINED = {**QUICK, "NumberOfIterations": 1, "LearningRate": 1e-12}


@pytest.fixture(scope="module")
def atlases(cohort):
    """Return an image for each rater of each case; better raters have images more similar to
    the case's.
    """
    rng = np.random.default_rng(0)
    return [
        [
            (image + (1 + 3 * (rater != truth).mean()) * rng.normal(size=image.shape)).astype("f4")
            for rater in drawn
        ]
        for image, drawn, truth in zip(
            image_list(cohort), label_lists(cohort), truth_list(cohort), strict=True
        )
    ]


def fitted(cohort, atlases, **parameters):
    filter_ = DeepConsensusFilter(**{**UNTRAINED, **parameters})
    lists = image_list(cohort), label_lists(cohort), truth_list(cohort)
    filter_.Fit(*lists, atlas_images=atlases)
    return filter_


def test_an_untrained_network_says_what_joint_fusion_says(cohort, atlases):
    filter_ = fitted(cohort, atlases)
    image, drawn = image_list(cohort)[0], label_lists(cohort)[0]
    fused = filter_.Execute(image, drawn, atlas_images=atlases[0])
    joint = JointLabelFusionFilter(Image=image, AtlasImages=atlases[0]).Execute(drawn)
    np.testing.assert_array_equal(fused, joint)


def test_a_gain_is_one_over_joint_fusion_too(cohort, atlases):
    filter_ = fitted(cohort, atlases)
    gains = filter_.GetHeldOutGain()
    assert list(gains) == ["joint fusion", "vote", "Consensus"]
    assert gains["joint fusion"].mean == pytest.approx(0, abs=1e-9)
    assert "Joint fusion instead, or train" in str(filter_.GetDiagnostics()["gain"])


def test_without_a_gain_joint_fusion_answers(cohort, atlases):
    filter_ = fitted(cohort, atlases, WithoutGain="raters")
    assert filter_.GetDiagnostics()["gain"].severity == "look"
    image, drawn = image_list(cohort)[1], label_lists(cohort)[1]
    fused = filter_.Execute(image, drawn, atlas_images=atlases[1])
    joint = JointLabelFusionFilter(Image=image, AtlasImages=atlases[1]).Execute(drawn)
    np.testing.assert_array_equal(fused, joint)


def test_what_was_trained_with_images_of_atlases_needs_them_and_others_take_none(
    cohort, atlases, trained, tmp_path
):
    filter_ = fitted(cohort, atlases)
    image, drawn = image_list(cohort)[0], label_lists(cohort)[0]
    filter_.Save(tmp_path / "model")
    with pytest.raises(InputError, match="was trained with atlas_images; pass them"):
        DeepConsensusFilter.Load(tmp_path / "model").Execute(image, drawn)
    with pytest.raises(InputError, match="trained without atlas_images; pass none"):
        trained.Execute(image, drawn, atlas_images=atlases[0])


def test_images_of_atlases_are_wanted_for_all_cases_and_with_truths(cohort, atlases):
    images, drawn, truths = image_list(cohort), label_lists(cohort), truth_list(cohort)
    filter_ = DeepConsensusFilter(**UNTRAINED)
    with pytest.raises(InputError, match=r"for all 10 cases, and with truths; got 10 and no"):
        filter_.Fit(images, drawn, atlas_images=atlases)
    with pytest.raises(InputError, match=r"for all 10 cases, and with truths; got 9 and their"):
        filter_.Fit(images, drawn, truths, atlas_images=atlases[1:])


def test_an_atlas_can_stand_for_the_truth_and_the_others_label_it(cohort, atlases):
    image, *drawn = (sitk_image(one) for one in (image_list(cohort)[0], *label_lists(cohort)[0]))
    truth = sitk_image(truth_list(cohort)[0])
    warped = [[sitk_image(one) for one in atlases[0]]]
    vector = sitk.Compose(drawn)
    (source,) = case_sources(
        [image], [vector], [truth], None, warped, owner="any", missing_label=None, tolerances={}
    )
    assert source.present_atlases() == [0, 1, 2, 3, 4]
    case = source.with_atlas_as_truth(2).case((0, 1), {1: 1, 2: 2, 3: 3, 4: 4, 5: 5})
    np.testing.assert_array_equal(case.truth, label_lists(cohort)[0][2])
    assert (case.labels[2] == MISSING).all()
    np.testing.assert_array_equal(case.labels[3], label_lists(cohort)[0][3])
    correlation = np.corrcoef(case.image.ravel(), atlases[0][2].ravel())[0, 1]
    assert correlation > 0.99
    np.testing.assert_allclose(case.prior.sum(0), 1, atol=1e-5)


def test_some_patches_of_atlases_show_the_image_alone_and_none_of_readers():
    labels, raters = np.zeros((400, 3, 4, 4), np.uint8), np.ones((400, 3), np.int64)
    priors = np.tile(np.array([0.9, 0.1], np.float32)[:, None, None], (400, 1, 4, 4))
    batch = Batch(np.zeros((400, 1, 4, 4), np.float32), labels, raters, labels[:, 0], priors)
    shown = drop_raters(batch, np.random.default_rng(0))
    alone = (shown.labels == MISSING).all((1, 2, 3))
    assert 0.2 < alone.mean() < 0.4
    assert (shown.priors[alone] == 0.5).all()
    np.testing.assert_array_equal(shown.priors[~alone], priors[~alone])
    readers = drop_raters(replace(batch, priors=None), np.random.default_rng(0))
    assert not (readers.labels == MISSING).all((1, 2, 3)).any()


def test_of_many_raters_training_encodes_some_and_inference_all():
    network = new_network(NetworkShape(2, 2, 15, 4, True), 0)
    stream = network.label_stream
    rng = np.random.default_rng(0)
    labels = torch.from_numpy(rng.integers(0, 2, (1, 15, 8, 8)).astype(np.uint8))
    votes, raters = one_hot(labels, 2), torch.arange(1, 16)[None]
    likelihood = torch.zeros(1, 2, 8, 8)
    with torch.no_grad():
        stream.eval()
        whole = stream(votes, raters, likelihood)
        torch.testing.assert_close(whole, stream(votes, raters, likelihood))
        stream.train()
        drawn = [stream(votes, raters, likelihood) for _ in range(60)]
    assert not torch.equal(drawn[0], drawn[1])
    # The shares of all raters are used in any case.
    torch.testing.assert_close(drawn[0][:, stream.features :], whole[:, stream.features :])
    mean = torch.stack(drawn).mean(0)
    assert (mean - whole).abs().mean() < 0.1 * whole.abs().mean()
