"""The application in Chromium: clicks and strokes determine the written files."""

from __future__ import annotations

import json
import shutil
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import SimpleITK as sitk

import itk_consensus as ic
from itk_consensus.cli import main
from itk_consensus.core.errors import InputError
from itk_consensus.review.case import ReviewCase, case_of_result
from itk_consensus.review.record import ReviewRecord
from itk_consensus.review.session import CaseToOpen
from itk_consensus.review.voxel_runs import decoded
from tests.review.browser import CHROMIUM, MARKS, Running, opened, picture, says
from tests.review.four_readers import ct, write_readers

pytestmark = MARKS


@pytest.fixture
def readers(tmp_path: Path) -> list[Path]:
    sitk.WriteImage(ct(), str(tmp_path / "ct.nii.gz"))
    return write_readers(tmp_path)


@pytest.fixture
def words(readers: list[Path]) -> list[str]:
    files = [path.name for path in readers]
    return [*files, "--image", "ct.nii.gz", "-o", "out.nii.gz", "--reviewer", "Ann"]


@pytest.fixture
def running(words: list[str], tmp_path: Path) -> Iterator[Running]:
    process = Running(words, tmp_path)
    yield process
    if process.process.poll() is None:
        process.process.kill()
        process.process.wait()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def case_of(readers: list[Path]) -> ReviewCase:
    filter_ = ic.ConsensusFilter()
    filter_.Execute([sitk.ReadImage(str(path)) for path in readers])
    return case_of_result(filter_.GetResult(), files=readers)


def test_decisions_in_the_browser_are_the_voxels_in_the_file(
    running: Running, readers: list[Path], chromium: Any, tmp_path: Path
) -> None:
    case = case_of(readers)
    number = len(case.disputes)
    page = opened(chromium, running.address)
    hosts = set[str]()
    page.on("request", lambda request: hosts.add(request.url.split("/")[2]))
    says(page, "#undecided", f"{number} of {number} undecided")

    seen = picture(page, "Red")
    page.click("#reader-3")
    page.wait_for_function("!document.querySelector('#reader-3').checked")
    without = picture(page, "Red", other_than=seen)
    page.click("#reader-3")
    picture(page, "Red", other_than=without)
    page.keyboard.press("n")  # also while an input field has the focus
    page.wait_for_selector("#dispute-2.current")
    page.keyboard.press("PageUp")
    page.wait_for_selector("#dispute-1.current")

    page.click("#dispute-2")
    page.wait_for_selector("#dispute-2.current")
    page.click("#choose-rater-2")  # this also selects the next dispute
    says(page, "#dispute-2", "as cem")
    page.wait_for_selector("#dispute-3.current")
    page.keyboard.press("i")
    page.wait_for_selector("#dispute-4.current")
    page.keyboard.press("o")
    says(page, "#dispute-4", "out")
    says(page, "#undecided", f"{number - 3} of {number} undecided")

    page.click("#dispute-5")
    page.wait_for_selector("#dispute-5.current")
    picture(page, "Red")
    page.click("#tool-paint")
    page.wait_for_selector("#tool-paint.on")
    place = page.locator("#view-Red").locator("xpath=..").bounding_box()
    x, y = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 10, y, steps=5)
    page.mouse.up()
    says(page, "#message", "of dispute 5")
    says(page, "#dispute-5", "painted, not confirmed")
    page.keyboard.press("Enter")
    page.wait_for_selector("#dispute-5.decided")
    page.click("#dispute-1")
    page.wait_for_selector("#dispute-1.current")
    page.keyboard.press("c")
    says(page, "#dispute-1", "as the consensus")
    page.click("#undo")
    says(page, "#dispute-1", "open")
    page.click("#save")
    says(page, "#message", "Saved out.nii.gz")
    assert hosts <= {running.address.split("/")[2]}
    page.close()
    assert running.end() == 0

    record = ReviewRecord.read(tmp_path / "out.review.json")
    decisions = record.decisions
    assert {n: d.meaning[:3] for n, d in decisions.items() if d.choice != "painted"} == {
        2: ("rater", None, 2),
        3: ("label", 1, None),
        4: ("label", 0, None),
    }
    assert decisions[5].choice == "painted"
    assert {d.who for d in decisions.values()} == {"Ann"}
    # Expected effect of the decisions, from the readers' own arrays.
    expected = case.rated[0].consensus.copy().reshape(-1)
    second, third, fourth = (case.disputes[n - 1].places for n in (2, 3, 4))
    expected[second] = case.rated[0].maps[2].reshape(-1)[second]
    expected[third], expected[fourth] = 1, 0
    before = expected.copy()
    for runs in (
        *(d.painted for d in decisions.values() if d.painted),
        *record.corrections.values(),
    ):
        places, labels = decoded(runs, expected.size)
        expected[places] = labels
    written = sitk.GetArrayFromImage(sitk.ReadImage(str(tmp_path / "out.nii.gz"))).reshape(-1)
    np.testing.assert_array_equal(written, expected)
    # The brush added a disc of 6 mm and the path along which it was drawn, near the dispute.
    painted = np.flatnonzero(written != before)
    assert (written[painted] == 1).all()
    assert 5 <= painted.size <= 200
    shape = case.rated[0].consensus.shape
    centre = np.array(case.disputes[4].index)
    away = np.abs(np.stack(np.unravel_index(painted, shape), axis=1) - centre)
    assert away[:, 0].max() == 0
    assert away[:, 1:].max() * 0.9 < 15

    again = tmp_path / "again.nii.gz"
    assert main(["adjudicate", str(tmp_path / "out.review.json"), "-o", str(again)]) == 0
    np.testing.assert_array_equal(
        sitk.GetArrayFromImage(sitk.ReadImage(str(again))).reshape(-1), written
    )


def status(address: str, **headers: str) -> int:
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers)) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


@pytest.mark.slow
def test_one_browser_with_the_token_and_nobody_else(
    running: Running, words: list[str], readers: list[Path], chromium: Any, tmp_path: Path
) -> None:
    base = running.address.partition("?")[0]
    token = running.address.partition("token=")[2]
    for address in (base, f"{base}index.html", f"{base}ws", f"{base}?token=guess"):
        assert status(address) == 403
    port = base.rstrip("/").rpartition(":")[2]
    assert status(running.address, Origin="http://evil.example") == 403
    assert status(running.address, Origin=f"http://127.0.0.1:{int(port) + 1}") == 403
    assert status(running.address, Host=f"evil.example:{port}") == 403
    page = opened(chromium, running.address)
    page.keyboard.press("i")
    says(page, "#dispute-1", "in")

    other = chromium.new_context()
    second = other.new_page()
    answer = second.goto(running.address)
    assert answer is not None
    assert answer.status == 403
    assert "open in another browser" in second.inner_text("body")
    other.close()
    assert status(f"{base}?token={token}") == 403

    # The first instance continues, the page can be reloaded, and nothing is lost if it is
    # killed.
    page.reload()
    page.wait_for_selector("#dispute-1.decided")
    page.keyboard.press("o")
    says(page, "#dispute-2", "out")
    page.close()
    running.process.kill()
    running.process.wait()
    record = ReviewRecord.read(tmp_path / "out.review.json")
    assert {n: d.label for n, d in record.decisions.items()} == {1: 1, 2: 0}

    resumed = Running(words, tmp_path)
    try:
        page = opened(chromium, resumed.address)
        says(page, "#message", "Resumed")
        says(page, "#undecided", f"{len(record.disputes) - 2} of")
        page.close()
    finally:
        assert resumed.end() == 0


@pytest.mark.slow
def test_a_cohort_is_walked_with_findings_first_and_marked_done(
    tmp_path: Path, chromium: Any, readers: list[Path]
) -> None:
    for name in ("one", "two"):
        folder = tmp_path / "in" / name
        folder.mkdir(parents=True)
        for path in readers[:3]:
            shutil.copy(path, folder / path.name)
    nothing = sitk.ReadImage(str(readers[3])) * 0
    sitk.WriteImage(nothing, str(tmp_path / "in" / "two" / readers[3].name))
    pattern = str(tmp_path / "in" / "{case}" / "{rater}.nii.gz")
    results = tmp_path / "results"
    assert main(["batch", pattern, "-o", str(results), "--method", "vote"]) == 0
    verdicts = {
        one.parent.name: json.loads(one.read_text())["result"]["verdict"]
        for one in results.glob("*/case.json")
    }
    assert verdicts == {"one": "use", "two": "look"}
    running = Running(["results", "--blinded"], tmp_path)
    try:
        page = opened(chromium, running.address)
        says(page, "#title", "two")
        assert "ann" not in page.inner_text("body")
        # The reviewer's name is requested once, before anything is saved.
        page.keyboard.press("i")
        page.wait_for_selector("#ask-name")
        assert not (results / "two" / "adjudicated.review.json").exists()
        page.fill("#name", "Ann")
        page.click("#take-name")
        says(page, "#dispute-1", "in")
        page.click("#done")
        says(page, "#question", "undecided and stay as the consensus is")
        page.click("#go-on")
        page.wait_for_selector("#question", state="detached")
        page.click("#done")
        page.click("#done-anyway")
        says(page, "#title", "one")
        page.wait_for_selector("#dispute-1")
        assert page.input_value("#cases") == "1"
        # It is possible to go back, and the work is preserved.
        page.select_option("#cases", index=0)
        says(page, "#title", "two")
        page.wait_for_selector("#dispute-1.decided")
        says(page, "#done", "Done ✓")
        # The worklist shows the progress of every case, with links to them.
        page.click("#worklist-button")
        says(page, "#case-1", "not begun")
        first = page.inner_text("#case-0")
        assert {"two", "look", "Ann"} <= set(first.replace("\t", "\n").split("\n"))
        assert "done, " in first
        page.keyboard.press("Escape")
        page.wait_for_selector("#worklist", state="detached")
        page.click("#case-after")
        says(page, "#title", "one")
        page.wait_for_selector("#dispute-1")
        page.click("#done")
        page.click("#done-anyway")
        says(page, "#message", "Every case is done")
        page.click("#close")
        assert running.process.wait(30) == 0
        page.close()
    finally:
        assert running.end() == 0
    assert (tmp_path / "stderr.txt").read_text() == ""
    for name in ("one", "two"):
        record = ReviewRecord.read(results / name / "adjudicated.review.json")
        assert record.done
        assert (results / name / "adjudicated.nii.gz").exists()
    (decision,) = ReviewRecord.read(results / "two" / "adjudicated.review.json").decisions.values()
    assert decision.who == "Ann"

    # A case that is opened separately also has Done; changes revoke it, End does not.
    again = Running(["results", "--blinded", "--reviewer", "Bob"], tmp_path)
    try:
        page = opened(chromium, again.address)
        says(page, "#done", "Done ✓")
        page.keyboard.press("z")
        says(page, "#message", "taken back")
        page.wait_for_function("!document.querySelector('#done').innerText.includes('✓')")
        page.close()
    finally:
        assert again.end() == 0
    assert not ReviewRecord.read(results / "two" / "adjudicated.review.json").done
    assert ReviewRecord.read(results / "one" / "adjudicated.review.json").done


@pytest.mark.slow
def test_decided_disputes_are_locked_a_held_key_decides_once_and_undo_outlives_a_kill(
    words: list[str], running: Running, chromium: Any, tmp_path: Path
) -> None:
    page = opened(chromium, running.address)
    number = page.locator(".dispute").count()
    page.keyboard.down("c")
    for _ in range(20):  # as a held key does
        page.keyboard.down("c")
    page.keyboard.up("c")
    page.wait_for_selector("#dispute-1.decided")
    page.wait_for_selector("#dispute-2.current")
    page.wait_for_timeout(300)
    says(page, "#undecided", f"{number - 1} of {number} undecided")

    # A decided dispute is locked: keys and the brush do not change it.
    page.click("#dispute-1")
    page.wait_for_selector("#dispute-1.current")
    page.keyboard.press("i")
    says(page, "#message", "Dispute 1 is decided; u reopens it")
    assert page.is_disabled("#choose-consensus")
    picture(page, "Red")
    page.click("#tool-paint")
    page.wait_for_selector("#tool-paint.on")
    place = page.locator("#view-Red").locator("xpath=..").bounding_box()
    x, y = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 8, y, steps=4)
    page.mouse.up()
    says(page, "#message", "Decided and left as it is: 1")
    kept = ReviewRecord.read(tmp_path / "out.review.json")
    assert kept.decisions[1].choice == "consensus"
    page.keyboard.press("Escape")
    page.keyboard.press("u")
    says(page, "#message", "Dispute 1 is open again")
    page.keyboard.press("i")
    says(page, "#dispute-1", "in")
    page.close()
    running.process.kill()
    running.process.wait()

    resumed = Running(words, tmp_path)
    try:
        page = opened(chromium, resumed.address)
        says(page, "#dispute-1", "in")
        page.keyboard.press("z")
        page.keyboard.press("z")
        says(page, "#dispute-1", "as the consensus")
        page.keyboard.press("Control+Shift+z")
        page.keyboard.press("y")
        says(page, "#dispute-1", "in")
        page.close()
    finally:
        assert resumed.end() == 0


def test_a_case_that_cannot_be_opened_ends_the_application_which_says_why() -> None:
    from itk_consensus.review.application.serving import serve

    def session() -> Any:
        raise InputError("no reader drew anything")

    # In a separate thread, since Playwright has a running event loop in this one.
    with ThreadPoolExecutor(1) as pool:
        served = pool.submit(serve, [CaseToOpen("one", session)], ready=lambda address: None)
        with pytest.raises(InputError, match="no reader drew anything"):
            served.result()
