"""Unusual data and settings give a correct result, or an error that states the problem."""

from __future__ import annotations

import numpy as np
import pytest
from cohort_lists import QUICK, image_list, label_lists, truth_list

from itk_consensus.core.errors import ConsensusError, InputError, ParameterError, TrainingError
from itk_consensus.deep.augmentation import BuiltInAugmentation
from itk_consensus.deep.cases import (
    MISSING,
    Case,
    PatchSampler,
    informative_patches,
    normalise,
    patch_shape,
)
from itk_consensus.deep.deep_consensus_filter import DeepConsensusFilter
from itk_consensus.simulation.deep_phantoms import easy_cohort

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.filterwarnings("ignore::itk_consensus.core.errors.ConsensusWarning")


@pytest.fixture
def material(cohort):
    return image_list(cohort), label_lists(cohort), truth_list(cohort)


# -- intensities -----------------------------------------------------------------------------


def test_a_small_structure_on_a_flat_background_stays_visible():
    image = np.zeros((64, 64), np.float32)
    image[10:14, 10:14] = 100
    scaled = normalise(image)
    assert scaled[12, 12] - scaled[40, 40] > 1
    noisy = image + np.random.default_rng(0).normal(size=image.shape).astype(np.float32)
    assert normalise(noisy)[12, 12] > normalise(noisy)[20:].max() + 1


def test_columns_that_a_stride_would_miss_are_seen():
    image = np.zeros((128, 64, 512), np.float32)
    image[..., 1:] = np.random.default_rng(0).normal(50, 5, (128, 64, 511))
    assert normalise(image).std() == pytest.approx(1, abs=0.2)


def test_a_large_offset_does_not_swallow_the_contrast():
    image = np.random.default_rng(0).normal(size=(32, 32))
    np.testing.assert_allclose(normalise(image + 1e9), normalise(image), atol=1e-5)


@pytest.mark.parametrize("value", [1e308, np.nan, np.inf])
def test_intensities_beyond_single_precision_are_refused(material, value):
    images, labels, _ = material
    images[2] = images[2].astype(np.float64)
    images[2][0, 0] = value
    with pytest.raises(InputError, match="case 2: image must hold finite intensities"):
        DeepConsensusFilter(**QUICK).Fit(images, labels)


def test_a_constant_image_is_zero():
    assert (normalise(np.full((5, 6), 7, np.int16)) == 0).all()


# -- patches ---------------------------------------------------------------------------------


def corner_case():
    """Return raters who dispute only a corner of a large image."""
    labels = np.zeros((2, 96, 96), np.uint8)
    labels[0, 4:20, 4:20] = 1
    return Case(np.zeros((1, 96, 96), np.float32), labels, np.array([1, 2]))


def test_patches_that_judge_a_training_hold_what_is_disputed():
    patches = informative_patches(corner_case(), (32, 32))
    assert all((patch.labels[0] == 1).any() for patch in patches)
    assert 1 <= len(patches) <= 3
    small = informative_patches(corner_case(), (128, 96))
    assert len(small) == 1
    assert small[0].shape == (128, 96)


def test_patches_are_centred_where_something_is_known():
    labels = np.full((2, 64, 64), MISSING, np.uint8)
    labels[:, 28:36, 28:36] = 0
    labels[0, 30:33, 30:33] = 1
    sparse = Case(np.zeros((1, 64, 64), np.float32), labels, np.array([1, 2]))
    assert all((patch.labels == 1).any() for patch in informative_patches(sparse, (16, 16)))
    truth = np.full((64, 64), MISSING, np.uint8)
    truth[40:44, 40:44] = 1
    known = Case(sparse.image, np.zeros_like(labels), sparse.raters, truth)
    assert all((patch.truth == 1).any() for patch in informative_patches(known, (16, 16)))


def test_validation_of_sparse_labels_is_not_empty():
    cohort = easy_cohort(6, 0, shape=(64, 64))
    labels = label_lists(cohort)
    for raters in labels:
        for rater in raters:
            inside = rater[28:36, 28:36].copy()
            rater[...] = 255
            rater[28:36, 28:36] = inside
    filter_ = DeepConsensusFilter(**QUICK, MissingLabel=255, WindowSize=16)
    filter_.Fit(image_list(cohort), labels)
    assert all(entry["validation"] > 0 for entry in filter_._model.history)


def test_a_batch_holds_as_many_patches_as_asked_for():
    batch, _ = PatchSampler(
        [corner_case()], (32, 32), 8, 0, BuiltInAugmentation((-2, -1), (1.0, 1.0))
    ).draw(0)
    assert batch.images.shape == (8, 1, 32, 32)


def test_patches_of_tiny_cases_leave_normalisation_two_values():
    case = Case(np.zeros((1, 3, 3), np.float32), np.zeros((1, 3, 3), np.uint8), np.array([1]))
    assert patch_shape([case.shape], (64, 64), 4) == (4, 8)


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (4, 4), (1, 9, 7), (3, 6, 6)])
@pytest.mark.parametrize("mode", ["truth", "joint", "set"])
def test_one_tiny_case_can_be_trained_on_and_fused(shape, mode):
    rng = np.random.default_rng(0)
    image, truth = rng.normal(size=shape).astype(np.float32), rng.integers(0, 2, shape)
    labels = [truth.astype(np.uint8), (1 - truth).astype(np.uint8)]
    filter_ = DeepConsensusFilter(**{**QUICK, "NumberOfIterations": 2}, Mode=mode)
    truths = [truth.astype(np.uint8)] if mode == "truth" else None
    filter_.Fit([image], [labels], truths)
    assert filter_.Execute(image, labels).shape == shape
    assert np.isfinite(filter_.GetProbabilityImage(1)).all()


# -- training that fails ---------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["joint", "set"])
def test_a_training_that_diverges_says_so_and_keeps_no_model(material, monkeypatch, mode):
    from itk_consensus.deep import objective

    monkeypatch.setattr(
        objective, "marginal_log_likelihood", lambda log_p, _: log_p.sum(1) * float("nan")
    )
    filter_ = DeepConsensusFilter(**QUICK, Mode=mode)
    wanted = "DeepConsensusFilter: training diverged in iteration 0; lower LearningRate"
    with pytest.raises(TrainingError, match=wanted):
        filter_.Fit(*material[:2])
    with pytest.raises(ConsensusError, match="is not trained"):
        filter_.Execute(material[0][0], material[1][0])


def test_weights_that_end_up_infinite_are_noticed_even_without_validation(material, monkeypatch):
    from itk_consensus.deep.training import Trainer

    step = Trainer._step

    def spoiling(trainer, iteration, draw):
        step(trainer, iteration, draw)
        with torch.no_grad():
            next(trainer.model.network.parameters()).fill_(float("inf"))

    monkeypatch.setattr(Trainer, "_step", spoiling)
    few = {**QUICK, "NumberOfIterations": 1, "ValidationFraction": 0}
    with pytest.raises(TrainingError, match="diverged"):
        DeepConsensusFilter(**few).Fit(*material)


@pytest.mark.parametrize(
    "setting",
    [{"LearningRate": 1e10}, {"RaterWeight": 1e39}, {"RandomSeed": 2**64}, {"EdgeWeight": -1}],
)
def test_settings_that_no_training_survives_are_refused(setting):
    with pytest.raises(ParameterError, match=f"{next(iter(setting))} must be"):
        DeepConsensusFilter(**setting)


def test_the_largest_rater_weight_still_gives_probabilities(material):
    filter_ = DeepConsensusFilter(**QUICK, RaterWeight=1000)
    filter_.Fit(*material[:2])
    filter_.Execute(material[0][0], material[1][0])
    shares = sum(filter_.GetProbabilityImage(k) for k in (0, 1))
    np.testing.assert_allclose(shares, 1, atol=1e-6)


@pytest.mark.parametrize("device", ["cuda", "mps"])
def test_a_device_that_is_not_there_is_refused(material, device):
    available = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if available[device]:
        pytest.skip(f"this machine has {device}")
    with pytest.raises(ParameterError, match="Device must be one this machine's torch can use"):
        DeepConsensusFilter(**QUICK, Device=device).Fit(*material)


def test_a_window_may_be_one_number_or_one_per_axis(material):
    answers = []
    for window in (16, (16, 16), (16, 16, 64)):
        filter_ = DeepConsensusFilter(**QUICK, WindowSize=window)
        filter_.Fit(*material)
        filter_.Execute(material[0][0], material[1][0])
        answers.append(filter_.GetProbabilityImage(1))
    np.testing.assert_array_equal(answers[0], answers[1])
    np.testing.assert_array_equal(answers[0], answers[2])
    volumes = [np.stack([image] * 9) for image in material[0]]
    labels = [[np.stack([rater] * 9) for rater in raters] for raters in material[1]]
    with pytest.raises(ParameterError, match="WindowSize must be 3 integers for 3D images"):
        DeepConsensusFilter(**QUICK, WindowSize=(16, 16)).Fit(volumes, labels)


# -- labels ----------------------------------------------------------------------------------


def test_the_missing_label_of_a_truth_is_no_class(material):
    images, labels, truths = material
    for truth in truths:
        truth[:4] = 255
    filter_ = DeepConsensusFilter(**QUICK, MissingLabel=255)
    filter_.Fit(images, labels, truths)
    assert filter_.GetLabels() == (0, 1)


def test_a_missing_label_that_is_a_class_is_refused(material, trained):
    images, labels, _ = material
    with pytest.raises(ParameterError, match="case 0: MissingLabel must not be the label"):
        DeepConsensusFilter(**QUICK, NumberOfClasses=3, MissingLabel=2).Fit(images, labels)
    trained.SetMissingLabel(0)
    with pytest.raises(ParameterError, match="MissingLabel must not be the label of a class"):
        trained.Execute(images[0], labels[0])


@pytest.mark.parametrize(("table", "held"), [((0, 300), np.uint8), ((-1, 7), np.uint8)])
def test_the_output_type_holds_every_label_of_the_model(material, table, held):
    images, labels, _ = material
    names = np.array(table, np.int16)
    filter_ = DeepConsensusFilter(**QUICK)
    filter_.Fit(images, [[names[rater] for rater in raters] for raters in labels])
    kept = [value for value in table if 0 <= value <= 255][:1]
    same = [np.full_like(labels[0][0], kept[0], held)] * 2
    filter_.SetLockUnanimousVoxels(False)
    filter_.SetRegion("full")
    assert set(np.unique(filter_.Execute(images[0], same))) <= set(table)


def test_a_truth_that_holds_no_labels_is_named(material):
    images, labels, truths = material
    truths[3] = np.full(truths[3].shape, 0.5)
    with pytest.raises(InputError, match="DeepConsensusFilter: case 3: truth"):
        DeepConsensusFilter(**QUICK).Fit(images, labels, truths)


def test_truths_are_given_for_all_cases_or_for_none(material):
    images, labels, truths = material
    for some in ([None] * len(truths), [None, *truths[1:]]):
        with pytest.raises(InputError, match="truths must be given for all cases, case 0 has none"):
            DeepConsensusFilter(**QUICK).Fit(images, labels, some)


# -- raters ----------------------------------------------------------------------------------


def test_numpy_ids_are_ids_and_can_be_saved(material, tmp_path):
    filter_ = DeepConsensusFilter(**QUICK)
    filter_.Fit(*material, rater_ids=np.array([1, 2, 3, 4, 5]))
    filter_.Save(tmp_path / "model")
    assert DeepConsensusFilter.Load(tmp_path / "model").GetRaterIds() == (1, 2, 3, 4, 5)
    filter_.Fit(*material, rater_ids=np.tile(np.arange(1, 6), (10, 1)))
    assert filter_.GetRaterIds() == (1, 2, 3, 4, 5)
    filter_.Fit(*material, rater_ids=(name for name in "abcde"))
    assert filter_.GetRaterIds() == tuple("abcde")


@pytest.mark.parametrize(
    "ids",
    [5, "abcde", {1, 2, 3, 4, 5}, [1.5, 2, 3, 4, 5], [True, 2, 3, 4, 5], [b"a", 2, 3, 4, 5], [[1]]],
)
def test_ids_that_are_none_are_refused(material, trained, ids):
    with pytest.raises(InputError, match="rater_ids must be"):
        DeepConsensusFilter(**QUICK).Fit(*material, rater_ids=ids)
    with pytest.raises(InputError, match="rater_ids must"):
        trained.Execute(material[0][0], material[1][0], ids)


@pytest.mark.parametrize("wrong", [None, 5, "images"])
def test_material_that_is_no_list_is_refused(material, wrong):
    images, labels, _ = material
    for arguments in ((wrong, labels), (images, wrong)):
        with pytest.raises(InputError, match="Fit needs a list"):
            DeepConsensusFilter(**QUICK).Fit(*arguments)
    with pytest.raises(InputError, match="Fit needs a list of truths"):
        DeepConsensusFilter(**QUICK).Fit(images, labels, 5)


def test_a_rater_who_drew_nothing_in_training_is_unknown(material):
    images, labels, truths = material
    absent = [[*raters[:4], None] for raters in labels]
    filter_ = DeepConsensusFilter(**QUICK)
    filter_.Fit(images, absent, truths)
    assert set(filter_.GetRaterReliability()) == {1, 2, 3, 4}
    filter_.Execute(images[0], labels[0], [1, 2, 3, 4, 5])
    known = filter_.GetProbabilityImage(1)
    filter_.Execute(images[0], labels[0], [1, 2, 3, 4, None])
    np.testing.assert_array_equal(filter_.GetProbabilityImage(1), known)


def test_the_set_mode_learns_what_to_do_with_unknown_raters(material):
    filter_ = DeepConsensusFilter(**QUICK, Mode="set")
    filter_.Fit(*material[:2])
    unknown = filter_._model.network.label_stream.modulate.weight[0]
    assert unknown.abs().max() > 0
    assert set(filter_.GetRaterReliability()) == {1, 2, 3, 4, 5}


def test_probability_images_are_asked_for_by_one_label(trained, material):
    trained.Execute(material[0][0], material[1][0])
    for label in (np.array([0, 1]), "1", None, 1.5, True):
        with pytest.raises(ParameterError, match="label must be one of"):
            trained.GetProbabilityImage(label)
    np.testing.assert_array_equal(
        trained.GetProbabilityImage(np.int64(1)), trained.GetProbabilityImage(1)
    )


def test_voxels_that_nobody_annotated_get_an_answer(trained, material):
    image, labels = material[0][0], [rater.copy() for rater in material[1][0]]
    for rater in labels:
        rater[:3] = 255
    trained.SetMissingLabel(255)
    assert set(np.unique(trained.Execute(image, labels))) <= {0, 1}
    assert (trained.GetEvidenceImage()[:3] > 0).all()


# -- image streams ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "stream",
    [
        "x",
        lambda image: image,
        torch.nn.Conv2d,
        torch.nn.Conv2d(1, 5, 3, padding=1),
        torch.nn.Conv2d(1, 4, 3),
        torch.nn.Conv2d(2, 4, 3, padding=1),
        torch.nn.Conv2d(1, 4, 3, padding=1, dtype=torch.float64),
    ],
)
def test_an_image_stream_that_does_not_fit_is_refused(material, stream):
    with pytest.raises(ParameterError, match="image_stream must"):
        DeepConsensusFilter(**QUICK).Fit(*material, image_stream=stream)


def test_a_stream_whose_buffers_cannot_be_saved_is_refused_before_training(material):
    stream = torch.nn.Conv2d(1, 4, 3, padding=1)
    stream.register_buffer("odd", torch.zeros(3, dtype=torch.bool))
    with pytest.raises(ParameterError, match=r"which can be saved; got torch.bool"):
        DeepConsensusFilter(**QUICK).Fit(*material, image_stream=stream)


def test_a_stream_may_have_infinite_buffers_and_is_not_touched_by_load(material, tmp_path):
    stream = torch.nn.Conv2d(1, 4, 3, padding=1)
    stream.register_buffer("mask", torch.full((3,), -torch.inf))
    filter_ = DeepConsensusFilter(**QUICK)
    filter_.Fit(*material, image_stream=stream)
    filter_.Save(tmp_path / "model")
    strides = stream.weight.stride()
    DeepConsensusFilter.Load(tmp_path / "model", stream)
    assert stream.weight.stride() == strides


def test_a_stream_with_dropout_is_trained_alike_and_left_alone(material):
    stream = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3, padding=1), torch.nn.Dropout(0.5))
    before = stream[0].weight.clone()
    answers = []
    for _ in range(2):
        filter_ = DeepConsensusFilter(**QUICK)
        filter_.Fit(*material, image_stream=stream)
        filter_.Execute(material[0][0], material[1][0])
        answers.append(filter_.GetProbabilityImage(1))
    np.testing.assert_array_equal(*answers)
    assert torch.equal(stream[0].weight, before)
