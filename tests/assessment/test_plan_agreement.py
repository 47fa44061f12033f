"""Agreement on the structures of a plan: measures, tolerances, and the printed table."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import SimpleITK as sitk

import itk_consensus as ic
from itk_consensus.assessment.agreement.plan_agreement import (
    added_paths,
    plan_agreement,
    surface_tolerances,
)
from itk_consensus.cli import main
from itk_consensus.core.errors import FileError, InputError

SPACING = (0.9, 0.9, 2.5)


def box(x: int, width: int, height: int = 10) -> Any:
    array = np.zeros((8, 24, 40), np.uint8)
    array[2:6, 6 : 6 + height, x : x + width] = 1
    image = sitk.GetImageFromArray(array)
    image.SetSpacing(SPACING)
    return image


def balls() -> list[Any]:
    z, y, x = np.indices((12, 32, 32))
    images = []
    for radius in (7.0, 8.0, 9.0):
        inside = (2.5 / 0.9 * (z - 6)) ** 2 + (y - 15) ** 2 + (x - 15) ** 2 < radius**2
        images.append(sitk.GetImageFromArray(inside.astype(np.uint8)))
        images[-1].SetSpacing(SPACING)
    return images


def test_the_added_path_is_the_outline_of_the_consensus_that_a_reader_lacks() -> None:
    """Counted by hand: the outline of a box of 10 x 10 pixels consists of 36 pixels in each of four
    slices.
    """
    same, wider, apart = box(5, 10), box(5, 12), box(25, 10)
    lengths = added_paths([same, wider, apart], box(5, 10))
    # The wider reader lacks the right side except for its two corners.
    np.testing.assert_allclose(lengths, 0.9 * 4 * np.array([0, 8, 36]))


def test_every_measure_is_that_of_the_filter_that_measures_it() -> None:
    masks = balls()
    found = plan_agreement({"Parotid_L": masks, "x": [masks[0], None, None]}, {"Parotid_L": 1.5})
    assert {one.structure for one in found.measures} == {"Parotid_L"}
    agreement = ic.agreement(masks, ic.ConsensusFilter(), SurfaceTolerance=1.5)[1]
    for measure, matrix in (("Dice", agreement.dice), ("surface Dice", agreement.surface_dice),
                            ("Hausdorff 95 %", agreement.hausdorff95)):  # fmt: skip
        pairs = agreement.between_raters(matrix)
        one = found.of("Parotid_L", measure)
        assert one.number == 3
        np.testing.assert_allclose(one[3:6], [pairs.mean(), pairs.min(), pairs.max()])
    volume = found.of("Parotid_L", "volume")
    np.testing.assert_allclose(volume[3:6], [agreement.volumes[:3].mean(), *np.sort(
        agreement.volumes[:3])[[0, 2]]])  # fmt: skip
    bias = found.of("Parotid_L", "bias")
    assert bias.lowest < -0.4
    assert bias.highest > 0.4
    expected = found.of("Parotid_L", "another reader's volume (90 %)")
    assert expected.lowest < volume.mean < expected.highest


def test_the_table_prints_and_reads(tmp_path: Path) -> None:
    found = plan_agreement({"GTV_1 & co": balls()})
    rows = list(csv.DictReader(found.to_csv().splitlines()))
    assert [row["measure"] for row in rows[:3]] == ["volume", rows[1]["measure"], "Dice"]
    header, rule, row = found.to_markdown().splitlines()[:3]
    assert header.count("|") == rule.count("|") == row.count("|")
    assert "| GTV_1 & co | 3, 3 | " in row
    assert "[2 mm]" in row
    tex = found.to_latex()
    assert r"GTV\_1 \& co & 3, 3 & " in tex
    assert r"Hausdorff 95 \% (mm)" in tex
    assert len({line.count(" & ") for line in tex.splitlines() if line.endswith(r"\\")}) == 1


def test_tolerances_are_those_of_the_organ_and_a_file_wins(tmp_path: Path) -> None:
    names = ["left parotid", "Parotis re", "GTVp", "Brainstem_PRV"]
    assert surface_tolerances(names) == {
        "left parotid": 4.2,
        "Parotis re": 4.2,
        "GTVp": 2.0,
        "Brainstem_PRV": 2.0,
    }
    path = tmp_path / "mm.csv"
    path.write_text("structure,mm\nParotid_L,1\nGTVp,0.5\n")
    found = surface_tolerances(names, path)
    assert found == {"left parotid": 1.0, "Parotis re": 4.2, "GTVp": 0.5, "Brainstem_PRV": 2.0}
    for text in ("structure\nx\n", "structure,mm\nx,y\n", "structure,mm\nx,-1\n"):
        path.write_text(text)
        with pytest.raises(FileError, match=r"mm\.csv"):
            surface_tolerances(names, path)


def test_one_reader_is_no_agreement() -> None:
    with pytest.raises(InputError, match="a structure that two readers drew"):
        plan_agreement({"x": [balls()[0], None]})


def test_the_command_line_writes_the_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = []
    for number, mask in enumerate(balls()):
        files.append(str(tmp_path / f"r{number}.seg.nrrd"))
        ic.write_slicer_segmentation({"Parotid L": mask}, files[-1])
    tolerances = tmp_path / "t.csv"
    tolerances.write_text("structure,mm\nParotid,1.25\n")
    for name in ("p.csv", "p.md", "p.tex"):
        words = ["--per-structure", "--plan-table", str(tmp_path / name), "--overwrite"]
        assert main(["agreement", *files, *words, "--tolerances", str(tolerances)]) == 0
        assert "Parotid L" in (tmp_path / name).read_text()
    assert "[1.25 mm]" in (tmp_path / "p.md").read_text()
    capsys.readouterr()
    assert main(["agreement", *files, *words[:2], str(tmp_path / "p.xls")]) == 2
    assert "--plan-table must end in .csv, .md, .tex" in capsys.readouterr().err
    assert main(["agreement", *files, "--plan-table", "p.csv"]) == 2
    assert "--plan-table applies to named structures" in capsys.readouterr().err


@pytest.mark.slow
def test_the_table_of_tolerances_is_what_its_script_measures() -> None:
    from examples.benchmarks.contours.surface_tolerances import DATA, tolerances

    if not DATA.exists():
        pytest.skip("the head-and-neck scans are not beside the project")
    measured = tolerances(DATA)
    assert surface_tolerances(measured) == {name: round(mm, 1) for name, mm in measured.items()}
