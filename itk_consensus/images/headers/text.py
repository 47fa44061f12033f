"""Plain-text headers: MetaImage, NRRD, VTK."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from pathlib import Path

from itk_consensus.core.errors import FileError
from itk_consensus.images.headers.header import Header, numbered_files, voxel_bytes

_META_BYTES = {
    "CHAR": 1,
    "UCHAR": 1,
    "SHORT": 2,
    "USHORT": 2,
    "INT": 4,
    "UINT": 4,
    "LONG": 4,
    "ULONG": 4,
    "LONG_LONG": 8,
    "ULONG_LONG": 8,
    "FLOAT": 4,
    "DOUBLE": 8,
}
# NRRD type names, grouped by size in bytes.
_NRRD_BYTES = {
    1: r"u?int8(_t)?|(signed |unsigned |u)?char",
    2: r"u?int16(_t)?|(signed |unsigned |u)?short( int)?",
    4: r"float|u?int32(_t)?|(signed |unsigned |u)?int",
    8: r"double|u?int64(_t)?|(signed |unsigned |u)?long ?long( int)?",
}
_VTK_BYTES = {
    "char": 1,
    "unsigned_char": 1,
    "short": 2,
    "unsigned_short": 2,
    "int": 4,
    "unsigned_int": 4,
    "long": 8,
    "unsigned_long": 8,
    "long_long": 8,
    "unsigned_long_long": 8,
    "vtktypeint64": 8,
    "vtktypeuint64": 8,
    "float": 4,
    "double": 8,
}
_VTK_COMPONENTS = {"vectors": 3, "tensors": 9}
_MOST_SLICES = 1_000_000


def meta_header(path: Path, head: bytes, packed: bool) -> Header | None:
    """Read a MetaImage header: lines ``Key = Value``, of which ElementDataFile is the last."""
    if packed or path.suffix.lower() not in (".mha", ".mhd"):
        return None
    fields: dict[str, str] = {}
    end = 0
    for line in head.splitlines(keepends=True):
        key, equals, value = line.decode("latin-1").partition("=")
        end += len(line)
        if not equals and line.strip():
            break
        fields[key.strip()] = value.strip()
        if key.strip() == "ElementDataFile":
            return _meta(path, fields, head[end:].decode("utf-8", "replace").split(), end)
    raise FileError("its MetaImage header is damaged: it names no ElementDataFile", path=path)


def _meta(path: Path, fields: dict[str, str], after: list[str], end: int) -> Header:
    extents = _integers(fields.get("DimSize", fields.get("DimensionSize", "")), path)
    kind = fields.get("ElementType", "").removeprefix("MET_").removesuffix("_ARRAY")
    if kind not in _META_BYTES or len(extents) != _integer(fields.get("NDims", "0"), path):
        raise FileError("its MetaImage header is damaged", path=path)
    channels = _integer(fields.get("ElementNumberOfChannels", "1"), path)
    data = _meta_data(path, fields["ElementDataFile"], after, extents[-1])
    if fields.get("BinaryData", "True")[:1] in "Ff0":
        numbers = voxel_bytes([*extents, channels], 1, path)
        return Header("MetaImageIO", data, numbers, text_from=end if data == (path,) else 0)
    needed = voxel_bytes([*extents, channels], _META_BYTES[kind], path)
    if fields.get("CompressedData", "False")[:1] in "Tt1Yy":
        return Header("MetaImageIO", data, needed, packed=True, reader_counts=True)
    # A header size of -1 means that the voxels are the last bytes of the file.
    skipped = max(0, _integer(fields.get("HeaderSize", "0"), path))
    return Header("MetaImageIO", data, needed + (end if data == (path,) else skipped * len(data)))


def _meta_data(path: Path, named: str, after: list[str], slices: int) -> tuple[Path, ...]:
    """Return the files with the voxels: the header itself, another file, or one per slice."""
    words = named.split() or [""]
    if words[0].upper() == "LOCAL":
        return (path,)
    if slices > _MOST_SLICES:
        raise FileError(f"names voxels in {slices} files", path=path)
    if words[0].upper() == "LIST":
        if len(words) > 1 or len(after) != slices:
            raise FileError(f"lists {len(after)} files for {slices} slices", path=path)
        return tuple(path.parent / name for name in after)
    if "%" in named:
        given = _integers(" ".join(words[1:4]), path)
        first, last, step = given + [1, slices, 1][len(given) :]
        numbers = range(first, last + 1, max(1, step))
        return numbered_files(words[0], itertools.islice(numbers, slices), path)
    return (path.parent / named,)


def nrrd_header(path: Path, head: bytes, packed: bool) -> Header | None:
    """Read an NRRD header: lines ``field: value``; voxels follow or are in other files."""
    if packed or not re.match(rb"NRRD000\d", head):
        return None
    blank = re.search(rb"\r?\n\r?\n", head)
    end = blank.end() if blank else len(head)
    lines = [line.decode("latin-1") for line in re.split(rb"\r?\n", head[:end].rstrip())[1:]]
    fields, after = _nrrd_fields(lines)
    extents = _integers(fields.get("sizes", ""), path)
    bytes_each = [
        n for n, names in _NRRD_BYTES.items() if re.fullmatch(names, fields.get("type", ""))
    ]
    if not bytes_each:
        raise FileError("its NRRD header names no known type", path=path)
    data = _nrrd_data(path, fields.get("datafile"), after, extents)
    encoding = fields.get("encoding", "").lower()
    needed = voxel_bytes(extents, bytes_each[0], path)
    if encoding in ("gzip", "gz"):
        return Header("NrrdImageIO", data, needed, packed=True, reader_counts=True)
    if encoding != "raw":
        return Header("NrrdImageIO", data)
    # A byte skip of -1 means that the voxels are the last bytes of the file.
    skipped = max(0, _integer(fields.get("byteskip", "0"), path))
    start = end if data == (path,) else 0
    return Header("NrrdImageIO", data, needed + start + skipped * len(data))


def vtk_header(path: Path, head: bytes, packed: bool) -> Header | None:
    """Read a legacy VTK header: lines of keywords; voxels follow as text or big-endian binary."""
    if packed or not head.lower().startswith(b"# vtk datafile"):
        return None
    lines = head.split(b"\n", 3)
    is_binary = len(lines) > 2 and lines[2].strip().upper() == b"BINARY"
    dims = re.search(rb"(?im)^\s*DIMENSIONS\s+(\S+)\s+(\S+)\s+(\S+)", head)
    kind = re.search(
        rb"(?im)^\s*(?:SCALARS\s+\S+\s+(\w+)[ \t]*(\d*)[^\n]*\n(?:\s*LOOKUP_TABLE[^\n]*\n)?"
        rb"|(VECTORS|TENSORS)\s+\S+\s+(\w+)[^\n]*\n|COLOR_SCALARS\s+\S+[ \t]+(\d+)[^\n]*\n)",
        head,
    )
    if dims is None or kind is None:
        raise FileError("its VTK header is damaged, or it holds no image", path=path)
    scalar_type, components, tensors, tensor_type, channels = kind.groups()
    name = (scalar_type or tensor_type or b"unsigned_char").decode().lower()
    number = int(components or channels or 1)
    if tensors:
        number = _VTK_COMPONENTS[tensors.decode().lower()]
    if name not in _VTK_BYTES:
        raise FileError(f"its VTK header names the unknown type {name}", path=path)
    extents = _integers(b" ".join(dims.groups()).decode("latin-1"), path)
    if is_binary:
        needed = kind.end() + voxel_bytes([*extents, number], _VTK_BYTES[name], path)
        return Header("VTKImageIO", (path,), needed)
    numbers = voxel_bytes([*extents, number], 1, path)
    return Header("VTKImageIO", (path,), numbers, text_from=kind.end())


def _nrrd_fields(lines: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Return the fields, keyed by name without spaces, and the lines after ``data file: LIST``."""
    fields: dict[str, str] = {}
    for number, line in enumerate(lines):
        if line.startswith("#") or ":=" in line:
            continue
        key, _, value = line.partition(":")
        fields[key.replace(" ", "").lower()] = value.strip()
        if fields.get("datafile", "").startswith("LIST"):
            return fields, [name for name in lines[number + 1 :] if name.strip()]
    return fields, []


def _nrrd_data(
    path: Path, named: str | None, after: list[str], extents: Sequence[int]
) -> tuple[Path, ...]:
    if named is None or named.upper() == "LOCAL":
        return (path,)
    words = named.split() or [""]
    if words[0] == "LIST":
        return tuple(path.parent / name.strip() for name in after)
    if "%" in named:
        first, last, step, *_ = [*_integers(" ".join(words[1:]), path), 0, 0, 0]
        numbers = range(first, last + (1 if step > 0 else -1), step or 1)
        if len(words) < 4 or not 0 < len(numbers) <= min(max(extents), _MOST_SLICES):
            raise FileError(
                f"names its voxels by {named!r}, which does not match its slices", path=path
            )
        return numbered_files(words[0], numbers, path)
    return (path.parent / named,)


def _integers(text: str, path: Path) -> list[int]:
    return [_integer(word, path) for word in text.split()]


def _integer(text: str, path: Path) -> int:
    if not re.fullmatch(r"[+-]?\d{1,18}", text.strip()):
        raise FileError(f"its header has {text[:40]!r} instead of a whole number", path=path)
    return int(text)
