"""Validation of image file headers: the files with the voxels, and the bytes they must contain.

The image libraries trust headers: they read missing voxels as background, use patterns from the
file as format strings for file names, and allocate any size. Headers are therefore checked here
first; the format is recognised by content, not by name. This covers NIfTI and Analyze, MetaImage,
NRRD, VTK, TIFF and LSM, GIPL, MRC, BMP and JPEG; the libraries' readers of PNG, DICOM, JPEG 2000,
HDF5, MINC and BioRad detect missing data themselves.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import BinaryIO

from itk_consensus.core.errors import FileError
from itk_consensus.storage.guards import require_regular

#: Upper bound of header sizes; text headers must end within it.
HEAD_BYTES = 1 << 20

_CHUNK_BYTES = 1 << 20
#: Upper bound of header sizes for formats that are compressed as a whole.
_PACKED_HEAD_BYTES = 1 << 12
# The index range of ITK's readers, and a number of dimensions that no supported format exceeds.
_LARGEST_EXTENT = 2**31 - 1
_MOST_DIMENSIONS = 16
# Maximum compression ratio of deflate.
_STRONGEST_COMPRESSION = 1032
_SLICE_PATTERN = re.compile(r"([^%]*)%(0?\d?)d([^%]*)")


@dataclass(frozen=True)
class Header:
    """The properties of the voxels that are declared in an image file's header."""

    image_io: str  #: SimpleITK's name of the reader
    data: tuple[Path, ...]  #: The files with the voxels: the file itself, or others named in it
    #: Number of uncompressed bytes that the data files must contain in total (number of values if
    #: they are text); None if the format does not specify it.
    needed: int | None = None
    packed: bool = False  #: Whether the data are compressed by deflate
    #: Whether the library itself raises an error if uncompressed bytes are missing.
    reader_counts: bool = False
    text_from: int | None = None  #: Offset in each data file at which values written as text start


def require_complete(header: Header, path: Path) -> None:
    """Raise unless the data files contain all voxels that the header declares.

    Raises
    ------
    FileError
        A data file is missing or is not a regular file, or voxels are missing.
    """
    sizes = []
    for file in header.data:
        try:
            sizes.append(require_regular(file).st_size)
        except FileError as error:
            if file == path:
                raise
            raise FileError(f"the file with its voxels: {error}", path=path) from error
    if header.needed is None:
        return
    found, unit = sum(sizes), "bytes"
    if header.packed:
        found *= _STRONGEST_COMPRESSION
        if found >= header.needed and not header.reader_counts:
            found = _uncompressed_size(header.data, header.needed, path)
    elif header.text_from is not None:
        found, unit = _numbers_in(header.data, header.text_from), "numbers"
    if found < header.needed:
        raise FileError(
            f"is cut short: {found} of the {header.needed} {unit} its header declares", path=path
        )


def head_of(path: Path) -> tuple[bytes, bool]:
    """Return the first bytes of a file, uncompressed if it is gzip, and whether it is gzip."""
    try:
        with path.open("rb") as stream:
            if not is_gzip(stream):
                return stream.read(HEAD_BYTES), False
            return next(_decompress(stream, path, _PACKED_HEAD_BYTES), b""), True
    except OSError as error:
        raise FileError(f"{error.strerror}", path=path) from error


def is_gzip(stream: BinaryIO) -> bool:
    """Whether a stream starts with the magic number of gzip; rewinds the stream."""
    begins = stream.read(2) == b"\x1f\x8b"
    stream.seek(0)
    return begins


def voxel_bytes(extents: Iterable[int], bytes_each: float, path: Path) -> int:
    """Return the number of bytes of an image of these extents; raise if they are impossible."""
    extents = list(extents)
    possible = 0 < len(extents) <= _MOST_DIMENSIONS
    if not possible or not all(0 < extent <= _LARGEST_EXTENT for extent in extents):
        raise FileError(f"its header declares an impossible size {tuple(extents)}", path=path)
    return -int(-prod(extents) * bytes_each // 1)


def numbered_files(pattern: str, numbers: Iterable[int], path: Path) -> tuple[Path, ...]:
    """Expand a pattern such as ``slice%03d.raw``; only a single ``%d`` is supported.

    Libraries pass the pattern to printf, for which other conversions are unsafe.
    """
    parts = _SLICE_PATTERN.fullmatch(pattern)
    if parts is None:
        raise FileError(f"names its voxels by {pattern!r}; only one %d is supported", path=path)
    before, width, after = parts.groups()
    return tuple(path.parent / f"{before}{number:{width}d}{after}" for number in numbers)


def _uncompressed_size(files: Iterable[Path], needed: int, path: Path) -> int:
    """Return the uncompressed size of all files; stop counting beyond the needed bytes."""
    found = 0
    for file in files:
        with file.open("rb") as stream:
            if not is_gzip(stream):
                found += file.stat().st_size
                continue
            for chunk in _decompress(stream, path):
                found += len(chunk)
                if found > needed + _CHUNK_BYTES:
                    return found
    return found


def _numbers_in(files: Iterable[Path], start: int) -> int:
    """Return the number of words in files, starting at an offset."""
    words = 0
    for file in files:
        with file.open("rb") as stream:
            stream.seek(start)
            in_word = False
            for chunk in iter(lambda: stream.read(_CHUNK_BYTES), b""):
                words += len(chunk.split()) - (in_word and not chunk[:1].isspace())
                in_word = not chunk[-1:].isspace()
    return words


def _decompress(stream: BinaryIO, path: Path, most: int = _CHUNK_BYTES) -> Iterator[bytes]:
    """Decompress gzip in chunks; ignore data after its end, and raise if the end is missing."""
    inflate, packed = zlib.decompressobj(wbits=31), b""
    while True:
        packed = packed or stream.read(_CHUNK_BYTES)
        if not packed:
            raise FileError(
                "is cut short or damaged: the end of the gzip data is missing", path=path
            )
        try:
            chunk = inflate.decompress(packed, most)
        except zlib.error as error:
            raise FileError(f"is cut short or damaged: {error}", path=path) from error
        packed = inflate.unconsumed_tail
        if chunk:
            yield chunk
        if inflate.eof:
            packed = inflate.unused_data or stream.read(_CHUNK_BYTES)
            if packed[:2] != b"\x1f\x8b":
                return
            inflate = zlib.decompressobj(wbits=31)
