"""Image and text files, for the command line and reports; nothing else in the package reads paths.

Writing is all or nothing: whatever goes wrong, the file that was there before is still there.
"""

from __future__ import annotations

import gzip
import os
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import IO, Any

import SimpleITK as sitk

from itk_consensus.errors import FileError

PathLike = str | os.PathLike[str]

_HEADER_SUFFIXES = {".hdr", ".mhd", ".nhdr"}
# SimpleITK says nothing when a full disk cuts these short, nor when it reads one with voxels
# missing. They store voxels plainly, so counting bytes finds out.
_SILENTLY_CUT_SHORT = {".nii", ".gipl", ".hdr", ".img"}
_VOXELS_IN_ONE_FILE = {".nii", ".gipl"}


def split_image_name(path: PathLike) -> tuple[str, str]:
    """Split a file name into stem and extension, taking ``.nii.gz`` and its like as one."""
    path = Path(path)
    suffix = path.suffix
    if suffix.lower() == ".gz":
        suffix = path.with_suffix("").suffix + suffix
    return path.name.removesuffix(suffix), suffix


def read_image(path: PathLike) -> Any:
    """Read an image file into a SimpleITK image of the file's own pixel type."""
    path = Path(path)
    if path.is_dir():
        raise FileError(f"{path}: is a folder, not an image file")
    try:
        path.open("rb").close()
        image = sitk.ReadImage(str(path))
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise FileError(f"{path}: {error}") from error
    except RuntimeError as error:
        raise FileError(f"{path}: cannot be read as an image: {_reason(error)}") from error
    if _format(path) in _VOXELS_IN_ONE_FILE:
        _check_complete([path], _bytes_on_disk(image), path)
    return image


def read_quietly(path: PathLike) -> tuple[Any, str]:
    """Read an image; also return what the image library printed meanwhile.

    Those libraries write straight to the process's stderr, several lines at a time.
    """
    with tempfile.TemporaryFile() as printed:
        with _stderr_of_libraries_into(printed):
            image = read_image(path)
        printed.seek(0)
        return image, printed.read().decode(errors="replace")


def read_label_images(paths: Iterable[PathLike]) -> list[Any]:
    """Read several image files; the first that cannot be read is named in the error."""
    return [read_image(path) for path in paths]


def write_image(image: Any, path: PathLike, *, compress: bool = True) -> None:
    """Write a SimpleITK image, compressed where the format can, replacing `path` in one step."""
    path = Path(path)
    with replacing(path) as draft:
        try:
            sitk.WriteImage(image, str(draft), compress)
        except RuntimeError as error:
            reason = _reason(error).replace(str(draft), str(path))
            raise FileError(f"{path}: cannot be written: {reason}") from error
        _check_size(draft, image, path)
        if _format(path) in _SILENTLY_CUT_SHORT:
            _check_complete(list(draft.parent.iterdir()), _bytes_in_memory(image), path)


def write_text(path: PathLike, text: str) -> None:
    """Write a UTF-8 text file, replacing `path` in one step."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: PathLike, contents: bytes) -> None:
    """Write a file of bytes, replacing `path` in one step."""
    with replacing(Path(path)) as draft:
        draft.write_bytes(contents)


def read_bytes(path: PathLike) -> bytes:
    """All bytes of a file."""
    try:
        return Path(path).read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FileError(f"{path}: cannot be read: {reason}") from error


def require_writable(path: PathLike) -> None:
    """Raise now, rather than after the work, if a file cannot be written; write nothing."""
    with replacing(Path(path)):
        pass


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Yield a path of the same name in a fresh folder beside `target`; move it over on success.

    Whatever else appears in that folder moves along: some formats keep header and voxels apart,
    and the header names the other file. The header goes last, so it never names a missing one.
    """
    if "\0" in str(target):
        raise FileError(f"{str(target)!r}: is not the name of a file")
    if target.is_dir():
        raise FileError(f"{target}: is a folder, not a file to write")
    if not target.parent.is_dir():
        raise FileError(f"{target}: the folder {target.parent} does not exist")
    try:
        with tempfile.TemporaryDirectory(prefix=".itk_consensus-", dir=target.parent) as folder:
            yield Path(folder, target.name)
            parts = sorted(
                Path(folder).iterdir(), key=lambda part: _format(part) in _HEADER_SUFFIXES
            )
            for part in parts:
                os.replace(part, target.parent / part.name)
    except OSError as error:
        raise FileError(f"{target}: cannot be written: {error.strerror or error}") from error


def _format(path: Path) -> str:
    """The extension without ``.gz``, in lower case."""
    return split_image_name(path)[1].lower().removesuffix(".gz")


def _reason(error: RuntimeError) -> str:
    """The one line of a SimpleITK error that says what is wrong."""
    last_line = str(error).strip().splitlines()[-1].removeprefix("sitk::ERROR: ")
    if last_line.startswith("Unable to determine ImageIO"):
        return "its contents or extension belong to no image format SimpleITK knows"
    return last_line


def _bytes_in_memory(image: Any) -> int:
    return sitk.GetArrayViewFromImage(image).nbytes


def _bytes_on_disk(image: Any) -> int:
    """Bytes the voxels of an image just read took, at least: NIfTI may have rescaled them."""
    if image.HasMetaDataKey("bitpix"):
        return int(prod(image.GetSize()) * int(image.GetMetaData("bitpix")) // 8)
    return _bytes_in_memory(image)


def _check_size(draft: Path, image: Any, path: Path) -> None:
    """A flat format keeps one slice of a volume and says nothing."""
    header = sitk.ImageFileReader()
    header.SetFileName(str(draft))
    header.ReadImageInformation()
    kept = [extent for extent in header.GetSize() if extent > 1]
    wanted = [extent for extent in image.GetSize() if extent > 1]
    if kept != wanted:
        raise FileError(
            f"{path}: cannot be written: the format holds size {tuple(header.GetSize())}, "
            f"not {tuple(image.GetSize())}; use .nii.gz, .nrrd or .mha"
        )


def _check_complete(files: list[Path], voxel_bytes: int, path: Path) -> None:
    try:
        found = sum(_unpacked_size(file) for file in files)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise FileError(f"{path}: is cut short or damaged: {error}") from error
    if found < voxel_bytes:
        raise FileError(f"{path}: is cut short: {found} bytes for {voxel_bytes} bytes of voxels")


def _unpacked_size(path: Path) -> int:
    with path.open("rb") as raw:
        is_packed = raw.read(2) == b"\x1f\x8b"
    if not is_packed:
        return path.stat().st_size
    with gzip.open(path) as stream:
        return sum(len(chunk) for chunk in iter(lambda: stream.read(1 << 20), b""))


@contextmanager
def _stderr_of_libraries_into(file: IO[bytes]) -> Iterator[None]:
    try:
        original = os.dup(2)
    except OSError:  # the process has no stderr to redirect
        yield
        return
    os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(original, 2)
        os.close(original)
