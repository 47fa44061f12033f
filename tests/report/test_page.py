"""The HTML page is complete, self-contained, safe, and shows the correct voxels."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
import SimpleITK as sitk

import itk_consensus as ic
from itk_consensus.assessment.findings import Finding
from itk_consensus.assessment.places import Place
from itk_consensus.cli import main
from itk_consensus.core.errors import GeometryError, NotExecutedError, ParameterError
from itk_consensus.core.rater_names import name_raters
from itk_consensus.fusing.fusion_result import result_of
from itk_consensus.report import page
from itk_consensus.report.agreement_tables import rater_mark
from itk_consensus.report.dispute_figures import disputed_slices
from itk_consensus.report.first_screen import (
    deviation_table,
    farthest_deviation,
    place_of,
    who_drew_at,
)
from itk_consensus.report.shown_case import ShownCase, naming_labels
from itk_consensus.simulation.atlas_phantoms import atlas_labels
from itk_consensus.storage.hashes import file_hash

MOST_BYTES = 3_000_000


class Elements(HTMLParser):
    """Every start tag with its attributes; fails on elements that are not closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self._open: list[str] = []
        self.feed(text)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag != "link":
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.found if name == tag]


def page_of(filter_: ic.LabelFusionFilter, path: Path, **options: object) -> str:
    ic.report(filter_, path, **options)
    return path.read_text(encoding="utf-8")


@pytest.fixture
def vote(masks: list[np.ndarray]) -> ic.MajorityVoteFilter:
    filter_ = ic.MajorityVoteFilter()
    filter_.Execute(masks)
    return filter_


def test_the_page_of_the_bundled_nodule_is_small_whole_and_needs_nothing_else(
    tmp_path: Path,
) -> None:
    filter_ = ic.ConsensusFilter()
    filter_.Execute(ic.sample_case())
    text = page_of(filter_, tmp_path / "page.html", names=["Ann", "Bob", "Cem", "Dan"])
    assert len(text.encode()) < MOST_BYTES
    elements = Elements(text)
    for _, attributes in elements.found:
        for name in ("href", "src"):
            assert re.match("data:|#|$", attributes.get(name) or "")
    assert "url(" not in text
    assert not any("src" in script for script in elements.named("script"))
    assert elements.named("html")[0]["lang"] == "en"
    assert len(elements.named("main")) == 1
    said = (
        figure.get("aria-label") or figure.get("aria-hidden") for figure in elements.named("svg")
    )
    assert all(said)
    assert all(header.get("scope") for header in elements.named("th"))
    for words in ("Ann", "Dan", "SHA-256", "SimpleITK", "consensus", "Fine."):
        assert words in text


def test_the_page_of_twelve_labels_in_3d_is_small(tmp_path: Path) -> None:
    atlases = atlas_labels(1, (24, 32, 28), labels=12, atlases=4)
    filter_ = ic.MultiLabelSTAPLEImageFilter()
    filter_.Execute(atlases.maps)
    image = atlases.truth.astype(np.float32)
    text = page_of(filter_, tmp_path / "page.html", image=image)
    assert len(text.encode()) < MOST_BYTES
    assert all(f"label {label}" in text for label in range(1, 13))
    assert len(Elements(text).named("figure")) > 1


@pytest.mark.parametrize("dimension", [1, 2, 3, 4])
def test_images_of_every_dimension_have_a_page(dimension: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(dimension)
    raters = [rng.integers(0, 2, (5,) * dimension).astype(np.uint8) for _ in range(3)]
    filter_ = ic.MajorityVoteFilter()
    filter_.Execute(raters)
    Elements(page_of(filter_, tmp_path / "page.html"))


def test_names_with_markup_are_only_text(vote: ic.MajorityVoteFilter, tmp_path: Path) -> None:
    names = ["<script>alert(1)</script>", 'a"b', "c&d", "e"]
    text = page_of(vote, tmp_path / "page.html", names=names)
    assert len(Elements(text).named("script")) == 2  # the voxels, and the viewer's code
    assert "&lt;script&gt;" in text
    assert "<script>alert" not in text


def test_files_are_hashed_and_outputs_linked_from_where_the_page_lies(
    vote: ic.MajorityVoteFilter, tmp_path: Path
) -> None:
    files = [tmp_path / f"{letter}.bin" for letter in "abcd"]
    for file in files:
        file.write_bytes(file.name.encode())
    (tmp_path / "pages").mkdir()
    outputs = {"label map": tmp_path / "fused map.nii.gz"}
    text = page_of(vote, tmp_path / "pages" / "p.html", files=files, outputs=outputs)
    assert all(file_hash(file) in text for file in files)
    hrefs = [link["href"] for link in Elements(text).named("a")]
    assert [one for one in hrefs if one[0] != "#"] == ["../fused%20map.nii.gz"]


def test_empty_and_lonely_raters_have_a_page(tmp_path: Path) -> None:
    for raters in ([np.zeros((4, 5), np.uint8)] * 3, [np.eye(5, dtype=np.uint8)]):
        filter_ = ic.MajorityVoteFilter()
        filter_.Execute(raters)
        Elements(page_of(filter_, tmp_path / "page.html"))


def test_the_report_is_callable_whatever_was_imported_before(run_python) -> None:  # type: ignore[no-untyped-def]
    answer = run_python(
        "import itk_consensus, itk_consensus.report.text\nassert callable(itk_consensus.report)"
    )
    assert answer.returncode == 0, answer.stderr


def test_errors_say_what_was_wanted(vote: ic.MajorityVoteFilter, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    with pytest.raises(ParameterError, match="names must be 4"):
        ic.report(vote, path, names=["a"])
    with pytest.raises(GeometryError, match="report: image"):
        ic.report(vote, path, image=np.zeros((3, 3)))
    with pytest.raises(NotExecutedError):
        ic.report(ic.MajorityVoteFilter(), path)
    with pytest.raises(ParameterError, match="needs a fuser after Execute, got int"):
        ic.report(3, path)  # type: ignore[arg-type]
    assert not path.exists()


def test_a_reviewed_case_gives_back_what_raters_said(label_maps: list[np.ndarray]) -> None:
    masks = [None, np.indices(label_maps[0].shape)[0] > 4, None, None, None]
    filter_ = ic.LabelVotingImageFilter(
        RaterMasks=[None if m is None else m.astype(np.uint8) for m in masks]
    )
    fused = filter_.Execute(label_maps)
    case = ShownCase(filter_.GetResult())
    present = [np.ones(fused.shape, bool) if m is None else m for m in masks]
    for drawn, given, annotated in zip(case.maps, label_maps, present, strict=True):
        np.testing.assert_array_equal(drawn[annotated], given[annotated])
        assert (drawn[~annotated] == case.missing).all()
    decided = fused <= 4
    against = sum(a & (g != fused) for a, g in zip(present, label_maps, strict=True))
    share = against / np.sum(present, axis=0)
    np.testing.assert_allclose(case.dissent[decided], share[decided])


def test_the_most_disputed_slice_is_shown() -> None:
    dissent = np.zeros((40, 3, 3))
    dissent[5:30] = 0.1
    dissent[17] = 0.4
    assert 17 in disputed_slices(dissent)
    assert disputed_slices(np.zeros((9, 2, 2))) == [4]


def test_numbers_of_raters_become_names() -> None:
    names = ["ann.nii", "bob.nii", "cem.nii"]
    text = "Raters 0 and 2 agree; rater 1 differs; 3 raters annotated; rater 7 is unknown."
    expected = "ann.nii and cem.nii agree; bob.nii differs; 3 raters annotated; rater 7 is unknown."
    assert name_raters(text, names) == expected
    assert [rater_mark(index) for index in (0, 25, 26, 27, 52)] == ["A", "Z", "AA", "AB", "BA"]


def test_a_mirrored_mask_asks_for_no_margin_and_the_side_that_differs_is_told() -> None:
    maps = np.zeros((5, 30, 40, 60), np.uint8)
    for reader, top in enumerate((20, 26, 26, 26, 20)):
        maps[reader, 8:top, 10 : 26 + reader % 2, 8:25] = 1
    maps[4] = maps[4][:, :, ::-1]
    filter_ = ic.ConsensusFilter()
    filter_.Execute([sitk.GetImageFromArray(one) for one in maps])
    case = ShownCase(result_of(filter_).with_rater_names(("ann", "bob", "cem", "dan", "eva")))
    said = deviation_table(case, 1)
    margin = re.search(r"How far readers lie from the consensus: [^<]*", said)[0]
    assert "all within" in margin
    assert "Left out: eva." in margin
    assert all(float(mm) <= 7 for mm in re.findall(r"([\d.]+) mm", margin))


def test_the_place_says_who_drew_there() -> None:
    maps = np.zeros((4, 4, 6, 6), np.uint8)
    maps[:, 1:3, 1:3, 1:3] = 1
    maps[3, 1:3, 4, 4] = 1
    maps[:3, 1, 5, 5] = 1
    maps[:2, 1, 0, 5] = 1
    vote = ic.MajorityVoteFilter()
    vote.Execute([sitk.GetImageFromArray(one) for one in maps])
    case = ShownCase(result_of(vote).with_rater_names(("ann", "bob", "cem", "dan")))
    said = {
        (1, 4, 4): "only dan drew here",
        (1, 5, 5): "all but dan drew here",
        (1, 0, 5): "ann and bob drew here, cem and dan did not",
        (1, 1, 1): "",
        (0, 0, 0): "",
    }
    for index, words in said.items():
        assert who_drew_at(case, Place(index, (0.0, 0.0, 0.0), "mm")) == words


def test_colours_are_explained_below_the_pictures_and_before_the_notes(tmp_path: Path) -> None:
    consensus = ic.ConsensusFilter()
    consensus.Execute(ic.sample_case())
    text = page_of(consensus, tmp_path / "page.html", names=["ann", "bob", "cem", "dora"])
    first = text[text.index("Where to look: only dora drew here; it is not in the consensus: ") :]
    pictures, colours, table, notes = (
        first.index(part)
        for part in ("<figcaption", '<p class="legend"', "Who deviates", "Slices are numbered")
    )
    assert pictures < colours < table < notes
    assert "disputed: readers differ from the consensus" in first[colours:table]
    assert "x to the left, y to the back, z to the head" in first[notes:]
    assert "as ITK does" not in text
    assert re.match(r"[^>]*>slice 3</a>", first)
    shown = first[:table]
    assert "No image given: outlines only." in text
    assert "Slice 3 (0 to 13): no consensus in this slice." in shown
    assert "Crosshair at (293, 280, -202) mm" in first[notes:]


def test_a_page_of_use_leads_to_the_farthest_deviation(tmp_path: Path) -> None:
    maps = np.zeros((4, 24, 30, 30), np.uint8)
    maps[:, 14:20, 10:20, 10:20] = 1
    maps[0, 14:20, 10:20, 18:20] = 0
    maps[1, 4:14, 12:16, 12:16] = 1
    vote = ic.MajorityVoteFilter()
    vote.Execute([sitk.GetImageFromArray(one) for one in maps])
    names = ["ann", "ben", "cem", "dan"]
    case = ShownCase(result_of(vote).with_rater_names(names))
    farthest = farthest_deviation(case)
    assert farthest is not None
    assert str(farthest) == "up to 10 mm towards the feet"
    assert 4 <= farthest.place.index[0] < 10
    assert place_of(case) == farthest.place
    text = page_of(vote, tmp_path / "page.html", names=names)
    said = re.sub("<[^>]*>", "", text)
    there = "only ben drew here, up to 10 mm towards the feet; it is not in the consensus: slice "
    assert f"Where readers differ most: {there}{farthest.place.index[0]}" in said
    assert f'href="#{farthest.place.target}"' in text


def test_what_all_but_one_drew_is_in_the_consensus(tmp_path: Path) -> None:
    maps = np.zeros((3, 12, 24, 24), np.uint8)
    maps[:, 2:10, 4:20, 4:20] = 1
    maps[2, 7:10] = 0
    vote = ic.MajorityVoteFilter()
    vote.Execute([sitk.GetImageFromArray(one) for one in maps])
    text = page_of(vote, tmp_path / "page.html", names=["ann", "bob", "cem"])
    assert re.search("all but cem drew here[^;]*; it is in the consensus", text)


def test_a_distance_has_one_number_in_the_table_and_below_it() -> None:
    consensus = ic.ConsensusFilter()
    consensus.Execute(ic.sample_case())
    said = re.sub("<[^>]*>", " ", deviation_table(ShownCase(result_of(consensus)), 1))
    assert re.search(r"0\.64 +7\.5 +2\.6 mm wider", said)
    assert "all within 7.5 mm" in said


def test_every_severity_has_a_word_and_a_colour() -> None:
    style = (Path(page.__file__).parent / "parts.css").read_text(encoding="utf-8")
    for severity in ("note", "look", "do not use", None):
        item = str(page._item(Finding("training", 1.0, severity)))
        assert (severity or "fine").capitalize() + "." in item
        assert f'class="{(severity or "fine").replace(" ", "-")}"' in item
        if severity != "note":
            assert f".findings .{(severity or 'fine').replace(' ', '-')} " in style


def test_notes_stand_in_the_open(tmp_path: Path) -> None:
    filter_ = ic.ConsensusFilter()
    filter_.Execute(ic.sample_case()[:2])
    shown, _, folded = page_of(filter_, tmp_path / "page.html").partition("<details")
    assert "Two readers annotated" in shown
    assert "Two readers annotated" in folded


def test_simpleitk_images_have_an_underlay(tmp_path: Path) -> None:
    filter_ = ic.STAPLEImageFilter()
    probability = filter_.Execute(ic.sample_case())
    text = page_of(filter_, tmp_path / "page.html", image=probability)
    assert isinstance(probability, sitk.Image)
    pictures = Elements(text).named("image")
    assert len(pictures) == 2 * text.count("<figure>")


def ct_of_a_nodule(direction: tuple[float, ...]) -> tuple[list[sitk.Image], sitk.Image]:
    """Return three readers of a nodule in the lung, with a chest wall on one side."""
    z, y, x = np.indices((8, 30, 32))
    image = np.where(x < 6, 60, -820).astype(np.int16)
    readers = []
    for radius in (5, 6, 7):
        inside = (y - 14) ** 2 + (x - 18) ** 2 + 4 * (z - 4) ** 2 < radius**2
        image[inside] = 30
        readers.append(sitk.GetImageFromArray(inside.astype(np.uint8)))
    for one in (*readers, picture := sitk.GetImageFromArray(image)):
        one.SetSpacing((0.7, 0.7, 2.5))
        one.SetDirection(direction)
    return readers, picture


PLAIN = (1.0, 0, 0, 0, 1, 0, 0, 0, 1)
RAS = (-1.0, 0, 0, 0, -1, 0, 0, 0, 1)


def page_of_a_nodule(path: Path, direction: tuple[float, ...] = PLAIN, **options: object) -> str:
    readers, image = ct_of_a_nodule(direction)
    filter_ = ic.MajorityVoteFilter()
    filter_.Execute(readers)
    return page_of(filter_, path, image=image, **options)


def test_a_nodule_is_seen_in_the_window_of_the_lung_unless_another_is_asked(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert "Grey values: lung (center -600, width 1500)." in page_of_a_nodule(page)
    asked = page_of_a_nodule(page, window=(40, 400))
    assert "Grey values: as asked (center 40, width 400)." in asked
    assert "Grey values: bone (" in page_of_a_nodule(page, window="bone")


def test_pictures_hang_as_radiologists_do_whatever_the_order_of_voxels(tmp_path: Path) -> None:
    """NIfTI files in RAS order were shown upside down, with the patient's right on the right."""
    pictures = {}
    for name, direction in (("plain", PLAIN), ("ras", RAS)):
        text = page_of_a_nodule(tmp_path / f"{name}.html", direction)
        for side, letter in (("left", "R"), ("right", "L"), ("top", "A"), ("bottom", "P")):
            assert f'<span class="halo {side}" aria-hidden="true">{letter}</span>' in text
        elements = Elements(text)
        pictures[name] = [one["href"] for one in elements.named("image") if "class" not in one]
    readers, image = ct_of_a_nodule(RAS)
    turned = [sitk.Flip(one, (True, True, False)) for one in readers]
    vote = ic.MajorityVoteFilter()
    vote.Execute(turned)
    text = page_of(vote, tmp_path / "x.html", image=sitk.Flip(image, (True, True, False)))
    again = [one["href"] for one in Elements(text).named("image") if "class" not in one]
    assert again == pictures["ras"] != pictures["plain"]


def test_arrays_say_nothing_of_left_and_right(vote: ic.MajorityVoteFilter, tmp_path: Path) -> None:
    assert "halo left" not in page_of(vote, tmp_path / "page.html")


def test_readers_have_lines_of_one_width_and_dashes_beyond_six_colours(tmp_path: Path) -> None:
    filter_ = ic.MajorityVoteFilter()
    filter_.Execute(ic.sample_case() * 3)
    elements = Elements(page_of(filter_, tmp_path / "page.html"))
    lines = [one for one in elements.named("path") if "r" in (one["class"] or "")[:1]]
    strong = [one for one in elements.named("path") if one["class"] == "consensus"]
    assert len({one["stroke-width"] for one in lines}) == 1
    widths = [float(one["stroke-width"] or 0) for one in (*strong, *lines)]
    assert min(widths[: len(strong)]) > max(widths[len(strong) :])
    looks = {one["class"]: (one["stroke"], one["stroke-dasharray"]) for one in lines}
    assert len(set(looks.values())) == len(looks) == 12
    legend = [one for one in elements.named("line") if one.get("stroke-dasharray")]
    shown = {(one["stroke"], one["stroke-dasharray"]) for one in legend}
    assert set(looks.values()) <= shown


def test_the_consensus_has_its_volume_and_its_row(tmp_path: Path) -> None:
    filter_ = ic.ConsensusFilter()
    images = ic.sample_case()
    consensus = filter_.Execute(images)
    text = page_of(filter_, tmp_path / "page.html")
    voxel = np.prod(consensus.GetSpacing()) / 1000
    volume = np.count_nonzero(sitk.GetArrayViewFromImage(consensus) == 1) * voxel
    row = re.search(r"<tr><th scope=\"row\"><b>✓  consensus</b></th><td>([\d.]+)</td>", text)
    assert row is not None
    assert float(row[1]) == pytest.approx(volume, abs=6e-4)


def test_the_page_says_which_volume_another_rater_would_draw(
    vote: ic.MajorityVoteFilter, tmp_path: Path
) -> None:
    text = page_of(vote, tmp_path / "page.html")
    estimate, low, high = ic.SampleSegmentations(vote).volume()
    shown = re.search(r"<td>([\d.]+) \(([\d.]+)–([\d.]+)\)</td>", text)
    assert shown is not None
    np.testing.assert_allclose([float(one) for one in shown.groups()], [estimate, low, high], 6e-3)


def test_the_page_shows_who_draws_generously_and_on_which_side(tmp_path: Path) -> None:
    z, y, x = np.indices((32, 40, 40))
    organ = (np.hypot(y - 20, x - 20) < 11) & (z > 8) & (z < 21)
    higher = organ | ((np.hypot(y - 20, x - 20) < 11) & (z > 8) & (z < 23))
    images = [sitk.GetImageFromArray(one.astype(np.uint8)) for one in (organ, organ, organ, higher)]
    # Stored from head to feet, so the last slices are the caudal ones.
    for side, sense in (("cranial", 1), ("caudal", -1)):
        for image in images:
            image.SetDirection((1, 0, 0, 0, 1, 0, 0, 0, sense))
        filter_ = ic.MajorityVoteFilter()
        filter_.Execute(images)
        text = page_of(filter_, tmp_path / "page.html")
        table = text[text.index("How far outside the consensus") :]
        sides = re.findall(r"<th scope=\"col\">([^<]+)</th>", table)[1:8]
        row = re.search(r"D  rater 3</th>(.*?)</tr>", table)
        assert row is not None
        cells = re.findall(r"<td>([-+.\d]+)<svg.*? width=\"([\d.]+)\"", row[1])
        drawn = {
            name: (float(mm), float(bar)) for name, (mm, bar) in zip(sides, cells, strict=True)
        }
        assert drawn[side][0] == pytest.approx(2, abs=0.3)
        assert drawn[side][1] == 30
        assert all(abs(mm) < 0.3 for name, (mm, _) in drawn.items() if name not in (side, "mean"))


def test_raters_who_did_not_annotate_everything_have_no_bias(tmp_path: Path) -> None:
    masks = np.zeros((3, 20, 20), np.uint8)
    masks[:, 5:15, 5:15] = 1
    masks[2, :, 10:] = 9
    filter_ = ic.MajorityVoteFilter(MissingLabel=9)
    filter_.Execute([sitk.GetImageFromArray(mask) for mask in masks])
    text = page_of(filter_, tmp_path / "page.html")
    table = text[text.index("How far outside the consensus") :]
    row = re.search(r"C  rater 2</th>(.*?)</tr>", table)
    assert row is not None
    assert set(re.findall(r"<td>(.*?)</td>", row[1])) == {"–"}


def test_structures_have_their_names_everywhere(tmp_path: Path) -> None:
    atlases = atlas_labels(1, (16, 20, 18), labels=3, atlases=3)
    filter_ = ic.MultiLabelSTAPLEImageFilter()
    filter_.Execute(atlases.maps)
    names = {1: "liver", 2: "left <kidney>", 3: "spleen"}
    text = page_of(filter_, tmp_path / "page.html", label_names=names)
    assert not re.search(r">label \d", text)
    assert "left &lt;kidney&gt;" in text
    assert text.count("spleen") > 2
    named = naming_labels(
        "Label 2 and labels 1, 3 differ; label 9 is new.", {1: "a", 2: "b", 3: "c"}
    )
    assert named == "b and a, c differ; label 9 is new."


def test_a_contact_sheet_has_every_disputed_slice(tmp_path: Path) -> None:
    filter_ = ic.MajorityVoteFilter()
    readers, _ = ct_of_a_nodule(PLAIN)
    fused = sitk.GetArrayFromImage(filter_.Execute(readers))
    without = page_of(filter_, tmp_path / "a.html")
    text = page_of(filter_, tmp_path / "b.html", contact_sheet=True)
    arrays = [sitk.GetArrayFromImage(one) for one in readers]
    disputed = np.flatnonzero(np.any([(one != fused).any(axis=(1, 2)) for one in arrays], axis=0))
    assert f"All {len(disputed)} disputed slices" in text
    sheet = text.partition('class="sheet"')[2]
    assert [int(n) for n in re.findall(r"<figcaption>Slice (\d+) \(0 to 7\)", sheet)] == list(
        disputed
    )
    assert 'class="sheet"' not in without


def test_no_rule_of_the_style_stands_there_twice() -> None:
    room = Path(page.__file__).parent
    style = "".join((room / name).read_text(encoding="utf-8") for name in ("parts.css", "page.css"))
    rules = [line for line in style.splitlines() if line.startswith((".", "#", "t", "h"))]
    assert len(rules) == len(set(rules))


def test_slice_numbers_agree_between_page_and_command_line(tmp_path: Path) -> None:
    readers, _ = ct_of_a_nodule(RAS)
    paths = []
    for number, reader in enumerate(readers):
        paths.append(str(tmp_path / f"{number}.nii.gz"))
        sitk.WriteImage(reader, paths[-1])
    page, out = tmp_path / "p.html", tmp_path / "f.nii.gz"
    words = ["--method", "vote", "-o", str(out), "--report", str(page), "--json", f"{out}.json"]
    assert main(["fuse", *paths, *words, "--contact-sheet"]) == 0
    told = json.loads(Path(f"{out}.json").read_text(encoding="utf-8"))["disputed_slices"]
    sheet = page.read_text(encoding="utf-8").partition('class="sheet"')[2]
    shown = {
        int(number): int(voxels)
        for number, voxels in re.findall(r"Slice (\d+) \(0 to 7\): (\d+) disputed", sheet)
    }
    assert [told["first"], told["last"]] == [min(shown), max(shown)]
    assert shown[told["most"]] == told["voxels"] == max(shown.values())
