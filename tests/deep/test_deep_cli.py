"""``itk-consensus deep``: its outputs, and one-line messages for all errors."""

from __future__ import annotations

import json

import numpy as np
import pytest
import SimpleITK as sitk
from cohort_lists import image_list, label_lists, sitk_image, truth_list

from itk_consensus.cli import main
from itk_consensus.deep.deep_consensus_filter import DeepConsensusFilter

pytest.importorskip("torch")

QUICK = ("--number-of-iterations", "5", "--number-of-channels", "4", "--number-of-threads", "1")

pytestmark = pytest.mark.filterwarnings("ignore::itk_consensus.core.errors.ConsensusWarning")


@pytest.fixture
def folder(cohort, tmp_path):
    """Write images, vector images of raters and cases.json."""
    cases = []
    for number, (image, labels) in enumerate(
        zip(image_list(cohort), label_lists(cohort), strict=True)
    ):
        sitk.WriteImage(sitk_image(image), tmp_path / f"{number}.nrrd")
        raters = sitk.Compose([sitk_image(rater) for rater in labels])
        sitk.WriteImage(raters, tmp_path / f"{number}-raters.nrrd")
        cases.append({"image": f"{number}.nrrd", "labels": f"{number}-raters.nrrd"})
    (tmp_path / "cases.json").write_text(json.dumps(cases))
    return tmp_path


def deep(*words):
    return main(["deep", *map(str, words)])


def test_fit_and_apply_on_the_command_line(folder, capsys):
    model, output, evidence = folder / "model", folder / "fused.nrrd", folder / "evidence.nrrd"
    assert deep("fit", folder / "cases.json", "--model", model, *QUICK) == 0
    said = capsys.readouterr().out
    assert "rater 5" in said
    assert "Vote instead" in said
    paths = [folder / "0.nrrd", folder / "0-raters.nrrd"]
    written = ["--output", output, "--raters", "1,2,3,4,x", "--evidence", evidence]
    assert deep("apply", *paths, "--model", model, *written, "--without-gain", "network") == 0
    assert "Vote instead" in capsys.readouterr().out
    fused = sitk.ReadImage(output)
    assert fused.GetSpacing() == (0.7, 1.3)
    loaded = DeepConsensusFilter.Load(model)
    loaded.SetWithoutGain("network")
    expected = loaded.Execute(
        sitk.ReadImage(paths[0]), [sitk.ReadImage(paths[1])], [1, 2, 3, 4, None]
    )
    np.testing.assert_array_equal(sitk.GetArrayFromImage(fused), sitk.GetArrayFromImage(expected))
    assert sitk.GetArrayFromImage(sitk.ReadImage(evidence)).max() > 0


def test_atlases_bring_their_images_on_the_command_line(folder, cohort, capsys):
    cases = json.loads((folder / "cases.json").read_text())
    for number, (case, drawn) in enumerate(zip(cases, label_lists(cohort), strict=True)):
        case["truth"], case["atlas_images"] = f"{number}-truth.nrrd", []
        sitk.WriteImage(sitk_image(truth_list(cohort)[number]), folder / case["truth"])
        for rater, labels in enumerate(drawn):
            case["atlas_images"].append(f"{number}-{rater}.nrrd")
            warped = sitk_image(labels.astype(np.float32))
            sitk.WriteImage(warped, folder / case["atlas_images"][-1])
    (folder / "cases.json").write_text(json.dumps(cases))
    model, output = folder / "model", folder / "fused.nrrd"
    assert deep("fit", folder / "cases.json", "--model", model, *QUICK) == 0
    assert "beyond joint fusion" in capsys.readouterr().out
    apply = ("apply", folder / "0.nrrd", folder / "0-raters.nrrd", "--model", model, "-o", output)
    assert "was trained with atlas_images" in refused(capsys, *apply)
    atlases = [folder / name for name in cases[0]["atlas_images"]]
    assert deep(*apply, "--atlas-images", *atlases) == 0
    assert sitk.ReadImage(output).GetSpacing() == (0.7, 1.3)


def refused(capsys, *words):
    """Return the single line of an error message."""
    assert deep(*words) != 0
    error = capsys.readouterr().err
    assert "Traceback" not in error
    return error.strip().splitlines()[-1]


CASE = {"image": "0.nrrd", "labels": "0-raters.nrrd"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[", "cannot be read as JSON"),
        ("[" * 100_000, "cannot be read as JSON"),
        ("[]", "a list of cases"),
        ("[1]", "case 0 must be an object"),
        (json.dumps([{**CASE, "image": None}]), "case 0 names no file in column image"),
        (json.dumps([{**CASE, "image": 5}]), "image must name a file, got 5"),
        (json.dumps([{**CASE, "labels": {}}]), "labels must name a file"),
        (json.dumps([{**CASE, "labels": [[]]}]), "labels must name a file"),
        (json.dumps([{**CASE, "truth": False}]), "truth must name a file, got false"),
        (json.dumps([{**CASE, "truths": "0.nrrd"}]), "unknown key truths"),
        (json.dumps([{**CASE, "raters": "abc"}]), "raters must be a list"),
        (json.dumps([{**CASE, "raters": [[1], 2, 3, 4, 5]}]), "rater_ids must be"),
        (json.dumps([{**CASE, "raters": [1.5, 2, 3, 4, 5]}]), "rater_ids must be"),
        (json.dumps([{**CASE, "truth": "0.nrrd"}, CASE]), "truth for 1 of 2 cases"),
        (json.dumps([CASE, {**CASE, "raters": [1]}]), "raters for 1 of 2 cases"),
        (json.dumps([{**CASE, "image": "\0"}]), "image must name a file"),
        (json.dumps([{**CASE, "image": "nowhere.nrrd"}]), "No such file"),
    ],
)
def test_cases_that_cannot_be_read_are_named_in_one_line(folder, capsys, text, message):
    (folder / "cases.json").write_text(text)
    words = ("fit", folder / "cases.json", "--model", folder / "model", *QUICK)
    assert message in refused(capsys, *words)
    assert not (folder / "model").exists()


@pytest.mark.parametrize("name", ["3.nrrd", "3-raters.nrrd", "cases.json"])
@pytest.mark.parametrize("option", ["--model", "--checkpoint"])
def test_no_input_is_ever_overwritten(folder, capsys, option, name):
    before = (folder / name).read_bytes()
    other = ["--model", folder / "model"] if option == "--checkpoint" else []
    words = ("fit", folder / "cases.json", option, folder / name, *other, *QUICK)
    assert "would overwrite" in refused(capsys, *words)
    assert (folder / name).read_bytes() == before


def test_model_and_checkpoint_must_be_two_files(folder, capsys):
    same = folder / "model"
    words = ("fit", folder / "cases.json", "--model", same, "--checkpoint", same, *QUICK)
    assert "would overwrite" in refused(capsys, *words)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--label", "1"), "give both"),
        (
            ("--label", "9", "--probability", "p.nrrd"),
            "--label must be one of the labels 0,1, got 9",
        ),
        (("--device", "mps"), "--device must be one this machine's torch can use"),
        (("--missing-label", "0"), "--missing-label must not be the label of a class"),
    ],
)
def test_what_cannot_be_applied_is_refused_in_one_line(
    folder, fitted, capsys, monkeypatch, options, message
):
    monkeypatch.chdir(folder)
    fitted.Save("model")
    words = ("apply", "0.nrrd", "0-raters.nrrd", "--model", "model", "--output", "fused.nrrd")
    assert message in refused(capsys, *words, *options)
    assert not (folder / "fused.nrrd").exists()
