"""Headers with a fixed layout: NIfTI and Analyze, GIPL, MRC, BMP, JPEG, TIFF."""

from __future__ import annotations

import gzip
import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.errors import FileError
from itk_consensus.images.headers.header import Header, voxel_bytes

_GIPL_MAGICS = {0xEFFFE9B0, 0x2AE389B8}
_GIPL_HEADER_BYTES = 256
_GIPL_BITS = {1: 1, 7: 8, 8: 8, 15: 16, 16: 16, 31: 32, 32: 32, 64: 32, 65: 64}
_MRC_HEADER_BYTES = 1024
_MRC_BYTES = {0: 1, 1: 2, 2: 4, 3: 4, 4: 8, 6: 2, 16: 3}
_NIFTI_FLOATS = {16: "f4", 64: "f8"}
_FLOAT_BYTES = 1 << 22
_NIFTI_DATA_SUFFIXES = {".hdr": ".img", ".HDR": ".IMG"}
_TAIL_BYTES = 1 << 16

# TIFF tags of offsets and byte counts of strips and tiles.
_OFFSET_TAGS, _COUNT_TAGS = {273, 324}, {279, 325}
_TIFF_TYPES = {1: "u1", 3: "u2", 4: "u4", 13: "u4", 16: "u8"}
# Maximum number of strips; no plausible volume has more.
_MOST_TIFF_ENTRIES = 10_000_000


def nifti_header(path: Path, head: bytes, packed: bool) -> Header | None:
    """Read the header of NIfTI-1, NIfTI-2 or Analyze, in one file or as a header-voxel pair."""
    if path.name.lower().removesuffix(".gz").endswith(".img"):
        return None
    found = _nifti(head)
    if found is None:
        return None
    number = found.dims[0]
    if not 1 <= number <= 7 or found.bits <= 0:
        raise FileError("its NIfTI header is damaged", path=path)
    extents = [max(1, extent) for extent in found.dims[1 : number + 1]]
    needed = found.offset + voxel_bytes(extents, found.bits / 8, path)
    data = path if found.is_single_file else _voxel_file(path)
    return Header("NiftiImageIO", (data,), needed, packed or data.suffix == ".gz")


class _Nifti(NamedTuple):
    order: str
    dims: tuple[int, ...]
    kind: int
    bits: int
    offset: int
    is_single_file: bool  #: Whether the voxels are in the same file


def _nifti(head: bytes) -> _Nifti | None:
    """Parse a NIfTI or Analyze header; return None if it has another format."""
    if len(head) >= 540 and head[4:8] in (b"n+2\0", b"ni2\0"):
        order = "<" if head[:4] == struct.pack("<i", 540) else ">"
        dims = struct.unpack_from(order + "8q", head, 16)
        kind, bits = struct.unpack_from(order + "2h", head, 12)
        offset = struct.unpack_from(order + "q", head, 168)[0]
        return _Nifti(order, dims, kind, bits, max(0, offset), head[4:7] == b"n+2")
    if len(head) >= 348 and struct.pack("<i", 348) in (head[:4], head[3::-1]):
        order = "<" if head[:4] == struct.pack("<i", 348) else ">"
        dims = struct.unpack_from(order + "8h", head, 40)
        kind, bits = struct.unpack_from(order + "2h", head, 70)
        start = struct.unpack_from(order + "f", head, 108)[0]
        offset = int(start) if 0 <= start < 2**31 else 0
        return _Nifti(order, dims, kind, bits, offset, head[344:348] == b"n+1\0")
    return None


def find_not_finite(head: bytes, header: Header) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return flat indices and values of NaN and infinite voxels of a complete NIfTI file.

    ITK's reader replaces these values by 0, which is background.
    """
    found = _nifti(head)
    places: list[NDArray[np.intp]] = [np.empty(0, np.intp)]
    values = [np.empty(0)]
    if found is not None and found.kind in _NIFTI_FLOATS:
        dtype = np.dtype(found.order + _NIFTI_FLOATS[found.kind])
        (data,) = header.data
        open_ = gzip.open if header.packed else open
        left, at = (header.needed or 0) - found.offset, 0
        with open_(data, "rb") as stream:
            stream.seek(found.offset)
            while left > 0:
                part = np.frombuffer(stream.read(min(left, _FLOAT_BYTES)), dtype)
                odd = np.flatnonzero(~np.isfinite(part))
                places.append(odd + at)
                values.append(part[odd].astype(np.float64))
                left, at = left - max(part.nbytes, 1), at + len(part)
    return np.concatenate(places), np.concatenate(values)


def _voxel_file(path: Path) -> Path:
    """Return the .img or .img.gz that belongs to a .hdr."""
    name = path.name.removesuffix(".gz")
    for header, data in _NIFTI_DATA_SUFFIXES.items():
        if name.endswith(header):
            name = name.removesuffix(header) + data
    plain = path.with_name(name)
    return plain if plain.exists() else path.with_name(f"{name}.gz")


def nifti_header_file(path: Path) -> Path | None:
    """Return the .hdr or .hdr.gz that belongs to an .img; None if there is none."""
    name = path.name.removesuffix(".gz")
    for header, data in _NIFTI_DATA_SUFFIXES.items():
        if name.endswith(data):
            plain = path.with_name(name.removesuffix(data) + header)
            found = [file for file in (plain, Path(f"{plain}.gz")) if file.exists()]
            return found[0] if found else None
    return None


def gipl_header(path: Path, head: bytes, packed: bool) -> Header | None:
    """Read a GIPL header: sizes and type, big-endian, in 256 bytes."""
    if len(head) < _GIPL_HEADER_BYTES or struct.unpack_from(">I", head, 252)[0] not in _GIPL_MAGICS:
        return None
    *extents, kind = struct.unpack_from(">5H", head, 0)
    if kind not in _GIPL_BITS:
        raise FileError(f"its GIPL header names the unknown pixel type {kind}", path=path)
    voxels = voxel_bytes((max(1, extent) for extent in extents), _GIPL_BITS[kind] / 8, path)
    return Header("GiplImageIO", (path,), _GIPL_HEADER_BYTES + voxels, packed)


def mrc_header(path: Path, head: bytes, packed: bool) -> Header | None:
    """Read an MRC header: sizes, mode and length of the extended header, in 1,024 bytes."""
    if packed or len(head) < _MRC_HEADER_BYTES or head[208:212] != b"MAP ":
        return None
    order = ">" if head[212] == 0x11 else "<"
    *extents, mode = struct.unpack_from(order + "4i", head, 0)
    extended = struct.unpack_from(order + "i", head, 92)[0]
    if mode not in _MRC_BYTES or extended < 0:
        raise FileError("its MRC header is damaged", path=path)
    voxels = voxel_bytes(extents, _MRC_BYTES[mode], path)
    return Header("MRCImageIO", (path,), _MRC_HEADER_BYTES + extended + voxels)


def bmp_header(path: Path, head: bytes, packed: bool) -> Header | None:
    """Read a BMP header; rows are padded to four bytes unless they are run-length encoded."""
    if packed or len(head) < 54 or not head.startswith(b"BM"):
        return None
    offset = struct.unpack_from("<I", head, 10)[0]
    width, height, _, bits, compression = struct.unpack_from("<iiHHI", head, 18)
    if compression != 0:
        return Header("BMPImageIO", (path,))
    row = voxel_bytes([width], bits / 8, path)
    return Header(
        "BMPImageIO", (path,), offset + voxel_bytes([abs(height)], -(-row // 4) * 4, path)
    )


def jpeg_header(path: Path, head: bytes, packed: bool) -> Header | None:
    """Read a JPEG header, which contains no length, so the end marker is checked."""
    if packed or not head.startswith(b"\xff\xd8\xff"):
        return None
    with path.open("rb") as stream:
        stream.seek(max(0, stream.seek(0, os.SEEK_END) - _TAIL_BYTES))
        if b"\xff\xd9" not in stream.read():
            raise FileError("is cut short: JPEG's end marker is missing", path=path)
    return Header("JPEGImageIO", (path,))


def tiff_header(path: Path, head: bytes, packed: bool) -> Header | None:
    """Read TIFF, BigTIFF or LSM headers: each page lists offsets and sizes of strips or tiles."""
    if packed or head[:4] not in (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"):
        return None
    image_io = "LSMImageIO" if path.suffix.lower() == ".lsm" else "TIFFImageIO"
    with path.open("rb") as stream:
        try:
            return Header(image_io, (path,), _tiff_end(stream, head))
        except (struct.error, ValueError) as error:
            raise FileError(f"is cut short or damaged: {error}", path=path) from error


def _tiff_end(stream: BinaryIO, head: bytes) -> int:
    """Return the offset of the end of the last strip or tile of any page."""
    order = "<" if head.startswith(b"II") else ">"
    is_big = b"+" in head[:4]
    page = struct.unpack_from(order + ("Q" if is_big else "I"), head, 8 if is_big else 4)[0]
    end, entries, seen = 0, 0, set[int]()
    while page:
        if page in seen:
            raise ValueError("its list of pages is circular")
        seen.add(page)
        stream.seek(page)
        offsets, counts, page = _tiff_page(stream, order, is_big)
        entries += 1 + len(offsets)
        if entries > _MOST_TIFF_ENTRIES:
            raise ValueError("it has too many strips")
        if len(offsets) == 0 or len(offsets) != len(counts):
            raise ValueError("a page has no valid list of strips or tiles")
        end = max(end, int((offsets + counts).max()))
    return end


def _tiff_page(stream: BinaryIO, order: str, is_big: bool) -> tuple[np.ndarray, np.ndarray, int]:
    """Return offsets and byte counts of a page's strips or tiles, and the next page's offset."""
    count_code, entry_code, next_code = ("Q", "HHQ", "Q") if is_big else ("H", "HHI", "I")
    inline = 8 if is_big else 4
    (number,) = _unpack(stream, order + count_code)
    if number > 65_535:
        raise ValueError(f"a page has {number} entries")
    found: dict[bool, np.ndarray] = {False: np.empty(0, float), True: np.empty(0, float)}
    for tag, kind, length, value_at in list(_entries(stream, number, order, entry_code, inline)):
        if tag in _OFFSET_TAGS | _COUNT_TAGS and kind in _TIFF_TYPES:
            found[tag in _COUNT_TAGS] = _values(stream, order, kind, length, value_at, inline)
    return found[False], found[True], _unpack(stream, order + next_code)[0]


def _entries(
    stream: BinaryIO, number: int, order: str, code: str, inline: int
) -> Iterator[tuple[int, int, int, int]]:
    for _ in range(number):
        tag, kind, length = _unpack(stream, order + code)
        yield tag, kind, length, stream.tell()
        stream.seek(inline, os.SEEK_CUR)


def _values(
    stream: BinaryIO, order: str, kind: int, length: int, value_at: int, inline: int
) -> np.ndarray:
    """Return the values of an entry, which may be stored inline; restore the stream position."""
    here = stream.tell()
    dtype = np.dtype(order + _TIFF_TYPES[kind])
    size = length * dtype.itemsize
    stream.seek(value_at)
    if size > inline:
        stream.seek(_unpack(stream, order + ("Q" if inline == 8 else "I"))[0])
    if length > _MOST_TIFF_ENTRIES:
        raise ValueError(f"a page has {length} strips")
    raw = stream.read(size)
    stream.seek(here)
    if len(raw) < size:
        raise ValueError("a page's table of strips is missing")
    return np.frombuffer(raw, dtype).astype(float)


def _unpack(stream: BinaryIO, code: str) -> tuple[int, ...]:
    return struct.unpack(code, stream.read(struct.calcsize(code)))
