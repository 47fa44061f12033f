"""Display of the application in Chromium: pixels, corners, windows, planes, the list."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import SimpleITK as sitk

from itk_consensus.review.rater_colors import DISPUTE_COLOR, rater_color
from itk_consensus.review.record import ReviewRecord
from tests.review.browser import (
    CHROMIUM,
    MARKS,
    drag,
    middle,
    opened,
    pixels,
    says,
    shows,
    started,
)
from tests.review.four_readers import ct, write_readers

pytestmark = MARKS


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def corner(page: Any, view: str, pattern: str) -> list[str]:
    """Wait until the corner of a view matches a pattern; return its groups."""
    page.wait_for_function(
        "([view, pattern]) => RegExp(pattern).test(document.querySelector(view).innerText)",
        arg=[f"#corner-{view}", pattern],
    )
    found = re.search(pattern, page.inner_text(f"#corner-{view}"))
    assert found is not None
    return list(found.groups())


@pytest.mark.slow
def test_pictures_can_be_read(tmp_path: Path, chromium: Any) -> None:
    sitk.WriteImage(ct(), str(tmp_path / "ct.nii.gz"))
    files = [path.name for path in write_readers(tmp_path)]
    words = [*files, "--image", "ct.nii.gz", "-o", "out.nii.gz", "--reviewer", "Ann"]
    with started(words, tmp_path) as running:
        failed = list[str]()
        page = chromium.new_page(viewport={"width": 1400, "height": 900})
        page.on("response", lambda one: failed.append(one.url) if one.status >= 400 else None)
        page.close()
        page = opened(chromium, running.address)
        readers_lines(page)
        corners_windows_and_planes(page)
        surface_and_painting(page)
        unlabelled = page.locator("button").evaluate_all(
            "all => all.filter(b => !(b.textContent.trim() || b.ariaLabel)).length"
        )
        assert unlabelled == 0
        unnamed = page.locator(".review input, .review select").evaluate_all(
            "all => all.filter(e => !(e.ariaLabel || e.labels.length)).map(e => e.id)"
        )
        assert unnamed == []
        assert not failed
        page.click("#close")
        says(page, "body", "The review has ended.")
        says(page, "body", "run the same command again")
        page.close()
        assert running.process.wait(30) == 0
    assert (tmp_path / "stderr.txt").read_text().count("Traceback") == 0


def readers_lines(page: Any) -> None:
    """Check that a lone reader's line is complete, whether its dispute is hatched or hidden."""
    page.click("#dispute-3")
    page.wait_for_selector("#dispute-3.current")
    assert "bob marked it" in page.inner_text("#about")
    own, hatching = rater_color(1), DISPUTE_COLOR
    for number in (0, 2, 3):
        page.click(f"#reader-{number}")
    lone = shows(
        page,
        "Red",
        lambda shot: pixels(shot, rater_color(0)) < 10 and pixels(shot, hatching, 70) > 500,
    )
    assert pixels(lone, own, 90) > 60
    page.locator("#opacity-hatching").fill("0.15")
    shows(page, "Red", lambda shot: pixels(shot, hatching, 70) < 100)
    page.locator("#opacity-hatching").fill("0.85")
    shows(page, "Red", lambda shot: pixels(shot, hatching, 70) > 500)
    page.keyboard.press("d")
    hidden = shows(page, "Red", lambda shot: pixels(shot, hatching, 70) < 100)
    # Readers' lines are drawn above the dispute: hiding the dispute does not uncover more of
    # them.
    assert pixels(hidden, own, 60) > 60
    page.locator("#opacity-lines").fill("0")
    shows(page, "Red", lambda shot: pixels(shot, own, 60) < 20)
    page.locator("#opacity-lines").fill("1")
    page.keyboard.press("d")
    again = shows(page, "Red", lambda shot: pixels(shot, hatching, 70) > 500)
    assert pixels(again, own, 60) == pytest.approx(pixels(hidden, own, 60), rel=0.35)
    for number in (0, 2, 3):
        page.click(f"#reader-{number}")


def corners_windows_and_planes(page: Any) -> None:
    """Check that place, slice, value and window follow the mouse: click, drag, keys and double
    click.
    """
    x, y = middle(page, "Red")
    page.mouse.move(x + 40, y + 20)
    there = corner(page, "Red", r"axial (\d+) of 24\n([RL] [\d.]+ [AP] [\d.]+) .*\n(-?\d+) HU")
    page.mouse.move(x - 60, y + 20)
    page.wait_for_function(
        "old => !document.querySelector('#corner-Red').innerText.includes(old)", arg=there[1]
    )
    # A click sets the crosshair in all planes.
    page.mouse.click(x - 60, y + 20)
    (place,) = corner(page, "Green", r"coronal \d+ of 64\n(.+ mm)")
    assert corner(page, "Yellow", r"sagittal \d+ of 72\n(.+ mm)") == [place]
    # Dragging with Ctrl changes only the window.
    width, level = corner(page, "Red", r"W (\S+) L (\S+)")
    page.keyboard.down("Control")
    drag(page, (x, y), (90, 40))
    page.keyboard.up("Control")
    page.wait_for_function(
        "old => window.trame.state.get('window_width') > 1.1 * old", arg=float(width)
    )
    _, other = corner(page, "Red", r"W (\S+) L (\S+)")
    assert float(other) > float(level)
    # Arrow keys scroll the plane under the mouse.
    page.mouse.move(x, y)
    (before,) = corner(page, "Red", r"axial (\d+) of")
    page.keyboard.press("ArrowUp")
    says(page, "#corner-Red", f"axial {int(before) + 1} of")
    page.keyboard.press("ArrowDown")
    says(page, "#corner-Red", f"axial {before} of")
    # A double click shows a single view, and a second one all views.
    page.mouse.dblclick(x, y)
    page.wait_for_function("document.querySelector('#view-Green').offsetParent === null")
    assert page.locator("#view-Red").locator("xpath=..").bounding_box()["width"] > 900
    page.mouse.dblclick(x, y)
    page.wait_for_function("document.querySelector('#view-Green').offsetParent !== null")
    page.keyboard.press("?")
    says(page, "#help", "set the crosshair in all planes")
    page.keyboard.press("Escape")
    page.wait_for_selector("#help", state="detached")


def surface_and_painting(page: Any) -> None:
    """Check that a stroke leaves the surface, and that the painted label is shown."""
    page.click("#dispute-2")
    page.wait_for_selector("#dispute-2.current")
    whole = shows(page, "3D", lambda shot: pixels(shot, "#FFFFFF", 160) > 300)
    bright = pixels(whole, "#FFFFFF", 160)
    page.click("#tool-paint")
    page.wait_for_selector("#paint-label")
    assert "label 1" in page.inner_text("#paint-label")
    shows(page, "3D", lambda shot: pixels(shot, "#FFFFFF", 160) > 0.5 * bright)
    drag(page, middle(page, "Red"), (12, 0))
    says(page, "#message", "Painted:")
    page.keyboard.press("Escape")
    page.wait_for_timeout(1500)
    shows(page, "3D", lambda shot: pixels(shot, "#FFFFFF", 160) > 0.5 * bright)


def scattered(folder: Path) -> list[str]:
    """Write three readers of two organs who differ in hundreds of specks and some thick places."""
    rng = np.random.default_rng(3)
    shape = (24, 96, 96)
    z, y, x = np.mgrid[: shape[0], : shape[1], : shape[2]]
    base = np.zeros(shape, np.uint8)
    for label, middle_x in ((1, 28), (2, 68)):
        base[((z - 12) / 9) ** 2 + ((y - 48) / 30) ** 2 + ((x - middle_x) / 16) ** 2 < 1] = label
    names = []
    for number in range(3):
        drawn = base.copy()
        specks = rng.random(shape) < 0.02
        drawn[specks] = 3 - drawn[specks] if number == 0 else 0
        drawn[8:14, 40 + 4 * number : 50 + 4 * number, 10 * number + 8 : 10 * number + 16] = 1
        names.append(f"reader{number}.nrrd")
        drawn[drawn > 2] = 0
        sitk.WriteImage(sitk.GetImageFromArray(drawn), str(folder / names[-1]))
    return names


def is_mostly_black(shot: bytes) -> bool:
    return pixels(shot, "#000000", 30) > 0.6 * pixels(shot, "#000000", 999)


def list_from(page: Any, unit: str, least: float) -> None:
    """Set the smallest size that is listed."""
    page.fill(f"#least-{unit}", str(least))
    page.keyboard.press("Tab")
    page.wait_for_function(
        "([name, least]) => window.trame.state.get(name) === least", arg=[f"least_{unit}", least]
    )


@pytest.mark.slow
def test_a_thousand_disputes_are_filtered_listed_and_decided_at_once(
    tmp_path: Path, chromium: Any
) -> None:
    files = scattered(tmp_path)
    words = [*files, "-o", "out.nrrd", "--reviewer", "Ann", "--label-names", "1=liver,2=spleen"]
    with started(words, tmp_path) as running:
        page = opened(chromium, running.address)
        total = int(page.inner_text("#undecided").split(" of ")[1].split()[0])
        assert total > 991
        rows = page.locator("#disputes .dispute")
        listed = rows.count()
        assert 1 <= listed < 60
        # The columns fit; the content below the list is visible; the panel itself does not scroll.
        box = page.locator("#disputes").bounding_box()
        assert box["width"] <= 400
        assert page.locator("#reader-0").bounding_box()["y"] < 900
        line = rows.first
        for part in line.locator("> span").all():
            place = part.bounding_box()
            assert place["x"] + place["width"] <= box["x"] + box["width"]
        assert "liver" in line.inner_text()
        assert page.locator("#choose-label-1").inner_text().startswith("liver")
        # Without an image, contours are drawn on black.
        page.keyboard.press("d")
        shows(page, "Red", is_mostly_black)
        page.keyboard.press("d")
        # The painted label is shown, and another one can be selected.
        page.keyboard.press("b")
        page.select_option("#paint-label", label="spleen")
        page.wait_for_function("window.trame.state.get('paint_label') === 2")
        assert page.input_value("#paint-label") == "2"
        page.keyboard.press("Escape")
        page.wait_for_selector("#paint-label", state="detached")
        names = page.locator("#legend .named").evaluate_all("all => all.map(l => l.textContent)")
        assert names == ["liver", "spleen"]
        # List everything, one label only, and one slice only.
        list_from(page, "ml", 0)
        list_from(page, "mm", 0)
        page.wait_for_function(
            "n => document.querySelectorAll('#disputes .dispute').length === n",
            arg=min(total, 1000),
        )
        page.select_option("#part", label="spleen")
        page.wait_for_function(
            "n => document.querySelectorAll('#disputes .dispute').length < n", arg=total
        )
        spleen = rows.count()
        page.check("#one-slice")
        page.wait_for_function(
            "n => document.querySelectorAll('#disputes .dispute').length < n", arg=spleen
        )
        page.uncheck("#one-slice")
        page.select_option("#part", label="all structures")
        # The list scrolls to keep the current row visible.
        page.wait_for_function(
            "n => document.querySelectorAll('#disputes .dispute').length === n",
            arg=min(total, 1000),
        )
        rows.first.click()
        page.wait_for_selector("#dispute-1.current")
        page.keyboard.press("PageUp")
        page.wait_for_function("""() => {
          const row = document.querySelector(".dispute.current")?.getBoundingClientRect();
          const list = document.querySelector(".list").getBoundingClientRect();
          return row && document.querySelector(".list").scrollTop > 100 &&
            row.top >= list.top && row.bottom <= list.bottom;
        }""")
        # All disputes below a size are decided by one action, which undo reverts.
        list_from(page, "mm", 1.5)
        page.wait_for_selector("#accept-small")
        small = int(re.search(r"(\d+) of them open", page.inner_text("#small"))[1])
        page.click("#accept-small")
        says(page, "#undecided", f"{total - small} of {total} undecided")
        page.keyboard.press("z")
        says(page, "#undecided", f"{total} of {total} undecided")
        page.keyboard.press("y")
        says(page, "#undecided", f"{total - small} of {total} undecided")
        page.close()
        assert running.end() == 0
    record = ReviewRecord.read(tmp_path / "out.review.json")
    bulk = record.actions[0]
    assert (bulk.kind, bulk.choice, len(bulk.disputes)) == ("decide", "consensus", small)
    assert "thinner than 1.5 mm" in bulk.reason
    assert [one.kind for one in record.actions] == ["decide", "undo", "redo"]
    assert record.unlisted_voxels == 0
