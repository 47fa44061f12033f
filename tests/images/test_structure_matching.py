"""Matching of structures by name, code and position; files of names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import SimpleITK as sitk

from itk_consensus.cli import main
from itk_consensus.core.errors import FileError, InputError, ParameterError
from itk_consensus.images.slicer_segmentation import write_slicer_segmentation
from itk_consensus.images.structure_matching import MatchingRules, match_structures
from itk_consensus.images.structure_renamings import names_csv, read_renamings, renamings_of
from itk_consensus.images.structures import Code, Structure
from itk_consensus.space.placed_masks import PlacedMask

SHAPE = (12, 40, 48)
LEFT, RIGHT = (6, 20, 36), (6, 20, 12)


def ball(middle: tuple[int, int, int], radius: float = 6) -> Any:
    z, y, x = np.indices(SHAPE)
    away = (z - middle[0]) ** 2 + (y - middle[1]) ** 2 + (x - middle[2]) ** 2
    return sitk.GetImageFromArray((away < radius**2).astype(np.uint8))


def has(**masks: Any) -> list[Structure]:
    return [Structure(name.replace("_", " "), mask) for name, mask in masks.items()]


def test_five_spellings_of_two_parotids_are_two_structures() -> None:
    spelled = [("Parotid_L", "Parotid_R"), ("left parotid", "right parotid"),
               ("PAROTID LT", "PAROTID RT"), ("lt parotid gland", "rt parotid gland"),
               ("Parotis li", "Parotis re")]  # fmt: skip
    readers = {
        f"r{n}": [Structure(left, ball(LEFT)), Structure(right, ball(RIGHT))]
        for n, (left, right) in enumerate(spelled)
    }
    matched = match_structures(readers)
    assert list(matched.table) == ["Parotid_L", "Parotid_R"]
    assert matched.differently_spelled["Parotid_R"] == tuple(right for _, right in spelled)
    assert not matched.proposals


def test_a_place_proposes_what_names_leave_open_and_takes_it_only_if_asked() -> None:
    readers = {"a": has(Parotid_L=ball(LEFT)), "b": has(Parotid_L=ball(LEFT, 6.3)),
               "c": has(Volumen_7_links=ball(LEFT, 5.7))}  # fmt: skip
    matched = match_structures(readers)
    # Only one reader uses a number as a name, so it contradicts no other name.
    (found,) = matched.proposals
    assert found.renamings == (("c", "Volumen 7 links"),)
    assert found.new == "Parotid L"
    expected = np.mean([PlacedMask.of(sitk.GetArrayFromImage(one[0].mask) == 1).dice(
        PlacedMask.of(sitk.GetArrayFromImage(readers["c"][0].mask) == 1))
        for one in (readers["a"], readers["b"])])  # fmt: skip
    assert found.dice == pytest.approx(expected)
    assert "c's 'Volumen 7 links' overlaps 'Parotid L' (Dice 0." in str(matched)
    assert list(matched.table) == ["Parotid L", "Volumen 7 links"]
    taken = match_structures(readers, accept=0.7)
    assert list(taken.table) == ["Parotid L"]
    assert taken.accepted == (found,)
    assert "accepted: c's" in str(taken)
    assert not match_structures(readers, accept=0.999).accepted


def test_a_place_never_joins_sides_numbers_or_structures_that_names_know() -> None:
    for one, other in (
        ("Parotid_L", "Region right"),
        ("GTV 1", "Tumour 2"),
        ("Brainstem", "Brainstem_PRV"),
        ("Larynx", "Pharynx"),
    ):
        readers = {"a": [Structure(one, ball(LEFT))], "b": [Structure(other, ball(LEFT))]}
        matched = match_structures(readers, accept=0.5)
        assert list(matched.table) == [one, other]
        assert not matched.proposals


def test_a_name_with_a_slip_is_proposed_unless_its_place_denies_it() -> None:
    near = {"a": has(Brainstem=ball(LEFT)), "b": has(Brsinstem=ball(LEFT, 4))}
    (found,) = match_structures(near).proposals
    assert found.is_by_name
    far = {"a": has(Brainstem=ball(LEFT)), "b": has(Brsinstem=ball(RIGHT))}
    assert not match_structures(far).proposals


def test_a_code_without_a_side_joins_no_left_with_a_right() -> None:
    gland = Code("SCT", "45289007", "Parotid gland")
    readers = {
        "a": [Structure("Parotid_L", ball(LEFT), kind=gland)],
        "b": [Structure("Parotid_R", ball(RIGHT), kind=gland)],
    }
    assert list(match_structures(readers).table) == ["Parotid_L", "Parotid_R"]


def test_two_structures_of_one_reader_that_read_alike_are_an_error_that_names_both() -> None:
    readers = {"a": [Structure("Parotid_L", ball(LEFT)), Structure("L parotid", ball(LEFT))]}
    with pytest.raises(InputError, match=r"two structures called Parotid_L .*'L parotid'"):
        match_structures(readers)
    matched = match_structures(readers, {("a", "L parotid"): "spare"})
    assert list(matched.table) == ["Parotid_L", "spare"]


def test_structures_are_chosen_by_name_in_any_spelling_and_by_pattern() -> None:
    masks = {"Parotid_L": ball(LEFT), "Parotid_R": ball(RIGHT), "GTVp": ball(LEFT, 3)}
    readers = {"a": [Structure(name, mask) for name, mask in masks.items()]}

    def chosen(**rules: Any) -> list[str]:
        return list(MatchingRules(**rules).match(readers).table)

    assert chosen(included=("parotid*",)) == ["Parotid_L", "Parotid_R"]
    assert chosen(included=("left parotid", "gtvP")) == ["Parotid_L", "GTVp"]
    assert chosen(excluded=("Parotis re",)) == ["Parotid_L", "GTVp"]
    with pytest.raises(ParameterError, match="no structure is called 'Parotid_X'; there are Parot"):
        chosen(included=("Parotid_X",))
    with pytest.raises(ParameterError, match="exclude all of them"):
        chosen(excluded=("*",))


@pytest.fixture
def study(tmp_path: Path) -> list[str]:
    """Write three readers' files; one uses German names, one numbers."""
    names = (("Parotid_L", "Heart"), ("Parotis li", "Herz"), ("Volumen links", "Heart"))
    files = []
    for number, (gland, heart) in enumerate(names):
        path = tmp_path / f"r{number}.seg.nrrd"
        masks = {gland: ball(LEFT, 6 + number / 5), heart: ball(RIGHT, 7)}
        write_slicer_segmentation(masks, path)
        files.append(str(path))
    return files


def test_names_are_written_edited_and_read(
    study: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = tmp_path / "names.csv"
    assert main(["info", *study, "--per-structure", "--write-names", str(names)]) == 0
    said = capsys.readouterr()
    assert "'Volumen links' overlaps 'Parotid_L' (Dice 0.9" in said.err
    text = names.read_text(encoding="utf-8")
    row = "r2,Volumen links,Volumen links,1,Parotid_L,0.9"
    assert row in text
    # If the file is read unchanged, it has no effect: proposals are not adopted.
    assert main(["info", *study, "--per-structure", "--rename", str(names)]) == 0
    assert "only one reader has Volumen links" in capsys.readouterr().out
    edited = text.replace("Volumen links,Volumen links", "Volumen links,Parotid_L")
    names.write_text(edited, encoding="utf-8")
    assert main(["info", *study, "--per-structure", "--rename", str(names)]) == 0
    assert "only one reader" not in capsys.readouterr().out
    # The file is not overwritten unless requested.
    assert main(["info", *study, "--per-structure", "--write-names", str(names)]) == 2


def test_matches_are_accepted_and_listed_on_the_command_line(
    study: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "c.seg.nrrd")
    words = [*study, "--per-structure", "--accept-matches", "--method", "vote", "-o", out]
    assert main(["fuse", *words, "--structures", "Parotid*"]) == 0
    said = capsys.readouterr()
    assert "accepted: " in said.out
    assert "1 structures in" in said.out
    assert "only" not in said.err


def test_files_of_names_are_csv_or_toml_for_one_reader_or_all(tmp_path: Path) -> None:
    names = {"in/a.dcm": ["X", "Y"], "in/b.dcm": ["X"]}
    csv = tmp_path / "n.csv"
    csv.write_text("reader,old,new,why\na.dcm,X,GTV,\n*,Y,Heart,seen\n,X,CTV,\na,Y,,\n")
    assert renamings_of(read_renamings(csv), names) == {
        ("in/a.dcm", "X"): "GTV",
        "Y": "Heart",
        "X": "CTV",
    }
    toml = tmp_path / "n.toml"
    toml.write_text('X = "CTV"\n[a]\nX = "GTV"\n')
    assert renamings_of(read_renamings(toml), names) == {("in/a.dcm", "X"): "GTV", "X": "CTV"}
    with pytest.raises(
        ParameterError, match=r"no reader is called 'c'; there are in/a\.dcm, in/b\.dcm"
    ):
        renamings_of([("c", "X", "Z")], names)
    with pytest.raises(ParameterError, match="b has no structure 'Y'"):
        renamings_of([("b", "Y", "Z")], names)
    for path, content in ((csv, "a,b\n"), (toml, "X = 1\n"), (toml, "X =")):
        path.write_text(content)
        with pytest.raises(FileError, match=path.name):
            read_renamings(path)


def test_names_are_written_without_what_is_not_known() -> None:
    matched = match_structures({"a": has(GTV=ball(LEFT)), "b": has(GTV=ball(LEFT))})
    assert names_csv(matched).splitlines()[1:] == ["a,GTV,GTV,2,,", "b,GTV,GTV,2,,"]


def test_masks_in_boxes_overlap_as_whole_ones_do() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        one, other = (np.zeros((5, 6, 7), bool) for _ in range(2))
        for mask in (one, other):
            low = rng.integers(0, 4, 3)
            mask[tuple(slice(n, n + rng.integers(0, 4)) for n in low)] = True
        size = one.sum() + other.sum()
        found = PlacedMask.of(one).dice(PlacedMask.of(other))
        expected = 2 * (one & other).sum() / size if size else np.nan
        np.testing.assert_equal(found, expected)
