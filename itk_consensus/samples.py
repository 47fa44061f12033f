"""Sample data: bundled lung nodules outlined by four radiologists, and simulated cohorts.

Licence and sources of the nodules are in ``sample_data/ATTRIBUTION.md``.
"""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import Any, NamedTuple

import numpy as np

from itk_consensus.core.errors import ParameterError
from itk_consensus.images import convert
from itk_consensus.images.files import read_image

#: The bundled nodules, named after their patients.
SAMPLE_NODULES = ("LIDC-IDRI-0003", "LIDC-IDRI-0023", "LIDC-IDRI-0709")


class SampleCase(NamedTuple):
    """One case of a simulated cohort, as SimpleITK images."""

    image: Any  #: The image that the raters segmented, as float32
    truth: Any  #: The true mask, 0 or 1
    raters: list[Any]  #: Masks of the same raters, in the same order, in every case


class SampleAtlases(NamedTuple):
    """A simulated target and atlases with registration errors, as SimpleITK images."""

    image: Any  #: The target, as float32
    truth: Any  #: Its labels: 0 outside the organ, 1 to 12 inside
    #: Images and labels of the atlases: the same organ, displaced, each with its own noise and bias
    #: field.
    images: list[Any]
    labels: list[Any]


def sample_case(name: str = SAMPLE_NODULES[0]) -> list[Any]:
    """Four radiologists' masks of one nodule.

    Parameters
    ----------
    name : str
        One of `SAMPLE_NODULES`.

    Returns
    -------
    list of SimpleITK.Image
        One 0/1 mask per radiologist, all on the same grid.
    """
    if name not in SAMPLE_NODULES:
        raise ParameterError(
            f"sample_case: name must be one of {', '.join(SAMPLE_NODULES)}, got {name!r}"
        )
    with as_file(files("itk_consensus") / "sample_data" / f"{name}.nrrd") as path:
        readers = convert.load(read_image(path), owner="sample_case")
    return [convert.to_image(mask, readers) for mask in readers.arrays if mask is not None]


def sample_cohort(number: int = 20, seed: int = 0) -> list[SampleCase]:
    """Simulated organs on textured images, all drawn by the same five raters.

    The first rater is accurate, the second over-segments, the third under-segments, the last two
    are careless.

    Parameters
    ----------
    number : int
        Number of cases, 64 x 64 pixels each.
    seed : int
        Seed of the cases; the raters are always the same.
    """
    from itk_consensus.simulation.deep_phantoms import hard_cohort

    cohort = hard_cohort(number, seed, number_of_classes=2, outlier_share=0.0)
    return [
        SampleCase(
            convert.unit_image(image[0]),
            convert.unit_image(truth.astype(np.uint8)),
            [convert.unit_image(rater.astype(np.uint8)) for rater in raters],
        )
        for image, truth, raters in zip(*cohort, strict=True)
    ]


def sample_atlases(number: int = 6, seed: int = 0) -> SampleAtlases:
    """A target of 40 x 48 x 40 voxels of 1 mm, and atlases of it.

    Parameters
    ----------
    number : int
        Number of atlases.
    seed : int
        Seed of the organ and the atlases.
    """
    from itk_consensus.simulation.atlas_phantoms import atlas_case

    case = atlas_case(seed, (40, 48, 40), 12, number, amplitude=3.5, noise=5.0)
    return SampleAtlases(
        convert.unit_image(case.target),
        convert.unit_image(case.truth),
        [convert.unit_image(image) for image in case.images],
        [convert.unit_image(labels) for labels in case.maps],
    )
