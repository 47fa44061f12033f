"""Read image files box by box, for volumes larger than memory.

SimpleITK streams formats with contiguous, uncompressed voxels; it reads other formats completely
and then crops, which is exact but needs the memory of one image.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import SimpleITK as sitk
from numpy.typing import NDArray

from itk_consensus.core.errors import FileError
from itk_consensus.images.files import find_not_finite, header_reader, reject_layers
from itk_consensus.images.geometry import ImageGeometry
from itk_consensus.space.boxes import Box


@dataclass(frozen=True)
class ImageSlabs:
    """A scalar image file whose voxels are read on demand."""

    path: Path
    geometry: ImageGeometry
    dtype: np.dtype[Any]

    @staticmethod
    def of(path: Path) -> ImageSlabs:
        """Open an image file by reading its header.

        Raises
        ------
        FileError
            The file is not an image, or has several components.
        """
        reader = header_reader(path)
        try:
            reader.ReadImageInformation()
        except RuntimeError as error:
            raise FileError("cannot be read as an image", path=path) from error
        reject_layers(reader, path)
        places, values = find_not_finite(path)
        if places.size:
            raise FileError(f"must hold whole-number labels, found {values[0]:g}", path=path)
        if reader.GetNumberOfComponents() != 1:
            raise FileError(
                f"must have one label at each voxel, got {reader.GetNumberOfComponents()} "
                "components",
                path=path,
            )
        one = sitk.Image([1] * reader.GetDimension(), reader.GetPixelID())
        geometry = ImageGeometry(
            tuple(reader.GetSize()),
            tuple(reader.GetSpacing()),
            tuple(reader.GetOrigin()),
            tuple(reader.GetDirection()),
        )
        return ImageSlabs(path, geometry, sitk.GetArrayViewFromImage(one).dtype)

    def read(self, box: Box) -> NDArray[Any]:
        """Read the voxels of a box."""
        reader = header_reader(self.path)
        reader.SetExtractIndex([part.start for part in reversed(box)])
        reader.SetExtractSize([part.stop - part.start for part in reversed(box)])
        try:
            return sitk.GetArrayFromImage(reader.Execute())
        except RuntimeError as error:
            raise FileError("cannot be read as an image", path=self.path) from error
