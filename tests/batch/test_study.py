"""The outputs of a study: tables against brute force, the index page, BIDS, a workbook."""

from __future__ import annotations

import csv
import json
import re
import shutil
from html import unescape
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import SimpleITK as sitk
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import itk_consensus as ic
from itk_consensus.assessment.agreement.left_out import left_out_dice
from itk_consensus.batch.batch import run_batch
from itk_consensus.batch.case_study import common_rater_names
from itk_consensus.batch.cases import find_cases
from itk_consensus.batch.one_case import CaseResult, failed_result, run_case
from itk_consensus.batch.plan import Plan
from itk_consensus.batch.study_page import _case_table, failure, verdict_sentence
from itk_consensus.batch.study_tables import Study, bootstrap_interval, outliers
from itk_consensus.cli import main
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.label_stack import LabelStack

READERS = ("anna", "ben", "chris")


def write_study(folder: Path, cases: int = 4) -> dict[str, dict[str, np.ndarray]]:
    """Write two structures by three readers, of whom ben over-segments and chris omits the last
    case.
    """
    z, y, x = np.indices((6, 24, 26))
    drawn: dict[str, dict[str, np.ndarray]] = {}
    for number in range(cases):
        case = folder / f"c{number}"
        case.mkdir(parents=True)
        drawn[case.name] = {}
        for index, reader in enumerate(READERS):
            if reader == "chris" and number == cases - 1:
                continue
            labels = np.zeros(z.shape, np.uint8)
            labels[
                (y - 11) ** 2 + (x - 9 - 0.6 * number * index) ** 2 < (5 + (index == 1)) ** 2
            ] = 1
            labels[(y - 12) ** 2 + (x - 20) ** 2 < 9] = 2
            image = sitk.GetImageFromArray(labels)
            image.SetSpacing((0.8, 0.8, 2.5))
            sitk.WriteImage(image, str(case / f"{reader}.nii.gz"))
            drawn[case.name][reader] = labels
    return drawn


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("study")
    drawn = write_study(folder / "in")
    pattern = str(folder / "in/{case}/{rater}.nii.gz")
    words = ["--method", "vote", "--label-names", "1=liver,2=node", "--reports", "--surfaces"]
    assert main(["batch", pattern, "-o", str(folder / "out"), *words]) == 0
    return folder / "out", drawn


@pytest.mark.parametrize("way", ["pattern", "list", "named"])
def test_raters_whose_files_are_called_alike_are_in_every_table(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 44: raters.csv and pairs.csv contained only one of two such raters."""
    monkeypatch.chdir(tmp_path)
    rows = ["case,raters"]
    for number, reader in ((n, r) for n in range(2) for r in ("ann", "bob", "cem")):
        labels = np.zeros((3, 12, 12), np.uint8)
        labels[:, 2:8, 2 : 7 + len(rows) + (reader == "bob")] = 1
        Path(f"{reader}").mkdir(exist_ok=True)
        sitk.WriteImage(sitk.GetImageFromArray(labels), f"{reader}/case{number}.nii.gz")
    for number in range(2):
        files = [f"{reader}/case{number}.nii.gz" for reader in ("ann", "bob", "cem")]
        if way == "named":
            files = [f"Dr {file[:3]} = {file}" for file in files]
        rows.append(f"case{number},{';'.join(files)}")
    Path("list.csv").write_text("\n".join(rows))
    cases = "*/{case}.nii.gz" if way == "pattern" else "list.csv"
    assert main(["batch", cases, "-o", "out", "--method", "vote", "-q"]) == 0
    names = {f"Dr {one}" if way == "named" else one for one in ("ann", "bob", "cem")}
    assert {row["rater"] for row in rows_of(Path("out/raters.csv"))} == {*names, "all raters"}
    pairs = rows_of(Path("out/pairs.csv"))
    assert {row["first"] for row in pairs} | {row["second"] for row in pairs} == names
    assert len(pairs) == 6
    summary = rows_of(Path("out/summary.csv"))
    assert [row["raters"] for row in summary] == ["3", "3"]


def test_volumes_have_intervals_in_the_table_of_cases_if_asked(
    study: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    write_study(tmp_path / "in", cases=2)
    pattern, out = str(tmp_path / "in/{case}/{rater}.nii.gz"), tmp_path / "out"
    words = ["--method", "vote", "--volume-intervals"]
    assert main(["batch", pattern, "-o", str(out), *words]) == 0
    rows = [row for row in rows_of(out / "cases.csv") if row["case"] == "c0"]
    fuser = ic.MajorityVoteFilter()
    fuser.Execute([sitk.ReadImage(str(tmp_path / f"in/c0/{name}.nii.gz")) for name in READERS])
    assert [row["label"] for row in rows] == ["1", "2"]
    for row in rows:
        wanted = ic.SampleSegmentations(fuser, label=int(row["label"])).volume()
        found = [float(row[f"volume_{part}_ml"]) for part in wanted._fields]
        np.testing.assert_allclose(found, wanted, atol=1e-6)
    assert "volume_low_ml" not in rows_of(study[0] / "cases.csv")[0]


def vote_of_others(labels: list[np.ndarray], left_out: int) -> np.ndarray:
    """Return the vote of the other raters, computed voxel by voxel; a tie is background."""
    others = [one for j, one in enumerate(labels) if j != left_out]
    fused = np.zeros(labels[0].shape, int)
    for place in np.ndindex(fused.shape):
        said = [int(one[place]) for one in others]
        counts = {label: said.count(label) for label in said}
        best = [label for label, n in counts.items() if n == max(counts.values())]
        fused[place] = best[0] if len(best) == 1 else 0
    return fused


@given(
    arrays(np.uint8, st.tuples(st.integers(2, 5), st.integers(1, 12)), elements=st.integers(0, 3))
)
@settings(max_examples=60, deadline=None)
def test_dice_to_the_vote_of_the_others_is_that_of_brute_force(labels: np.ndarray) -> None:
    raters = list(labels)
    patterns = DecisionPatterns.from_stack(LabelStack.multilabel(raters))
    found = left_out_dice(patterns)
    for rater in range(len(raters)):
        fused = vote_of_others(raters, rater)
        for k, label in enumerate(patterns.labels):
            if label:
                expected = ic.dice(raters[rater] == label, fused == label)
                assert found[k, rater] == pytest.approx(expected)


def test_pairs_are_those_of_the_agreement_with_distances_if_asked(study: Any) -> None:
    out, drawn = study
    rows = rows_of(out / "pairs.csv")
    assert len(rows) == 2 * (3 * 3 + 1)
    row = next(
        r for r in rows if (r["case"], r["structure"], r["second"]) == ("c1", "liver", "ben")
    )
    image = [sitk.GetImageFromArray(drawn["c1"][name]) for name in ("anna", "ben")]
    for one in image:
        one.SetSpacing((0.8, 0.8, 2.5))
    expected = ic.agreement(image)[1]
    assert float(row["dice"]) == pytest.approx(expected.dice[0, 1])
    assert expected.hausdorff95 is not None
    assert float(row["hausdorff95_mm"]) == pytest.approx(expected.hausdorff95[0, 1])


def test_raters_have_bias_and_the_ceiling_with_its_interval(study: Any) -> None:
    out, drawn = study
    rows = {(row["rater"], row["structure"]): row for row in rows_of(out / "raters.csv")}
    bias, dice = [], []
    for readers in drawn.values():
        names, masks = list(readers), list(readers.values())
        volumes = {name: int((mask == 1).sum()) for name, mask in readers.items()}
        others = np.mean([v for name, v in volumes.items() if name != "ben"])
        bias.append(100 * (volumes["ben"] / others - 1))
        fused = vote_of_others(masks, names.index("ben"))
        dice.append(ic.dice(readers["ben"] == 1, fused == 1))
    ben = rows["ben", "liver"]
    assert float(ben["volume_bias_percent"]) == pytest.approx(np.mean(bias), abs=1e-5)
    assert float(ben["volume_bias_percent"]) > 20
    assert float(ben["dice_to_vote_of_others"]) == pytest.approx(np.mean(dice), abs=1e-5)
    assert float(ben["dice_low"]) <= float(ben["dice_to_vote_of_others"]) <= float(ben["dice_high"])
    assert rows["chris", "liver"]["cases"] == "3"
    assert float(rows["all raters", "node"]["dice_to_vote_of_others"]) == 1


def test_the_bootstrap_interval_covers_as_often_as_it_says() -> None:
    rng = np.random.default_rng(5)
    covered = 0
    for _ in range(150):
        low, high = bootstrap_interval(rng.normal(0.8, 0.1, 40))
        assert low is not None
        assert high is not None
        covered += low <= 0.8 <= high
    assert 0.88 * 150 <= covered <= 0.99 * 150
    assert bootstrap_interval(np.array([0.5])) == (None, None)


def test_cases_have_volumes_and_who_is_missing(study: Any) -> None:
    out, drawn = study
    rows = {(row["case"], row["structure"]): row for row in rows_of(out / "cases.csv")}
    assert len(rows) == 8
    voxel = 0.8 * 0.8 * 2.5 / 1000
    node = rows["c0", "node"]
    assert float(node["consensus_ml"]) == pytest.approx((drawn["c0"]["anna"] == 2).sum() * voxel)
    assert rows["c3", "liver"]["missing_raters"] == "chris"
    assert rows["c0", "liver"]["missing_raters"] == ""


def test_the_index_page_needs_nothing_else_and_shows_all(study: Any) -> None:
    out, _ = study
    text = (out / "index.html").read_text(encoding="utf-8")
    assert text.count('class="thumbnail"') == 4
    assert all(source.startswith("data:image/png") for source in re.findall(r'src="([^"]*)', text))
    assert '<table class="sortable cards">' in text
    for words in (
        "liver",
        "chris",
        "missing",
        "Bland and Altman",
        "human ceiling",
        "c3/report.html",
    ):
        assert words in text
    assert text.count("</svg>") >= 2
    assert {"pairs.csv", "raters.csv", "cases.csv", "summary.csv"} <= set(
        re.findall(r'href="([^"]*)"', text)
    )


def test_the_index_says_first_which_cases_may_be_used_and_what_failed(tmp_path: Path) -> None:
    """The page named no case, and showed the error before the recommendation."""
    write_study(tmp_path / "in")
    (tmp_path / "in/c1/ben.nii.gz").write_bytes(b"no image")
    empty = sitk.ReadImage(str(tmp_path / "in/c2/anna.nii.gz")) * 0
    sitk.WriteImage(empty, str(tmp_path / "in/c2/anna.nii.gz"))
    cases = find_cases(str(tmp_path / "in/{case}/{rater}.nii.gz"))
    run_batch(cases, Plan("vote", tmp_path / "out", reports=True))
    text = (tmp_path / "out/index.html").read_text(encoding="utf-8")
    said = unescape(re.sub("<[^>]*>", "", text[text.index("<header") : text.index("</header")]))
    assert re.search(r"\d of 4 cases: use\. Look at c2.*\. Failed: c1 \(ben's file cannot", said)
    assert "Without a file: chris in c3." in said
    assert "<p>Without a file" in text
    assert 'class="quiet wide on-screen">Headings sort.' in text
    legend = text[text.index('<p class="legend"') : text.index("sortable cards")]
    assert "consensus" in legend
    assert "readers differ" in legend
    failed = text[text.index('id="failed"') : text.index('id="cases"')]
    (why, how) = (failed.index(part) for part in ("cannot be read: ask for it again", "FileError"))
    assert why < how
    assert '<a href="c2/report.html">c2</a>' in text[: text.index("</header")]
    assert 'data-label="lowest of two"' in text


def test_the_index_says_who_deviates_most_over_the_study(tmp_path: Path) -> None:
    """The deviating reader was only named below all cases, in a table without an explanation."""
    write_study(tmp_path / "in")
    for file in (tmp_path / "in").glob("*/ben.nii.gz"):
        wide = sitk.BinaryDilate(sitk.ReadImage(str(file)) == 1, (3, 3, 1))
        sitk.WriteImage(wide, str(file))
    run_batch(
        find_cases(str(tmp_path / "in/{case}/{rater}.nii.gz")), Plan("vote", tmp_path / "out")
    )
    text = (tmp_path / "out/index.html").read_text(encoding="utf-8")
    head = text[: text.index("</header")]
    assert '<a href="#raters">ben</a> is farthest from the others over' in head
    found = Study({}, {}).farthest_rater()
    assert found is None


def test_numbers_of_cases_at_the_top_filter_the_table() -> None:
    many = [CaseResult(f"c{n}", "done", verdict="look", consensus="x") for n in range(10)]
    said = verdict_sentence([CaseResult("a", "done", verdict="use", consensus="x"), *many])
    assert '<a href="#cases" data-show="use">1 of 11 cases</a>' in said
    assert '<a href="#cases" data-show="look">2 more</a>' in said


def test_a_failed_case_is_told_in_a_line_without_folders(tmp_path: Path) -> None:
    write_study(tmp_path / "in", 2)
    odd = tmp_path / "in/c0/ben.nii.gz"
    image = sitk.Image(5, 6, 7, sitk.sitkUInt8)
    image.SetSpacing((0.8203120231628418, 0.8203120231628418, 2.5))
    sitk.WriteImage(image, str(odd))
    case = find_cases(str(tmp_path / "in/{case}/{rater}.nii.gz"))[0]
    result = run_case(case, Plan("vote", tmp_path / "out"))
    assert (result.reader, result.rule) == ("ben", "another grid")
    line = failure(result)
    assert line.startswith("ben's file has another grid than the others' (size (5, 6, 7) instead")
    assert "perhaps that of another case" in line
    assert len(line) < 160
    other = failed_result(case, f"FileError: {odd} holds 0.8203120231628418 of it. Do that.")
    assert failure(other) == "no result: ben.nii.gz holds 0.8203 of it."


def test_the_summary_names_cases_to_look_at_and_what_an_earlier_run_did(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_study(tmp_path / "in", 7)
    for number in range(6):
        file = str(tmp_path / f"in/c{number}/anna.nii.gz")
        sitk.WriteImage(sitk.ReadImage(file) * 0, file)
    words = ["batch", str(tmp_path / "in/{case}/{rater}.nii.gz"), "-o", str(tmp_path / "out")]
    assert main([*words, "--method", "vote"]) == 0
    first = capsys.readouterr().out
    assert first.count(": Look. ") + first.count(": Do not use. ") == 5
    assert "anna drew nothing" in first
    assert "more, see the page" in first
    assert "earlier run" not in first
    table = (tmp_path / "out/summary.csv").read_bytes()
    assert main([*words, "--method", "vote"]) == 0
    assert "7 (7 by an earlier run)" in capsys.readouterr().out
    assert (tmp_path / "out/summary.csv").read_bytes() == table


def test_a_case_that_is_unlike_the_others_says_first_who_did_what() -> None:
    fine = CaseResult("a", "done", 3, 1, 0.9, 0.9, "use")
    odd = CaseResult("b", "done", 3, 1, 0.4, 0.1, "look", "ann", "ann drew nothing.")
    table = _case_table([odd, fine], {"b"}, {}, {})
    assert "ann drew nothing. Readers agree far less than in the other cases." in table


def test_a_second_run_without_pages_keeps_those_there_are(study: Any) -> None:
    """A resumed run without --reports repeated all cases and removed the pages."""
    out, _ = study
    before = {path: path.stat().st_mtime_ns for path in out.glob("*/*")}
    cases = find_cases(str(out.parent / "in/{case}/{rater}.nii.gz"))
    look = {"label_names": {1: "liver", 2: "node"}}
    run_batch(cases, Plan("vote", out, surfaces=True, look=look))
    assert {path: path.stat().st_mtime_ns for path in out.glob("*/*")} == before
    assert (out / "index.html").read_text(encoding="utf-8").count("/report.html") == 4


def test_a_failure_names_the_file(tmp_path: Path) -> None:
    write_study(tmp_path / "in", 1)
    odd = tmp_path / "in/c0/ben.nii.gz"
    sitk.WriteImage(sitk.Image(5, 6, 7, sitk.sitkUInt8), str(odd))
    (case,) = find_cases(str(tmp_path / "in/{case}/{rater}.nii.gz"))
    result = run_case(case, Plan("vote", tmp_path / "out"))
    assert result.status == "failed"
    assert (
        f"{odd} does not occupy the same space as {odd.with_name('anna.nii.gz')}" in result.finding
    )


def test_names_of_files_without_the_name_of_the_case_are_raters() -> None:
    assert common_rater_names("p01", ["p01_anna", "ben-p01"]) == ["anna", "ben"]
    assert common_rater_names("p01", ["p01", "p01_b"]) == ["p01", "p01_b"]


def test_outliers_lie_far_below_the_others() -> None:
    values = {f"c{n}": 0.8 + 0.01 * n for n in range(9)} | {"bad": 0.3}
    assert outliers(values) == {"bad"}
    assert outliers({"a": 0.1, "b": 0.9}) == set()


@pytest.mark.parametrize("entity", ["desc", "rater"])
def test_bids_is_read_in_both_spellings_and_written(entity: str, tmp_path: Path) -> None:
    drawn = write_study(tmp_path / "in", 2)
    for number, readers in enumerate(drawn.values()):
        folder = tmp_path / f"bids/sub-0{number}/ses-a/anat"
        folder.mkdir(parents=True)
        for reader in readers:
            source = tmp_path / f"in/c{number}/{reader}.nii.gz"
            name = f"sub-0{number}_ses-a_{entity}-{reader}_dseg.nii.gz"
            (folder / name).write_bytes(source.read_bytes())
    out = tmp_path / "derivatives"
    words = ["--method", "vote", "--bids-output", "--label-names", "1=liver,2=node"]
    assert main(["batch", str(tmp_path / "bids"), "-o", str(out), *words]) == 0
    described = json.loads((out / "dataset_description.json").read_text(encoding="utf-8"))
    assert described["DatasetType"] == "derivative"
    assert described["GeneratedBy"][0]["Name"] == "itk-consensus"
    stem = out / "sub-00/ses-a/anat/sub-00_ses-a_desc-consensus"
    labels = sitk.ReadImage(f"{stem}_dseg.nii.gz")
    assert labels.GetSpacing() == pytest.approx((0.8, 0.8, 2.5))
    probability = sitk.GetArrayFromImage(sitk.ReadImage(f"{stem}_probseg.nii.gz"))
    shares = np.mean([one == 2 for one in drawn["c0"].values()], axis=0)
    np.testing.assert_allclose(probability[1], shares, atol=1e-12)
    assert json.loads(Path(f"{stem}_probseg.json").read_text(encoding="utf-8"))["LabelMap"] == [
        "liver",
        "node",
    ]
    ignored = (out / ".bidsignore").read_text(encoding="utf-8").split()
    ours = [p for p in out.rglob("*") if p.is_file() and not p.name.startswith((".", "dataset_"))]
    known = re.compile(r"sub-\d+_ses-a_desc-consensus_(dseg|probseg)\.(nii\.gz|json)")
    for path in ours:
        assert known.fullmatch(path.name) or any(path.match(pattern) for pattern in ignored), path


@pytest.mark.parametrize("more", [[], ["--bids-output", "--reports"]])
def test_lonely_raters_and_empty_masks_are_no_failure(tmp_path: Path, more: list[str]) -> None:
    write_study(tmp_path / "in", 2)
    for reader in READERS[1:]:
        (tmp_path / f"in/c1/{reader}.nii.gz").unlink(missing_ok=True)
    for reader in READERS:
        path = tmp_path / f"in/c0/{reader}.nii.gz"
        sitk.WriteImage(sitk.ReadImage(str(path)) * 0, str(path))
    out = tmp_path / "out"
    pattern = str(tmp_path / "in/{case}/{rater}.nii.gz")
    assert main(["batch", pattern, "-o", str(out), "--method", "vote", *more]) == 0
    assert [row["status"] for row in rows_of(out / "summary.csv")] == ["done", "done"]
    assert rows_of(out / "pairs.csv") == []
    assert "c0" in (out / "index.html").read_text(encoding="utf-8")


def test_bids_results_never_lie_among_the_raters(tmp_path: Path, capsys: Any) -> None:
    write_study(tmp_path / "in", 1)
    folder = tmp_path / "bids/sub-00/anat"
    folder.mkdir(parents=True)
    for reader in READERS[:2]:
        source = tmp_path / f"in/c0/{reader}.nii.gz"
        (folder / f"sub-00_desc-{reader}_dseg.nii.gz").write_bytes(source.read_bytes())
    words = ["batch", str(tmp_path / "bids"), "-o", str(tmp_path / "bids"), "--bids-output"]
    assert main(words) == 2
    assert "would lie among its raters" in capsys.readouterr().err


def test_the_workbook_has_the_tables_and_no_formula(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    write_study(tmp_path / "in", 2)
    (tmp_path / "in/c0").rename(tmp_path / "in/=1+1")
    pattern = str(tmp_path / "in/{case}/{rater}.nii.gz")
    assert main(["batch", pattern, "-o", str(tmp_path / "out"), "--method", "vote", "--excel"]) == 0
    book = openpyxl.load_workbook(tmp_path / "out/study.xlsx")
    assert book.sheetnames == [
        "summary",
        "pairs",
        "raters",
        "cases",
        "next_readings",
        "reliability",
    ]
    sheet = book["pairs"]
    assert [cell.value for cell in sheet[1]][:3] == ["case", "structure", "label"]
    assert sheet.max_row == len(rows_of(tmp_path / "out/pairs.csv")) + 1
    cells = [cell for name in book.sheetnames for row in book[name] for cell in row]
    assert not [cell for cell in cells if cell.data_type == "f"]
    assert "=1+1" in {cell.value for cell in cells}


@pytest.mark.slow
@pytest.mark.skipif(find_spec("playwright") is None, reason="playwright is not installed")
@pytest.mark.skipif(shutil.which("chromium") is None, reason="there is no Chromium")
def test_a_heading_sorts_the_table_both_ways(study: Any) -> None:
    from playwright.sync_api import sync_playwright

    out, _ = study
    with sync_playwright() as play:
        browser = play.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page()
        said: list[str] = []
        page.on("console", lambda message: said.append(message.text))
        page.goto((out / "index.html").as_uri())

        def shown(column: int) -> list[str]:
            return page.locator(f".sortable tbody tr > :nth-child({column})").all_inner_texts()

        assert [float(text) for text in shown(5)] == sorted(float(text) for text in shown(5))
        page.get_by_role("button", name="case").click()
        assert [text.strip() for text in shown(1)] == ["c0", "c1", "c2", "c3"]
        page.get_by_role("button", name="case").click()
        assert [text.strip() for text in shown(1)] == ["c3", "c2", "c1", "c0"]
        assert page.locator("th[aria-sort=descending]").count() == 1
        assert not said
        browser.close()


@pytest.mark.parametrize(("full", "says"), [(False, True), (True, False)])
def test_the_index_says_that_nothing_was_compared_with_consensus(
    tmp_path: Path, full: bool, says: bool
) -> None:
    write_study(tmp_path / "study", cases=1)
    cases = find_cases(str(tmp_path / "study" / "{case}" / "{rater}.nii.gz"))
    run_batch(cases, Plan("staple", tmp_path / "out", full=full))
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert ("compare with Consensus by --full" in page) is says
