"""Five colleagues' RTSTRUCTs of eight structures, in the spellings that people use."""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import itk_consensus as ic
from itk_consensus.cli import main
from itk_consensus.images.structures import mask_of

pydicom = pytest.importorskip("pydicom")
IMAGES = Path(__file__).parents[1] / "images"
sys.path.insert(0, str(IMAGES))
from dicom_objects import write_series  # noqa: E402

SHAPE = (8, 40, 64)
MIDDLES = [(10 + 20 * row, 8 + 16 * column) for row in range(2) for column in range(4)]


def spellings_of_eight_structures(seed: int) -> list[tuple[str, list[str]]]:
    """Eight structures of those that have three spellings, and five readers' spellings of each."""
    spelled = defaultdict(list)
    with (IMAGES / "structure_spellings.csv").open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            spelled[row["structure"]].append(row["spelling"])
    often = sorted(name for name, every in spelled.items() if len(every) > 2)
    rng = np.random.default_rng(seed)
    chosen = rng.choice(often, 8, replace=False)
    return [(str(name), [str(one) for one in rng.choice(spelled[name], 5)]) for name in chosen]


def study(folder: Path, seed: int) -> tuple[list[str], list[str], list[tuple[str, list[str]]]]:
    """The readers' files, the options that name the series, and who calls what how."""
    write_series(folder / "ct", SHAPE)
    series = ic.read_dicom_series(folder / "ct")
    spelled = spellings_of_eight_structures(seed)
    z, y, x = np.indices(SHAPE)
    files = []
    for reader in range(5):
        masks: dict[str, Any] = {}
        for (_, names), (row, column) in zip(spelled, MIDDLES, strict=True):
            away = 4 * (z - 4) ** 2 + (y - row) ** 2 + (x - column) ** 2
            masks[names[reader]] = mask_of(away < (5.5 + 0.3 * reader) ** 2, series.grid())
        files.append(str(folder / f"colleague{reader}.dcm"))
        ic.write_dicom_contours(masks, files[-1], series, method="by hand")
    return files, ["--per-structure", "--series", str(folder / "ct")], spelled


@pytest.mark.parametrize(
    "seed", [3000, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (3001, 3002))]
)
def test_five_colleagues_need_at_most_two_edits_and_a_page_says_what_may_be_used(
    tmp_path: Path, seed: int, capsys: pytest.CaptureFixture[str]
) -> None:
    files, options, spelled = study(tmp_path, seed)
    names = tmp_path / "names.csv"
    assert main(["info", *files, *options, "--write-names", str(names)]) == 0
    with names.open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 5 * 8
    apart = [row for row in rows if int(row["readers"]) < 3]
    assert len(apart) <= 2
    # What names leave open is proposed, and rightly.
    means = {one: structure for structure, every in spelled for one in every}
    for row in apart:
        assert means[row["proposed"]] == means[row["old"]]
        row["new"] = row["proposed"]
    edited = tmp_path / "edited.csv"
    with edited.open("w", encoding="utf-8", newline="") as stream:
        table = csv.DictWriter(stream, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    page, out = tmp_path / "plan.html", tmp_path / "plan.rtstruct.dcm"
    words = [*options, "-o", str(out), "--report", str(page), "--fail-on", "do-not-use"]
    capsys.readouterr()
    assert main(["fuse", *files, *words, "--rename", str(edited)]) == 0
    said = capsys.readouterr()
    assert "only" not in said.err
    written = pydicom.dcmread(out)
    assert len(written.StructureSetROISequence) == 8
    assert "Consensus of 5 readers by ConsensusFilter: " in written.StructureSetDescription
    for roi in written.StructureSetROISequence:
        assert "consensus of 5 of 5 readers" in roi.ROIDescription
        assert roi.ROIName in page.read_text(encoding="utf-8")
    # Without a file the proposals are taken where they overlap enough, and listed.
    assert main(["info", *files, *options, "--accept-matches"]) == 0
    said = capsys.readouterr()
    assert said.out.count("accepted: ") == len(apart)
    assert not said.err
