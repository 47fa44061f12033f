from __future__ import annotations

import copy
import pickle

import itk
import numpy as np
import pytest
import SimpleITK as sitk
from cohort_lists import QUICK, abort_after, image_list, label_lists, sitk_image, truth_list

import itk_consensus
from itk_consensus.core.errors import (
    FileError,
    GeometryError,
    InputError,
    NotExecutedError,
    ParameterError,
)
from itk_consensus.deep.deep_consensus_filter import DeepConsensusFilter
from itk_consensus.simulation.deep_phantoms import easy_cohort, hard_cohort

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.filterwarnings("ignore::itk_consensus.core.errors.ConsensusWarning")


# -- Execute ---------------------------------------------------------------------------------


def test_geometry_and_type_are_kept_and_nobodys_name(trained, cohort):
    labels = [sitk_image(rater) for rater in label_lists(cohort)[0]]
    labels[0].SetMetaData("PatientName", "nobody")
    fused = trained.Execute(sitk_image(image_list(cohort)[0]), labels)
    assert fused.GetSpacing() == (0.7, 1.3)
    assert fused.GetOrigin() == (3.0, -4.0)
    assert fused.GetPixelID() == sitk.sitkUInt8
    assert not fused.GetMetaDataKeys()
    assert trained.GetEvidenceImage().GetSpacing() == (0.7, 1.3)


def test_itk_images_give_itk_images(trained, cohort):
    labels = [itk.image_from_array(rater) for rater in label_lists(cohort)[0]]
    fused = trained.Execute(itk.image_from_array(image_list(cohort)[0]), labels)
    assert isinstance(fused, itk.Image)
    expected = trained.Execute(image_list(cohort)[0], label_lists(cohort)[0])
    np.testing.assert_array_equal(itk.array_view_from_image(fused), expected)


def test_an_image_elsewhere_is_refused(trained, cohort):
    labels = [sitk_image(rater) for rater in label_lists(cohort)[0]]
    with pytest.raises(GeometryError, match="image does not occupy the same space as input 0"):
        trained.Execute(sitk_image(image_list(cohort)[0], origin=(0.0, 0.0)), labels)


def test_unanimous_voxels_are_locked_unless_asked_otherwise(trained, cohort):
    image, labels = image_list(cohort)[0], label_lists(cohort)[0]
    everywhere = [np.ones_like(labels[0])] * 3
    assert (trained.Execute(image, everywhere) == 1).all()
    assert (trained.GetProbabilityImage(1) == 1).all()
    assert (trained.GetEvidenceImage() == 0).all()
    trained.SetLockUnanimousVoxels(False)
    trained.SetRegion("full")
    trained.Execute(image, everywhere)
    assert (trained.GetProbabilityImage(1) < 1).all()


def test_unlocked_regions_grow_by_the_margin_in_millimetres(trained):
    rng = np.random.default_rng(0)
    labels = [np.zeros((24, 28), np.uint8) for _ in range(3)]
    labels[0][12, 14] = 1
    image = sitk_image(rng.normal(size=(24, 28)).astype(np.float32), (1.0, 2.0))
    trained.SetLockUnanimousVoxels(False)
    trained.SetRegionMargin(4.0)
    trained.Execute(image, [sitk_image(one, (1.0, 2.0)) for one in labels])
    asked = sitk.GetArrayFromImage(trained.GetEvidenceImage()) > 0
    y, x = np.nonzero(asked)
    assert (y.min(), y.max(), x.min(), x.max()) == (10, 14, 10, 18)


def test_probabilities_sum_to_one_and_the_largest_is_the_answer(trained, cohort):
    fused = trained.Execute(image_list(cohort)[1], label_lists(cohort)[1])
    probability = np.stack([trained.GetProbabilityImage(k) for k in (0, 1)])
    np.testing.assert_allclose(probability.sum(0), 1, atol=1e-6)
    np.testing.assert_array_equal(probability.argmax(0), fused)


def test_missing_raters_and_vector_images_are_understood(trained, cohort):
    image, labels = image_list(cohort)[0], label_lists(cohort)[0]
    trained.Execute(image, [labels[0], None, labels[2]])
    missing = trained.GetProbabilityImage(1)
    trained.Execute(image, [labels[0], labels[2]], [1, 3])
    np.testing.assert_allclose(trained.GetProbabilityImage(1), missing, atol=1e-6)
    vector = sitk.Compose([sitk.GetImageFromArray(rater) for rater in labels])
    together = trained.Execute(sitk.GetImageFromArray(image), [vector])
    np.testing.assert_array_equal(sitk.GetArrayFromImage(together), trained.Execute(image, labels))


def test_inputs_are_not_changed(trained, cohort):
    image, labels = image_list(cohort)[0].copy(), [one.copy() for one in label_lists(cohort)[0]]
    trained.Execute(image, labels)
    np.testing.assert_array_equal(image, image_list(cohort)[0])
    for mine, given in zip(labels, label_lists(cohort)[0], strict=True):
        np.testing.assert_array_equal(mine, given)


def test_progress_reaches_one_and_abort_stops(trained, cohort):
    seen = []
    trained.AddCommand(sitk.sitkProgressEvent, lambda: seen.append(trained.GetProgress()))
    trained.Execute(image_list(cohort)[0], label_lists(cohort)[0])
    assert seen == sorted(seen)
    assert seen[-1] == 1
    trained.AddCommand(sitk.sitkProgressEvent, trained.Abort)
    with pytest.raises(itk_consensus.ProcessAborted):
        trained.Execute(image_list(cohort)[0], label_lists(cohort)[0])
    with pytest.raises(NotExecutedError):
        trained.GetLabelImage()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((None, 0), "needs the image .*LabelVoting"),
        ((0, 0, [1, 2]), "rater_ids must have one entry for each of the 5 raters, got 2"),
    ],
)
def test_what_is_wrong_with_the_call_is_said(trained, cohort, arguments, message):
    image, _, *ids = arguments
    image = None if image is None else image_list(cohort)[0]
    with pytest.raises(InputError, match=message):
        trained.Execute(image, label_lists(cohort)[0], *ids)


def test_labels_that_fit_never_met_are_refused(trained, cohort):
    labels = [rater * 3 for rater in label_lists(cohort)[0]]
    with pytest.raises(InputError, match=r"labels must be among \(0, 1\), got \[3\]"):
        trained.Execute(image_list(cohort)[0], labels)


def test_other_dimensions_than_trained_on_are_refused(trained):
    with pytest.raises(InputError, match="trained on 2D images, got 3D"):
        trained.Execute(np.zeros((4, 8, 8)), [np.zeros((4, 8, 8), np.uint8)] * 2)


def test_an_unfitted_filter_points_to_voting(cohort):
    with pytest.raises(NotExecutedError, match=r"call Fit or Load first.*LabelVoting"):
        DeepConsensusFilter().Execute(image_list(cohort)[0], label_lists(cohort)[0])


def test_not_finite_intensities_are_refused(trained, cohort):
    image = image_list(cohort)[0].copy()
    image[0, 0] = np.nan
    with pytest.raises(InputError, match="finite"):
        trained.Execute(image, label_lists(cohort)[0])


# -- Fit -------------------------------------------------------------------------------------


def weights(filter_):
    return filter_._model.network.state_dict()


@pytest.mark.parametrize("mode", ["joint", "set"])
def test_the_same_seed_gives_the_same_weights(cohort, mode):
    filters = [DeepConsensusFilter(**QUICK, Mode=mode, RandomSeed=seed) for seed in (1, 1, 2)]
    for filter_ in filters:
        filter_.Fit(image_list(cohort), label_lists(cohort))
    first, second, other = map(weights, filters)
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert any(not torch.equal(first[name], other[name]) for name in first)


def test_random_numbers_of_the_caller_are_left_alone(cohort):
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    DeepConsensusFilter(**QUICK).Fit(image_list(cohort), label_lists(cohort))
    assert torch.rand(1) == expected


def test_a_resumed_training_ends_where_an_uninterrupted_one_does(cohort, tmp_path):
    whole = DeepConsensusFilter(**QUICK)
    whole.Fit(image_list(cohort), label_lists(cohort), truth_list(cohort))
    checkpoint = tmp_path / "training.checkpoint"
    interrupted = DeepConsensusFilter(**QUICK)
    iterations = abort_after(interrupted, 5)
    arguments = (image_list(cohort), label_lists(cohort), truth_list(cohort))
    interrupted.Fit(*arguments, checkpoint=checkpoint)
    assert len(iterations) == 5
    resumed = DeepConsensusFilter(**QUICK)
    resumed.Fit(*arguments, checkpoint=checkpoint)
    assert all(torch.equal(weights(whole)[n], weights(resumed)[n]) for n in weights(whole))
    assert whole.GetRaterReliability() == resumed.GetRaterReliability()
    assert [p.name for p in tmp_path.iterdir()] == ["training.checkpoint"]


def test_another_trainings_checkpoint_is_refused(cohort, tmp_path):
    checkpoint = tmp_path / "training.checkpoint"
    arguments = (image_list(cohort), label_lists(cohort))
    DeepConsensusFilter(**QUICK).Fit(*arguments, checkpoint=checkpoint)
    with pytest.raises(FileError, match="belongs to another training: its seed is 0, here it is 3"):
        DeepConsensusFilter(**QUICK, RandomSeed=3).Fit(*arguments, checkpoint=checkpoint)
    with pytest.raises(FileError, match="holds a checkpoint, but a model is needed"):
        DeepConsensusFilter.Load(checkpoint)


@pytest.mark.parametrize(("patience", "iterations"), [(10, 20), (1, 8)])
def test_training_without_improvement_stops_early(cohort, monkeypatch, patience, iterations):
    # Nothing is learned, so the first of ten evaluations remains the best; patience is counted
    # from the peak of the learning rate, at the third evaluation.
    monkeypatch.setattr("itk_consensus.deep.training.Trainer._step", lambda *_: None)
    filter_ = DeepConsensusFilter(**{**QUICK, "NumberOfIterations": 20}, Patience=patience)
    done = []
    filter_.AddCommand(sitk.sitkIterationEvent, lambda: done.append(1))
    filter_.Fit(image_list(cohort), label_lists(cohort), truth_list(cohort))
    assert len(done) == iterations


def test_any_labels_raters_and_sizes_may_be_mixed():
    cohort = hard_cohort(6, 0, shape=(24, 28))
    table = np.array([0, 7, 300], np.uint16)
    images, labels, ids = [], [], []
    for number, (image, drawn) in enumerate(zip(cohort.images[:, 0], cohort.labels, strict=True)):
        rows = slice(0, 24 - 3 * (number % 2))
        images.append(image[rows])
        labels.append([table[rater[rows]] for rater in drawn[: 2 + number % 3]])
        ids.append(["ann", None, 3, "ben"][: len(labels[-1])])
    filter_ = DeepConsensusFilter(**QUICK)
    filter_.Fit(images, labels, rater_ids=ids)
    assert filter_.GetLabels() == (0, 7, 300)
    assert filter_.GetRaterIds() == ("ann", 3, "ben")
    assert set(filter_.GetRaterReliability()) == {0, "ann", 3, "ben"}
    fused = filter_.Execute(images[0], labels[0], ["a stranger", "ann"])
    assert fused.dtype == np.uint16
    assert set(np.unique(fused)) <= {0, 7, 300}


@pytest.mark.parametrize("mode", ["truth", "joint", "set"])
def test_volumes_train_in_every_mode(mode):
    cohort = easy_cohort(5, 0, shape=(20, 22, 21))
    filter_ = DeepConsensusFilter(
        **{**QUICK, "NumberOfIterations": 3}, Mode=mode, NumberOfClasses=3
    )
    filter_.Fit(
        image_list(cohort), label_lists(cohort), truth_list(cohort) if mode == "truth" else None
    )
    assert filter_.Execute(image_list(cohort)[0], label_lists(cohort)[0]).shape == (20, 22, 21)


@pytest.mark.parametrize("way", [lambda f: pickle.loads(pickle.dumps(f)), copy.deepcopy])
def test_copies_and_pickles_keep_the_training(trained, cohort, way):
    image, labels = image_list(cohort)[0], label_lists(cohort)[0]
    trained.SetRegion("full")
    trained.Execute(image, labels)
    twin = way(trained)
    assert twin.GetRegion() == "full"
    twin.Execute(image, labels)
    np.testing.assert_array_equal(twin.GetProbabilityImage(1), trained.GetProbabilityImage(1))


def test_rater_weight_zero_is_the_image_alone(cohort):
    filter_ = DeepConsensusFilter(**QUICK, Mode="joint")
    filter_.Fit(image_list(cohort), label_lists(cohort))
    filter_.SetRaterWeight(0)
    filter_.SetLockUnanimousVoxels(False)
    filter_.SetRegion("full")
    image, labels = image_list(cohort)[0], label_lists(cohort)[0]
    filter_.Execute(image, labels)
    first = filter_.GetProbabilityImage(1)
    filter_.Execute(image, [1 - rater for rater in labels])
    np.testing.assert_array_equal(filter_.GetProbabilityImage(1), first)
    filter_.SetRaterWeight(1)
    filter_.Execute(image, labels)
    assert (filter_.GetProbabilityImage(1) != first).any()


def test_an_image_stream_of_ones_own_is_used_and_needed_again(cohort, tmp_path):
    stream = torch.nn.Conv2d(1, 4, 3, padding=1)
    filter_ = DeepConsensusFilter(**QUICK)
    filter_.Fit(image_list(cohort), label_lists(cohort), truth_list(cohort), image_stream=stream)
    filter_.Save(tmp_path / "model")
    with pytest.raises(FileError, match="another image stream; pass it to Load"):
        DeepConsensusFilter.Load(tmp_path / "model")
    loaded = DeepConsensusFilter.Load(tmp_path / "model", torch.nn.Conv2d(1, 4, 3, padding=1))
    loaded.SetWithoutGain("network")
    image, labels = image_list(cohort)[0], label_lists(cohort)[0]
    np.testing.assert_array_equal(filter_.Execute(image, labels), loaded.Execute(image, labels))


def test_wrong_material_is_refused(cohort):
    images, labels = image_list(cohort), label_lists(cohort)
    with pytest.raises(InputError, match="10 images, 9 label lists"):
        DeepConsensusFilter().Fit(images, labels[1:])
    with pytest.raises(ParameterError, match="Mode truth needs truths"):
        DeepConsensusFilter(Mode="truth").Fit(images, labels)
    with pytest.raises(InputError, match=r"labels must be among \(0, 1\), got \[2\]"):
        DeepConsensusFilter(NumberOfClasses=2).Fit(images, [[2 * d for d in one] for one in labels])
    with pytest.raises(GeometryError, match="case 1"):
        DeepConsensusFilter().Fit(images, [labels[0], [d[1:] for d in labels[1]], *labels[2:]])
