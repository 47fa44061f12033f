"""Drawing for pages: contours as SVG paths along voxel edges, images as PNG data URIs."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Iterator
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: PNG colour types by the number of components per pixel.
_COLOR_TYPES = {1: 0, 3: 2, 4: 6}

#: Maximum number of straight segments that are joined into polylines. Masks with more segments are
#: noise, for which interrupted dash patterns are not noticeable.
_MOST_JOINED = 4000

_Corner = tuple[int, int]
_Edge = tuple[_Corner, _Corner]


def contour_path(plane: NDArray[Any]) -> str:
    """Return an SVG path along all edges between voxels of different labels, in units of voxels.

    Everything outside the slice counts as background.

    Parameters
    ----------
    plane : (Y, X) ndarray
        Labels, or a mask.
    """
    padded = np.pad(plane, 1)
    across = padded[1:, 1:-1] != padded[:-1, 1:-1]  # (Y + 1, X): between rows
    along = padded[1:-1, 1:] != padded[1:-1, :-1]  # (Y, X + 1): between columns
    rows, columns = _runs(across), _runs(along.T)
    if len(rows) + len(columns) > _MOST_JOINED:
        return "".join(
            [*(f"M{x} {y}h{n}" for y, x, n in rows), *(f"M{x} {y}v{n}" for x, y, n in columns)]
        )
    edges = [((x, y), (x + n, y)) for y, x, n in rows]
    edges += [((x, y), (x, y + n)) for x, y, n in columns]
    return "".join(map(_walk, _lines(edges)))


def _lines(edges: list[_Edge]) -> Iterator[list[_Corner]]:
    """Join edges into polylines that are as long as possible, so that dash patterns are
    continuous.
    """
    at: dict[_Corner, list[int]] = {}
    for number, edge in enumerate(edges):
        for corner in edge:
            at.setdefault(corner, []).append(number)
    # Open polylines start at corners with an odd number of edges; all others are closed.
    odd = [corner for corner, numbers in at.items() if len(numbers) % 2]
    for numbers in at.values():
        numbers.reverse()  # so that pop() takes the first one
    left = bytearray(b"\1") * len(edges)

    def line_from(corner: _Corner) -> list[_Corner]:
        line = [corner]
        while numbers := at[corner]:
            number = numbers.pop()
            if left[number]:
                left[number] = 0
                first, last = edges[number]
                corner = last if first == corner else first
                line.append(corner)
        return line

    for start in chain(odd, (edge[0] for edge in edges)):
        while len(line := line_from(start)) > 1:
            yield line


def _walk(line: list[_Corner]) -> str:
    """Return SVG path commands that visit the given corners."""
    steps = (
        f"h{x - before_x}" if x != before_x else f"v{y - before_y}"
        for (before_x, before_y), (x, y) in pairwise(line)
    )
    return f"M{line[0][0]} {line[0][1]}" + "".join(steps)


def _runs(edges: NDArray[np.bool_]) -> list[tuple[int, int, int]]:
    """Return the row, first column and length of every run of marked cells."""
    steps = np.diff(np.pad(edges.astype(np.int8), ((0, 0), (1, 1))), axis=1)
    rows, starts = np.nonzero(steps == 1)
    _, stops = np.nonzero(steps == -1)
    return list(zip(rows.tolist(), starts.tolist(), (stops - starts).tolist(), strict=True))


def png_uri(pixels: NDArray[np.uint8]) -> str:
    """Encode pixels as a PNG data URI.

    Parameters
    ----------
    pixels : (Y, X), (Y, X, 3) or (Y, X, 4) ndarray of uint8
        Grey values, RGB or RGBA.
    """
    return f"data:image/png;base64,{base64.b64encode(png_bytes(pixels)).decode()}"


def png_bytes(pixels: NDArray[np.uint8]) -> bytes:
    """Encode pixels as a PNG file (ISO/IEC 15948), without filters."""
    height, width = pixels.shape[:2]
    rows = np.ascontiguousarray(pixels).reshape(height, -1)
    lines = np.pad(rows, ((0, 0), (1, 0)))  # each row starts with its filter type; 0 means none
    color_type = _COLOR_TYPES[rows.shape[1] // width]
    header = struct.pack(">IIBBBBB", width, height, 8, color_type, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes(), 6)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, body) for kind, body in chunks)


def _chunk(kind: bytes, body: bytes) -> bytes:
    checksum = zlib.crc32(kind + body)
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", checksum)


def tint(shares: NDArray[np.float64], color: tuple[int, int, int]) -> NDArray[np.uint8]:
    """Return a (Y, X, 4) RGBA image of one colour whose opacity is the given share, from 0 to 1."""
    pixels = np.zeros((*shares.shape, 4), np.uint8)
    pixels[..., :3] = color
    pixels[..., 3] = np.rint(255 * np.clip(shares, 0, 1))
    return pixels


def grey(plane: NDArray[Any], low: float, high: float) -> NDArray[np.uint8]:
    """Return (Y, X) grey values: black up to `low`, white from `high` upwards; NaN is black."""
    scaled = (plane.astype(np.float64) - low) / (high - low if high > low else 1.0)
    return np.rint(255 * np.clip(np.nan_to_num(scaled), 0, 1)).astype(np.uint8)
