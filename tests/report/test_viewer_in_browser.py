"""The scrolling page in Chromium; it exports a review record."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import SimpleITK as sitk

import itk_consensus as ic
from itk_consensus.cli import main
from itk_consensus.report import viewer
from itk_consensus.review.case import case_of_result
from itk_consensus.review.record import ReviewRecord
from itk_consensus.simulation.atlas_phantoms import atlas_labels
from tests.review.four_readers import ct, write_readers

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
needs_browser = [
    pytest.mark.skipif(find_spec("playwright") is None, reason="playwright is not installed"),
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium"),
]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def fused(tmp_path: Path) -> tuple[ic.LabelFusionFilter, list[Path]]:
    readers = write_readers(tmp_path)
    filter_ = ic.ConsensusFilter()
    filter_.Execute([sitk.ReadImage(str(path)) for path in readers])
    return filter_, readers


def drawn(page: Any) -> str:
    return str(page.evaluate("document.querySelector('#viewer-canvas').toDataURL()"))


@pytest.mark.parametrize("phone", [False, True])
@needs_browser[0]
@needs_browser[1]
def test_slices_are_gone_through_and_decisions_exported(
    tmp_path: Path, chromium: Any, phone: bool
) -> None:
    filter_, readers = fused(tmp_path)
    path = tmp_path / "page.html"
    ic.report(filter_, path, image=ct(), files=readers)
    size = {"width": 390, "height": 844} if phone else {"width": 1200, "height": 900}
    scheme = "dark" if phone else "light"
    context = chromium.new_context(viewport=size, color_scheme=scheme, accept_downloads=True)
    page = context.new_page()
    said, asked = [], []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    page.wait_for_selector("#viewer:not([hidden])")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")

    seen = [drawn(page)]
    page.locator("#viewer-slice").fill("4")
    seen.append(drawn(page))
    page.locator("#viewer-canvas").focus()
    page.keyboard.press("ArrowUp")
    seen.append(drawn(page))
    if not phone:
        page.locator("#viewer-canvas").hover()
        page.mouse.wheel(0, 120)
        seen.append(drawn(page))
    page.check("#viewer-coronal")
    seen.append(drawn(page))
    page.click("#viewer-closer")
    seen.append(drawn(page))
    page.keyboard.press("Tab")
    page.locator("#viewer-canvas").focus()
    page.keyboard.press("n")
    page.keyboard.press("n")
    seen.append(drawn(page))
    page.uncheck("#show-r0")
    seen.append(drawn(page))
    assert len(set(seen)) == len(seen)

    # A decision requires a name, whose field precedes all decisions.
    place = {
        id_: page.locator(id_).bounding_box()["y"] for id_ in ("#viewer-who", "#viewer-canvas")
    }
    assert place["#viewer-who"] < place["#viewer-canvas"]
    page.select_option("tr[data-number='1'] select", "label:0")
    assert "name is kept with every decision" in page.inner_text("#viewer-message")
    assert page.locator("tr[data-number='1'] select").input_value() == ""
    page.fill("#viewer-who", "Ann")
    for number, choice in ((1, "rater:2"), (2, "label:0"), (3, "consensus"), (4, "label:1")):
        page.select_option(f"tr[data-number='{number}'] select", choice)
    page.select_option("tr[data-number='4'] select", "")
    page.select_option("tr[data-number='4'] select", "label:1")
    total = len(page.query_selector_all("tr[data-number]"))
    small = """() => [...document.querySelectorAll("#viewer button, #viewer select, #viewer label")]
      .map(one => [one.innerText, one.getBoundingClientRect()])
      .filter(([, box]) => Math.min(box.width, box.height) < 24 || box.right > innerWidth)"""
    assert page.evaluate(small) == []
    # Decisions change the picture, and are restored after a reload until they are exported.
    page.click("tr[data-number='1'] button")
    as_cem = drawn(page)
    page.select_option("tr[data-number='1'] select", "label:0")
    out = drawn(page)
    page.select_option("tr[data-number='1'] select", "label:1")
    assert drawn(page) != out
    page.select_option("tr[data-number='1'] select", "rater:2")
    assert drawn(page) == as_cem
    page.reload()
    page.wait_for_selector("#viewer:not([hidden])")
    assert "decisions of before" in page.inner_text("#viewer-message")
    assert page.locator("tr[data-number='1'] select").input_value() == "rater:2"
    assert page.input_value("#viewer-who") == "Ann"
    assert page.inner_text("#viewer-undecided") == f"{total - 4} of {total} undecided"
    with page.expect_download() as download:
        page.click("#viewer-export")
    page.reload()
    page.wait_for_selector("#viewer:not([hidden])")
    assert page.locator("tr[data-number='1'] select").input_value() == ""
    record = tmp_path / "page.review.json"
    download.value.save_as(record)
    context.close()
    assert said == []  # messages would include requests that the page is not allowed to make
    asked = [url for url in asked if not url.startswith(("data:", "blob:"))]
    assert asked == 3 * [path.as_uri()]  # it was loaded three times

    decided = ReviewRecord.read(record)
    assert {n: d.meaning[:3] for n, d in decided.decisions.items()} == {
        1: ("rater", None, 2),
        2: ("label", 0, None),
        3: ("consensus", None, None),
        4: ("label", 1, None),
    }
    assert {d.who for d in decided.decisions.values()} == {"Ann"}
    kinds = [(action.kind, *action.disputes) for action in decided.actions]
    again = [("decide", 4), ("reopen", 4), ("decide", 4)]
    assert [one for one in kinds if one[1] == 4] == again
    case = case_of_result(filter_.GetResult(), files=readers, record=record)
    review = case.begun("Ann")
    review.decide(1, "rater", 2)
    review.decide(2, "label", 0)
    review.decide(3, "consensus")
    review.decide(4, "label", 1)
    expected = case.writer(review).record()
    assert [m.voxels_after for m in decided.maps] == [m.voxels_after for m in expected.maps]
    out = tmp_path / "out.nii.gz"
    assert main(["adjudicate", str(record), "-o", str(out)]) == 0
    np.testing.assert_array_equal(
        sitk.GetArrayFromImage(sitk.ReadImage(str(out))), review.adjudicated()
    )


@needs_browser[0]
@needs_browser[1]
def test_one_label_of_several_is_shown(tmp_path: Path, chromium: Any) -> None:
    atlases = atlas_labels(1, (10, 24, 22), labels=4, atlases=3)
    filter_ = ic.LabelVotingImageFilter()
    filter_.Execute(atlases.maps)
    path = tmp_path / "page.html"
    ic.report(filter_, path)
    page = chromium.new_page()
    page.goto(path.as_uri())
    page.wait_for_selector("#viewer:not([hidden])")
    before = drawn(page)
    page.select_option("#viewer-label", label="label 2")
    assert drawn(page) != before
    page.close()


def test_of_what_is_too_large_a_part_is_there_and_the_page_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filter_, readers = fused(tmp_path)
    path = tmp_path / "page.html"
    ic.report(filter_, path, image=ct(), files=readers)
    whole = path.read_text(encoding="utf-8")
    assert 'id="viewer-data"' in whole
    assert "this is the part around what is disputed" not in whole
    # If the volume is too large, the part around the displayed place is included.
    monkeypatch.setattr(viewer, "MOST_BYTES", 40_000)
    ic.report(filter_, path, image=ct(), files=readers)
    part = path.read_text(encoding="utf-8")
    assert "this is the part around what is disputed" in part
    assert 'id="viewer-data"' in part
    monkeypatch.setattr(viewer, "MOST_BYTES", 100)
    ic.report(filter_, path, image=ct(), files=readers)
    small = path.read_text(encoding="utf-8")
    assert "itk-consensus review shows them" in small
    assert 'id="viewer-data"' not in small


def test_readers_of_equal_file_names_are_told_apart_by_their_folders() -> None:
    names = ["/data/case 1/ann/mask.nii.gz", "/data/case 1/bob/mask.nii.gz"]
    assert viewer._short_names(names) == ("ann/mask", "bob/mask")


def test_readers_who_agree_have_nothing_to_go_through(tmp_path: Path) -> None:
    filter_ = ic.MajorityVoteFilter()
    filter_.Execute([np.eye(5, dtype=np.uint8)] * 3)
    ic.report(filter_, tmp_path / "page.html")
    assert "viewer-data" not in (tmp_path / "page.html").read_text(encoding="utf-8")
