"""Finding the cases of a batch."""

from __future__ import annotations

from pathlib import Path

import pytest

from itk_consensus.batch import bids
from itk_consensus.batch.cases import BatchCase, find_cases, require_distinct
from itk_consensus.core.errors import FileError


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def touch(*names: str) -> None:
    for name in names:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).touch()


def found(cases: list[BatchCase]) -> dict[str, dict[str, str]]:
    return {
        case.name: dict(zip(case.rater_names, map(str, case.raters), strict=True)) for case in cases
    }


def test_folders_of_cases_with_a_file_for_each_rater(tree: Path) -> None:
    touch("p2/ann.nii.gz", "p1/bob.nii.gz", "p1/ann.nii.gz", "p1/notes.txt", "ann.nii.gz")
    assert found(find_cases("{case}/{rater}.nii.gz")) == {
        "p1": {"ann": "p1/ann.nii.gz", "bob": "p1/bob.nii.gz"},
        "p2": {"ann": "p2/ann.nii.gz"},
    }


def test_the_image_of_a_case_is_no_rater(tree: Path) -> None:
    touch("p1/ann.nii", "p1/ct.nii", "p2/ann.nii")
    cases = find_cases("{case}/{rater}.nii", "{case}/ct.nii")
    assert [case.image for case in cases] == [Path("p1/ct.nii"), None]
    assert [case.rater_names for case in cases] == [("ann",), ("ann",)]


def test_files_of_one_name_in_different_folders_are_different_raters(tree: Path) -> None:
    """Issue 44: of several raters with one file name, only the last was kept."""
    touch("p1/ann/seg.nii", "p1/bob/seg.nii", "p1/bob/seg.nrrd", "p1/cem/own.nii")
    assert found(find_cases("{case}/*/{rater}.nii")) == {
        "p1": {
            "ann/seg": "p1/ann/seg.nii",
            "bob/seg": "p1/bob/seg.nii",
            "own": "p1/cem/own.nii",
        }
    }
    assert len(find_cases("{case}/*/seg.nii")[0].raters) == 2
    files = [Path(one) for one in ("p1/bob/seg.nii", "p1/bob/seg.nrrd", "p1/bob/seg.nii")]
    assert BatchCase.of_files("p1", files).rater_names == ("seg", "seg.nrrd", "seg (2)")
    named = BatchCase.of_files("p1", files, names=["ann", None, "ann"])
    assert named.rater_names == ("ann", "seg", "ann (2)")


def test_a_placeholder_that_comes_again_repeats_itself(tree: Path) -> None:
    touch("p1/p1_ann.nii", "p1/p2_bob.nii", "p2/p2_v3_ann.nii")
    assert found(find_cases("{case}/{case}_{rater}.nii")) == {
        "p1": {"ann": "p1/p1_ann.nii"},
        "p2": {"v3_ann": "p2/p2_v3_ann.nii"},
    }
    assert found(find_cases("{case}/*_v3_{rater}.nii")) == {"p2": {"ann": "p2/p2_v3_ann.nii"}}


def test_characters_that_mean_something_elsewhere_mean_themselves(tree: Path) -> None:
    touch("[a]+/p.1_x.nii", "a/p.1_x.nii", "[a]+/pp1_x.nii")
    assert found(find_cases("[a]+/{case}.1_{rater}.nii")) == {"p": {"x": "[a]+/p.1_x.nii"}}


def test_bids_segmentations_are_found_in_a_folder(tree: Path) -> None:
    touch(
        "d/sub-01/anat/sub-01_T1w.nii.gz",
        "d/sub-01/anat/sub-01_desc-ann_dseg.nii.gz",
        "d/sub-01/anat/sub-01_desc-bob_dseg.nii.gz",
        "d/sub-02/ses-1/anat/sub-02_ses-1_desc-ann_dseg.nii",
        "d/sub-03_desc-ann_dseg.nii.gz",
    )
    assert {case: list(raters) for case, raters in found(find_cases("d")).items()} == {
        "sub-01": ["ann", "bob"],
        "sub-02_ses-1": ["ann"],
        "sub-03": ["ann"],
    }


def test_one_file_may_hold_all_raters_of_a_case(tree: Path) -> None:
    touch("p1.nrrd", "p2.nrrd")
    assert found(find_cases("{case}.nrrd")) == {"p1": {"p1": "p1.nrrd"}, "p2": {"p2": "p2.nrrd"}}


def test_what_fits_nothing_is_an_error(tree: Path) -> None:
    with pytest.raises(FileError, match="no file matches this pattern"):
        find_cases("{case}/{rater}.nii")
    with pytest.raises(FileError, match=r"pattern with \{case\} and \{rater\}"):
        find_cases("{rater}.nii")
    with pytest.raises(FileError, match=r"must contain \{case\}"):
        find_cases("{case}/{rater}.nii", "ct.nii")


def test_names_become_folders_of_their_own() -> None:
    case = BatchCase.of_files("../a b/ü:1", [Path("x/ann.nii.gz")])
    assert case.folder == "_a_b_ü_1"
    assert case.rater_names == ("ann",)
    with pytest.raises(FileError, match="'a/b' and 'a b' must have different names"):
        require_distinct([BatchCase("a/b", (), ()), BatchCase("a b", (), ())])


@pytest.mark.parametrize(
    ("name", "case", "rater"),
    [
        ("sub-01_desc-a_dseg.nii.gz", "sub-01", "a"),
        # BIDS requires _mask for regions; spine-generic keeps the suffix of the image.
        ("sub-01_label-lesion_desc-a_mask.nii.gz", "sub-01_label-lesion", "a"),
        (
            "sub-amu02_T2w_desc-rater1_label-rootlets_dseg.nii.gz",
            "sub-amu02_T2w_label-rootlets",
            "rater1",
        ),
        # Examples from the specification's section on derivatives, with a rater.
        (
            "sub-001_task-rest_run-1_desc-PFC_mask.nii.gz",
            "sub-001_task-rest_run-1",
            "PFC",
        ),
        ("sub-001_hemi-L_space-orig_rater-b_dseg.nii", "sub-001_hemi-L_space-orig", "b"),
        # Entities may be in any order; if both are present, the entity of the rater takes
        # precedence.
        ("desc-a_sub-01_ses-2_dseg.nii.gz", "sub-01_ses-2", "a"),
        ("sub-01_rater-b_desc-manual_dseg.nii.gz", "sub-01_desc-manual", "b"),
    ],
)
def test_bids_names_as_people_write_them(tree: Path, name: str, case: str, rater: str) -> None:
    touch(name)
    assert found(find_cases(".")) == {case: {rater: name}}


def test_several_labels_of_a_subject_are_cases_of_their_own(tree: Path) -> None:
    touch(*(f"sub-1/anat/sub-1_label-{label}_desc-{rater}_mask.nii.gz"
            for label in ("core", "edema") for rater in "ab"))  # fmt: skip
    cases = find_cases(".")
    assert [(one.name, one.rater_names) for one in cases] == [
        ("sub-1_label-core", ("a", "b")),
        ("sub-1_label-edema", ("a", "b")),
    ]


@pytest.mark.parametrize(
    ("name", "lacks"),
    [
        ("sub-01_dseg.nii.gz", "sub-01_dseg.nii.gz has neither rater- nor desc-, which names the"),
        ("sub-01_desc-a_T1w.nii.gz", "does not end in _dseg.nii.gz or _mask.nii.gz"),
    ],
)
def test_a_bids_name_that_is_refused_says_what_it_lacks(tree: Path, name: str, lacks: str) -> None:
    touch(name)
    with pytest.raises(FileError, match=lacks):
        find_cases(".")


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("{case}/{rater}_{reading}.nii", ("c/ann_1.nii", "c/ann_2.nii", "c/bob_1.nii")),
        (".", ("sub-c_desc-ann_reading-1_dseg.nii", "sub-c_desc-ann_reading-2_dseg.nii",
               "sub-c_desc-bob_reading-1_dseg.nii")),
    ],
)  # fmt: skip
def test_the_first_of_several_readings_is_fused(tree: Path, pattern: str, names: list[str]) -> None:
    touch(*names)
    (case,) = find_cases(pattern)
    assert found([case])[case.name] == {"ann": names[0], "bob": names[2]}
    assert case.repeats == (("ann", "2", Path(names[1])),)


@pytest.mark.parametrize(
    ("case", "name"),
    [
        ("sub-01", "sub-01_desc-consensus_dseg.nii.gz"),
        ("sub-01_label-lesion", "sub-01_desc-lesionconsensus_dseg.nii.gz"),
        (
            "sub-amu02_T2w_label-rootlets",
            "sub-amu02_desc-T2wrootletsconsensus_dseg.nii.gz",
        ),
        ("sub-1_label-a_space-T1w", "sub-1_space-T1w_desc-aconsensus_dseg.nii.gz"),
        ("nodule 7", "sub-nodule7_desc-consensus_dseg.nii.gz"),
    ],
)
def test_results_have_names_that_bids_knows(case: str, name: str) -> None:
    assert bids.name_of(case, "dseg.nii.gz") == name
