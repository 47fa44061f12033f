"""The introductory examples are short, use only public names, and run."""

from __future__ import annotations

import ast
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import SimpleITK as sitk

import itk_consensus

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NUMBERED = sorted(EXAMPLES.glob("[0-9][0-9]_*.py"))


def example(name: str) -> ModuleType:
    (path,) = EXAMPLES.glob(f"{name}_*.py")
    spec = importlib.util.spec_from_file_location(f"example_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", NUMBERED, ids=lambda path: path.stem)
def test_an_example_is_short_and_uses_public_names_only(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) < 60
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom):
            assert not str(node.module).startswith("itk_consensus")
        elif isinstance(node, ast.Import):
            names = {alias.name for alias in node.names if alias.name.startswith("itk_consensus")}
            assert names <= {"itk_consensus"}
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "ic":
            assert node.attr in dir(itk_consensus)


def test_the_drop_in_differs_from_simpleitk_by_rounding_only(
    capsys: pytest.CaptureFixture[str],
) -> None:
    example("01").main()
    said = capsys.readouterr().out
    assert float(said.splitlines()[0].split(": ")[1]) < 1e-9
    assert "same grid: True" in said


def test_raters_are_told_apart_with_reasons_for_doubt(capsys: pytest.CaptureFixture[str]) -> None:
    example("02").main()
    table, doubts = capsys.readouterr().out.split(
        "\nReasons for doubt, if any, and what else to know:\n"
    )
    overlaps = [float(line.split()[-1]) for line in table.splitlines()[1:]]
    assert len(overlaps) == 4
    assert min(overlaps) < max(overlaps) < 1
    told = re.findall(r"^(look|  therefore|note): (.+)", doubts, re.MULTILINE)
    assert len(told) == len(doubts.splitlines())
    ranks = [kind for kind, _ in told]
    assert ranks[0] == "look"
    assert "  therefore" in ranks
    assert ranks == sorted(ranks, key=lambda kind: kind == "note")  # notes come last
    assert told[0][1].startswith(f"Reader {np.argmin(overlaps)} drew ")
    # the note comes from the fusion
    assert any("MaskImage" in text for kind, text in told if kind == "note")


@pytest.mark.filterwarnings("ignore::itk_consensus.core.errors.ConsensusWarning")
def test_the_band_of_new_cases_keeps_its_promise(capsys: pytest.CaptureFixture[str]) -> None:
    example("03").main()
    kept, cases = re.findall(r"In (\d+) of (\d+) new cases", capsys.readouterr().out)[0]
    assert int(kept) >= 0.8 * int(cases)


def test_a_cohort_rates_its_raters_almost_as_a_truth_would(
    capsys: pytest.CaptureFixture[str],
) -> None:
    example("04").main()
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if "rater" in line]
    assert len(rows) == 5
    for _, _, truly, together, lowest, _, highest in rows:
        assert abs(float(together) - float(truly)) < 0.06
        assert abs(float(together) - float(truly)) < float(highest) - float(lowest)


# The training is so short that it warns.
@pytest.mark.filterwarnings("ignore::itk_consensus.core.errors.ConsensusWarning")
def test_the_deep_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    example("05").main(6, 3)
    assert capsys.readouterr().out.count("reliability of rater") == 5


@pytest.mark.slow
def test_the_deep_example_gains_on_the_vote(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    example("05").main()
    vote, deep = re.findall(r"vote ([.\d]+), deep ([.\d]+)", capsys.readouterr().out)[0]
    assert float(deep) > float(vote)


@pytest.mark.slow
def test_atlases_are_registered_and_fused_real_ones_and_a_phantom_s(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    registering = example("06")
    folders = [Path("/nowhere"), registering.REAL]
    for folder in folders[: 1 + folders[1].is_dir()]:
        monkeypatch.setattr(registering, "REAL", folder)
        scores = registering.main()
        assert capsys.readouterr().out.count("mean Dice") == len(scores)
        assert scores["vote"] > scores["a single atlas"]
        assert min(scores["locally weighted vote"], scores["joint label fusion"]) > scores["vote"]


def test_the_ensemble_gains_by_its_probabilities() -> None:
    pytest.importorskip("monai")
    scores = example("07").main()
    assert scores["mean of probabilities"] > scores["MONAI's vote"] > scores["labels of model0"]
    assert scores["corrected vote"] > scores["mean of probabilities"]


def test_three_readers_dicom_objects_become_one_that_highdicom_reads(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    highdicom, pydicom = pytest.importorskip("highdicom"), pytest.importorskip("pydicom")
    made = example("08")
    made.main(tmp_path)
    said = capsys.readouterr().out
    seg = highdicom.seg.segread(tmp_path / "consensus.dcm")
    slices = [pydicom.dcmread(tmp_path / f"slice{n}.dcm").SOPInstanceUID for n in range(12)]
    volume = seg.get_pixels_by_source_instance(slices, assert_missing_frames_are_empty=True)
    grid = sitk.Image(48, 40, 12, sitk.sitkUInt8)
    readers = [made.outline(grid, number) for number in range(3)]
    for number, name in enumerate(("organ", "lesion")):
        votes = sum(sitk.GetArrayFromImage(reader[name]).astype(int) for reader in readers)
        assert f"{name}: {np.count_nonzero(votes >= 2)} voxels" in said
        np.testing.assert_array_equal(volume[..., number], votes >= 2)


def test_a_cluster_gives_the_bits_of_memory(capsys: pytest.CaptureFixture[str]) -> None:
    example("09").main()
    assert "the same bits as in memory: True" in capsys.readouterr().out


def test_a_margin_makes_a_plan_robust_to_contours_that_it_might_have_been(
    capsys: pytest.CaptureFixture[str],
) -> None:
    example("10").main()
    without, with_margin = (
        int(line.split("%")[0])
        for line in capsys.readouterr().out.splitlines()
        if "of them" in line
    )
    assert without < 80 < with_margin


def test_a_training_target_is_wrong_less_often_where_unsure_voxels_are_ignored() -> None:
    found = example("11").main()
    assert found["wrong where not ignored"] < found["the vote is wrong"]
    assert 0 < found["ignored, of the organ"] < 0.5
