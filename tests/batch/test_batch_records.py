"""A batch does not overwrite files it did not create, and a case is done only if its files are
of one run.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import SimpleITK as sitk

from itk_consensus.batch import one_case
from itk_consensus.batch.batch import run_batch, table_text
from itk_consensus.batch.cases import BatchCase, find_cases
from itk_consensus.batch.one_case import CaseResult, run_case
from itk_consensus.batch.plan import Plan
from itk_consensus.cli import main
from itk_consensus.storage.locking import exclusive_lock

RATERS = np.arange(120, dtype=np.uint8).reshape(4, 5, 6)


def write(path: Path, array: np.ndarray) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    sitk.WriteImage(sitk.GetImageFromArray(array.astype(np.uint8)), str(path))
    return path


def voxels(path: Path) -> np.ndarray:
    return sitk.GetArrayFromImage(sitk.ReadImage(str(path)))


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create two cases with three raters each in the current folder; no worker processes are
    used.
    """
    monkeypatch.chdir(tmp_path)
    for case in "ab":
        for rater in range(3):
            write(Path("in", case, f"r{rater}.nii.gz"), (RATERS + ord(case)) % (rater + 2) > 0)

    def in_this_process(cases: Any, work: Any, **_: Any) -> Iterator[CaseResult]:
        yield from map(work, cases)

    monkeypatch.setattr("itk_consensus.batch.batch.results_of", in_this_process)
    return tmp_path


def batch(*words: str, cases: str = "in/{case}/{rater}.nii.gz", method: str = "vote") -> int:
    return main(["batch", cases, "-o", "out", "--method", method, *words])


# -- input files are preserved --------------------------------------------------------------------


def list_of(rows: dict[str, str], image: str = "") -> str:
    """Write a list of cases in which case a is unchanged."""
    lines = ["case,raters,image", f"a,in/a/r0.nii.gz;in/a/r1.nii.gz,{image or 'in/a/r2.nii.gz'}"]
    lines += [f"{case},{files},{image or 'in/b/r2.nii.gz'}" for case, files in rows.items()]
    Path("cases.csv").write_text("\n".join(lines))
    return "cases.csv"


@pytest.mark.parametrize(
    "way",
    ["rater", "image", "mask", "link to a rater", "link to a case", "the list", "raw", "a folder"],
)
def test_a_batch_never_overwrites_what_it_reads(folder: Path, way: str, capfd: Any) -> None:
    """Issue 27, item 1: in six of these situations an input was overwritten with exit code 0."""
    words: list[str] = []
    Path("out/a").mkdir(parents=True)
    target = Path("out/a/consensus.nii.gz")
    cases = "in/{case}/{rater}.nii.gz"
    if way in ("rater", "image", "mask"):
        write(target, RATERS > 40)
    if way == "rater":
        cases = list_of({"b": "in/b/r0.nii.gz;out/a/consensus.nii.gz"})
    elif way == "image":
        cases = list_of({"b": "in/b/r0.nii.gz;in/b/r1.nii.gz"}, image="out/a/consensus.nii.gz")
    elif way == "mask":
        words = ["--mask", str(target)]
    elif way == "link to a rater":
        target.symlink_to("../../in/b/r0.nii.gz")
    elif way == "link to a case":
        Path("out/b").symlink_to("a")
    elif way == "the list":
        Path(list_of({"b": "in/b/r0.nii.gz;in/b/r1.nii.gz"})).rename("out/summary.csv")
        text = Path("out/summary.csv").read_text("utf-8").replace("in/", "../in/")
        Path("out/summary.csv").write_text(text)
        cases = "out/summary.csv"
    elif way == "raw":
        write(Path("in/b/r3.mhd"), RATERS > 40)
        Path("in/b/r3.raw").rename(target)
        header = Path("in/b/r3.mhd").read_text("utf-8").replace("r3.raw", f"../../{target}")
        Path("in/b/r3.mhd").write_text(header)
        cases = list_of({"b": "in/b/r0.nii.gz;in/b/r3.mhd"})
    elif way == "a folder":
        Path("out/b").symlink_to("../in/a")
    before = snapshot(folder)
    assert batch("--overwrite", *words, cases=cases) == 2
    message = capfd.readouterr().err
    assert "would overwrite" in message or "would lie among the raters of case" in message
    assert snapshot(folder) == before


@pytest.mark.parametrize("name", ["summary.csv", "index.html"])
def test_a_table_that_is_not_of_a_batch_stops_it_before_any_work(
    folder: Path, name: str, capfd: Any
) -> None:
    Path("out").mkdir()
    Path("out", name).write_text("of somebody else")
    assert batch() == 2
    assert f"{name} exists; give --overwrite to replace it" in capfd.readouterr().err
    assert Path("out", name).read_text("utf-8") == "of somebody else"
    assert not Path("out/a").exists()
    assert batch("--overwrite") == 0
    assert Path("out", name).read_text("utf-8") != "of somebody else"
    assert batch() == 0  # now the file belongs to the batch


@pytest.mark.parametrize("name", ["consensus.nii.gz", "report.html", "case.json"])
def test_files_of_others_in_a_case_need_overwrite(folder: Path, name: str, capfd: Any) -> None:
    Path("out/a").mkdir(parents=True)
    Path("out/a", name).write_text('{"of": "somebody else"}')
    assert batch("--reports") == 1
    assert f"{name} exists; give --overwrite" in capfd.readouterr().err
    assert Path("out/a", name).read_text("utf-8") == '{"of": "somebody else"}'
    assert Path("out/b/consensus.nii.gz").is_file(), "the other case goes on"
    assert batch("--reports", "--overwrite") == 0
    assert batch("--reports") == 0


def test_results_that_somebody_changed_are_neither_done_nor_replaced(
    folder: Path, capfd: Any
) -> None:
    assert batch() == 0
    corrected = write(Path("out/a/consensus.nii.gz"), RATERS > 60)
    Path("out/summary.csv").write_text("case,comment")
    assert batch() == 2
    assert "summary.csv was changed after it was written" in capfd.readouterr().err
    Path("out/summary.csv").unlink()
    assert batch() == 1
    assert "consensus.nii.gz was changed after it was written" in capfd.readouterr().err
    np.testing.assert_array_equal(voxels(corrected), RATERS > 60)
    assert batch("--overwrite") == 0
    assert (voxels(corrected) != (RATERS > 60)).any()


@pytest.mark.parametrize("left", [0, 40, -40, None], ids=["empty", "cut short", "cut late", "odd"])
def test_a_damaged_record_vouches_for_no_file_beside_it(
    folder: Path, left: int | None, capfd: Any
) -> None:
    """Issue 44: a manually edited consensus was replaced, since its record contained no hash."""
    assert batch() == 0
    corrected = write(Path("out/a/consensus.nii.gz"), RATERS > 60)
    record = Path("out/a/case.json")
    said = record.read_text("utf-8")
    record.write_text(said.replace('"written"', '"other"') if left is None else said[:left])
    assert batch() == 1
    wanted = "consensus.nii.gz exists, and case.json is damaged; give --overwrite to replace it"
    assert wanted in capfd.readouterr().err
    np.testing.assert_array_equal(voxels(corrected), RATERS > 60)
    assert batch("--overwrite") == 0
    assert (voxels(corrected) != (RATERS > 60)).any()


# -- completion of cases --------------------------------------------------------------------------


def plans(folder: Path) -> tuple[Plan, Plan]:
    few = Plan("vote", folder / "out", {"Threshold": 0.2})
    return few, Plan("vote", folder / "out", {"Threshold": 0.9}, reports=True)


def answers(folder: Path, case: BatchCase) -> list[np.ndarray]:
    """Return the results of each plan, run separately."""
    found = []
    for number, plan in enumerate(plans(folder)):
        alone = Plan(plan.method, folder / f"alone{number}", plan.parameters)
        found.append(voxels(alone.output / run_case(case, alone).consensus))
    assert (found[0] != found[1]).any()
    return found


def test_a_run_that_was_stopped_after_its_consensus_leaves_nothing_that_counts_as_done(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 27, item 4: plan X was run, and plan Y was killed after writing its consensus. A
    second run of plan X then reported the case as done and kept the result of Y.
    """
    case = find_cases("in/{case}/{rater}.nii.gz")[0]
    few, many = plans(folder)
    wanted = answers(folder, case)
    assert run_case(case, few).status == "done"
    with monkeypatch.context() as patch:
        patch.setattr(one_case, "finish", lambda *_: (_ for _ in ()).throw(OSError("killed")))
        assert run_case(case, many).status == "failed"
    consensus = folder / "out/a/consensus.nii.gz"
    np.testing.assert_array_equal(voxels(consensus), wanted[1])
    assert run_case(case, few).status == "done"
    np.testing.assert_array_equal(voxels(consensus), wanted[0])


def test_a_page_of_another_plan_does_not_stay_beside_the_consensus(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = find_cases("in/{case}/{rater}.nii.gz")[0]
    few, many = plans(folder)
    page = folder / "out/a/report.html"
    for plan, has_page in ((many, True), (few, False)):
        run_case(case, plan)
        assert page.exists() == has_page
    with monkeypatch.context() as patch:
        patch.setattr(one_case, "finish", lambda *_: (_ for _ in ()).throw(OSError("killed")))
        run_case(case, many)
    assert page.exists()
    run_case(case, few)
    assert not page.exists()


def test_two_batches_do_not_write_into_one_folder(folder: Path, capfd: Any) -> None:
    """Issue 27, item 4: two methods run at once gave tables and files that did not match."""
    Path("out").mkdir()
    with exclusive_lock(Path("out/batch.json")):
        assert batch() == 2
    assert "is being written by process" in capfd.readouterr().err
    assert batch() == 0
    assert [path.name for path in Path("out").iterdir() if "lock" in path.name] == []


@pytest.mark.parametrize("damage", ["emptied", "gone"])
def test_a_consensus_that_is_lost_is_made_again(folder: Path, damage: str) -> None:
    """Issue 27, item 4: an empty consensus file counted as done."""
    assert batch() == 0
    consensus = Path("out/a/consensus.nii.gz")
    content = consensus.read_bytes()
    consensus.write_bytes(b"")
    if damage == "gone":
        consensus.unlink()
    assert batch() == 0
    assert consensus.read_bytes() == content


@pytest.mark.parametrize("suffix", [".mhd", ".nhdr", ".hdr"])
def test_changed_voxels_beside_an_unchanged_header_are_read_again(
    folder: Path, suffix: str
) -> None:
    """Issue 27, item 3: only the header was hashed, in batches and on their pages."""
    for rater in range(3):
        write(Path("pairs/a", f"r{rater}{suffix}"), RATERS % (rater + 2) > 0)
    case = BatchCase.of_files("a", sorted(Path("pairs/a").glob(f"*{suffix}")))
    plan = Plan("vote", folder / "out", reports=True)
    run_batch([case], plan)
    page = Path("out/a/report.html").read_text("utf-8")
    before = voxels(Path("out/a/consensus.nii.gz"))
    for rater in range(3):
        header = Path("pairs/a", f"r{rater}{suffix}")
        kept = header.read_bytes()
        write(header, RATERS % 7 < 3)
        header.write_bytes(kept)
    run_batch([case], plan)
    after = voxels(Path("out/a/consensus.nii.gz"))
    assert (before != after).any()
    np.testing.assert_array_equal(after, RATERS % 7 < 3)
    hashes = [
        set(text.split("<code>")) for text in (page, Path("out/a/report.html").read_text("utf-8"))
    ]
    assert len(hashes[1] - hashes[0]) >= 3, "the page shows the hashes of the voxels"


# -- unusual file names and tampered records ------------------------------------------------------


def test_a_name_that_is_not_utf8_costs_no_other_case(folder: Path, capfd: Any) -> None:
    """Issue 27, item 13: one such name prevented the table of all cases from being written."""
    odd = os.fsdecode(b"in/\xff\xfe")
    try:
        os.rename("in/b", odd)
    except OSError:
        pytest.skip("the file system takes no such name")
    assert batch() == 1
    table = list(csv.DictReader(Path("out/summary.csv").read_text("utf-8").splitlines()))
    assert [row["status"] for row in table] == ["failed", "done"]
    assert "not UTF-8" in table[0]["finding"]


@pytest.mark.parametrize("name", ["summary.csv", "index.html", "batch.json"])
def test_a_case_called_like_the_table_is_refused_before_any_work(
    folder: Path, name: str, capfd: Any
) -> None:
    """Issue 27, item 13: after all the work, the table of all cases could not be written."""
    Path("in/b").rename(f"in/{name}")
    assert batch() == 2
    assert "would overwrite" in capfd.readouterr().err
    assert not Path("out").exists()


@pytest.mark.parametrize(
    "damage",
    [
        lambda record: record["result"].update(mean_dice="high"),
        lambda record: record["result"].update(case=7, unknown=None),
        lambda record: record.update(result=[1]),
        lambda record: record.update(written=["consensus.nii.gz"]),
        lambda record: record.update(fingerprint=None),
        lambda record: record["written"].update({"../../in/a/r0.nii.gz": "0"}),
    ],
)
def test_a_tampered_record_leads_to_the_right_table(folder: Path, damage: Any, capfd: Any) -> None:
    """Issue 27, item 15: the record caused an unexpected TypeError."""
    assert batch() == 0
    table = Path("out/summary.csv").read_text("utf-8")
    raters = snapshot(Path("in"))
    record = json.loads(Path("out/a/case.json").read_text("utf-8"))
    damage(record)
    Path("out/a/case.json").write_text(json.dumps(record))
    assert batch("--overwrite") == 0
    assert Path("out/summary.csv").read_text("utf-8") == table
    assert capfd.readouterr().err == ""
    assert snapshot(Path("in")) == raters


@contextmanager
def a_pipe(path: Path) -> Iterator[None]:
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    yield
    path.unlink()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes")
def test_a_record_that_is_a_pipe_does_not_hang(folder: Path, capfd: Any) -> None:
    assert batch() == 0
    with a_pipe(Path("out/a/case.json")):
        assert batch() == 1
        assert "is a pipe or a device" in capfd.readouterr().err
    with a_pipe(Path("out/batch.json")):
        assert batch() == 2


def test_no_cell_of_the_table_is_a_formula() -> None:
    """Issue 27, item 15: +1+1 and @SUM(1) were written to the table unescaped."""
    names = ["+1+1", "@SUM(1)", "=1", "-a", "\x1b[31mred", "plain", "a\udcffb"]
    rows = [CaseResult(name, "done", mean_dice=-0.5) for name in names]
    found = list(csv.DictReader(table_text(rows).splitlines()))
    assert [row["case"] for row in found] == [
        "'+1+1",
        "'@SUM(1)",
        "'=1",
        "'-a",
        "\\x1b[31mred",
        "plain",
        "a\\udcffb",
    ]
    assert {row["mean_dice"] for row in found} == {"-0.5"}
