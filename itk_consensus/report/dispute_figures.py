"""Slices through the dispute: every rater's contour, the consensus, and where they differ.

Contours are SVG paths along voxel edges, pixels PNG pictures as data URIs.
"""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.report.markup import Markup, tag
from itk_consensus.report.pictures import Window
from itk_consensus.report.reviewed_case import ReviewedCase
from itk_consensus.report.text import counted

#: PNG's numbers of colour types, by how many components a pixel has.
_COLOR_TYPES = {1: 0, 4: 6}


def contour_path(plane: NDArray[Any]) -> str:
    """SVG path along every edge between voxels of different labels; a voxel is one unit wide.

    The slice's border counts as an edge where a label other than 0 touches it.

    Parameters
    ----------
    plane : (Y, X) ndarray
        Labels, or a mask.
    """
    padded = np.pad(plane, 1)
    across = padded[1:, 1:-1] != padded[:-1, 1:-1]  # (Y + 1, X): between rows
    along = padded[1:-1, 1:] != padded[1:-1, :-1]  # (Y, X + 1): between columns
    pieces = [f"M{x} {y}h{n}" for y, x, n in _runs(across)]
    pieces += [f"M{x} {y}v{n}" for x, y, n in _runs(along.T)]
    return "".join(pieces)


def _runs(edges: NDArray[np.bool_]) -> list[tuple[int, int, int]]:
    """Row, first column and length of every run of marked cells."""
    steps = np.diff(np.pad(edges.astype(np.int8), ((0, 0), (1, 1))), axis=1)
    rows, starts = np.nonzero(steps == 1)
    _, stops = np.nonzero(steps == -1)
    return list(zip(rows.tolist(), starts.tolist(), (stops - starts).tolist(), strict=True))


def png_uri(pixels: NDArray[np.uint8]) -> str:
    """A PNG picture that is part of the page.

    Parameters
    ----------
    pixels : (Y, X) ndarray of grey values, or (Y, X, 4) of red, green, blue and opacity
    """
    return f"data:image/png;base64,{base64.b64encode(png_bytes(pixels)).decode()}"


def png_bytes(pixels: NDArray[np.uint8]) -> bytes:
    """A PNG file (ISO/IEC 15948), unfiltered."""
    height, width = pixels.shape[:2]
    rows = np.ascontiguousarray(pixels).reshape(height, -1)
    lines = np.pad(rows, ((0, 0), (1, 0)))  # each line starts with its filter, 0: none
    color_type = _COLOR_TYPES[rows.shape[1] // width]
    header = struct.pack(">IIBBBBB", width, height, 8, color_type, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes(), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, body) for kind, body in chunks)


def _chunk(kind: bytes, body: bytes) -> bytes:
    checksum = zlib.crc32(kind + body)
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", checksum)


def tint(shares: NDArray[np.float64], color: tuple[int, int, int]) -> NDArray[np.uint8]:
    """(Y, X, 4) one colour, the more opaque the larger the share from 0 to 1."""
    pixels = np.zeros((*shares.shape, 4), np.uint8)
    pixels[..., :3] = color
    pixels[..., 3] = np.rint(255 * np.clip(shares, 0, 1))
    return pixels


def grey(plane: NDArray[Any], low: float, high: float) -> NDArray[np.uint8]:
    """(Y, X) grey values, black at `low` and below, white at `high` and above; NaN is black."""
    scaled = (plane.astype(np.float64) - low) / (high - low if high > low else 1.0)
    return np.rint(255 * np.clip(np.nan_to_num(scaled), 0, 1)).astype(np.uint8)


#: Visible on near-black and distinguishable by colour-blind readers; without the band's yellow.
CONTOUR_COLORS = ("#56B4E9", "#E69F00", "#1FC795", "#F49AC8", "#FF6F43", "#B9A5FF")
BAND_COLOR = (240, 228, 66)

_MOST_SLICES = 6
_MOST_PIXELS = 384  # per side of the picture below the contours
_BAND_OPACITY = 0.6
_DASHES = ("none", "6 3", "2 3", "9 3 2 3")
_SCALE_BARS_MM = (100.0, 50.0, 20.0, 10.0, 5.0, 2.0, 1.0)


def rater_color(index: int) -> str:
    """The colour of a rater's contour."""
    return CONTOUR_COLORS[index % len(CONTOUR_COLORS)]


def dispute_figures(case: ReviewedCase, image: NDArray[Any] | None) -> Markup:
    """Figures of the slices with most dispute, with boxes that hide and show each contour."""
    volume = _Volume(case, image)
    figures = [volume.figure(index) for index in disputed_slices(volume.dissent)]
    return tag("div", _legend(case), tag("div", *figures, class_="slices"), class_="dispute")


def switch_style(raters: int) -> str:
    """Rules by which the boxes of the legend hide contours, without any script."""
    names = [*(f"r{index}" for index in range(raters)), "consensus", "band"]
    rules = (f".dispute:has(#show-{n}:not(:checked)) .{n}{{display:none}}" for n in names)
    return "\n".join(rules)


def disputed_slices(dissent: NDArray[np.float64]) -> list[int]:
    """The most disputed slice, and others at equal quantiles of the dispute."""
    weight = dissent.sum(axis=(1, 2))
    if not weight.any():
        return [len(weight) // 2]
    share = np.cumsum(weight) / weight.sum()
    middles = (np.arange(_MOST_SLICES - 1) + 0.5) / (_MOST_SLICES - 1)
    chosen = {int(weight.argmax()), *np.searchsorted(share, middles).tolist()}
    return sorted(chosen)


class _Volume:
    """A case as (Z, Y, X) slices, whatever its dimension; of several volumes the most disputed."""

    def __init__(self, case: ReviewedCase, image: NDArray[Any] | None) -> None:
        volumes = case.dissent.reshape(-1, *(1, 1, *case.dissent.shape)[-3:])
        self._shape = volumes.shape
        self._chosen = int(volumes.sum(axis=(1, 2, 3)).argmax())
        self.case = case
        self.dissent = self._cut(case.dissent)
        self._maps = [self._cut(labels) for labels in case.maps]
        self._consensus = self._cut(case.consensus)
        spacing = (1.0, 1.0, 1.0, *case.spacing)[-3:]
        marked = self._cut(case.marked)
        self._window = Window.around(marked, spacing)
        self._image = None if image is None else self._cut(image)
        if self._image is not None:
            shown = self._image[:, self._window.rows, self._window.columns]
            low, high = np.nanpercentile(shown, (1, 99))
            self._limits = (float(low), float(high))

    def _cut(self, array: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(array.reshape(self._shape)[self._chosen])

    def figure(self, index: int) -> Markup:
        """One slice."""
        window = self._window
        height, width = (side.stop - side.start for side in (window.rows, window.columns))
        disputed = int(np.count_nonzero(self.dissent[index]))
        text = (
            f"Slice {index}: contours of {counted(len(self._maps), 'rater')} and of the consensus; "
            f"some rater differs from it on {disputed} voxels."
        )
        layers = [*self._pictures(index, width, height), *self._contours(index)]
        bar, bar_mm = self._scale_bar(width, height)
        picture = tag(
            "svg",
            *layers,
            bar,
            viewBox=f"0 0 {width} {height}",
            preserveAspectRatio="none",
            role="img",
            aria_label=text,
            style=f"aspect-ratio:{1 / window.aspect:.4f}",
        )
        of = f"Slice {index} of {len(self.dissent)}" if len(self.dissent) > 1 else "The image"
        caption = f"{of}: {disputed} disputed voxels. White bar: {bar_mm:g} mm."
        return tag("figure", picture, tag("figcaption", caption))

    def _pictures(self, index: int, width: int, height: int) -> list[Markup]:
        place = {"width": width, "height": height, "preserveAspectRatio": "none"}
        layers = []
        if self._image is not None:
            plane = self._window.cut(self._image[index])
            step = -(-max(plane.shape) // _MOST_PIXELS)
            pixels = grey(plane[::step, ::step], *self._limits)
            layers.append(tag("image", href=png_uri(pixels), **place))
        band = tint(_BAND_OPACITY * self._band(index), BAND_COLOR)
        layers.append(tag("image", href=png_uri(band), class_="band", **place))
        return layers

    def _band(self, index: int) -> NDArray[np.float64]:
        """How disputed each voxel is: 1 where half of the raters or more are against."""
        return np.asarray(np.minimum(2 * self._window.cut(self.dissent[index]), 1.0))

    def _contours(self, index: int) -> list[Markup]:
        """Raters one on the other, the first widest, so that shared edges show every colour."""
        number, paths = len(self._maps), []
        for j, labels in enumerate(self._maps):
            plane = self._window.cut(labels[index])
            width = 1.3 + (0.9 * (number - 1 - j) if number <= len(CONTOUR_COLORS) else 0)
            paths.append(
                tag(
                    "path",
                    d=contour_path(np.where(plane == self.case.missing, 0, plane)),
                    class_=f"r{j}",
                    stroke=rater_color(j),
                    stroke_width=f"{width:.1f}",
                    stroke_dasharray=_DASHES[j // len(CONTOUR_COLORS) % len(_DASHES)],
                )
            )
        outline = contour_path(self._window.cut(self._consensus[index]))
        for color, width in (("#101317", 3.4), ("#FFFFFF", 1.8)):
            paths.append(
                tag("path", d=outline, class_="consensus", stroke=color, stroke_width=width)
            )
        return paths

    def _scale_bar(self, width: int, height: int) -> tuple[Markup, float]:
        across = self._window.spacing[1]
        fitting = (mm for mm in _SCALE_BARS_MM if mm <= 0.4 * width * across)
        mm = next(fitting, _SCALE_BARS_MM[-1])
        x, y = 0.04 * width, 0.96 * height
        place = {"x1": f"{x:.2f}", "x2": f"{x + mm / across:.2f}", "y1": f"{y:.2f}"}
        return tag("line", **place, y2=f"{y:.2f}", stroke="#FFFFFF", stroke_width=3), mm


def _legend(case: ReviewedCase) -> Markup:
    """A box and a colour for everything drawn."""
    entries = [(f"r{j}", rater_color(j), name) for j, name in enumerate(case.names)]
    entries.append(("consensus", "#FFFFFF", "consensus"))
    band = "#{:02X}{:02X}{:02X}".format(*BAND_COLOR)
    entries.append(("band", band, "disputed zone, stronger where more raters differ"))
    boxes = [
        tag(
            "label",
            tag("input", type="checkbox", id=f"show-{name}", checked=True),
            tag("span", class_="swatch", style=f"background:{color}"),
            text,
        )
        for name, color, text in entries
    ]
    return tag("fieldset", tag("legend", "Show"), *boxes, class_="legend")
