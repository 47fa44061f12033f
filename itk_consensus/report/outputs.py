"""Can the answer be written? Asked before the work, not after it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike

from itk_consensus.errors import FileError
from itk_consensus.images import convert
from itk_consensus.images.files import read_image, write_image, write_text
from itk_consensus.images.geometry import ImageGeometry


@dataclass(frozen=True)
class Output:
    """A file to be written.

    Attributes
    ----------
    option : str
        The option that names it.
    path : Path
    pixel_type : dtype or None
        Of an image; None for a text.
    """

    option: str
    path: Path
    pixel_type: DTypeLike | None = None


def check_outputs(outputs: Iterable[Output], inputs: Iterable[Path], dimension: int) -> None:
    """Rehearse every output on a tiny image; refuse those that would destroy another file.

    Raises
    ------
    FileError
        The folder is missing or closed, no format has this extension, the format does not give
        back what it was given (PNG keeps one slice of a volume, JPEG changes labels), or the
        output is an input or another output.
    """
    owners = {path: f"the input {path}" for path in inputs}
    for output in outputs:
        for made in _rehearse(output, dimension):
            for path, owner in owners.items():
                if _same_file(made, path):
                    raise FileError(f"{output.option} {output.path} would overwrite {owner}")
            owners[made] = f"the file of {output.option}"


def _rehearse(output: Output, dimension: int) -> list[Path]:
    """Write a stand-in beside the target and return the files that the real one will make."""
    path = output.path
    if path.is_dir():
        raise FileError(f"{path}: is a folder, not a file to write")
    if not path.parent.is_dir():
        raise FileError(f"{path}: the folder {path.parent} does not exist")
    try:
        with tempfile.TemporaryDirectory(prefix=".itk_consensus-", dir=path.parent) as folder:
            draft = Path(folder, path.name)
            if output.pixel_type is None:
                write_text(draft, "")
            elif not _survives(draft, np.dtype(output.pixel_type), dimension):
                raise FileError(
                    f"{path}: its format does not keep a {dimension}D image of "
                    f"{np.dtype(output.pixel_type)} as it is; use .nii.gz, .nrrd or .mha"
                )
            return [path.parent / part.name for part in Path(folder).iterdir()]
    except FileError as error:
        raise FileError(str(error).replace(str(draft), str(path))) from error
    except OSError as error:
        raise FileError(f"{path}: cannot be written: {error.strerror or error}") from error


def _survives(draft: Path, pixel_type: np.dtype[np.generic], dimension: int) -> bool:
    """Whether an image reads back as it was written."""
    labels = (np.arange(4**dimension) % 3).reshape((4,) * dimension).astype(pixel_type)
    geometry = ImageGeometry(
        labels.shape, (1.0,) * dimension, (0.0,) * dimension, tuple(np.eye(dimension).ravel())
    )
    like = convert.LoadedImages((), geometry, convert.Family.SIMPLEITK, {}, ())
    write_image(convert.to_image(labels, like), draft)
    back = convert.load(read_image(draft), owner=str(draft)).arrays
    return len(back) == 1 and np.array_equal(np.asarray(back[0]), labels)


def _same_file(a: Path, b: Path) -> bool:
    if a.exists() and b.exists():
        return a.samefile(b)
    return a.resolve() == b.resolve()
