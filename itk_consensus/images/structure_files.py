"""Files of named structures in all formats: Slicer's .seg.nrrd, DICOM SEG and RTSTRUCT."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from itk_consensus.core.errors import FileError, InputError
from itk_consensus.images.dicom.identity import modality_of, silence_dicom_libraries
from itk_consensus.images.dicom.rtstruct_reading import STRUCTURE_SET, read_dicom_contours
from itk_consensus.images.dicom.rtstruct_writing import write_dicom_contours
from itk_consensus.images.dicom.seg_reading import read_dicom_segmentation
from itk_consensus.images.dicom.seg_writing import write_dicom_segmentation
from itk_consensus.images.dicom.series import DicomSeries, read_dicom
from itk_consensus.images.files import header_reader
from itk_consensus.images.own_outputs import PROGRAM, is_marked
from itk_consensus.images.slicer_segmentation import (
    read_slicer_segmentation,
    require_segmentation_name,
    write_fused_segmentation,
)
from itk_consensus.images.structures import Structure
from itk_consensus.storage.files import PathLike

#: Ending of file names for contours.
CONTOURS = ".rtstruct.dcm"

#: Endings of the method in RTSTRUCTs that do not result from a fusion.
_BY_HAND = (" hand", " manual")


def read_structures(
    path: PathLike, series: DicomSeries | None = None, **options: Any
) -> list[Structure]:
    """Read the structures of a file.

    Parameters
    ----------
    series : DicomSeries, optional
        The segmented series; required for DICOM objects, and the grid of Slicer segmentations.
    options
        Passed to `read_dicom_segmentation`.
    """
    if str(path).lower().endswith(".nrrd"):
        like = None if series is None else series.grid()
        return read_slicer_segmentation(path, like=like)
    has_contours, kind = _kind_of(path)
    if series is None:
        raise InputError(
            f"is a DICOM {kind}; give the series that it outlines (series=, --series FOLDER)",
            path=path,
        )
    if has_contours:
        return read_dicom_contours(path, series)
    return read_dicom_segmentation(path, series, **options)


@silence_dicom_libraries()
def is_own_output(path: PathLike) -> bool:
    """Whether a file is marked as an output of this package."""
    if str(path).lower().endswith(".nrrd"):
        reader = header_reader(Path(path))
        reader.ReadImageInformation()
        return is_marked(reader)
    dataset = read_dicom(path, stop_before_pixels=True)
    made = [
        str(roi.get("ROIGenerationDescription", ""))
        for roi in dataset.get("StructureSetROISequence", [])
    ]
    # Our writers may also be used to convert a rater's contours, which the method field states.
    is_by_hand = any(made) and all(one.endswith(_BY_HAND) for one in made)
    return str(dataset.get("Manufacturer", "")) == PROGRAM and not is_by_hand


@silence_dicom_libraries()
def _kind_of(path: PathLike) -> tuple[bool, str]:
    """Return whether a DICOM file contains contours, and its modality."""
    dataset = read_dicom(path, stop_before_pixels=True)
    return dataset.get("SOPClassUID") == STRUCTURE_SET, modality_of(dataset) or "file"


def write_structures(
    structures: Sequence[Structure],
    path: Path,
    series: DicomSeries | None,
    *,
    method: str,
    raters: Sequence[PathLike],
    **more: Any,
) -> None:
    """Write structures in the format given by the extension.

    Parameters
    ----------
    more
        Arguments of the DICOM writers: `description`, `origin`; for contours, also `smooth` and
        `holes`.
    """
    if not is_dicom(path):
        write_fused_segmentation(structures, path)
        return
    if series is None:
        raise InputError(
            "DICOM output needs the series that was outlined (series=, --series FOLDER)", path=path
        )
    write = write_dicom_contours if is_contours(path) else write_dicom_segmentation
    write(structures, path, series, method=method, raters=raters, **more)


def require_structures_name(path: Path) -> None:
    """Raise unless structures can be written in the format given by a file's extension."""
    if is_dicom(path):
        return
    try:
        require_segmentation_name(path)
    except FileError as error:
        raise FileError(
            f"{error.problem}; .dcm is a DICOM SEG, {CONTOURS} an RTSTRUCT", path=path
        ) from error


def is_contours(path: Path) -> bool:
    """Whether a file name has the ending of an RTSTRUCT."""
    return path.name.lower().endswith(CONTOURS)


def is_dicom(path: Path) -> bool:
    """Whether a file name has the extension of DICOM (SEG or, with `CONTOURS`, RTSTRUCT)."""
    return path.suffix.lower() == ".dcm"
