"""Five colleagues' RTSTRUCTs of eight structures, in spellings used in practice."""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import SimpleITK as sitk

import itk_consensus as ic
from itk_consensus.cli import main
from itk_consensus.images.structure_matching import ACCEPTED_OVERLAP, match_structures
from itk_consensus.images.structures import Structure, mask_of

pydicom = pytest.importorskip("pydicom")
IMAGES = Path(__file__).parents[1] / "images"
sys.path.insert(0, str(IMAGES))
from dicom_objects import write_series  # noqa: E402

SHAPE = (8, 40, 64)
MIDDLES = [(10 + 20 * row, 8 + 16 * column) for row in range(2) for column in range(4)]


def spellings_of_eight_structures(seed: int) -> list[tuple[str, list[str]]]:
    """Return eight structures that have three spellings or more, and five readers' spellings of
    each.
    """
    spelled = defaultdict(list)
    with (IMAGES / "structure_spellings.csv").open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            # Complete lists are left out, so that the draws match the stored results.
            if not row["half"].startswith(("unseen", "sealed")):
                spelled[row["structure"]].append(row["spelling"])
    often = sorted(name for name, every in spelled.items() if len(every) > 2)
    rng = np.random.default_rng(seed)
    chosen = rng.choice(often, 8, replace=False)
    return [(str(name), [str(one) for one in rng.choice(spelled[name], 5)]) for name in chosen]


def study(folder: Path, seed: int) -> tuple[list[str], list[str], list[tuple[str, list[str]]]]:
    """Write the readers' files; return them, the options with the series, and the readers'
    names.
    """
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
def test_five_colleagues_need_no_edit_where_proposals_are_taken_and_a_page_says_what_may_be_used(
    tmp_path: Path, seed: int, capsys: pytest.CaptureFixture[str]
) -> None:
    files, options, spelled = study(tmp_path, seed)
    means = {one: structure for structure, every in spelled for one in every}
    plain, accepted = tmp_path / "plain.csv", tmp_path / "accepted.csv"
    assert main(["info", *files, *options, "--write-names", str(plain)]) == 0
    rows = rows_of(plain)
    assert len(rows) == 5 * 8
    # Matches that cannot be decided by name are proposed, and the proposals are correct.
    is_open = {row["old"] for row in rows if row["proposed"]}
    assert all(means[row["proposed"]] == means[row["old"]] for row in rows if row["proposed"])
    capsys.readouterr()
    assert main(["info", *files, *options, "--write-names", str(accepted), "--accept-matches"]) == 0
    said = capsys.readouterr()
    assert bool(said.out.count("accepted: ")) == bool(is_open)
    assert not said.err
    rows = rows_of(accepted)
    assert {row["readers"] for row in rows} == {"5"}
    assert all(means[row["new"]] == means[row["old"]] for row in rows)
    page, out = tmp_path / "plan.html", tmp_path / "plan.rtstruct.dcm"
    words = [*options, "-o", str(out), "--report", str(page), "--fail-on", "do-not-use"]
    assert main(["fuse", *files, *words, "--rename", str(accepted)]) == 0
    assert "only" not in capsys.readouterr().err
    written = pydicom.dcmread(out)
    assert len(written.StructureSetROISequence) == 8
    assert "Consensus of 5 readers by ConsensusFilter: " in written.StructureSetDescription
    for roi in written.StructureSetROISequence:
        assert "consensus of 5 of 5 readers" in roi.ROIDescription
        assert roi.ROIName in page.read_text(encoding="utf-8")


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_in_a_hundred_draws_no_name_is_left_to_edit_where_proposals_are_taken() -> None:
    z, y, x = np.indices(SHAPE)
    masks = {
        (reader, place): sitk.GetImageFromArray(
            (4 * (z - 4) ** 2 + (y - row) ** 2 + (x - column) ** 2 < (5.5 + 0.3 * reader) ** 2)
            .astype(np.uint8)
        )
        for reader in range(5)
        for place, (row, column) in enumerate(MIDDLES)
    }  # fmt: skip
    by_names = []
    for seed in range(3000, 3100):
        spelled = spellings_of_eight_structures(seed)
        readers = {
            f"colleague {reader}": [
                Structure(names[reader], masks[reader, place])
                for place, (_, names) in enumerate(spelled)
            ]
            for reader in range(5)
        }
        means = {one: structure for structure, every in spelled for one in every}
        matched = match_structures(readers, accept=ACCEPTED_OVERLAP)
        assert len(matched.table) == 8, seed
        for row in matched.table.values():
            assert len({means[one.name] for one in row if one is not None}) == 1
        by_names.append(len({old for one in matched.accepted for _, old in one.renamings}))
    # By names alone, every proposed spelling requires an edit.
    assert sum(edits <= 2 for edits in by_names) == 89
