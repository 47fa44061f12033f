"""The page of several structures lists verdicts first, then deviating readers, then everything
else.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import SimpleITK as sitk

import itk_consensus as ic
from itk_consensus.fusing.fusion_result import MadeBy, result_of
from itk_consensus.report import structures_page as module
from itk_consensus.report.dispute_figures import Look

READERS = ("ann", "bob", "cem", "dan")
STYLE = Path(module.__file__).parent / "parts.css"


def masks(middle: int, moved: int, who: int = 1) -> list[sitk.Image]:
    """Return an ellipsoid drawn by four readers; one mask, by default bob's, is shifted by
    `moved` slices.
    """
    z, y, x = np.indices((24, 30, 34))
    found = []
    for number in range(4):
        up = moved if number == who else 0
        away = ((z - 10 - up) / 7) ** 2 + ((y - 14) / 8) ** 2
        inside = away + ((x - middle) / (8 + 0.2 * number)) ** 2 < 1
        found.append(sitk.GetImageFromArray(inside.astype(np.uint8)))
    return found


@pytest.fixture(scope="module")
def page() -> str:
    return page_of({"Heart": masks(14, 4), "Lung": masks(18, 4), "Aorta": masks(16, 0)})


def page_of(drawn: dict[str, list[sitk.Image]]) -> str:
    vote, parts = ic.MajorityVoteFilter(), []
    for number, (name, images) in enumerate(drawn.items()):
        vote.Execute(images)
        known = dict(enumerate(READERS))
        parts.append(module.structure_part(result_of(vote), name, known, None, Look(), number))
    return module.structures_page(parts, READERS, MadeBy.of(vote), [], [], {})


def told(markup: str) -> str:
    return re.sub("<[^>]*>", "", markup)


def test_structures_are_named_by_verdict_in_one_line_on_top(page: str) -> None:
    header = page[page.index("<header") : page.index("</header")]
    assert re.search("Use: Aorta. Look: (Heart and Lung|Lung and Heart).", told(header))
    assert '<a href="#structure-2">Aorta</a>' in header
    assert 'class="word use"' in header


def test_a_reader_who_deviates_in_several_structures_has_one_line(page: str) -> None:
    box = page[page.index('class="findings"') : page.index('class="glances cards"')]
    said = told(box)
    assert re.search("bob is out of place in (Heart and Lung|Lung and Heart).", said)
    assert said.count("Compare origin and spacing") == 1
    assert '<li class="look">' in box


def test_a_header_is_not_blamed_for_structures_that_may_lie_off_differently() -> None:
    vote, parts = ic.MajorityVoteFilter(), []
    for number, (name, images) in enumerate({"Heart": masks(14, 4), "Lung": masks(18, 6)}.items()):
        vote.Execute(images)
        known = dict(enumerate(READERS))
        parts.append(module.structure_part(result_of(vote), name, known, None, Look(), number))
    said = told(str(module.problems(parts)))
    assert "bob is out of place in Heart and Lung. If all lie off alike, compare origin" in said


def test_what_may_not_be_used_as_it_is_links_to_its_pictures(page: str) -> None:
    table = page[page.index('class="glances cards"') : page.index("</table>")]
    links = re.findall('<a href="#(place-[0-9]+)">slice [0-9]+</a>', table)
    assert sorted(links) == ["place-0", "place-1"]
    assert all(page.count(f'id="{one}"') == 1 for one in links)


def test_on_a_phone_rows_are_cards_whose_cells_say_what_they_are(page: str) -> None:
    assert page.count('data-label="Dice between readers"') == 3
    narrow = STYLE.read_text(encoding="utf-8").split("@media (max-width: 40rem)")[-1]
    assert ".cards thead { display: none; }" in narrow
    assert "content: attr(data-label)" in narrow


def test_every_problem_has_a_box_and_a_header_is_named_only_for_shifts_of_one_direction() -> None:
    drawn = {"Heart": masks(14, 4), "Lung": masks(18, -4), "Cord": masks(16, 4, who=3)}
    made = page_of(drawn)
    box = made[made.index('class="findings"') : made.index('class="glances cards"')]
    bob, dan = (told(one) for one in re.findall("<li.*?</li>", box))
    assert re.match("bob is out of place in (Heart and Lung|Lung and Heart)", bob)
    assert bob.endswith("Not in one direction, so no header explains it: look at the outlines.")
    assert dan.startswith("dan is out of place in Cord.")
    assert "Compare origin and spacing" in dan
