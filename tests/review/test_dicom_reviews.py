"""From readers' SEG and a CT series, a review produces a SEG and an RTSTRUCT of the decisions."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import highdicom
import numpy as np
import pydicom
import pytest
import SimpleITK as sitk

import itk_consensus as ic
from itk_consensus.cli import main
from itk_consensus.images.dicom.series import read_dicom_series
from itk_consensus.review.record import ReviewRecord
from itk_consensus.review.session import CaseToOpen
from tests.images.dicom_objects import SHAPE, write_seg, write_series

pytestmark = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("trame", "trame_slicer", "slicer")),
    reason="the application is not installed",
)


def drawn(number: int) -> dict[str, np.ndarray]:
    """Return a reader's liver, and a lesion in it."""
    z, y, x = np.mgrid[: SHAPE[0], : SHAPE[1], : SHAPE[2]]
    distance = np.sqrt((2.0 * (z - 5)) ** 2 + (y - 11) ** 2 + (x - 12 - number) ** 2)
    return {"Liver": distance < 7, "Lesion": distance < 3 + 0.5 * number}


def of_segment(path: Path, name: str, slices: list[Any]) -> np.ndarray:
    """Return a segment as read by highdicom, on the slices of a series in the order of `SHAPE`."""
    seg = highdicom.seg.segread(path)
    (number,) = seg.get_segment_numbers(segment_label=name)
    uids = [one.SOPInstanceUID for one in slices]
    pixels = seg.get_pixels_by_source_instance(
        uids, segment_numbers=[number], assert_missing_frames_are_empty=True
    )
    return np.asarray(pixels[..., 0] != 0)


@pytest.mark.parametrize("name", ["final.dcm", "final.rtstruct.dcm"])
def test_decisions_about_segs_are_a_seg_or_an_rtstruct_on_the_same_series(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "ct"
    slices = write_series(folder)
    readers = [
        write_seg(tmp_path / f"reader{n}.dcm", drawn(n), slices, None).name for n in range(3)
    ]

    def serve(cases: Sequence[CaseToOpen], ready: Any, *, who: str, port: int) -> None:
        """Act as a reviewer, without a browser."""
        (case,) = cases
        image = case.image()
        assert image is not None
        assert image.voxels.shape == SHAPE
        session = case.session()
        session.review.who = who
        for number in session.review.disputes:
            session.decide(number, "rater", 2)
        session.save(done=True)

    monkeypatch.setattr("itk_consensus.review.application.serving.serve", serve)
    monkeypatch.chdir(tmp_path)
    words = [*readers, "--per-structure", "--series", "ct", "-o", name, "--reviewer", "Ann"]
    assert main(["review", *words, "--no-browser"]) == 0

    out = tmp_path / name
    dataset = pydicom.dcmread(out)
    assert dataset.FrameOfReferenceUID == slices[0].FrameOfReferenceUID
    assert dataset.PatientID == slices[0].PatientID
    if dataset.Modality == "SEG":
        assert {one.SegmentAlgorithmType for one in dataset.SegmentSequence} == {"SEMIAUTOMATIC"}
        for structure, mask in drawn(2).items():
            np.testing.assert_array_equal(of_segment(out, structure, slices), mask)
    else:
        kinds = {one.ROIGenerationAlgorithm for one in dataset.StructureSetROISequence}
        assert kinds == {"SEMIAUTOMATIC"}
        for one in ic.read_dicom_contours(out, read_dicom_series(folder)):
            mask = sitk.GetArrayFromImage(one.mask) != 0
            np.testing.assert_array_equal(mask, drawn(2)[one.name])
    record = ReviewRecord.read(tmp_path / "final.review.json")
    assert record.done
    assert {one.who for one in record.decisions.values()} == {"Ann"}
    # The command without a screen produces the same file from the decisions.
    again = tmp_path / f"again-{name}"
    assert main(["adjudicate", "final.review.json", "--series", "ct", "-o", str(again)]) == 0
    if dataset.Modality == "SEG":
        for structure, mask in drawn(2).items():
            np.testing.assert_array_equal(of_segment(again, structure, slices), mask)
