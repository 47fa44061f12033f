"""Training that is continued from a model, or after the process was killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import SimpleITK as sitk
from cohort_lists import QUICK, image_list, label_lists, sitk_image, truth_list

torch = pytest.importorskip("torch")

from itk_consensus.cli import main  # noqa: E402
from itk_consensus.core.errors import InputError, NotExecutedError, ParameterError  # noqa: E402
from itk_consensus.deep.deep_consensus_filter import DeepConsensusFilter  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::itk_consensus.core.errors.ConsensusWarning")
BRIEF = {**QUICK, "NumberOfIterations": 2}


def test_a_loaded_model_is_trained_further_instead_of_anew(trained, fitted, cohort):
    trained.SetNumberOfIterations(2)
    trained.SetLearningRate(1e-12)
    state = torch.get_rng_state()
    trained.Fit(image_list(cohort), label_lists(cohort), truth_list(cohort), warm_start=True)
    assert torch.equal(torch.get_rng_state(), state)
    after = dict(trained._model.network.named_parameters())
    for name, before in fitted._model.network.named_parameters():
        np.testing.assert_allclose(after[name].detach(), before.detach(), atol=1e-9)
    tally = trained._model.rater_model.tally
    # The same cases are counted a second time; a tenth of them is never counted.
    np.testing.assert_allclose(tally, 2 * fitted._model.rater_model.tally)


@pytest.mark.parametrize("mode", ["joint", "set"])
def test_raters_who_are_new_join_those_who_are_known(cohort, mode):
    lists = image_list(cohort), label_lists(cohort)
    filter_ = DeepConsensusFilter(**BRIEF, Mode=mode)
    filter_.Fit(*lists, rater_ids=["a", "b", "c", "d", None])
    before = filter_._model.network.state_dict()
    filter_.SetLearningRate(1e-12)
    filter_.SetMode("auto")
    filter_.Fit(*lists, rater_ids=["b", "x", "y", "a", None], warm_start=True)
    assert filter_._model.mode == mode
    assert filter_.GetRaterIds() == ("a", "b", "c", "d", "x", "y")
    assert set(filter_.GetRaterReliability()) == {0, "a", "b", "c", "d", "x", "y"}
    if mode == "set":
        rows = filter_._model.network.state_dict()["label_stream.modulate.weight"]
        np.testing.assert_allclose(rows[:5], before["label_stream.modulate.weight"], atol=1e-9)
        np.testing.assert_allclose(rows[5:], rows[:1].expand(2, -1), atol=1e-9)


def test_what_a_model_cannot_go_on_with_is_refused(trained, cohort):
    images, drawn, truths = image_list(cohort), label_lists(cohort), truth_list(cohort)
    with pytest.raises(NotExecutedError, match="not trained"):
        DeepConsensusFilter(**BRIEF).Fit(images, drawn, truths, warm_start=True)
    with pytest.raises(
        InputError, match=r"same mode, as the model: \(2, 1, 'truth'\), got \(2, 1, 'set'\)"
    ):
        trained.Fit(images, drawn, warm_start=True)
    with pytest.raises(InputError, match="labels must be among"):
        trained.Fit(images, [[5 * one for one in d] for d in drawn], truths, warm_start=True)
    with pytest.raises(ParameterError, match="image_stream must be None"):
        trained.Fit(images, drawn, truths, image_stream=trained._model.network, warm_start=True)


# -- on the command line ---------------------------------------------------------------------


@pytest.fixture
def cases(cohort, tmp_path):
    """Write a list of cases and their files."""
    listed = []
    for number, (image, labels) in enumerate(
        zip(image_list(cohort), label_lists(cohort), strict=True)
    ):
        sitk.WriteImage(sitk_image(image), tmp_path / f"{number}.nrrd")
        raters = sitk.Compose([sitk_image(rater) for rater in labels])
        sitk.WriteImage(raters, tmp_path / f"{number}-raters.nrrd")
        listed.append({"image": f"{number}.nrrd", "labels": f"{number}-raters.nrrd"})
    (tmp_path / "cases.json").write_text(json.dumps(listed))
    return tmp_path / "cases.json"


def words(cases: Path, *more: object, iterations: int) -> list[str]:
    quick = ("--number-of-channels", 4, "--number-of-threads", 1, "--cache-size", 0)
    given = ("deep", "fit", cases, "--number-of-iterations", iterations, *quick, *more)
    return [str(word) for word in given]


@pytest.mark.slow
def test_a_killed_run_on_files_resumes_to_the_same_weights(cases, tmp_path):
    iterations = 40
    state, model, whole = tmp_path / "state", tmp_path / "model", tmp_path / "whole"
    command = words(cases, "--model", model, "--checkpoint", state, iterations=iterations)
    with subprocess.Popen([sys.executable, "-m", "itk_consensus.cli", *command]) as process:
        while not state.exists() and process.poll() is None:
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    assert not model.exists()
    assert main(command) == 0
    assert main(words(cases, "--model", whole, iterations=iterations)) == 0
    assert model.read_bytes() == whole.read_bytes()


def test_the_command_line_goes_on_from_a_model(cases, tmp_path, capsys):
    first, second = tmp_path / "first", tmp_path / "second"
    assert main(words(cases, "--model", first, iterations=2)) == 0
    assert main(words(cases, "--model", second, "--from-model", first, iterations=2)) == 0
    again = DeepConsensusFilter.Load(first)
    for name, value in {"NumberOfIterations": 2, "NumberOfThreads": 1}.items():
        setattr(again, name, value)
    listed = json.loads(cases.read_text())
    files = ([tmp_path / case[key] for case in listed] for key in ("image", "labels"))
    again.Fit(*files, warm_start=True)
    again.Save(tmp_path / "api")
    assert second.read_bytes() == (tmp_path / "api").read_bytes()
    capsys.readouterr()
    arguments = words(cases, "--model", first, "--from-model", first, "--overwrite", iterations=2)
    assert main(arguments) != 0
    assert "input" in capsys.readouterr().err
