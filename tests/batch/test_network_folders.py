"""Folders of networks' probabilities, as written by nnU-Net."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import SimpleITK as sitk
from learned_cohort import cohort
from scipy.ndimage import gaussian_filter

import itk_consensus as ic
from itk_consensus.cli.__main__ import main

NETWORKS = ("2d", "3d_fullres", "ens", "poor")


def soft(mask: np.ndarray) -> np.ndarray:
    """Return (2, 1, y, x) probabilities of background and foreground."""
    share = np.clip(gaussian_filter(mask.astype(np.float32), 1.0), 0, 1)
    return np.stack([1 - share, share])[:, None]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("networks")
    of = cohort(6)
    for number, (raters, truth) in enumerate(zip(of.cases, of.truths, strict=True)):
        for network, drawn in (*zip(NETWORKS, raters, strict=True), ("labelsTr", truth)):
            where = made / network
            where.mkdir(exist_ok=True)
            image = sitk.GetImageFromArray(drawn[None])
            image.SetSpacing((0.7, 0.7, 3.0))
            sitk.WriteImage(image, str(where / f"case_{number}.nii.gz"))
            if network != "labelsTr":
                np.savez_compressed(where / f"case_{number}.npz", probabilities=soft(drawn))
    return made


def run(*words: object) -> int:
    try:
        return main([str(word) for word in words])
    except SystemExit as leaving:
        return int(leaving.code or 0)


def test_a_batch_averages_probabilities_where_label_maps_say_they_lie(
    folder: Path, tmp_path: Path
) -> None:
    pattern = folder / "{rater}" / "{case}.npz"
    assert run("batch", pattern, "--method", "probability-average", "-o", tmp_path / "out") == 0
    made = sitk.ReadImage(str(tmp_path / "out" / "case_3" / "consensus.nii.gz"))
    assert made.GetSpacing() == pytest.approx((0.7, 0.7, 3.0))
    shares = [np.load(folder / network / "case_3.npz")["probabilities"] for network in NETWORKS]
    expected = ic.ProbabilityAverageFilter(ClassAxis=0).Execute(shares)
    np.testing.assert_array_equal(sitk.GetArrayFromImage(made), expected)


def test_label_maps_are_written_as_nnunet_writes_them(folder: Path, tmp_path: Path) -> None:
    pattern = folder / "{rater}" / "{case}.npz"
    out = tmp_path / "out"
    words = ("--method", "probability-average", "--nnunet-output", "-o", out)
    assert run("batch", pattern, *words) == 0
    assert {path.name for path in out.glob("*.nii.gz")} == {f"case_{n}.nii.gz" for n in range(6)}
    assert sitk.ReadImage(str(out / "case_0.nii.gz")).GetPixelID() == sitk.sitkUInt8


def test_probabilities_without_a_place_or_a_method_for_them_fail_by_case(
    folder: Path, tmp_path: Path, capsys
) -> None:
    pattern = folder / "{rater}" / "{case}.npz"
    # the vote also accepts probabilities
    assert run("batch", pattern, "--method", "vote", "-o", tmp_path / "labels") == 0
    assert run("batch", pattern, "--method", "simple", "-o", tmp_path / "hard") == 1
    assert "holds probabilities" in capsys.readouterr().err
    lone = tmp_path / "lone" / "net"
    lone.mkdir(parents=True)
    for number in (0, 1):
        where = lone.parent / f"net{number}"
        where.mkdir()
        (where / "a.npz").write_bytes((folder / "2d" / "case_0.npz").read_bytes())
    alone = lone.parent / "{rater}" / "{case}.npz"
    assert run("batch", alone, "--method", "probability-average", "-o", tmp_path / "alone") == 1
    assert "has no geometry" in capsys.readouterr().err


def test_fusion_is_learned_of_probabilities(folder: Path, tmp_path: Path) -> None:
    pattern, truth = folder / "{rater}" / "{case}.npz", folder / "labelsTr" / "{case}.nii.gz"
    record = tmp_path / "record.json"
    assert run("learn", pattern, "--truth", truth, "-o", record) == 0
    found = ic.LearnedFusionFilter.Load(record).GetRecord()
    assert found.is_soft
    assert found.raters == NETWORKS
    assert run("batch", pattern, "--learned", record, "-o", tmp_path / "out") == 0


def test_a_second_run_finds_nnunet_outputs_done(folder: Path, tmp_path: Path) -> None:
    pattern, out = folder / "{rater}" / "{case}.npz", tmp_path / "out"
    words = ("batch", pattern, "--method", "probability-average", "--nnunet-output", "-o", out)
    assert run(*words) == 0
    before = (out / "case_0.nii.gz").stat().st_mtime_ns
    assert run(*words) == 0
    assert (out / "case_0.nii.gz").stat().st_mtime_ns == before


def test_networks_pairs_and_fusions_are_compared_on_the_truths(
    folder: Path, tmp_path: Path, capsys
) -> None:
    pattern, truth = folder / "{rater}" / "{case}.npz", folder / "labelsTr" / "{case}.nii.gz"
    words = ("--truth", truth, "-o", tmp_path / "record.json", "--compare")
    assert run("learn", pattern, *words) == 0
    said = capsys.readouterr().out.split("networks, pairs and fusions compared")[1]
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    rows = {line.rsplit("  ", 2)[0].strip(): line for line in lines[:12]}
    assert set(NETWORKS) | {"2d + 3d_fullres", "vote of all"} <= set(rows)
    assert "probability-average of all" in rows
    of_2d = [
        ic.dice(
            np.load(folder / "2d" / f"case_{n}.npz")["probabilities"].argmax(axis=0) == 1,
            sitk.GetArrayFromImage(sitk.ReadImage(str(folder / "labelsTr" / f"case_{n}.nii.gz")))
            == 1,
        )
        for n in range(6)
    ]
    assert f"{np.mean(of_2d):.4f}" in rows["2d"]
    assert "the best single network" in rows["2d"]
    assert "all 11 comparisons" in said
