"""DICOM objects created with pydicom and highdicom, independently of the code under test."""

from __future__ import annotations

import datetime
import warnings
from pathlib import Path
from typing import Any

import highdicom
import numpy as np
import pydicom
from pydicom.dataset import FileDataset, FileMetaDataset
from pydicom.sr.codedict import codes
from pydicom.uid import CTImageStorage, ExplicitVRLittleEndian, RTStructureSetStorage, generate_uid

Array = np.ndarray[Any, Any]
SHAPE = (10, 24, 28)
SPACING = (0.8, 0.7, 2.5)  # x, y, z


def oblique_axes() -> Array:
    """Return a right-handed set of axes, rotated about x and y: the columns are the direction of
    the rows, the direction of the columns and the slice normal.
    """
    a, b = np.radians(25), np.radians(-12)
    around_x = np.array([[1, 0, 0], [0, np.cos(a), -np.sin(a)], [0, np.sin(a), np.cos(a)]])
    around_y = np.array([[np.cos(b), 0, np.sin(b)], [0, 1, 0], [-np.sin(b), 0, np.cos(b)]])
    return around_x @ around_y


AXES = oblique_axes()
ORIGIN = np.array([-31.5, 12.25, 40.0])


def position(x: float, y: float, z: float) -> Array:
    """Return the position in mm of a continuous index."""
    return ORIGIN + AXES @ (np.array(SPACING) * (x, y, z))


def new_file(sop_class: str, modality: str, **given: Any) -> FileDataset:
    meta = FileMetaDataset()
    meta.MediaStorageSOPClassUID = sop_class
    meta.TransferSyntaxUID = ExplicitVRLittleEndian
    dataset = FileDataset("", {}, file_meta=meta, preamble=b"\0" * 128)
    dataset.SOPClassUID = sop_class
    dataset.SOPInstanceUID = meta.MediaStorageSOPInstanceUID = generate_uid()
    dataset.Modality = modality
    dataset.SeriesInstanceUID = generate_uid()
    dataset.PatientID = dataset.PatientName = "phantom"
    dataset.PatientBirthDate = dataset.PatientSex = dataset.AccessionNumber = ""
    dataset.StudyID = dataset.ReferringPhysicianName = dataset.StudyTime = ""
    dataset.StudyDate = dataset.ContentDate = datetime.date(2020, 1, 1).strftime("%Y%m%d")
    dataset.SeriesNumber = dataset.InstanceNumber = 1
    dataset.Manufacturer = "phantom"
    for keyword, value in given.items():
        setattr(dataset, keyword, value)
    return dataset


def write_series(
    folder: Path, shape: tuple[int, int, int] = SHAPE, spacing: tuple[float, ...] = SPACING
) -> list[FileDataset]:
    """Write a CT series to files whose names do not reveal their order."""
    folder.mkdir()
    common = {
        "SeriesInstanceUID": generate_uid(),
        "StudyInstanceUID": generate_uid(),
        "FrameOfReferenceUID": generate_uid(),
    }
    slices = []
    for number in range(shape[0]):
        one = new_file(CTImageStorage, "CT", **common, InstanceNumber=number + 1)
        one.Rows, one.Columns = shape[1:]
        one.PixelSpacing = [spacing[1], spacing[0]]
        one.SliceThickness = spacing[2]
        one.ImageOrientationPatient = [*AXES[:, 0], *AXES[:, 1]]
        place = ORIGIN + AXES @ np.array([0, 0, spacing[2] * number])
        one.ImagePositionPatient = [float(f"{part:.9f}") for part in place]
        one.SamplesPerPixel, one.PhotometricInterpretation = 1, "MONOCHROME2"
        one.BitsAllocated = one.BitsStored = 16
        one.HighBit, one.PixelRepresentation = 15, 0
        one.PixelData = np.zeros(shape[1:], np.uint16).tobytes()
        one.save_as(folder / f"{(7 * number) % 97:03d}.dcm", enforce_file_format=True)
        slices.append(one)
    return slices


def write_seg(
    path: Path, masks: dict[str, Array], slices: list[FileDataset], kinds: dict[str, Any] | None
) -> Path:
    """Write a reader's BINARY SEG with highdicom, without empty frames."""
    descriptions = [
        highdicom.seg.SegmentDescription(
            number,
            name,
            codes.SCT.AnatomicalStructure,
            (kinds or {}).get(name, codes.SCT.Tissue),
            "MANUAL",
        )
        for number, name in enumerate(masks, start=1)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seg = highdicom.seg.Segmentation(
            slices,
            np.stack(list(masks.values()), axis=-1).astype(bool),
            "BINARY",
            descriptions,
            generate_uid(),
            7,
            generate_uid(),
            1,
            "phantom",
            "phantom",
            "1",
            "1",
        )
    seg.save_as(path)
    return path


def write_contours(path: Path, contours: dict[str, list[Array]], slices: list[FileDataset]) -> Path:
    """Write an RTSTRUCT of contours in mm, each (n, 3)."""
    first = slices[0]
    dataset = new_file(RTStructureSetStorage, "RTSTRUCT", StudyInstanceUID=first.StudyInstanceUID)
    make = pydicom.Dataset
    frame, study, series = make(), make(), make()
    series.SeriesInstanceUID = first.SeriesInstanceUID
    study.RTReferencedSeriesSequence = [series]
    frame.FrameOfReferenceUID = first.FrameOfReferenceUID
    frame.RTReferencedStudySequence = [study]
    dataset.ReferencedFrameOfReferenceSequence = [frame]
    dataset.StructureSetROISequence, dataset.ROIContourSequence = [], []
    for number, (name, of_name) in enumerate(contours.items(), start=1):
        roi, drawn = make(), make()
        roi.ROINumber, roi.ROIName = number, name
        roi.ReferencedFrameOfReferenceUID = first.FrameOfReferenceUID
        drawn.ReferencedROINumber, drawn.ROIDisplayColor = number, [255, 0, 51]
        drawn.ContourSequence = []
        for points in of_name:
            contour = make()
            contour.ContourGeometricType = "CLOSED_PLANAR"
            contour.NumberOfContourPoints = len(points)
            contour.ContourData = [float(f"{part:.6f}") for part in np.ravel(points)]
            drawn.ContourSequence.append(contour)
        dataset.StructureSetROISequence.append(roi)
        dataset.ROIContourSequence.append(drawn)
    dataset.save_as(path, enforce_file_format=True)
    return path
