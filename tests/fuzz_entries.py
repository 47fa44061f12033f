"""Random inputs and outputs: intensity images among raters, earlier results, unusual formats."""

from __future__ import annotations

import contextlib
import io
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import SimpleITK as sitk

from itk_consensus.cli import main
from itk_consensus.core.errors import FileError, InputError
from itk_consensus.images.files import read_image, write_image
from itk_consensus.methods.registry import FUSERS

FORMATS = ("nii", "nii.gz", "nrrd", "nhdr", "mha", "mhd", "hdr")
LOSSY = ("vtk", "gipl", "mrc", "tif", "png", "bmp", "jpg", "pic")


def _mask(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    mask = np.zeros(shape, np.uint8)
    mask[tuple(slice(1, int(rng.integers(2, size))) for size in shape)] = 1
    return mask


def check_image_among_raters(rng: np.random.Generator, _folder: Path) -> str:
    """Check that every filter detects a noise image, of any type and at any position among the
    raters.
    """
    shape = tuple(rng.integers(12, 30, int(rng.choice([2, 3]))).tolist())
    noise = rng.normal(0, 10 ** rng.uniform(2, 4), shape)
    kind = rng.choice(["i2", "i4", "u2", "f4"])
    image = (np.abs(noise) if kind == "u2" else np.round(noise)).astype(kind)
    raters = [_mask(rng, shape) for _ in range(3)]
    at = int(rng.integers(3))
    raters[at] = image
    fuser: Any = FUSERS[int(rng.integers(len(FUSERS)))]
    with warnings.catch_warnings(record=True) as remarks:
        warnings.simplefilter("always")
        try:
            fuser().Execute(raters)
        except InputError as error:
            said, outcome = [str(error)], "image refused"
        else:
            said, outcome = [str(one.message) for one in remarks], "image warned of"
    assert any(f"input {at} looks like an image" in text for text in said), said
    return outcome


def check_own_output(rng: np.random.Generator, folder: Path) -> str:
    """Check that an earlier result is rejected in one line, in any format."""
    shape, suffix = tuple(rng.integers(4, 9, 3).tolist()), str(rng.choice(FORMATS))
    paths = [str(folder / f"{number}.{suffix}") for number in range(3)]
    for path in paths:
        sitk.WriteImage(sitk.GetImageFromArray(_mask(rng, shape)), path)
    earlier, output = str(folder / f"earlier.{suffix}"), str(folder / "out.nrrd")
    said = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        assert main(["fuse", *paths, "-o", earlier]) == 0
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
        assert main(["fuse", *paths, earlier, "-o", output]) == 2
    assert f"{earlier}: was written by itk-consensus" in said.getvalue(), said.getvalue()
    assert not Path(output).exists()
    return "own output refused"


def check_format(rng: np.random.Generator, folder: Path) -> str:
    """Check that a written file is read back with its labels and geometry, or that nothing is
    written.
    """
    dimension = int(rng.choice([2, 3]))
    kind = np.dtype(str(rng.choice(["u1", "u2", "i2", "i4", "f4", "f8"])))
    top = 2 if kind.kind == "f" else int(np.iinfo(kind).max)
    array = rng.choice([0, 1, top], tuple(rng.integers(2, 7, dimension))).astype(kind)
    image = sitk.GetImageFromArray(array)
    if rng.random() < 0.7:
        image.SetSpacing(rng.uniform(0.2, 4, dimension).tolist())
        image.SetOrigin(rng.normal(0, 500, dimension).tolist())
    if rng.random() < 0.5:
        turned, _ = np.linalg.qr(rng.normal(size=(dimension, dimension)))
        image.SetDirection(turned.ravel().tolist())
    path = folder / f"a.{rng.choice([*FORMATS, *LOSSY])}"
    try:
        write_image(image, path)
    except FileError:
        assert not list(folder.iterdir()), "refused, and left something behind"
        return "format refused"
    back = read_image(path)
    np.testing.assert_array_equal(sitk.GetArrayFromImage(back).squeeze(), array.squeeze())
    if back.GetDimension() == dimension:
        corner = [size - 1 for size in image.GetSize()]
        places = [one.TransformIndexToPhysicalPoint(corner) for one in (back, image)]
        np.testing.assert_allclose(*places, atol=0.01 * max(image.GetSpacing()))
    return "format read back"


CHECKS = (check_image_among_raters, check_own_output, check_format, check_format)
