from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import SimpleITK as sitk
from hypothesis import given
from hypothesis import strategies as st

from itk_consensus import LabelVotingImageFilter, MajorityVoteFilter, STAPLEImageFilter
from itk_consensus.assessment.findings import Diagnostics, Finding
from itk_consensus.report.fusion_report import FusionReport, describe_inputs, to_plain
from itk_consensus.report.image_file import ImageFile

numbers = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text())
values = st.recursive(
    numbers,
    lambda inner: st.one_of(
        st.lists(inner),
        st.tuples(inner, inner),
        st.dictionaries(st.text(), inner),
        st.lists(st.floats(), min_size=1).map(np.array),
    ),
)


@given(values)
def test_anything_becomes_strict_json(value: Any) -> None:
    json.loads(json.dumps(to_plain(value), allow_nan=False))


def test_numpy_scalars_paths_and_dataclasses_become_plain() -> None:
    @dataclass
    class Point:
        x: Any
        y: Any

    assert to_plain(Point(np.float32(0.5), np.int64(3))) == {"x": 0.5, "y": 3}
    assert to_plain((np.bool_(True), Path("a/b"), np.nan, -np.inf)) == [True, "a/b", None, None]
    assert to_plain({1: np.array([[1.0, np.nan]])}) == {"1": [[1.0, None]]}


def report_of(filter_: Any, arrays: list[Any]) -> FusionReport:
    files = [
        ImageFile.of(Path(f"{index}.nii"), sitk.GetImageFromArray(array))
        for index, array in enumerate(arrays)
    ]
    filter_.Execute([file.image for file in files])
    fused = ImageFile.of(Path("out.nii"), filter_.GetLabelImage())
    result = filter_.GetResult()
    return FusionReport(result, describe_inputs(files, [str(f.path) for f in files]), fused, {})


TIED = [np.array([[0, 1, 1]], np.uint8), np.array([[0, 1, 0]], np.uint8)]


@pytest.mark.parametrize("fuser", [LabelVotingImageFilter, MajorityVoteFilter])
def test_undecided_voxels_are_marked_as_such(fuser: Any) -> None:
    report = report_of(fuser(), TIED)
    assert [(row["label"], row["undecided"]) for row in report.to_dict()["labels"]] == [
        (0, False),
        (1, False),
        (2, True),
    ]
    assert "2 (undecided)" in report.to_text()


def test_a_foreground_value_is_not_taken_for_undecided() -> None:
    report = report_of(STAPLEImageFilter(ForegroundValue=255), [255 * mask for mask in TIED])
    assert not any(row["undecided"] for row in report.to_dict()["labels"])


def test_diagnostics_are_reported_when_there_are_some() -> None:
    found = Diagnostics((Finding("few raters", 2.0, "note", kind="two"),))
    plain = report_of(MajorityVoteFilter(), TIED)
    assert plain.to_dict()["diagnostics"] is None
    assert "Findings" not in plain.to_text()
    doubtful = FusionReport(plain.result, plain.inputs, plain.fused, {}, diagnostics=found)
    assert doubtful.to_dict()["diagnostics"]["findings"][0]["value"] == 2.0
    assert "  note: Two readers annotated" in doubtful.to_text()


def test_every_rater_has_a_name_and_its_voxels() -> None:
    pair = sitk.GetImageFromArray(np.ones((2, 2, 2), np.uint8), isVector=True)
    single = sitk.Image([2, 2], sitk.sitkUInt8)
    files = [ImageFile.of(Path(n), i) for n, i in (("a", pair), ("b", single))]
    rows = describe_inputs(files, ["a[0]", "a[1]", "b"])
    assert [[rater["name"] for rater in row["raters"]] for row in rows] == [["a[0]", "a[1]"], ["b"]]
    assert rows[1]["raters"][0]["label_voxels"] == {0: 4}


def test_performances_stand_beside_the_names_of_the_files() -> None:
    report = report_of(STAPLEImageFilter(), TIED)
    lines = report.to_text().splitlines()
    header = next(i for i, line in enumerate(lines) if line.split()[:2] == ["rater", "Sensitivity"])
    assert [line.split()[0] for line in lines[header + 1 : header + 3]] == ["0.nii", "1.nii"]
    assert report.to_dict()["raters"] == ["0.nii", "1.nii"]
