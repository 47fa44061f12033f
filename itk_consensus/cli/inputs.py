"""Reading of image files, and checks that are made before any processing."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from itk_consensus.assessment.input_notes import InputNotes
from itk_consensus.cli.console import Console
from itk_consensus.core.errors import GeometryError, InputError
from itk_consensus.images.files import distinct_names, read_quietly, split_image_name
from itk_consensus.images.geometry import LARGEST_HEADER_NOISE
from itk_consensus.images.own_outputs import reject_own_output
from itk_consensus.report.image_file import ImageFile, usual_and_odd_files


def read(path: Path, console: Console) -> Any:
    """Read an image; combine the image library's messages into one warning, or drop them on
    failure.

    These libraries write several lines directly to the process's stderr, even if they also raise an
    error.
    """
    image, complaint = read_quietly(path)
    if complaint.strip():
        console.warn(f"{path}: {complaint}")
    return image


def read_files(paths: Sequence[Path], console: Console, share: float) -> Iterator[ImageFile]:
    """Read images lazily, one at a time, while the progress bar advances from 0 to `share`."""
    for number, path in enumerate(paths):
        console.progress(share * number / len(paths), f"reading {path}")
        yield ImageFile.of(path, read(path, console))


def require_label_maps(
    files: Sequence[ImageFile],
    arguments: argparse.Namespace,
    masks: Sequence[ImageFile] = (),
    instead: str = "give it as --image, leave it out of the inputs",
) -> None:
    """Raise an `InputError` if a file contains intensities instead of labels."""
    if getattr(arguments, "InputsAreLabels", False):
        return
    for file in (*files, *masks):
        if why := file.intensity_reason():
            is_mask = file in masks
            expected = "a mask" if is_mask else "a rater's labels"
            raise InputError(
                f"looks like an image, not like {expected} "
                f"({why}): {'give a mask' if is_mask else instead} or, if it does hold labels, "
                "add --inputs-are-labels yes",
                path=file.path,
            )


def require_readers(files: Sequence[ImageFile], arguments: argparse.Namespace) -> None:
    """Raise an `InputError` if a file is an output of this package, unless such files are
    accepted.
    """
    for file in files:
        if file.is_own_output and not arguments.accept_own_outputs:
            reject_own_output(file.path)


def require_one_space(
    files: Sequence[ImageFile], coordinate_tolerance: float, direction_tolerance: float
) -> None:
    """Raise a `GeometryError` with advice if a file's grid differs from that of the others."""
    usual, found = usual_and_odd_files(files, coordinate_tolerance, direction_tolerance)
    if found:
        others = f" ({len(found) - 1} more files differ)" if len(found) > 1 else ""
        stray, sentence = found[0]
        raise GeometryError(f"{sentence}{others}. {_advice(usual, stray)}")


def _advice(first: ImageFile, stray: ImageFile) -> str:
    resample = f"Resample it onto the grid of {first.path}"
    if first.geometry.size != stray.geometry.size:
        return resample
    if stray.geometry.has_lost(first.geometry):
        copied = f"If only its header was reset, copy that of {first.path}"
        return f"{copied}; otherwise r{resample[1:]}"
    if first.geometry.distance(stray.geometry) > LARGEST_HEADER_NOISE:
        return resample
    gaps = first.geometry.gaps(stray.geometry)
    names = ("--coordinate-tolerance", "--direction-tolerance")
    needed = zip(names, gaps, strict=True)
    options = " ".join(f"{name} {1.1 * gap:.2g}" for name, gap in needed if gap)
    return f"{resample} or, if that is rounding of headers, give {options}"


def warn_of_copies(files: Sequence[ImageFile], console: Console) -> None:
    """Warn of raters with identical labels, for example because a file was given twice.

    Raters with empty masks are not considered copies of each other.
    """
    names, raters = rater_names(files), [array for file in files for array in file.components]
    for one, other in InputNotes.of(raters, "", with_labels=False).copies:
        warn_of_copy(names[one], names[other], console)


def warn_of_copy(name: str, other: str, console: Console) -> None:
    """Warn that two raters have identical labels."""
    console.warn(f"{name} and {other} hold the same labels everywhere")


def rater_names(files: Sequence[ImageFile]) -> list[str]:
    """Return each rater's name: the path of the file, and the component if the file has several."""
    return [
        f"{file.path}[{component}]" if len(file.components) > 1 else str(file.path)
        for file in files
        for component in range(len(file.components))
    ]


def short_rater_names(files: Sequence[ImageFile]) -> list[str]:
    """Return a short name for each rater: the file name without extension.

    Files with the same name are distinguished by the folders in which they differ.
    """
    paths = [Path(file.path) for file in files]
    names = distinct_names([split_image_name(path.name)[0] for path in paths], paths)
    return [
        f"{name}[{component}]" if len(file.components) > 1 else name
        for name, file in zip(names, files, strict=True)
        for component in range(len(file.components))
    ]
