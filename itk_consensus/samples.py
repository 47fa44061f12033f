"""Real lung nodules outlined by four radiologists, bundled to try things on.

Their licence and sources are in ``sample_data/ATTRIBUTION.md``.
"""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import Any

from itk_consensus.errors import ParameterError
from itk_consensus.images import convert
from itk_consensus.images.files import read_image

#: The bundled nodules, named after their patients.
SAMPLE_NODULES = ("LIDC-IDRI-0003", "LIDC-IDRI-0023", "LIDC-IDRI-0709")


def sample_nodule(name: str = SAMPLE_NODULES[0]) -> list[Any]:
    """Four radiologists' masks of one nodule.

    Parameters
    ----------
    name : str
        One of `SAMPLE_NODULES`.

    Returns
    -------
    list of SimpleITK.Image
        One 0/1 mask per radiologist, on one grid, ready for any filter.
    """
    if name not in SAMPLE_NODULES:
        raise ParameterError(
            f"sample_nodule: name must be one of {', '.join(SAMPLE_NODULES)}, got {name!r}"
        )
    with as_file(files("itk_consensus") / "sample_data" / f"{name}.nrrd") as path:
        readers = convert.load(read_image(path), owner="sample_nodule")
    return [convert.to_image(mask, readers) for mask in readers.arrays if mask is not None]
