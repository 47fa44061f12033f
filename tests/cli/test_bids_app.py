"""The standard BIDS-app command line, and the files it writes."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import SimpleITK as sitk

import itk_consensus as ic
from itk_consensus.batch.cases import find_cases, select_cases
from itk_consensus.cli.bids_app import main
from itk_consensus.core.errors import FileError


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """Write three participants with three raters each, one of them in two sessions."""
    folder = tmp_path / "bids"
    stems = ("sub-01", "sub-02_ses-a", "sub-02_ses-b", "sub-03")
    for stem, case in zip(stems, ic.sample_cohort(4, seed=5), strict=True):
        place = folder.joinpath(*stem.split("_"), "anat")
        place.mkdir(parents=True)
        for rater, image in zip("abc", case.raters[:3], strict=True):
            sitk.WriteImage(image, str(place / f"{stem}_desc-{rater}_dseg.nii.gz"))
    description = {"Name": "raters", "BIDSVersion": "1.10.0", "DatasetType": "derivative"}
    description["GeneratedBy"] = [{"Name": "hand"}]
    (folder / "dataset_description.json").write_text(json.dumps(description))
    return folder


def derived(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*_dseg.nii.gz")}


def test_participants_then_group_leave_a_valid_derivative_dataset(
    dataset: Path, tmp_path: Path
) -> None:
    out = tmp_path / "derivatives"
    assert main([str(dataset), str(out), "participant", "--participant-label", "02"]) == 0
    assert derived(out) == {f"sub-02_ses-{s}_desc-consensus_dseg.nii.gz" for s in "ab"}
    first = {path: path.stat().st_mtime_ns for path in out.rglob("*_dseg.nii.gz")}
    # File names as in public datasets: with a label entity, or with the image's suffix before
    # other entities.
    for number, image in enumerate(ic.sample_cohort(1, seed=6)[0].raters[:2]):
        for name in (
            f"sub-04_label-lesion_desc-r{number}_mask.nii.gz",
            f"sub-amu02_T2w_desc-rater{number}_label-rootlets_dseg.nii.gz",
        ):
            sitk.WriteImage(image, str(dataset / name))
    assert main([str(dataset), str(out), "group"]) == 0
    assert derived(out) >= {
        "sub-04_desc-lesionconsensus_dseg.nii.gz",
        "sub-amu02_desc-T2wrootletsconsensus_dseg.nii.gz",
    }
    assert len(derived(out)) == 6
    # Participants that are done are not processed again.
    assert {path: path.stat().st_mtime_ns for path in first} == first
    table = (out / "summary.csv").read_text(encoding="utf-8")
    assert all(name in table for name in ("sub-01", "sub-02_ses-a", "sub-02_ses-b", "sub-03"))
    pytest.importorskip("bids_validator_deno", reason="needs bids-validator-deno")
    validator = Path(sys.executable).with_name("bids-validator-deno")
    said = subprocess.run(
        [str(validator), "--json", str(out)], capture_output=True, text=True, check=False
    )
    issues = json.loads(said.stdout)["issues"]["issues"]
    assert [issue for issue in issues if issue.get("severity") == "error"] == []


def test_one_bad_participant_is_listed_and_the_others_are_fused(
    dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (dataset / "sub-01" / "anat" / "sub-01_desc-b_dseg.nii.gz").write_bytes(b"not an image")
    out = tmp_path / "derivatives"
    assert main([str(dataset), str(out), "participant"]) == 1
    assert len(derived(out)) == 3
    said = capsys.readouterr()
    assert "sub-01" in said.out + said.err
    assert "Traceback" not in said.out + said.err
    # Once the file is repaired, only this participant remains to be processed.
    good = dataset / "sub-01" / "anat" / "sub-01_desc-a_dseg.nii.gz"
    shutil.copy(good, good.with_name("sub-01_desc-b_dseg.nii.gz"))
    assert main([str(dataset), str(out), "group"]) == 0
    assert len(derived(out)) == 4


def test_a_participant_who_is_not_there_is_named(
    dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(dataset), str(tmp_path / "o"), "participant", "--participant-label", "9"]) != 0
    assert "no case is named sub-9" in capsys.readouterr().err
    with pytest.raises(FileError, match="no case is named"):
        select_cases(find_cases(str(dataset)), ["sub-0"])


def test_a_label_for_the_group_is_an_error(dataset: Path, tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        main([str(dataset), str(tmp_path / "o"), "group", "--participant-label", "01"])
