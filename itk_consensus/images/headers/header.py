"""What an image file's header promises: in which files its voxels are, and how many bytes.

The image libraries trust headers: they read voxels that are not there as background, format file
names with patterns found in the file, and allocate whatever is asked for. So a header is read here
first, by its contents and not by its name. Checked are NIfTI and Analyze, MetaImage, NRRD, VTK,
TIFF and LSM, GIPL, MRC, BMP and JPEG; the readers of PNG, DICOM, JPEG 2000, HDF5, MINC and BioRad
notice by themselves when something is missing.
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

#: More than any header takes; text headers must end within it.
HEAD_BYTES = 1 << 20

_CHUNK_BYTES = 1 << 20
#: More than any header takes in a format that is compressed as a whole.
_PACKED_HEAD_BYTES = 1 << 12
# The index range of ITK's readers, and more dimensions than any format of ours has.
_LARGEST_EXTENT = 2**31 - 1
_MOST_DIMENSIONS = 16
# Deflate cannot shrink anything further than this.
_STRONGEST_COMPRESSION = 1032
_SLICE_PATTERN = re.compile(r"([^%]*)%(0?\d?)d([^%]*)")


@dataclass(frozen=True)
class Header:
    """What the header of an image file says about its voxels."""

    image_io: str  #: SimpleITK's name of the reader
    data: tuple[Path, ...]  #: The files with the voxels: the file itself, or others that it names
    #: Bytes the data files must hold together, unpacked, or numbers if they are text; None if the
    #: format does not say.
    needed: int | None = None
    packed: bool = False  #: Whether the data are compressed by deflate
    #: Whether the library itself raises an error when unpacked bytes are missing.
    reader_counts: bool = False
    text_from: int | None = None  #: Where in each data file numbers written as text begin


def require_complete(header: Header, path: Path) -> None:
    """Raise unless the data files hold what the header promises.

    Raises
    ------
    FileError
        A data file is missing or is no regular file, or voxels are missing.
    """
    sizes = []
    for file in header.data:
        try:
            sizes.append(require_regular(file).st_size)
        except FileError as error:
            if file == path:
                raise
            raise FileError(f"names voxels that cannot be read: {error}", path=path) from error
    if header.needed is None:
        return
    found, unit = sum(sizes), "bytes"
    if header.packed:
        found *= _STRONGEST_COMPRESSION
        if found >= header.needed and not header.reader_counts:
            found = _unpacked(header.data, header.needed, path)
    elif header.text_from is not None:
        found, unit = _numbers_in(header.data, header.text_from), "numbers"
    if found < header.needed:
        raise FileError(
            f"is cut short: {found} of the {header.needed} {unit} it promises", path=path
        )


def head_of(path: Path) -> tuple[bytes, bool]:
    """The first bytes of a file, unpacked if it is gzip, and whether it is."""
    try:
        with path.open("rb") as stream:
            if not is_gzip(stream):
                return stream.read(HEAD_BYTES), False
            return next(_inflated(stream, path, _PACKED_HEAD_BYTES), b""), True
    except OSError as error:
        raise FileError(f"{error.strerror}", path=path) from error


def is_gzip(stream: BinaryIO) -> bool:
    """Whether a file begins like gzip; the stream stays at the start."""
    begins = stream.read(2) == b"\x1f\x8b"
    stream.seek(0)
    return begins


def voxel_bytes(extents: Iterable[int], bytes_each: float, path: Path) -> int:
    """Bytes of an image of these extents; an error if no image can have them."""
    extents = list(extents)
    possible = 0 < len(extents) <= _MOST_DIMENSIONS
    if not possible or not all(0 < extent <= _LARGEST_EXTENT for extent in extents):
        raise FileError(f"its header promises an impossible size {tuple(extents)}", path=path)
    return -int(-prod(extents) * bytes_each // 1)


def numbered_files(pattern: str, numbers: Iterable[int], path: Path) -> tuple[Path, ...]:
    """The files ``slice%03d.raw`` stands for; only one plain ``%d`` is understood.

    A library would hand the pattern to printf, which reads and writes memory at other patterns.
    """
    parts = _SLICE_PATTERN.fullmatch(pattern)
    if parts is None:
        raise FileError(f"names its voxels by {pattern!r}; only one %d is understood", path=path)
    before, width, after = parts.groups()
    return tuple(path.parent / f"{before}{number:{width}d}{after}" for number in numbers)


def _unpacked(files: Iterable[Path], needed: int, path: Path) -> int:
    """Unpacked bytes of the files; whatever follows the needed ones is not looked at."""
    found = 0
    for file in files:
        with file.open("rb") as stream:
            if not is_gzip(stream):
                found += file.stat().st_size
                continue
            for chunk in _inflated(stream, path):
                found += len(chunk)
                if found > needed + _CHUNK_BYTES:
                    return found
    return found


def _numbers_in(files: Iterable[Path], start: int) -> int:
    """Words in files, from a position on."""
    words = 0
    for file in files:
        with file.open("rb") as stream:
            stream.seek(start)
            in_word = False
            for chunk in iter(lambda: stream.read(_CHUNK_BYTES), b""):
                words += len(chunk.split()) - (in_word and not chunk[:1].isspace())
                in_word = not chunk[-1:].isspace()
    return words


def _inflated(stream: BinaryIO, path: Path, most: int = _CHUNK_BYTES) -> Iterator[bytes]:
    """Unpack gzip by chunks; junk after its end is ignored, an end that is missing is not."""
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
