"""Files of named structures, whatever their format: Slicer's, DICOM SEG and DICOM RTSTRUCT."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from itk_consensus.core.errors import FileError, InputError
from itk_consensus.images.dicom.identity import modality_of, without_remarks
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

#: What the name of a file ends in that is to hold contours.
CONTOURS = ".rtstruct.dcm"

#: Methods of RTSTRUCTs that are no fusion.
_BY_HAND = (" hand", " manual")


def read_structures(
    path: PathLike, series: DicomSeries | None = None, **options: Any
) -> list[Structure]:
    """Read the structures of a file.

    Parameters
    ----------
    series : DicomSeries, optional
        What was outlined; DICOM objects need it, and a Slicer segmentation is put on its grid.
    options
        Of `read_dicom_segmentation`.
    """
    if str(path).lower().endswith(".nrrd"):
        like = None if series is None else series.grid()
        return read_slicer_segmentation(path, like=like)
    has_contours, kind = _kind_of(path)
    if series is None:
        raise InputError(
            f"is a DICOM {kind}; the series it outlines must be given (series=, --series FOLDER)",
            path=path,
        )
    if has_contours:
        return read_dicom_contours(path, series)
    return read_dicom_segmentation(path, series, **options)


@without_remarks()
def is_own_output(path: PathLike) -> bool:
    """Whether a file says that this package made it."""
    if str(path).lower().endswith(".nrrd"):
        reader = header_reader(Path(path))
        reader.ReadImageInformation()
        return is_marked(reader)
    dataset = read_dicom(path, stop_before_pixels=True)
    made = [
        str(roi.get("ROIGenerationDescription", ""))
        for roi in dataset.get("StructureSetROISequence", [])
    ]
    # Our writers also serve those who convert what a reader drew, and say so.
    is_by_hand = any(made) and all(one.endswith(_BY_HAND) for one in made)
    return str(dataset.get("Manufacturer", "")) == PROGRAM and not is_by_hand


@without_remarks()
def _kind_of(path: PathLike) -> tuple[bool, str]:
    """Whether a DICOM file holds contours, and what it is called."""
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
    """Write structures in the format that the name of a file asks for.

    Parameters
    ----------
    more
        Of the writers of DICOM: `description`, `origin`; of contours `smooth` and `holes`, too.
    """
    if not is_dicom(path):
        write_fused_segmentation(structures, path)
        return
    if series is None:
        raise InputError(
            "DICOM refers to the series that was outlined, which is missing", path=path
        )
    write = write_dicom_contours if is_contours(path) else write_dicom_segmentation
    write(structures, path, series, method=method, raters=raters, **more)


def require_structures_name(path: Path) -> None:
    """Raise unless the name of a file asks for a format that structures are written in."""
    if is_dicom(path):
        return
    try:
        require_segmentation_name(path)
    except FileError as error:
        raise FileError(
            f"{error.problem}; .dcm is a DICOM SEG, {CONTOURS} an RTSTRUCT", path=path
        ) from error


def is_contours(path: Path) -> bool:
    """Whether a name asks for an RTSTRUCT."""
    return path.name.lower().endswith(CONTOURS)


def is_dicom(path: Path) -> bool:
    """Whether a name asks for DICOM: a SEG or, if it ends in `CONTOURS`, an RTSTRUCT."""
    return path.suffix.lower() == ".dcm"
