"""A cohort is fused once, completely, and with the same results on any machine."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import SimpleITK as sitk

import itk_consensus
from itk_consensus.batch.batch import run_batch, table_text
from itk_consensus.batch.cases import BatchCase, find_cases
from itk_consensus.batch.one_case import CaseResult, run_case, worst_first
from itk_consensus.batch.plan import Plan
from itk_consensus.batch.workers import results_of
from itk_consensus.cli import main
from itk_consensus.cli.batch import _progress, time_text
from itk_consensus.cli.console import Console

ROOT = Path(itk_consensus.__file__).resolve().parents[1]


def write_cohort(folder: Path, number: int) -> list[BatchCase]:
    """Write discs by three raters whose agreement decreases from case to case."""
    y, x = np.mgrid[:20, :24]
    for index in range(number):
        case = folder / f"c{index:02d}"
        case.mkdir(parents=True)
        for rater in range(3):
            mask = np.hypot(y - 10, x - 11 - rater * index / number) < 6
            image = sitk.GetImageFromArray(mask.astype(np.uint8))
            sitk.WriteImage(image, str(case / f"rater{rater}.nii.gz"))
    return find_cases(f"{folder}/{{case}}/{{rater}}.nii.gz")


@pytest.fixture
def cohort(tmp_path: Path) -> list[BatchCase]:
    return write_cohort(tmp_path / "in", 4)


def in_this_process(cases: list[BatchCase], plan: Plan) -> list[CaseResult]:
    return worst_first([run_case(case, plan) for case in cases])


def records(folder: Path) -> dict[Path, int]:
    """Return the records of the finished cases."""
    return {
        path: path.stat().st_mtime_ns
        for path in folder.glob("*/case.json")
        if json.loads(path.read_text(encoding="utf-8"))["result"]
    }


def test_a_case_is_what_the_filter_makes_of_it(cohort: list[BatchCase], tmp_path: Path) -> None:
    plan = Plan("vote", tmp_path / "out", {"Threshold": 0.4})
    result = run_case(cohort[-1], plan)
    images = [sitk.ReadImage(str(path)) for path in cohort[-1].raters]
    expected = itk_consensus.MajorityVote(images, threshold=0.4)
    written = sitk.ReadImage(str(plan.output / result.consensus))
    np.testing.assert_array_equal(sitk.GetArrayFromImage(written), sitk.GetArrayFromImage(expected))
    assert result.mean_dice == itk_consensus.agreement(images).mean_dice()
    assert (result.status, result.raters, result.labels) == ("done", 3, 1)


def test_only_what_changed_is_done_again(cohort: list[BatchCase], tmp_path: Path) -> None:
    plan = Plan("vote", tmp_path / "out", reports=True)
    first = in_this_process(cohort, plan)
    before = records(plan.output)
    again = [replace(one, status="done before") for one in first]
    assert in_this_process(cohort, plan) == again
    assert records(plan.output) == before
    cohort[0].raters[0].write_bytes(cohort[1].raters[2].read_bytes())
    (plan.output / "c01" / "report.html").unlink()
    in_this_process(cohort, plan)
    after = records(plan.output)
    redone = {path.parent.name for path in before if after[path] != before[path]}
    assert redone == {"c00", "c01"}
    in_this_process(cohort, Plan("vote", plan.output, {"Threshold": 0.3}, reports=True))
    assert all(changed != after[path] for path, changed in records(plan.output).items())


def test_a_bad_case_is_a_row_with_its_reason(cohort: list[BatchCase], tmp_path: Path) -> None:
    cohort[2].raters[1].write_bytes(b"no image")
    cohort[3].raters[0].unlink()
    results = in_this_process(cohort, Plan("vote", tmp_path / "out"))
    assert [result.status for result in results] == ["failed", "failed", "done", "done"]
    assert "rater1.nii.gz: cannot be read as an image" in results[0].finding
    assert "No such file" in results[1].finding
    assert not (tmp_path / "out" / "c02").exists()


def test_the_worst_case_comes_first() -> None:
    rows = [
        CaseResult("good", "done", mean_dice=0.9),
        CaseResult("alone", "done"),
        CaseResult("bad", "done", mean_dice=0.2),
        CaseResult("broken", "failed"),
    ]
    assert [row.case for row in worst_first(rows)] == ["broken", "bad", "good", "alone"]


@pytest.mark.slow
def test_processes_and_dask_give_the_same_files(cohort: list[BatchCase], tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    written = {}
    for name, scheduler in (("processes", None), ("dask", "local")):
        plan = Plan("vote", tmp_path / name)
        run_batch(cohort, plan, jobs=2, scheduler=scheduler)
        files = [path for path in sorted(plan.output.rglob("*")) if path.is_file()]
        written[name] = {str(path.relative_to(plan.output)): path.read_bytes() for path in files}
    assert len(written["dask"]) == 4 * len(cohort) + 9
    assert written["processes"] == written["dask"]


def _die_on_the_second(case: BatchCase) -> CaseResult:
    if case.name == "c01":
        os._exit(3)
    return CaseResult(case.name, "done")


@pytest.mark.slow
def test_a_case_that_kills_its_process_costs_no_other_case(cohort: list[BatchCase]) -> None:
    rows = {row.case: row for row in results_of(cohort, _die_on_the_second, jobs=2)}
    assert {case for case, row in rows.items() if row.status == "done"} == {"c00", "c02", "c03"}
    assert "ended abruptly" in rows["c01"].finding


def command(inputs: Path, output: Path) -> list[str]:
    pattern = f"{inputs}/{{case}}/{{rater}}.nii.gz"
    words = ["batch", pattern, "-o", str(output), "--method", "vote", "--jobs", "2"]
    return [sys.executable, "-m", "itk_consensus.cli", *words]


@pytest.mark.slow
def test_killed_and_started_again_it_redoes_nothing_and_ends_with_the_same_table(
    tmp_path: Path,
) -> None:
    inputs, output = tmp_path / "in", tmp_path / "out"
    write_cohort(inputs, 20)
    (inputs / "c05" / "rater1.nii.gz").write_bytes(b"no image")
    process = subprocess.Popen(command(inputs, output), cwd=ROOT, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while len(records(output)) < 3 and time.monotonic() < deadline:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    time.sleep(1.0)  # the workers notice and exit
    before = records(output)
    assert 3 <= len(before) < 19
    again = subprocess.run(command(inputs, output), cwd=ROOT, capture_output=True, check=False)
    assert again.returncode == 1
    assert b"case c05" in again.stderr
    after = records(output)
    assert len(after) == 19
    assert {path: after[path] for path in before} == before
    plan = Plan("vote", tmp_path / "clean")
    rows = in_this_process(find_cases(f"{inputs}/{{case}}/{{rater}}.nii.gz"), plan)
    assert (output / "summary.csv").read_text(encoding="utf-8") == table_text(rows)


def test_a_list_of_cases_gives_a_table_and_a_page(
    cohort: list[BatchCase], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [f"{c.name},{';'.join(map(str, c.raters))}" for c in cohort]
    (tmp_path / "cases.csv").write_text("\n".join(["case,raters", *rows, "gone,no.nii;not.nii"]))
    output = tmp_path / "new" / "out"
    code = main(["batch", str(tmp_path / "cases.csv"), "-o", str(output), "--method", "Vote"])
    captured = capsys.readouterr()
    assert code == 1
    assert "case gone: FileError" in captured.err
    assert re.search(r"failed +1\n", captured.out)
    table = list(csv.DictReader((output / "summary.csv").read_text(encoding="utf-8").splitlines()))
    assert [row["case"] for row in table] == ["gone", "c03", "c02", "c01", "c00"]
    index = (output / "index.html").read_text(encoding="utf-8")
    assert index.index("c03") < index.index("c00")
    record = json.loads((output / "c00" / "case.json").read_text(encoding="utf-8"))
    assert record["fingerprint"]["method"] == "vote"


def test_wrong_options_stop_before_any_work(
    cohort: list[BatchCase], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pattern = f"{tmp_path}/in/{{case}}/{{rater}}.nii.gz"
    output = str(tmp_path / "out")
    for words, message in (
        (["--jobs", "0"], "--jobs: must be an integer >= 1 and <= 256, got '0'"),
        (["--images", "ct.nii"], "must contain {case}"),
        (["--threshold", "7", "--method", "vote"], "--threshold"),
    ):
        assert main(["batch", pattern, "-o", output, *words]) == 2
        assert message in capsys.readouterr().err
    assert not Path(output).exists()


@pytest.mark.parametrize(
    ("cases", "message"),
    [
        ("{folder}", "holds no BIDS segmentations of raters, such as *_desc-<rater>_dseg.nii.gz"),
        ("{folder}/{{rater}}.nii.gz", "a pattern with {case} and {rater}"),
        ("{folder}/*.nii.gz", "a pattern with {case} and {rater}"),
        ("{folder}/{{case}}/{{rater}}.mha", "no file matches this pattern"),
    ],
)
def test_cases_that_are_not_found_say_what_was_looked_for(
    cases: str, message: str, cohort: list[BatchCase], tmp_path: Path, capsys: Any
) -> None:
    words = [cases.format(folder=tmp_path / "in"), "-o", str(tmp_path / "out")]
    assert main(["batch", *words]) == 2
    assert message in capsys.readouterr().err


def test_results_never_lie_among_the_raters(
    cohort: list[BatchCase], tmp_path: Path, capsys: Any
) -> None:
    """A second run would read the consensus of the first one as a rater."""
    pattern = f"{tmp_path}/in/{{case}}/{{rater}}.nii.gz"
    assert main(["batch", pattern, "-o", str(tmp_path / "in"), "--method", "vote"]) == 2
    assert "would lie among its raters" in capsys.readouterr().err
    assert sorted(path.name for path in (tmp_path / "in").iterdir()) == [c.name for c in cohort]


def test_paths_are_those_of_any_worker(
    cohort: list[BatchCase], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers on a cluster may be started in another folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere").mkdir()

    def elsewhere(cases: Any, work: Any, **_: Any) -> Any:
        monkeypatch.chdir(tmp_path / "elsewhere")
        return [work(case) for case in cases]

    monkeypatch.setattr("itk_consensus.batch.batch.results_of", elsewhere)
    results = run_batch(find_cases("in/{case}/{rater}.nii.gz"), Plan("vote", Path("out")))
    assert {result.status for result in results} == {"done"}
    assert (tmp_path / "out" / "c00" / "consensus.nii.gz").is_file()


def test_copies_and_ignored_labels_are_in_the_table(tmp_path: Path, capsys: Any) -> None:
    image = sitk.GetImageFromArray(np.arange(60, dtype=np.uint8).reshape(3, 4, 5) % 3)
    for rater in ("ann", "bob"):
        sitk.WriteImage(image, str(tmp_path / f"{rater}.nii.gz"))
    case = BatchCase.of_files("a", [tmp_path / "ann.nii.gz", tmp_path / "bob.nii.gz"])
    (result,) = run_batch([case], Plan("staple", tmp_path / "out"))
    assert result.notes == "ann and bob hold the same labels; staple takes 2 for background"
    _progress(1, Console())(result)
    assert f"case a: {result.notes}" in capsys.readouterr().err


def test_the_bar_tells_how_many_cases_and_how_long() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Terminal()
    after_case = _progress(3, Console(screen))
    after_case(CaseResult("a", "done"))
    after_case(CaseResult("b", "failed", finding="why"))
    assert "1 of 3 cases, 0 s left" in screen.getvalue()
    assert "warning: case b: why\n" in screen.getvalue()


def test_durations_read_like_speech() -> None:
    assert [time_text(s) for s in (12.4, 89, 200, 7500)] == ["12 s", "89 s", "3 min", "2 h 5 min"]
