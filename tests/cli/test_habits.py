"""Conventions of command lines: suggestions, quiet mode, completion, option files."""

from __future__ import annotations

import csv
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import SimpleITK as sitk

import itk_consensus as ic
from itk_consensus.cli import main
from itk_consensus.methods.registry import METHODS


def write(path: Path, array: Any) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    sitk.WriteImage(sitk.GetImageFromArray(array), str(path))
    return str(path)


def table_of(folder: Path) -> dict[str, dict[str, str]]:
    """Return the rows of a batch's table, by case."""
    lines = (folder / "summary.csv").read_text(encoding="utf-8").splitlines()
    return {row["case"]: row for row in csv.DictReader(lines)}


@pytest.fixture
def masks(tmp_path: Path) -> list[str]:
    """Write four readers who agree on an off-centre box."""
    paths = []
    for rater in range(4):
        mask = np.zeros((12, 24, 30), np.uint8)
        mask[2:9, 3:12, 4 : 13 + rater % 2] = 1
        paths.append(write(tmp_path / "raters" / f"reader-{rater}.nii.gz", mask))
    return paths


@pytest.fixture
def mirrored(masks: list[str]) -> list[str]:
    mask = sitk.GetArrayFromImage(sitk.ReadImage(masks[2]))
    write(Path(masks[2]), mask[:, :, ::-1])
    return masks


def ct() -> Any:
    return np.random.default_rng(3).normal(0, 300, (12, 24, 30)).astype(np.int16)


# -- findings --------------------------------------------------------------------------------


def test_findings_do_not_change_the_exit_code_unless_asked(
    mirrored: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["fuse", *mirrored, "-o", str(tmp_path / "c.nii.gz"), "--overwrite"]
    assert main(words) == 0
    assert "reader-2 is mirrored left-right" in capsys.readouterr().out
    assert main([*words, "--fail-on", "look"]) == 1
    assert main([*words, "--fail-on", "do-not-use"]) == 0
    page = ["report", *mirrored, "-o", str(tmp_path / "page.html")]
    assert main([*page, "--fail-on", "look"]) == 1
    assert (tmp_path / "page.html").exists()


def test_a_guard_that_could_not_see_anything_is_refused(
    masks: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "out.zarr"
    assert main(["fuse", *masks, "-o", str(output), "--fail-on", "look"]) == 2
    assert "--fail-on needs a verdict" in capsys.readouterr().err


def test_readers_who_agree_pass_a_pipeline(masks: list[str], tmp_path: Path) -> None:
    assert main(["fuse", *masks, "-o", str(tmp_path / "c.nii.gz"), "--fail-on", "look"]) == 0


def test_a_batch_says_the_verdict_and_who_it_is_about(mirrored: list[str], tmp_path: Path) -> None:
    for case in ("a", "b"):
        for path in mirrored if case == "a" else [one for one in mirrored if one != mirrored[2]]:
            target = tmp_path / "study" / case / Path(path).name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
    words = ["batch", f"{tmp_path}/study/{{case}}/{{rater}}.nii.gz", "-o", str(tmp_path / "out")]
    assert main(words) == 0
    rows = table_of(tmp_path / "out")
    assert rows["a"]["agreement"] == "poor"
    assert rows["a"]["verdict"] == "look"
    assert rows["a"]["reader"] == "reader-2"
    assert rows["a"]["rule"] == "mirrored mask"
    assert rows["a"]["finding"].startswith("reader-2 is mirrored left-right")
    assert rows["a"]["where"].startswith("slice ")
    assert rows["b"]["verdict"] == "use"
    assert main([*words, "--fail-on", "look"]) == 1
    index = (tmp_path / "out/index.html").read_text(encoding="utf-8")
    assert "reader-2 is mirrored left-right" in index


# -- images are not raters -----------------------------------------------------------------------


@pytest.mark.parametrize("command", ["fuse", "report", "agreement"])
def test_an_image_among_the_raters_is_named_with_the_way_out(
    command: str, masks: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    image = write(tmp_path / "raters" / "ct.nii.gz", ct())
    output = [] if command == "agreement" else ["-o", str(tmp_path / "c.nii.gz")]
    assert main([command, *masks, image, *output]) == 2
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1
    assert f"{image}: looks like an image, not like a rater's labels (" in said
    assert "--image" in said
    assert not (tmp_path / "c.nii.gz").exists()


def test_an_image_counts_as_a_rater_if_somebody_insists(masks: list[str], tmp_path: Path) -> None:
    image = write(tmp_path / "raters" / "ct.nii.gz", ct())
    words = ["fuse", *masks, image, "-o", str(tmp_path / "c.nii.gz")]
    assert main(words) == 2
    assert main([*words, "--inputs-are-labels", "yes"]) == 0


def test_an_image_as_the_mask_is_refused_by_name(
    masks: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    image = write(tmp_path / "ct.nii.gz", ct())
    for method in ("consensus", "staple"):
        words = ["fuse", *masks, "--mask", image, "--method", method]
        assert main([*words, "-o", str(tmp_path / "c.nii.gz")]) == 2
        assert f"{image}: looks like an image, not like a mask" in capsys.readouterr().err


def test_images_and_labels_of_atlases_that_are_swapped_are_refused(
    masks: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    image = write(tmp_path / "ct.nii.gz", ct())
    output = str(tmp_path / "c.nii.gz")
    words = ["atlas", "-t", image, "-g", masks[0], masks[1], "-l", image, image, "-o", output]
    assert main(words) == 2
    said = capsys.readouterr().err
    assert f"{image}: looks like an image, not like a rater's labels" in said
    assert "-g" in said
    assert not Path(output).exists()


# -- our own results are not raters --------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["nii.gz", "nii", "nrrd", "nhdr", "mha", "mhd", "hdr"])
def test_an_earlier_consensus_is_no_rater_unless_somebody_says_so(
    suffix: str, masks: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    earlier, output = str(tmp_path / f"earlier.{suffix}"), str(tmp_path / "c.nii.gz")
    assert main(["fuse", *masks, "-o", earlier]) == 0
    capsys.readouterr()
    for words in (["fuse", *masks, earlier, "-o", output], ["agreement", *masks, earlier]):
        assert main(words) == 2
        said = capsys.readouterr().err
        assert f"{earlier}: was written by itk-consensus" in said
        assert "--accept-own-outputs" in said
        assert len(said.splitlines()) == 1
        assert main([*words, "--accept-own-outputs"]) == 0
        capsys.readouterr()
    assert main(["agreement", *masks, "--consensus", earlier]) == 0


def test_a_batch_refuses_an_earlier_consensus_among_its_raters(
    masks: list[str], tmp_path: Path
) -> None:
    study = tmp_path / "study"
    shutil.copytree(tmp_path / "raters", study / "a")
    assert main(["fuse", *masks, "-o", str(study / "a" / "old.nii.gz")]) == 0
    words = ["batch", f"{study}/{{case}}/{{rater}}.nii.gz", "-o", str(tmp_path / "out")]
    assert main(words) == 1
    assert "old.nii.gz: was written by itk-consensus" in table_of(tmp_path / "out")["a"]["finding"]
    assert main([*words, "--accept-own-outputs"]) == 0


def test_the_mark_of_a_result_is_in_its_file_alone_and_is_not_inherited(
    masks: list[str], tmp_path: Path
) -> None:
    for suffix in ("nii.gz", "nrrd"):
        earlier = str(tmp_path / f"earlier.{suffix}")
        assert main(["fuse", *masks, "-o", earlier]) == 0
        read = sitk.ReadImage(earlier)
        assert "output of itk_consensus" in map(read.GetMetaData, read.GetMetaDataKeys())
        for keep in ("all_but_identity", "everything"):
            fused = ic.Consensus([read, read], keepMetaData=keep)
            values = map(fused.GetMetaData, fused.GetMetaDataKeys())
            assert "output of itk_consensus" not in values
    assert not ic.Consensus([sitk.ReadImage(masks[0])] * 2).HasMetaDataKey("itk_consensus_output")


# -- the outlier ----------------------------------------------------------------------------------


def test_of_several_files_the_one_that_lost_its_spacing_is_named(
    masks: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lost = sitk.ReadImage(masks[0])
    for path in masks:
        image = sitk.ReadImage(path)
        image.SetSpacing((0.5, 0.5, 2.0))
        sitk.WriteImage(image, path)
        lost.CopyInformation(image)
    lost.SetSpacing((1.0, 1.0, 1.0))
    sitk.WriteImage(lost, masks[0])
    assert main(["fuse", *masks, "-o", str(tmp_path / "c.nii.gz")]) == 2
    said = capsys.readouterr().err
    told = "spacing (1.0, 1.0, 1.0) instead of (0.5, 0.5, 2.0)"
    assert f"{masks[0]} does not occupy the same space as {masks[1]}: {told}" in said
    assert f"If only its header was reset, copy that of {masks[1]}; otherwise" in said
    assert f"onto the grid of {masks[1]}" in said
    with pytest.raises(ic.GeometryError, match="input 0 does not occupy the same") as raised:
        ic.Consensus([sitk.ReadImage(path) for path in masks])
    assert told in str(raised.value)
    assert "If only the header of input 0 was reset, copy it" in str(raised.value)


def test_a_folder_with_an_image_fails_by_name_and_the_others_go_on(
    masks: list[str], tmp_path: Path
) -> None:
    study = tmp_path / "study"
    shutil.copytree(tmp_path / "raters", study / "good")
    shutil.copytree(tmp_path / "raters", study / "bad")
    write(study / "bad" / "ct.nii.gz", ct())
    words = ["batch", f"{study}/{{case}}/{{rater}}.nii.gz", "-o", str(tmp_path / "out")]
    assert main(words) == 1
    rows = table_of(tmp_path / "out")
    assert rows["good"]["status"] == "done"
    assert "ct.nii.gz: looks like an image" in rows["bad"]["finding"]
    assert "--images" in rows["bad"]["finding"]
    assert main([*words, "--images", f"{study}/{{case}}/ct.nii.gz"]) == 0


def test_a_parcellation_of_many_labels_is_no_image(tmp_path: Path) -> None:
    parcels = np.arange(8 * 12 * 15).reshape(8, 12, 15) % 400
    labels = np.kron(parcels, np.ones((3, 4, 4))).astype(np.int16)
    paths = [write(tmp_path / f"{rater}.nii.gz", labels) for rater in range(3)]
    assert main(["fuse", *paths, "-o", str(tmp_path / "c.nii.gz"), "--method", "vote", "-q"]) == 0


# -- suggestions ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["fus"], "did you mean fuse?"),
        (["fuse", "{0}", "-o", "x.nii.gz", "--method", "stapel"], "did you mean staple?"),
        (["fuse", "{0}", "-o", "x.nii.gz", "--metod", "vote"], "did you mean --method?"),
        (["fuse", "{0}", "-o", "x.nii.gz", "--mising-label=7"], "did you mean --missing-label?"),
        (["fuse", "{missing}", "-o", "x.nii.gz"], "reader-0.nii.gz?"),
    ],
)
def test_a_misspelling_is_answered_by_a_guess(
    words: list[str], hint: str, masks: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    missing = masks[0].replace("reader-0", "raeder-0")
    assert main([word.format(masks[0], missing=missing) for word in words]) == 2
    assert hint in capsys.readouterr().err


# -- verbose and quiet ---------------------------------------------------------------------------


def test_quiet_leaves_errors_only_and_verbose_says_what_is_done(
    masks: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["fuse", *masks, masks[0], "-o", str(tmp_path / "c.nii.gz"), "--overwrite"]
    assert main([*words, "-q"]) == 0
    assert capsys.readouterr() == ("", "")
    assert main([*words, "-v"]) == 0
    said = capsys.readouterr().err
    assert f"reading {masks[1]}" in said
    assert "ConsensusFilter" in said
    assert main([*words, "-q", "--label", "1"]) == 2
    assert "--label chooses" in capsys.readouterr().err


def test_the_uncertainty_is_listed_among_what_was_written(
    masks: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "u.nii.gz"
    assert main(["fuse", *masks, "-o", str(tmp_path / "c.nii.gz"), "--uncertainty", str(path)]) == 0
    assert f"uncertainty  {path}" in capsys.readouterr().out


# -- completion ------------------------------------------------------------------------------


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["ba"], {"batch", "band"}),
        (["fuse", "--maximum-it"], {"--maximum-iterations"}),
        (["fuse", "--method", "multi"], {"multilabel-staple"}),
        (["batch", "--config"], {"--config"}),
        (["fuse", "--method", ""], set(METHODS)),
    ],
)
def test_bash_completes(
    words: list[str], expected: set[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["completion", "bash"]) == 0
    script = tmp_path / "completion.sh"
    script.write_text(capsys.readouterr().out)
    ask = (
        f'source "{script}"; COMP_WORDS=(itk-consensus "$@"); COMP_CWORD=$#; '
        '_itk_consensus; echo "${COMPREPLY[@]}"'
    )
    found = subprocess.run(
        ["bash", "-c", ask, "bash", *words], capture_output=True, text=True, check=True
    )
    assert set(found.stdout.split()) == expected


# -- options from a file ---------------------------------------------------------------------


def test_a_batch_takes_every_option_from_a_file_and_the_command_line_wins(
    masks: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(tmp_path / "raters", tmp_path / "study" / "a")
    config = tmp_path / "batch.toml"
    config.write_text(
        f'cases = "{tmp_path}/study/{{case}}/{{rater}}.nii.gz"\noutput = "{tmp_path}/out"\n'
        'method = "staple"\nmaximum_iterations = 7\nreports = true\njobs = 1\n'
        "agreement-limits = {poor_dice = 0.5, good_dice = 0.7}\n"
    )
    assert main(["batch", "--config", str(config)]) == 0
    assert capsys.readouterr().out.startswith("staple of 1 case\n")
    page = (tmp_path / "out/a/report.html").read_text(encoding="utf-8")
    assert "<td>7</td>" in page.split("MaximumIterations")[1][:100]
    assert main(["batch", "--config", str(config), "-o", str(tmp_path / "other")]) == 0
    assert (tmp_path / "other/summary.csv").exists()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("methd = 'vote'", "has an option 'methd' that itk-consensus batch --method consensus"),
        ("methd = 'vote'", "did you mean method?"),
        ("reports = 3", "reports must be true or false, got 3"),
        ("method = ", "is not a TOML file: "),
        ("jobs = 0", "--jobs: must be an integer >= 1"),
        ("output = 'x'", "the following arguments are required: CASES"),
    ],
)
def test_a_file_of_options_that_is_wrong_is_named(
    text: str, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "batch.toml"
    config.write_text(text)
    assert main(["batch", "--config", str(config), "-o", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert problem in said
    assert len(said.splitlines()) == 1


# -- Ctrl-C ----------------------------------------------------------------------------------


@pytest.mark.skipif(os.name != "posix", reason="there are no signals")
def test_two_interrupts_end_a_batch_without_a_traceback(tmp_path: Path) -> None:
    """The batch hung for 20 s; the test checks how it terminates, and its message."""
    side = 96
    for case in range(3):
        for rater in range(3):
            mask = np.zeros((side,) * 3, np.uint8)
            mask[8:-8, 8:-8, 8 : -8 - rater] = 1
            write(tmp_path / f"{case}" / f"{rater}.nrrd", mask)
    start = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
    run = "from itk_consensus.cli import main; sys.exit(main())"
    words = ["batch", f"{tmp_path}/{{case}}/{{rater}}.nrrd", "-o", str(tmp_path / "out")]
    process = subprocess.Popen(
        [sys.executable, "-c", start + run, *words, "--jobs", "2"],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 120
    while not (tmp_path / "out").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    for _ in range(2):
        try:
            os.killpg(process.pid, signal.SIGINT)
        except ProcessLookupError:
            break
        time.sleep(0.2)
    _, said = process.communicate(timeout=60)
    assert process.returncode in (130, -signal.SIGINT)
    assert "Traceback" not in said
