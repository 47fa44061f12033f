"""Files of named structures, whatever their format: Slicer's, and DICOM's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from itk_consensus.images.files import PathLike
from itk_consensus.images.slicer_segmentation import read_slicer_segmentation
from itk_consensus.images.structures import Structure


def read_structures(path: PathLike, *, like: Any = None) -> list[Structure]:
    """Read the structures of a file.

    Parameters
    ----------
    like : SimpleITK image, optional
        The image whose grid the structures are put on.
    """
    return read_slicer_segmentation(Path(path), like=like)
