"""The command ``learn``, and the options ``fuse --learned`` and ``batch --learned``."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import SimpleITK as sitk
from learned_cohort import HABITS, case, cohort

import itk_consensus as ic
from itk_consensus.cli.__main__ import main

NAMES = ("anna", "bert", "carl", "dora")


def write(folder: Path, name: str, raters: list, truth: np.ndarray) -> None:
    (folder / name).mkdir(parents=True)
    for who, array in (*zip(NAMES, raters, strict=True), ("truth", truth)):
        sitk.WriteImage(sitk.GetImageFromArray(array[None]), str(folder / name / f"{who}.nii.gz"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("cohort")
    of = cohort(10)
    for number, (raters, truth) in enumerate(zip(of.cases, of.truths, strict=True)):
        write(made / "known", f"case{number:02d}", raters, truth)
    for seed in (3800, 3801):
        write(made / "new", f"case{seed}", *case(seed, HABITS))
    pattern = made / "known" / "{case}" / "{rater}.nii.gz"
    assert run("learn", pattern, "--truth", "truth", "-o", made / "record.json") == 0
    return made


def run(*words: object) -> int:
    try:
        return main([str(word) for word in words])
    except SystemExit as leaving:
        return int(leaving.code or 0)


def test_learn_writes_what_the_filter_learns(folder: Path, tmp_path: Path, capsys) -> None:
    pattern, truth = ("{case}/" + name for name in ("{rater}.nii.gz", "truth.nii.gz"))
    words = (folder / "known" / pattern, "--truth", folder / "known" / truth)
    assert run("learn", *words, "-o", tmp_path / "r.json") == 0
    said = capsys.readouterr().out
    assert "learned from 10 cases" in said
    assert "anna, bert, carl, dora" in said
    filter_ = ic.LearnedFusionFilter.Load(tmp_path / "r.json")
    by_name = ic.LearnedFusionFilter.Load(folder / "record.json")
    assert filter_.GetRecord() == by_name.GetRecord()
    assert filter_.GetExplanation().split(";")[0] in " ".join(said.split())
    assert int(np.argmax([one.weight for one in filter_.GetRaterWeights()[1]])) == 0


def test_lists_have_a_column_for_the_truth_and_records_are_added(
    folder: Path, tmp_path: Path
) -> None:
    rows = [
        {
            "case": f"case{number:02d}",
            "raters": [f"{who}={folder}/known/case{number:02d}/{who}.nii.gz" for who in NAMES],
            "truth": f"{folder}/known/case{number:02d}/truth.nii.gz",
        }
        for number in range(10)
    ]
    for name, part in (("a", rows[:5]), ("b", rows[5:])):
        (tmp_path / f"{name}.json").write_text(json.dumps(part))
    assert run("learn", tmp_path / "a.json", "-o", tmp_path / "ra.json") == 0
    both = ("learn", tmp_path / "b.json", "--add", tmp_path / "ra.json", "-o", tmp_path / "r.json")
    assert run(*both) == 0
    found = ic.LearnedFusionFilter.Load(tmp_path / "r.json").GetRecord()
    assert found == ic.LearnedFusionFilter.Load(folder / "record.json").GetRecord()


def test_fuse_and_batch_answer_as_the_filter(folder: Path, tmp_path: Path) -> None:
    filter_ = ic.LearnedFusionFilter.Load(folder / "record.json")
    files = [folder / "new" / "case3800" / f"{who}.nii.gz" for who in NAMES]
    expected = sitk.GetArrayFromImage(filter_.Execute([sitk.ReadImage(str(f)) for f in files]))
    assert filter_.GetChangedVoxels() > 0
    out = tmp_path / "out.nii.gz"
    record = ("--learned", folder / "record.json")
    assert run("fuse", *files, *record, "-o", out, "--report", tmp_path / "page.html") == 0
    np.testing.assert_array_equal(sitk.GetArrayFromImage(sitk.ReadImage(str(out))), expected)
    for truth in (folder / "new").glob("*/truth.nii.gz"):
        truth.rename(truth.with_name("truth.kept"))
    pattern = folder / "new" / "{case}" / "{rater}.nii.gz"
    assert run("batch", pattern, *record, "-o", tmp_path / "batch") == 0
    made = tmp_path / "batch" / "case3800" / "consensus.nii.gz"
    np.testing.assert_array_equal(sitk.GetArrayFromImage(sitk.ReadImage(str(made))), expected)


def test_other_raters_than_were_learned_of_are_refused(
    folder: Path, tmp_path: Path, capsys
) -> None:
    files = [folder / "known" / "case00" / f"{who}.nii.gz" for who in NAMES]
    record = ("--learned", folder / "record.json", "-o", tmp_path / "out.nii.gz")
    assert run("fuse", *reversed(files), *record) != 0
    assert "in this order; got dora, carl, bert, anna" in " ".join(capsys.readouterr().err.split())
    assert run("fuse", *files[:3], *record) != 0
    assert run("fuse", *files, *record, "--method", "staple") != 0
    assert "give only one of the two" in capsys.readouterr().err
    assert not (tmp_path / "out.nii.gz").exists()


def test_cases_without_a_truth_and_raters_without_names_are_errors(
    folder: Path, tmp_path: Path, capsys
) -> None:
    pattern = folder / "known" / "{case}" / "{rater}.nii.gz"
    out = ("-o", tmp_path / "r.json")
    assert run("learn", pattern, *out) != 0
    assert "--truth is required" in capsys.readouterr().err
    assert run("learn", pattern, "--truth", "nobody", *out) != 0
    assert "no case has such a truth" in capsys.readouterr().err
    assert run("learn", pattern, "--truth", "truth", "-o", folder / "record.json") != 0
    assert "--overwrite" in capsys.readouterr().err
