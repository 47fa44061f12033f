"""Models and checkpoints are restored exactly or rejected with one clear error."""

from __future__ import annotations

import os
import pickle

import numpy as np
import pytest
import SimpleITK as sitk
from cohort_lists import QUICK, abort_after, image_list, label_lists, truth_list
from mutations import MUTATIONS, mutate_bytes, mutate_json

from itk_consensus.core.errors import (
    ConsensusError,
    FileError,
    NotExecutedError,
    ParameterError,
    TrainingError,
)
from itk_consensus.deep.deep_consensus_filter import (
    DeepConsensusFilter,
    NetworkShares,
    WriteEvidence,
)
from itk_consensus.votes.fusions import VolumeFusion

torch = pytest.importorskip("torch")

from itk_consensus.deep.inference import Prediction  # noqa: E402
from itk_consensus.deep.weights import pack, unpack  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::itk_consensus.core.errors.ConsensusWarning")


@pytest.fixture
def model_file(fitted, tmp_path):
    """Change a saved model before it is loaded again."""
    path = tmp_path / "model"
    fitted.Save(path)
    tensors, description = unpack(path.read_bytes(), "model")

    def changed(change):
        change(tensors, description)
        path.write_bytes(pack(tensors, description))
        return path

    return changed


@pytest.fixture
def unfinished(cohort, tmp_path):
    """Change the checkpoint of an interrupted training, and resume it."""
    path = tmp_path / "training.checkpoint"
    filter_ = DeepConsensusFilter(**QUICK)
    abort_after(filter_, 5)
    material = (image_list(cohort), label_lists(cohort), truth_list(cohort))
    filter_.Fit(*material, checkpoint=path)
    tensors, description = unpack(path.read_bytes(), "checkpoint")

    def resume(change):
        change(tensors, description)
        path.write_bytes(pack(tensors, description))
        DeepConsensusFilter(**QUICK).Fit(*material, checkpoint=path)

    return resume


def test_a_loaded_model_answers_bit_for_bit_alike(fitted, trained, cohort):
    image, labels = image_list(cohort)[2], label_lists(cohort)[2]
    fitted.Execute(image, labels)
    trained.Execute(image, labels)
    for k in (0, 1):
        np.testing.assert_array_equal(fitted.GetProbabilityImage(k), trained.GetProbabilityImage(k))
    np.testing.assert_array_equal(fitted.GetEvidenceImage(), trained.GetEvidenceImage())
    assert fitted.GetRaterReliability() == trained.GetRaterReliability()


def test_a_truncated_or_absent_model_is_refused(fitted, tmp_path):
    path = tmp_path / "model"
    fitted.Save(path)
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(FileError, match="is cut short"):
        DeepConsensusFilter.Load(path)
    with pytest.raises(FileError, match="nowhere: cannot be read: No such file"):
        DeepConsensusFilter.Load(tmp_path / "nowhere")


def test_names_that_are_none_are_refused(fitted):
    with pytest.raises(FileError):
        fitted.Save("model\0")
    with pytest.raises(FileError):
        DeepConsensusFilter.Load("model\0")


def test_a_write_that_fails_leaves_the_old_file(fitted, tmp_path, monkeypatch):
    path = tmp_path / "model"
    path.write_bytes(b"precious")

    def broken(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", broken)
    with pytest.raises(FileError, match="No space left"):
        fitted.Save(path)
    assert path.read_bytes() == b"precious"


# -- damaged models --------------------------------------------------------------------------

WEIGHT = "network/image_stream.down.0.0.0.weight"


def drop_a_weight(tensors, _):
    del tensors[WEIGHT]


def reshape_a_weight(tensors, _):
    tensors[WEIGHT] = tensors[WEIGHT][:-1]


def spoil_a_weight(tensors, _):
    tensors[WEIGHT][0] = np.nan


def spoil_a_variance(tensors, _):
    tensors["network/image_stream.down.0.0.1.running_var"][0] = -1


def spoil_the_tally(tensors, _):
    tensors["rater_model/tally"][0] = -1e9


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (drop_a_weight, "does not fit the network"),
        (reshape_a_weight, "does not fit the network"),
        (spoil_a_weight, "values that no training gives"),
        (spoil_a_variance, "values that no training gives"),
        (spoil_the_tally, "values that no training gives"),
    ],
)
def test_weights_that_no_training_gives_are_refused(model_file, change, message):
    with pytest.raises(FileError, match=message):
        DeepConsensusFilter.Load(model_file(change))


@pytest.mark.parametrize("channels", [None, "x", [4], 4.0, True, 5, 10**9, -4])
def test_a_network_that_is_not_the_weights_is_refused(model_file, channels):
    with pytest.raises(FileError):
        DeepConsensusFilter.Load(model_file(lambda _, d: d["network"].update(channels=channels)))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("labels", [0, 0]),
        ("labels", [0, 1.5]),
        ("labels", [0, "1"]),
        ("labels", None),
        ("rater_ids", [1, 2, 3, 4, 4]),
        ("rater_ids", [1, 2, 3, 4, [5]]),
        ("mode", "joint"),
        ("mode", "magic"),
        ("network", None),
        ("kind", "checkpoint"),
        ("own_image_stream", 1),
    ],
)
def test_a_description_that_contradicts_itself_is_refused(model_file, key, value):
    with pytest.raises(FileError):
        DeepConsensusFilter.Load(model_file(lambda _, d: d.update({key: value})))


def test_a_byte_changed_anywhere_is_noticed(fitted, tmp_path):
    path = tmp_path / "model"
    fitted.Save(path)
    contents = path.read_bytes()
    for place in np.random.default_rng(0).integers(0, len(contents), 60):
        damaged = bytearray(contents)
        damaged[place] ^= 1
        path.write_bytes(bytes(damaged))
        with pytest.raises(FileError):
            DeepConsensusFilter.Load(path)


def test_weights_that_overflow_are_an_error_and_no_answer(model_file, cohort):
    def overflow(tensors, _):
        for name, tensor in tensors.items():
            if name.startswith("network/") and name.endswith("weight"):
                tensors[name] = np.full_like(tensor, 1e38)

    filter_ = DeepConsensusFilter.Load(model_file(overflow))
    filter_.SetWithoutGain("network")
    image, labels = image_list(cohort)[0], label_lists(cohort)[0]
    with pytest.raises(TrainingError, match=r"DeepConsensusFilter: .* not finite: .* overflow"):
        filter_.Execute(image, labels)
    with pytest.raises(NotExecutedError):
        filter_.GetProbabilityImage()


def test_a_model_whose_bytes_were_changed_is_refused(fitted, tmp_path):
    path = tmp_path / "model"
    fitted.Save(path)
    contents = path.read_bytes()
    for seed in range(MUTATIONS):
        damaged = mutate_bytes(contents, seed)
        if damaged != contents:
            path.write_bytes(damaged)
            with pytest.raises(FileError):
                DeepConsensusFilter.Load(path)


def test_a_model_with_a_forged_checksum_is_refused_or_gives_sensible_answers(
    fitted, cohort, tmp_path
):
    path = tmp_path / "model"
    fitted.Save(path)
    tensors, description = unpack(path.read_bytes(), "model")
    image, labels = image_list(cohort)[0], label_lists(cohort)[0]
    used = 0
    for seed in range(MUTATIONS // 5):
        rng = np.random.default_rng(seed)
        changed, name = dict(tensors), list(tensors)[rng.integers(len(tensors))]
        factor = rng.choice([-1, 0, 1e6, 1e30, np.inf, np.nan])
        with np.errstate(all="ignore"):
            changed[name] = (tensors[name] * factor).astype(tensors[name].dtype)
        told = mutate_json(description, seed) if seed % 2 else description
        path.write_bytes(pack(changed, told))
        try:
            filter_ = DeepConsensusFilter(NumberOfThreads=1).Load(path)
            filter_.Execute(image, labels)
        except ConsensusError:
            continue
        used += 1
        probabilities = [filter_.GetProbabilityImage(label) for label in filter_.GetLabels()]
        np.testing.assert_allclose(np.sum(probabilities, axis=0), 1, atol=1e-5)
        assert np.isfinite(list(filter_.GetRaterReliability().values())).all()
    assert 0 < used < MUTATIONS // 5


def test_load_fills_an_instance_or_makes_one(fitted, cohort, tmp_path):
    fitted.Save(tmp_path / "model")
    filter_ = DeepConsensusFilter(Region="full", NumberOfThreads=1)
    assert filter_.Load(tmp_path / "model") is filter_
    assert filter_.GetRegion() == "full"
    image, labels = image_list(cohort)[1], label_lists(cohort)[1]
    made = DeepConsensusFilter.Load(tmp_path / "model")
    np.testing.assert_array_equal(filter_.Execute(image, labels), made.Execute(image, labels))


# -- damaged and foreign checkpoints ---------------------------------------------------------


def drop_all(prefix):
    def change(tensors, _):
        for name in [name for name in tensors if name.startswith(prefix)]:
            del tensors[name]

    return change


def drop_a_step(tensors, _):
    del tensors["optimizer/0/step"]


def reshape_a_moment(tensors, _):
    tensors["optimizer/1/exp_avg"] = tensors["optimizer/1/exp_avg"][:1]


def rename_a_moment(tensors, _):
    tensors["optimizer/odd"] = tensors.pop("optimizer/0/exp_avg")


def progress(**changes):
    return lambda _, description: description["progress"].update(changes)


@pytest.mark.parametrize(
    "change",
    [
        drop_a_weight,
        spoil_a_weight,
        spoil_the_tally,
        drop_all("best/"),
        drop_all("optimizer/"),
        drop_a_step,
        reshape_a_moment,
        rename_a_moment,
        progress(iteration=None),
        progress(iteration=-1),
        progress(iteration=2.0),
        progress(iteration="x"),
        progress(iteration=10**30),
        progress(history=float("nan")),
        progress(stale="x"),
        progress(best_score=None),
        progress(more=1),
        lambda _, description: description.pop("progress"),
        lambda _, description: description.update(progress=[1]),
    ],
)
def test_a_damaged_checkpoint_is_refused(unfinished, change):
    with pytest.raises(FileError):
        unfinished(change)


def test_a_checkpoint_of_other_cases_is_refused(cohort, tmp_path):
    path = tmp_path / "training.checkpoint"
    images, labels = image_list(cohort), label_lists(cohort)
    DeepConsensusFilter(**QUICK).Fit(images, labels, checkpoint=path)
    images[3] = images[3].copy()
    images[3][0, 0] += 1
    with pytest.raises(FileError, match="another training: its fingerprint of cases"):
        DeepConsensusFilter(**QUICK).Fit(images, labels, checkpoint=path)


def test_a_checkpoint_that_cannot_be_written_is_refused_before_training(cohort, tmp_path):
    filter_ = DeepConsensusFilter(**QUICK)
    done = []
    filter_.AddCommand(sitk.sitkIterationEvent, lambda: done.append(1))
    with pytest.raises(FileError, match="does not exist"):
        filter_.Fit(image_list(cohort), label_lists(cohort), checkpoint=tmp_path / "no" / "where")
    assert not done


def test_the_best_weights_come_with_their_raters(cohort, monkeypatch):
    # With patience 1 training stops right after the best evaluation, so both runs must have seen
    # the same raters.
    best = DeepConsensusFilter(**QUICK)
    tallies = []
    from itk_consensus.deep.training import Trainer

    evaluate = Trainer._evaluate

    def recording(trainer):
        evaluate(trainer)
        tallies.append((trainer.state.iteration, trainer.model.rater_model.tally.copy()))

    monkeypatch.setattr(Trainer, "_evaluate", recording)
    best.Fit(image_list(cohort), label_lists(cohort))
    scores = {entry["iteration"]: entry["validation"] for entry in best._model.history}
    chosen = min(scores, key=lambda iteration: scores[iteration])
    np.testing.assert_array_equal(best._model.rater_model.tally, dict(tallies)[chosen])


def test_a_stream_that_a_model_does_not_need_or_does_not_fit_is_refused(cohort, fitted, tmp_path):
    fitted.Save(tmp_path / "model")
    stream = torch.nn.Conv2d(1, 4, 3, padding=1)
    with pytest.raises(FileError, match="built-in image stream; pass none"):
        DeepConsensusFilter.Load(tmp_path / "model", stream)
    filter_ = DeepConsensusFilter(**QUICK)
    filter_.Fit(image_list(cohort), label_lists(cohort), image_stream=stream)
    filter_.Save(tmp_path / "own")
    with pytest.raises(ParameterError, match="image_stream must turn"):
        DeepConsensusFilter.Load(tmp_path / "own", torch.nn.Conv2d(1, 5, 3, padding=1))


# -- results -----------------------------------------------------------------------------------


def test_what_a_network_said_survives_a_pickle():
    rng = np.random.default_rng(0)
    decision, asked = rng.integers(0, 2, (6, 7), np.uint8), rng.random((6, 7)) < 0.5
    shares = rng.random((2, 3, 4)).astype(np.float32)
    prediction = Prediction((slice(1, 4), slice(2, 6)), shares / shares.sum(0), shares[0])
    fusion = VolumeFusion(decision, NetworkShares(decision, asked, prediction))
    again = pickle.loads(pickle.dumps(fusion))
    np.testing.assert_array_equal(again.probability(1), fusion.probability(1))
    wanted, found = np.empty((2, 6, 7), np.float32)
    fusion.write_uncertainty("entropy", 2, wanted)
    again.write_uncertainty("entropy", 2, found)
    np.testing.assert_array_equal(found, wanted)
    evidence = WriteEvidence(prediction, asked)
    evidence(wanted)
    pickle.loads(pickle.dumps(evidence))(found)
    np.testing.assert_array_equal(found, wanted)
    assert found.any()
