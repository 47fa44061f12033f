from __future__ import annotations

import csv
import json
import math
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import SimpleITK as sitk

import itk_consensus
from itk_consensus import (
    HybridFusionFilter,
    LabelVotingImageFilter,
    MajorityVoteFilter,
    STAPLEImageFilter,
)
from itk_consensus.assessment import assessment as assessment_module
from itk_consensus.cli import demo as demo_module
from itk_consensus.cli import main
from itk_consensus.core.errors import MissingDependencyError
from itk_consensus.core.parameters import measurements_of, parameters_of
from itk_consensus.fusing import vote_facts as vote_facts_module
from itk_consensus.fusing.fusion_result import FusionResult
from itk_consensus.images import files as files_module
from itk_consensus.methods.consensus import shared_consensus as shared_consensus_module
from itk_consensus.methods.registry import METHODS
from itk_consensus.report.image_file import ImageFile
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.pair_counts import PairCounts

REPOSITORY = Path(__file__).resolve().parents[2]
SAMPLE = REPOSITORY / "itk_consensus" / "sample_data" / "LIDC-IDRI-0003.nrrd"


def image_of(array: Any, spacing: Any = (0.5, 1.0, 2.0)) -> Any:
    image = sitk.GetImageFromArray(array)
    image.SetSpacing(spacing[: image.GetDimension()])
    return image


def array_of(path: Path) -> Any:
    return sitk.GetArrayFromImage(sitk.ReadImage(str(path)))


@pytest.fixture
def arrays() -> list[Any]:
    """Return three noisy copies of one block; with an odd number no vote is tied."""
    rng = np.random.default_rng(1)
    truth = np.zeros((6, 10, 12), np.uint8)
    truth[1:5, 2:8, 3:9] = 1
    return [np.where(rng.random(truth.shape) < 0.1, 1 - truth, truth) for _ in range(3)]


@pytest.fixture
def masks(tmp_path: Path, arrays: list[Any]) -> list[str]:
    paths = [str(tmp_path / f"rater-{index}.nii.gz") for index in range(len(arrays))]
    for path, array in zip(paths, arrays, strict=True):
        sitk.WriteImage(image_of(array), path)
    return paths


@pytest.fixture
def output(tmp_path: Path) -> str:
    return str(tmp_path / "fused.nii.gz")


def error_line(capfd: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Return the single line on stderr, except warnings, of a command that fails with exit code
    2.
    """
    capfd.readouterr()
    assert main(list(arguments)) == 2
    captured = capfd.readouterr()
    assert captured.out == ""
    lines = captured.err.splitlines(keepends=True)
    (line,) = [line for line in lines if not line.startswith("itk-consensus: warning: ")]
    assert re.fullmatch(r"itk-consensus: .+\n", line)
    return line


# -- fuse ------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_the_output_is_the_label_map_of_the_filter(
    method: str, masks: list[str], output: str
) -> None:
    assert main(["fuse", *masks, "--method", method, "--output", output]) == 0
    filter_ = METHODS[method]()
    filter_.Execute([sitk.ReadImage(path) for path in masks])
    written = sitk.ReadImage(output)
    np.testing.assert_array_equal(
        sitk.GetArrayFromImage(written), sitk.GetArrayFromImage(filter_.GetLabelImage())
    )
    assert written.GetPixelID() == sitk.sitkUInt8
    assert written.GetSpacing() == (0.5, 1.0, 2.0)


def test_a_hybrids_fusers_are_named_by_their_methods(
    masks: list[str], output: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "report.json"
    options = ["--interior-filter", "STAPLE", "--boundary-filter", "label-voting"]
    options += ["--method", "hybrid", "--output", output, "--json", str(report), "-v"]
    assert main(["fuse", *masks, *options]) == 0
    expected = HybridFusionFilter(
        InteriorFilter=STAPLEImageFilter(), BoundaryFilter=LabelVotingImageFilter()
    ).Execute([sitk.ReadImage(path) for path in masks])
    np.testing.assert_array_equal(array_of(Path(output)), sitk.GetArrayFromImage(expected))
    parameters = json.loads(report.read_text(encoding="utf-8"))["parameters"]
    assert parameters["InteriorFilter"] == "STAPLEImageFilter()"
    assert "LabelVotingImageFilter()" in capsys.readouterr().out


def test_the_default_method_is_the_recommended_one(
    masks: list[str], output: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fuse", *masks, "-o", output]) == 0
    assert "consensus of 3 readers" in capsys.readouterr().out


@pytest.mark.parametrize("method", ["Vote", "VOTE"])
def test_methods_are_known_in_any_case(
    method: str,
    masks: list[str],
    arrays: list[Any],
    output: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["fuse", *masks, "--method", method, "-o", output]) == 0
    assert "vote of 3 readers" in capsys.readouterr().out
    np.testing.assert_array_equal(array_of(Path(output)), np.sum(arrays, axis=0) > 1)


def test_staple_writes_simpleitks_probability(
    masks: list[str], output: str, tmp_path: Path
) -> None:
    probability = tmp_path / "p.nrrd"
    options = ["--method", "staple", "--output", output, "--probability", str(probability)]
    assert main(["fuse", *masks, *options]) == 0
    expected = sitk.STAPLE([sitk.ReadImage(path) for path in masks])
    np.testing.assert_allclose(array_of(probability), sitk.GetArrayFromImage(expected), atol=1e-9)


def test_a_vector_nrrd_holds_one_rater_per_component(output: str, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    options = ["--method", "staple", "--output", output, "--json", str(report)]
    assert main(["fuse", str(SAMPLE), *options]) == 0
    content = json.loads(report.read_text(encoding="utf-8"))
    assert content["number_of_raters"] == 4
    image = sitk.ReadImage(str(SAMPLE))
    raters = [sitk.VectorIndexSelectionCast(image, r, sitk.sitkUInt8) for r in range(4)]
    theirs = sitk.STAPLEImageFilter()
    probability = sitk.GetArrayFromImage(theirs.Execute(raters))
    np.testing.assert_array_equal(array_of(Path(output)), probability >= 0.5)
    np.testing.assert_allclose(
        content["measurements"]["Sensitivity"], theirs.GetSensitivity(), atol=1e-9
    )


@pytest.mark.parametrize("kind", [None, "disagreement"])
def test_uncertainty_is_written_as_the_filter_gives_it(
    masks: list[str], arrays: list[Any], output: str, tmp_path: Path, kind: str | None
) -> None:
    doubt = tmp_path / "doubt.nrrd"
    options = ["--method", "vote", "--output", output, "--uncertainty", str(doubt)]
    assert main(["fuse", *masks, *options, *(["--uncertainty-kind", kind] if kind else [])]) == 0
    filter_ = itk_consensus.MajorityVoteFilter()
    filter_.Execute(arrays)
    np.testing.assert_array_equal(array_of(doubt), filter_.GetUncertaintyImage(kind or "entropy"))
    assert sitk.ReadImage(str(doubt)).GetPixelID() == sitk.sitkFloat32


def test_a_kind_of_uncertainty_without_a_file_is_refused(masks: list[str], output: str) -> None:
    options = ["--output", output, "--uncertainty-kind", "variance"]
    assert main(["fuse", *masks, *options]) == 2


def test_the_probability_of_a_named_label_is_written(tmp_path: Path, output: str) -> None:
    array = np.array([[0, 3, 5], [5, 3, 0]], np.uint8)
    paths = [str(tmp_path / f"{index}.mha") for index in range(3)]
    for path, labels in zip(paths, (array, array, np.full_like(array, 5)), strict=True):
        sitk.WriteImage(image_of(labels), path)
    probability = str(tmp_path / "p.mha")
    options = ["--output", output, "--probability", probability]
    assert main(["fuse", *paths, "--method", "vote", *options, "--label", "3"]) == 0
    np.testing.assert_allclose(array_of(Path(probability)), (array == 3) * 2 / 3)


def test_the_probabilities_of_all_labels_are_written(
    tmp_path: Path, output: str, capfd: pytest.CaptureFixture[str]
) -> None:
    array = np.array([[0, 3, 5], [5, 3, 0]], np.uint8)
    paths = [str(tmp_path / f"{index}.mha") for index in range(3)]
    for path, labels in zip(paths, (array, array, np.full_like(array, 5)), strict=True):
        sitk.WriteImage(image_of(labels), path)
    options = ["--output", output, "--probability", str(tmp_path / "new" / "p-{label}.mha")]
    assert main(["fuse", *paths, "--method", "vote", *options]) == 0
    written = {label: array_of(tmp_path / "new" / f"p-{label}.mha") for label in (0, 3, 5)}
    np.testing.assert_allclose(sum(written.values()), 1.0)
    np.testing.assert_allclose(written[3], (array == 3) * 2 / 3)
    assert len(list((tmp_path / "new").iterdir())) == 3
    Path(output).unlink()
    (tmp_path / "new" / "p-3.mha").unlink()
    line = error_line(capfd, "fuse", *paths[1:], "--method", "vote", *options)
    assert "p-0.mha exists; give --overwrite" in line
    assert not Path(output).exists()
    assert "give only one" in error_line(capfd, "fuse", *paths, *options, "--label", "3")


@pytest.mark.parametrize("method", ["vote", "staple", "consensus"])
def test_a_label_that_nobody_used_is_an_error_and_nothing_is_written(
    method: str, masks: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = set(tmp_path.iterdir())
    outputs = ["-o", str(tmp_path / "f.nii"), "--probability", str(tmp_path / "p.nii")]
    line = error_line(capfd, "fuse", *masks, "--method", method, *outputs, "--label", "99")
    assert "--label must be one of the labels 0,1, got 99" in line
    assert set(tmp_path.iterdir()) == before


def test_labels_that_a_binary_method_ignores_are_named(
    tmp_path: Path, output: str, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [str(tmp_path / f"{index}.mha") for index in range(2)]
    for path, row in zip(paths, ([0, 1, 2, 7], [0, 1, 1, 7]), strict=True):
        sitk.WriteImage(image_of(np.array([row], np.uint8)), path)
    assert main(["fuse", *paths, "--method", "staple", "-o", output]) == 0
    said = capsys.readouterr().err
    assert "warning: staple fuses label 1 and treats 2,7 as background" in said
    assert main(["fuse", *paths, "--method", "vote", "-o", output, "--overwrite"]) == 0
    assert capsys.readouterr().err == ""


def test_several_labels_and_no_named_one_is_an_error(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, output: str
) -> None:
    path = str(tmp_path / "a.mha")
    sitk.WriteImage(image_of(np.array([[0, 3, 5]], np.uint8)), path)
    probability = str(tmp_path / "p.mha")
    line = error_line(capfd, "fuse", path, "--output", output, "--probability", probability)
    assert "--probability needs --label, one of the labels 0,3,5" in line
    assert not Path(output).exists()


def test_the_foreground_value_names_the_probability(tmp_path: Path, arrays: list[Any]) -> None:
    paths = [str(tmp_path / f"{index}.nii.gz") for index in range(3)]
    for path, array in zip(paths, arrays, strict=True):
        sitk.WriteImage(image_of(255 * array), path)
    options = ["--method", "staple", "--foreground-value", "255"]
    outputs = ["--output", str(tmp_path / "f.nii"), "--probability", str(tmp_path / "p.nii")]
    assert main(["fuse", *paths, *options, *outputs]) == 0
    fused, probability = array_of(tmp_path / "f.nii"), array_of(tmp_path / "p.nii")
    np.testing.assert_array_equal(fused, np.where(probability >= 0.5, 255, 0))


def test_outside_the_mask_there_is_background(
    masks: list[str], output: str, tmp_path: Path
) -> None:
    inside = np.zeros((6, 10, 12), np.uint8)
    inside[:, :5] = 1
    mask, report = str(tmp_path / "mask.nii.gz"), tmp_path / "r.json"
    sitk.WriteImage(image_of(inside), mask)
    options = ["--mask", mask, "--output", output, "--json", str(report)]
    assert main(["fuse", *masks, *options]) == 0
    fused = array_of(Path(output))
    assert fused[:, :5].any()
    assert not fused[:, 5:].any()
    assert json.loads(report.read_text(encoding="utf-8"))["parameters"]["MaskImage"] == mask


def test_a_prior_may_be_a_number_or_an_image_file(
    masks: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    prior = str(tmp_path / "prior.nii.gz")
    sitk.WriteImage(image_of(np.full((6, 10, 12), 0.25, np.float32)), prior)
    probabilities = []
    for given in ("0.25", prior):
        out, probability = str(tmp_path / "f.nii"), tmp_path / "p.nii"
        options = ["--method", "staple", "--prior", given, "--output", out, "--overwrite"]
        assert main(["fuse", *masks, *options, "--probability", str(probability)]) == 0
        probabilities.append(array_of(probability))
    np.testing.assert_allclose(*probabilities, atol=1e-12)
    line = error_line(
        capfd, "fuse", *masks, "--method", "staple", "--output", "f.nii", "--prior", "nowhere.nii"
    )
    assert "--prior: must be a number > 0 and < 1, or an image, or None" in line


@pytest.mark.parametrize("dtype", [">i2", ">u4", "<f4", ">f8"])
def test_big_endian_and_floating_files_are_read(tmp_path: Path, dtype: str, output: str) -> None:
    array = (np.arange(24) % 3).reshape(2, 3, 4).astype(dtype)
    names = {"i2": "short", "u4": "uint", "f4": "float", "f8": "double"}
    header = (
        f"NRRD0004\ntype: {names[dtype[1:]]}\ndimension: 3\nsizes: 4 3 2\n"
        f"endian: {'big' if dtype[0] == '>' else 'little'}\nencoding: raw\n\n"
    )
    path = tmp_path / "a.nrrd"
    path.write_bytes(header.encode() + array.tobytes())
    assert main(["fuse", str(path), str(path), "--method", "vote", "--output", output]) == 0
    np.testing.assert_array_equal(array_of(Path(output)), array)


def test_two_dimensional_png_files_are_fused_into_png(tmp_path: Path) -> None:
    arrays = [np.array([[0, 1, 1, 0]] * 3, np.uint8), np.array([[0, 1, 0, 0]] * 3, np.uint8)]
    paths = [str(tmp_path / f"{index}.png") for index in range(3)]
    for path, array in zip(paths, [*arrays, arrays[0]], strict=True):
        sitk.WriteImage(sitk.GetImageFromArray(array), path)
    fused, report = tmp_path / "fused.png", tmp_path / "r.json"
    assert main(["fuse", *paths, "--output", str(fused), "--json", str(report)]) == 0
    np.testing.assert_array_equal(array_of(fused), arrays[0])
    assert json.loads(report.read_text(encoding="utf-8"))["labels"][1]["area_mm2"] == 6.0


# -- the report ------------------------------------------------------------------------------


def strictly(text: str) -> Any:
    """Parse JSON, rejecting the NaN and Infinity that Python accepts."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.mark.parametrize("method", METHODS)
def test_the_json_report_is_complete(
    method: str, masks: list[str], output: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "report.json"
    options = ["--method", method, "--output", output, "--json", str(path), "-v"]
    assert main(["fuse", *masks, *options]) == 0
    report = strictly(path.read_text(encoding="utf-8"))
    fuser = METHODS[method]
    assert report["version"] == itk_consensus.__version__
    assert report["method"] == method
    assert [row["path"] for row in report["inputs"]] == masks
    assert report["number_of_raters"] == 3
    assert report["geometry"]["size"] == [12, 10, 6]
    assert report["geometry"]["spacing"] == [0.5, 1.0, 2.0]
    assert set(report["parameters"]) == {p.name for p in parameters_of(fuser)}
    assert set(report["measurements"]) == {m.name for m in measurements_of(fuser)}
    assert report["diagnostics"]["findings"]
    fused = array_of(Path(output))
    for row in report["labels"]:
        voxels = int((fused == row["label"]).sum())
        assert row["voxels"] == voxels
        assert math.isclose(row["volume_mm3"], voxels * 1.0)
        assert math.isclose(row["volume_ml"], voxels * 1e-3)
    text = capsys.readouterr().out
    assert f"itk-consensus {itk_consensus.__version__}: {method}" in text
    assert all(name in text for name in [*masks, output, str(path), "12 x 10 x 6"])
    offered = [p.name for p in parameters_of(fuser) if p.in_cli]
    assert all(name in text for name in [*offered, *report["measurements"]])


def test_parameters_that_were_set_are_reported(
    masks: list[str], output: str, tmp_path: Path
) -> None:
    path = tmp_path / "r.json"
    options = ["--method", "staple", "--variant", "advanced", "--initialization-range", "0.6,0.9"]
    options += ["--exclude-consensus-voxels", "yes", "--maximum-iterations", "7"]
    assert main(["fuse", *masks, *options, "--output", output, "--json", str(path)]) == 0
    parameters = strictly(path.read_text(encoding="utf-8"))["parameters"]
    assert parameters["Variant"] == "advanced"
    assert parameters["InitializationRange"] == [0.6, 0.9]
    assert parameters["ExcludeConsensusVoxels"] is True
    assert parameters["MaximumIterations"] == 7
    assert parameters["SensitivityPrior"] == [3.0, 1.0]  # default of the advanced variant


def test_undefined_measures_are_null_and_the_warning_is_one_line(
    tmp_path: Path, output: str, capsys: pytest.CaptureFixture[str]
) -> None:
    empty, report = str(tmp_path / "empty.nii.gz"), tmp_path / "r.json"
    sitk.WriteImage(image_of(np.zeros((3, 4, 5), np.uint8)), empty)
    options = ["--method", "staple", "--output", output, "--json", str(report)]
    assert main(["fuse", empty, empty, *options]) == 0
    assert strictly(report.read_text(encoding="utf-8"))["measurements"]["Sensitivity"] == [
        None,
        None,
    ]
    warning = capsys.readouterr().err
    assert re.fullmatch(r"itk-consensus: warning: STAPLEImageFilter: Sensitivity .+\n", warning)


# -- options ---------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_help_lists_exactly_the_parameters_of_the_method(
    method: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "1000")
    assert main(["fuse", "--method", method, "--help"]) == 0
    entries = re.split(r"\n  (?=--)", capsys.readouterr().out.split("\nmethods:")[0])[1:]
    listed = {entry.split()[0]: entry for entry in entries}
    common = {"--method", "--overwrite", "--probability", "--label", "--json", "--mask"}
    common |= {"--report", "--image", "--uncertainty", "--uncertainty-kind"}
    common |= {"--per-structure", "--rename", "--series", "--series-number", "--synonyms"}
    common |= {"--accept-matches", "--structures", "--exclude", "--write-all", "--smooth"}
    common |= {"--holes", "--least-island"}
    common |= {"--absent-frames", "--show-identity", "--window", "--label-names", "--contact-sheet"}
    common |= {"--scheduler", "--jobs", "--fail-on", "--full", "--accept-own-outputs", "--learned"}
    if METHODS[method].takes_probabilities or METHODS[method].soft_inputs:
        common |= {"--classes"}
    derived = {
        "--" + parameter.snake_case.replace("_", "-"): parameter
        for parameter in parameters_of(METHODS[method])
        if parameter.in_cli
    }
    assert set(listed) == common | set(derived)
    for option, parameter in derived.items():
        assert parameter.doc in listed[option]
        assert "[default: " in listed[option]


def test_no_consensus_is_made_unseen_unless_it_is_asked_for(
    masks: list[str], output: str, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    made = []
    fused = shared_consensus_module.shared_consensus
    monkeypatch.setattr(
        shared_consensus_module,
        "shared_consensus",
        lambda *given, **more: made.append(1) or fused(*given, **more),
    )
    assert main(["fuse", *masks, "-o", output, "--method", "vote", "-v"]) == 0
    assert not made
    assert "--full also compares with Consensus" in capsys.readouterr().out
    assert (
        main(["fuse", *masks, "-o", output, "--method", "vote", "--full", "--overwrite", "-v"]) == 0
    )
    assert made
    assert "--full" not in capsys.readouterr().out


def shown_default(parameter: Any) -> str | None:
    """Return a default as a user would type it, if it is a plain value."""
    if callable(parameter.default) or parameter.default is None or parameter.default == ():
        return None
    if isinstance(parameter.default, tuple):
        return ",".join(map(str, parameter.default))
    return str(parameter.default)


@pytest.mark.parametrize("method", METHODS)
def test_every_default_can_be_given_as_an_option(
    method: str, masks: list[str], output: str, tmp_path: Path
) -> None:
    report = tmp_path / "r.json"
    arguments = ["fuse", *masks, "--method", method, "--output", output, "--json", str(report)]
    arguments.append("--overwrite")
    assert main(arguments) == 0
    implied = strictly(report.read_text(encoding="utf-8"))
    for parameter in parameters_of(METHODS[method]):
        if parameter.in_cli and (text := shown_default(parameter)) is not None:
            arguments += ["--" + parameter.snake_case.replace("_", "-"), text]
    assert main(arguments) == 0
    assert strictly(report.read_text(encoding="utf-8")) == implied


def test_none_leaves_an_optional_parameter_open(masks: list[str], output: str) -> None:
    options = [
        "--method",
        "vote",
        "--threshold",
        "none",
        "--missing-label",
        "None",
        "--output",
        output,
    ]
    assert main(["fuse", *masks, *options]) == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--method", "guess"], "--method: invalid choice: 'guess'"),
        (["--method", "staple", "--threshold", "0.5"], "unrecognized arguments: --threshold 0.5"),
        (["--method", "vote", "--threshold", "1.5"], "--threshold: must be a number >= 0 and <= 1"),
        (
            ["--method", "vote", "--threshold", "half"],
            "--threshold: must be a number >= 0 and <= 1",
        ),
        (
            ["--method", "vote", "--tie-rule", "coin"],
            "--tie-rule: must be one of undecided, lowest",
        ),
        (["--method", "vote", "--rater-weights", "1,2"], "vote: --rater-weights must be 3 numbers"),
        (
            ["--method", "vote", "--rater-weights", "1,-2,1"],
            "--rater-weights: must be a list of numbers >= 0",
        ),
        (["--label", "1"], "--label chooses the label of --probability"),
        (["--method", "staple", "--maximum-iterations", "0"], "must be an integer >= 1"),
        (["--method", "staple", "--estimate-prior", "maybe"], "must be True or False"),
        (
            ["--method", "staple", "--confidence-weight", "30"],
            "staple: --confidence-weight must keep",
        ),
        (
            ["--method", "staple", "--foreground-value", "9"],
            "--foreground-value 9 occurs in no input",
        ),
        (["--method", "label-voting", "--label-for-undecided-pixels", "300"], "got 300"),
        (
            ["--method", "hybrid", "--interior-filter", "x"],
            "must be one of consensus, coher",
        ),
    ],
)
def test_a_wrong_option_is_one_clear_line(
    options: list[str],
    words: str,
    masks: list[str],
    output: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert words in error_line(capfd, "fuse", *masks, "--output", output, *options)
    assert not Path(output).exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "COMMAND"),
        (["fuse"], "INPUT, -o/--output"),
        (["fuse", "a.nii"], "-o/--output (see itk-consensus fuse --method consensus --help)"),
        (["info"], "FILE"),
        (["paint"], "'paint'"),
    ],
)
def test_an_incomplete_command_says_what_is_wanted(
    arguments: list[str], words: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert words in error_line(capfd, *arguments)


@pytest.mark.parametrize("arguments", [["--help"], ["info", "--help"], ["demo", "--help"]])
def test_every_command_has_help(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 0
    assert capsys.readouterr().out.startswith("usage: itk-consensus")


def test_a_scheduler_without_a_store_is_refused(
    masks: list[str], output: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fuse", *masks, "-o", output, "--scheduler", "local"]) == 2
    assert "--scheduler is for an output named .zarr" in capsys.readouterr().err


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"{itk_consensus.__version__}\n"


# -- invalid files ------------------------------------------------------------------------------


def test_unreadable_inputs_are_one_clear_line(
    tmp_path: Path, masks: list[str], output: str, capfd: pytest.CaptureFixture[str]
) -> None:
    missing, text, png = (str(tmp_path / name) for name in ("no.nii", "notes.txt", "broken.png"))
    Path(text).write_text("not an image")
    Path(png).write_bytes(b"\x89PNG\r\n\x1a\n1234567")
    for path, words in ((missing, "No such file"), (text, "no image format"), (png, "cannot")):
        line = error_line(capfd, "fuse", *masks, path, "--output", output)
        assert line.startswith(f"itk-consensus: {path}: ")
        assert words in line
        assert words in error_line(capfd, "info", path)
    assert not Path(output).exists()


def test_a_probability_map_among_the_inputs_is_named(
    tmp_path: Path, masks: list[str], output: str, capfd: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "p.nii.gz")
    sitk.WriteImage(image_of(np.full((6, 10, 12), 0.3)), path)
    line = error_line(capfd, "fuse", *masks, path, "--output", output)
    assert path in line
    assert "holds fractions, as probabilities do" in line


def test_files_in_different_spaces_are_one_line_with_the_way_out(
    tmp_path: Path, masks: list[str], output: str, capfd: pytest.CaptureFixture[str]
) -> None:
    moved = sitk.ReadImage(masks[0])
    moved.SetOrigin([0.125, 0, 0])
    path = str(tmp_path / "moved.nii.gz")
    sitk.WriteImage(moved, path)
    line = error_line(capfd, "fuse", *masks, path, "--output", output)
    assert f"{path} does not occupy the same space as {masks[0]}: origin" in line
    assert "--coordinate-tolerance" in line
    options = ["--coordinate-tolerance", "0.3", "--output", output]
    assert main(["fuse", *masks, path, *options]) == 0


def test_outputs_that_would_destroy_a_file_are_refused_before_any_work(
    masks: list[str], output: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    over_input = error_line(capfd, "fuse", *masks, "--output", masks[1])
    assert f"--output {masks[1]} would overwrite the input {masks[1]}" in over_input
    both = ["--output", output, "--probability", output]
    assert "overwrite the file of --output" in error_line(capfd, "fuse", *masks, *both)
    mask = ["--mask", masks[0], "--output", output, "--json", masks[0]]
    assert "--json" in error_line(capfd, "fuse", *masks, *mask)
    assert "no image format" in error_line(capfd, "fuse", *masks, "--output", f"{output}.doc")
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_an_existing_output_is_left_alone_unless_told_otherwise(
    masks: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    output, report = tmp_path / "new" / "f.nii.gz", tmp_path / "r.json"
    report.write_text("mine")
    words = ["fuse", *masks, "-o", str(output), "--json", str(report)]
    assert f"--json {report} exists; give --overwrite to replace it" in error_line(capfd, *words)
    assert report.read_text(encoding="utf-8") == "mine"
    assert not output.parent.exists()
    assert main([*words, "--overwrite"]) == 0
    assert output.exists()
    assert strictly(report.read_text(encoding="utf-8"))["raters"] == masks


def test_an_old_output_survives_a_write_that_fails(
    masks: list[str],
    output: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert main(["fuse", *masks, "--output", output]) == 0
    before = Path(output).read_bytes()
    write = sitk.WriteImage

    def fails_on_large_images(image: Any, path: str, *rest: Any) -> None:
        if image.GetNumberOfPixels() > 4**3:  # let the preliminary check pass
            Path(path).write_bytes(b"half a file")
            raise OSError(28, "No space left on device")
        write(image, path, *rest)

    monkeypatch.setattr(sitk, "WriteImage", fails_on_large_images)
    line = error_line(capfd, "fuse", *masks, "--output", output, "--overwrite")
    assert line == f"itk-consensus: {output}: cannot be written: No space left on device\n"
    assert Path(output).read_bytes() == before
    assert not list(Path(output).parent.glob(".itk_consensus*"))


# -- termination --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("failure", "code", "words"),
    [
        (KeyboardInterrupt(), 130, "interrupted"),
        (MemoryError(), 2, "not enough memory"),
        (OSError(5, "Input/output error"), 2, "Input/output error"),
    ],
)
def test_failures_from_outside_end_with_a_line_and_a_code(
    failure: BaseException,
    code: int,
    words: str,
    masks: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(_path: Path) -> None:
        raise failure

    monkeypatch.setattr(files_module, "read_image", fail)
    assert main(["info", *masks]) == code
    printed = capsys.readouterr().err
    assert re.fullmatch(rf"itk-consensus: .*{words}\n", printed)


def test_a_reader_that_leaves_the_pipe_is_no_error(masks: list[str]) -> None:
    command = [sys.executable, "-m", "itk_consensus.cli", "info", *masks * 50]
    with subprocess.Popen(
        command, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


def test_the_progress_bar_is_for_terminals_only(
    masks: list[str],
    output: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = ["fuse", *masks, "--method", "staple", "--output", output, "--overwrite"]
    assert main(arguments) == 0
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert main(arguments) == 0
    drawn = capsys.readouterr().err
    for doing in ("reading", "STAPLEImageFilter", "writing"):
        assert doing in drawn
    assert "\n" not in drawn
    assert drawn.endswith("\r")


def test_the_command_line_loads_no_optional_package() -> None:
    script = (
        "import sys; from itk_consensus.cli import main; main(['info', sys.argv[1]]); "
        "print({'itk', 'torch', 'dask', 'matplotlib'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(SAMPLE)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.endswith("set()\n")


def test_loading_the_command_does_not_wait_for_parts_of_scipy() -> None:
    script = (
        "import sys, itk_consensus.cli.fuse; "
        "print({name for name in sys.modules if name.startswith('scipy.')} "
        "& {'scipy.stats', 'scipy.optimize', 'scipy.special', 'scipy.ndimage', 'scipy.sparse'})"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


@pytest.mark.parametrize("method", ["vote", "staple"])
def test_labels_are_counted_for_the_json_only_and_the_map_is_made_once(
    masks: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    counted, made = [], []
    count, make = ImageFile.label_counts, FusionResult.label_image
    monkeypatch.setattr(ImageFile, "label_counts", lambda f: (counted.append(f.path), count(f))[1])
    monkeypatch.setattr(FusionResult, "label_image", lambda f: (made.append(f), make(f))[1])
    fused = tmp_path / "fused.nii.gz"
    line = ["fuse", *masks, "-o", str(fused), "--method", method, "-v"]
    assert main(line) == 0
    assert counted == [fused]
    assert len(made) == 1
    assert main([*line, "--overwrite", "--json", str(tmp_path / "fused.json")]) == 0
    assert {str(path) for path in counted} == {*masks, str(fused)}


def test_a_name_made_from_a_pattern_never_overwrites(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Issue 27, item 2: with empty masks there is one label, and r0.nii.gz was overwritten."""
    monkeypatch.chdir(tmp_path)
    names = ["r0.nii.gz", "r1.nii.gz", "r2.nii.gz"]
    for name in names:
        sitk.WriteImage(sitk.Image([4, 5, 6], sitk.sitkUInt8), name)
    before = {name: Path(name).read_bytes() for name in names}
    words = ["fuse", *names, "--method", "vote", "--overwrite"]
    line = error_line(capfd, *words, "-o", "out.nii.gz", "--probability", "r{label}.nii.gz")
    assert "--probability r0.nii.gz would overwrite the input r0.nii.gz" in line
    line = error_line(capfd, *words, "-o", "p0.nii.gz", "--probability", "p{label}.nii.gz")
    assert "would overwrite the file of --output" in line
    Path("q0.nii.gz").write_text("of somebody else")
    words.remove("--overwrite")
    line = error_line(capfd, *words, "-o", "out.nii.gz", "--probability", "q{label}.nii.gz")
    assert "--probability q0.nii.gz exists; give --overwrite to replace it" in line
    assert {name: Path(name).read_bytes() for name in names} == before
    assert sorted(os.listdir()) == ["q0.nii.gz", *names]


def test_an_output_that_appears_during_the_work_is_not_replaced(
    masks: list[str], output: str, capfd: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    execute = MajorityVoteFilter.fuse_to_labels

    def executing(self: Any, images: Any) -> Any:
        Path(output).write_text("of somebody else")
        return execute(self, images)

    monkeypatch.setattr(MajorityVoteFilter, "fuse_to_labels", executing)
    line = error_line(capfd, "fuse", *masks, "--method", "vote", "-o", output)
    assert "exists; give --overwrite" in line
    assert Path(output).read_text(encoding="utf-8") == "of somebody else"


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
@pytest.mark.parametrize("suffix", [".nii.gz", ".mhd"])
def test_who_might_not_read_an_output_may_not_read_the_new_one(
    masks: list[str], tmp_path: Path, suffix: str
) -> None:
    """Issue 27, item 16: --overwrite changed the permissions from 600 to 644."""
    output, report = tmp_path / f"out{suffix}", tmp_path / "report.json"
    words = ["fuse", *masks, "--method", "vote", "-o", str(output), "--json", str(report)]
    assert main(words) == 0
    written = [path for path in tmp_path.iterdir() if path.name.startswith(("out", "report"))]
    for path in written:
        path.chmod(0o600)
    assert main([*words, "--overwrite"]) == 0
    assert [oct(path.stat().st_mode & 0o777) for path in written] == ["0o600"] * len(written)


def test_escape_sequences_in_names_are_not_printed(
    arrays: list[Any], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Issue 27, item 15: escape sequences in file names were printed."""
    paths = [str(tmp_path / f"\x1b]0;owned\x07{number}.nii.gz") for number in range(3)]
    for path, array in zip(paths, arrays, strict=True):
        sitk.WriteImage(image_of(array), path)
    sitk.WriteImage(image_of(arrays[0]), paths[1])
    output, page = str(tmp_path / "\x1b[2Jout.nii.gz"), str(tmp_path / "page.html")
    words = [*paths, "-o", output, "--method", "vote", "--report", page]
    assert main(["fuse", *words]) == 0
    assert main(["fuse", *words]) == 2
    assert main(["info", *paths]) == 0
    assert main(["agreement", *paths, "--csv", str(tmp_path / "a.csv")]) == 0
    captured = capfd.readouterr()
    assert "\\x1b]0;owned\\x07" in captured.out
    assert "\\x1b]0;owned\\x07" in captured.err
    written = [Path(page).read_text("utf-8"), (tmp_path / "a.csv").read_text("utf-8")]
    texts = [captured.out, captured.err, *written]
    assert not any("\x1b" in text or "\x07" in text for text in texts)


# -- info and demo ---------------------------------------------------------------------------


def test_info_describes_files_and_compares_their_spaces(
    masks: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["info", *masks]) == 0
    text = capsys.readouterr().out
    assert text.count("size 12 x 10 x 6, spacing 0.5 x 1 x 2 mm") == 3
    assert text.endswith("All 3 files share a grid.\n")
    assert main(["info", masks[0], str(SAMPLE)]) == 1
    text = capsys.readouterr().out
    assert "uint8, 4 components" in text
    assert f"{SAMPLE} does not occupy the same space as {masks[0]}: size" in text


def test_the_demo_can_be_run_again_and_writes_what_it_says(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    folder = tmp_path / "new" / "demo"
    assert main(["demo", "--output", str(folder)]) == 0
    first = capfd.readouterr()
    assert main(["demo", "--output", str(folder)]) == 0
    assert capfd.readouterr() == first
    assert first.err == ""
    written = {re.sub(r"\d", "*", name) for name in os.listdir(folder)}
    assert written == {
        "rater-*.nii.gz",
        "consensus.nii.gz",
        "report.html",
        "vote.nii.gz",
        "staple.nii.gz",
        "staple-probability.nii.gz",
        "raters.csv",
        "consensus.png",
        "demo.json",
    }
    assert all(name in first.out for name in written)
    lines = first.out.splitlines()
    assert len(lines) <= 24  # fits on one screen
    assert max(map(len, lines)) <= 100 or str(folder) in max(lines, key=len)
    command = first.out.splitlines()[-1].split()
    assert command[:2] == ["itk-consensus", "fuse"]


def test_the_demos_files_agree_with_simpleitk(tmp_path: Path) -> None:
    assert main(["demo", "--output", str(tmp_path)]) == 0
    raters = [sitk.ReadImage(str(tmp_path / f"rater-{index}.nii.gz")) for index in range(4)]
    theirs = sitk.STAPLEImageFilter()
    probability = sitk.GetArrayFromImage(theirs.Execute(raters))
    np.testing.assert_allclose(
        array_of(tmp_path / "staple-probability.nii.gz"), probability, atol=1e-9
    )
    np.testing.assert_array_equal(array_of(tmp_path / "staple.nii.gz"), probability >= 0.5)
    voted = sitk.GetArrayFromImage(sitk.LabelVoting(raters))
    np.testing.assert_array_equal(array_of(tmp_path / "vote.nii.gz"), voted)
    with (tmp_path / "raters.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    for row, sensitivity in zip(rows, theirs.GetSensitivity(), strict=True):
        assert float(row["sensitivity"]) == pytest.approx(sensitivity, abs=5e-5)


def test_the_demo_without_matplotlib_says_how_to_get_the_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(*_: Any) -> None:
        raise MissingDependencyError("pictures need matplotlib: pip install 'itk-consensus[plot]'")

    monkeypatch.setattr(demo_module, "draw_consensus", missing)
    assert main(["demo", "--output", str(tmp_path)]) == 0
    assert "pip install 'itk-consensus[plot]'" in capsys.readouterr().out
    assert not (tmp_path / "consensus.png").exists()


@pytest.mark.parametrize("name", ["rater-0.nii.gz", "report.html", "demo.json"])
def test_the_demo_replaces_only_what_a_demo_wrote(
    tmp_path: Path, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """Issue 27, item 1: the demo overwrote files that it had not created."""
    (tmp_path / name).write_text('["of somebody else"]')
    line = error_line(capfd, "demo", "--output", str(tmp_path))
    assert f"{name} exists; give --overwrite to replace it" in line
    assert os.listdir(tmp_path) == [name]
    assert (tmp_path / name).read_text(encoding="utf-8") == '["of somebody else"]'
    assert main(["demo", "--output", str(tmp_path), "--overwrite"]) == 0
    assert main(["demo", "--output", str(tmp_path)]) == 0


def test_a_demo_folder_that_cannot_be_made_is_one_line(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    occupied = tmp_path / "file"
    occupied.write_text("")
    line = error_line(capfd, "demo", "--output", str(occupied))
    assert line == f"itk-consensus: {occupied}: cannot be created as a folder: File exists\n"


def test_a_report_looks_at_its_case_once(
    masks: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One call of `fuse --report` computed the findings 4 times, `near_copies` 5 times and pair
    counts 8 times.
    """
    asked: Counter[str] = Counter()

    def counting(owner: Any, name: str) -> None:
        found = getattr(owner, name)

        def count(*given: Any, **more: Any) -> Any:
            asked[name] += 1
            return found(*given, **more)

        monkeypatch.setattr(owner, name, count)

    counting(vote_facts_module, "near_copies")
    counting(assessment_module, "diagnose")
    counting(assessment_module, "diagnose_readers")
    counting(PairCounts, "of")
    counting(DecisionPatterns, "from_stack")
    page = tmp_path / "page.html"
    assert main(["fuse", *masks, "-o", str(tmp_path / "f.nii.gz"), "--report", str(page)]) == 0
    assert asked["near_copies"] == asked["diagnose"] == asked["diagnose_readers"] == 1
    assert asked["of"] <= 2
    assert asked["from_stack"] <= 2
