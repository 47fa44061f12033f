"""Output files, and checks before processing starts that they can be written."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from itk_consensus.cli.options import add_file
from itk_consensus.core.errors import FileError
from itk_consensus.images import convert
from itk_consensus.images.content import claims_on
from itk_consensus.images.files import capture_library_output, write_image
from itk_consensus.images.geometry import ImageGeometry
from itk_consensus.storage.claims import Claim, require_no_overlap
from itk_consensus.storage.files import write_text
from itk_consensus.storage.guards import require_valid_name
from itk_consensus.storage.locking import exclusive_lock
from itk_consensus.storage.replacing import destination


@dataclass(frozen=True)
class Output:
    """A file to be written."""

    option: str  #: The command-line option that specifies the file
    path: Path
    pixel_type: DTypeLike | None = None  #: Pixel type of an image; None for other files
    #: Whether an existing file is updated rather than replaced.
    continued: bool = False


def add_output_options(parser: argparse.ArgumentParser, what: str) -> None:
    """Add ``-o``, ``--output`` and ``--overwrite`` to a parser."""
    add_file(parser, "-o", "--output", required=True, help=what)
    add_overwrite_option(parser)


def add_overwrite_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--overwrite`` to a parser."""
    parser.add_argument("--overwrite", action="store_true", help="replace existing outputs")


def given_outputs(arguments: argparse.Namespace, **pixel_types: DTypeLike | None) -> list[Output]:
    """Return the requested outputs, given option names and their pixel types."""
    return [
        Output(f"--{name}", path, pixel_type)
        for name, pixel_type in pixel_types.items()
        if (path := getattr(arguments, name)) is not None
    ]


def check_outputs(
    outputs: Sequence[Output],
    inputs: Iterable[Path],
    space: ImageGeometry | int,
    *,
    overwrite: bool = False,
) -> None:
    """Test every output by writing a tiny image, and raise if it would overwrite other files.

    `space` is the geometry of images or, if this is unknown, their dimension.

    Raises
    ------
    FileError
        The folder cannot be created or written to, no format has this extension, the format loses
        information (PNG keeps only one slice of a volume, JPEG changes labels, VTK drops the
        direction), the output is also an input or another output, it exists and `overwrite` is not
        set, or an input is missing.
    """
    reads = [claim for path in inputs for claim in claims_on(path)]
    made = [(output, file) for output in outputs for file in _rehearse(output, space)]
    require_no_overlap(
        reads, [Claim(f"{output.option} {output.path}", file) for output, file in made]
    )
    if not overwrite:
        for output, file in made:
            _require_new(output, file)


def make_folders(outputs: Iterable[Output]) -> None:
    """Create the folders of outputs."""
    for output in outputs:
        make_folder(output.path.parent)


@contextmanager
def lock_outputs(outputs: Iterable[Output], *, overwrite: bool = False) -> Iterator[None]:
    """Create the folders of outputs, and lock the outputs within the context.

    Raises
    ------
    FileError
        Another process holds a lock, or has written an output in the meantime and `overwrite` is
        not set.
    """
    # Every process acquires locks in the same order, which avoids deadlocks.
    ordered = sorted(outputs, key=lambda output: os.path.realpath(output.path))
    make_folders(ordered)
    with ExitStack() as locks:
        for output in ordered:
            locks.enter_context(exclusive_lock(destination(output.path)))
            if not overwrite:
                _require_new(output, output.path)
        yield


def _require_new(output: Output, file: Path) -> None:
    if os.path.lexists(file) and not output.continued:
        raise FileError(f"{output.option} {file} exists; give --overwrite to replace it")


def make_folder(folder: Path) -> None:
    """Create a folder and its parents if they do not exist."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot be created as a folder: {error.strerror}", path=folder) from error


def _rehearse(output: Output, space: ImageGeometry | int) -> list[Path]:
    """Write a small test file near the target; return the files that form the output."""
    path = output.path
    nearby = _folder_near(path)
    try:
        with tempfile.TemporaryDirectory(prefix=".itk_consensus-", dir=nearby) as folder:
            draft = Path(folder, path.name)
            if output.pixel_type is None:
                write_text(draft, "")
            else:
                _write_test_image(draft, np.dtype(output.pixel_type), space)
            return [path.parent / part.name for part in Path(folder).iterdir()]
    except FileError as error:
        raise error.about(path=path) from error
    except OSError as error:
        raise FileError(f"cannot be written: {error.strerror or error}", path=path) from error
    except RuntimeError as error:  # SimpleITK can write some formats that it cannot read
        raise FileError(
            "its format cannot be read back; use .nii.gz or .nrrd", path=path
        ) from error


def _folder_near(path: Path) -> Path:
    """Return the folder of a file, or its nearest existing parent."""
    require_valid_name(path)
    if path.parent.is_dir():
        return destination(path).parent
    return next((folder for folder in path.parents if os.path.lexists(folder)), Path())


def _write_test_image(draft: Path, pixel_type: np.dtype[Any], space: ImageGeometry | int) -> None:
    """Write a small label image with the maximum value of the pixel type and the geometry
    of the outputs.
    """
    dimension = space if isinstance(space, int) else space.dimension
    labels = (np.arange(4**dimension) % 3).reshape((4,) * dimension).astype(pixel_type)
    if pixel_type.kind in "iu":
        labels.flat[1] = np.iinfo(pixel_type).max
    image = convert.unit_image(labels)
    if not isinstance(space, int):
        image.SetSpacing(space.spacing)
        image.SetOrigin(space.origin)
        image.SetDirection(space.direction)
    with capture_library_output():  # the exception describes the problem better
        write_image(image, draft)
