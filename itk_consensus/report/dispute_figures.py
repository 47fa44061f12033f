"""Figures of disputed slices: every rater's contour, the consensus, and where they differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.assessment.places import Place
from itk_consensus.core.array_types import length_unit
from itk_consensus.images.grey_windows import GreyWindow, windows_for
from itk_consensus.report.drawing import contour_path, grey, png_uri, tint
from itk_consensus.report.markup import Markup, join_markup, tag
from itk_consensus.report.pictures import Window
from itk_consensus.report.shown_case import ShownCase
from itk_consensus.report.text import pluralize
from itk_consensus.review.rater_colors import rater_color, rater_dashes
from itk_consensus.space.pieces import label_pieces

BAND_COLOR = (240, 228, 66)
_DARK, _BRIGHT = "#101317", "#FFFFFF"

_RATER_WIDTH, _CONSENSUS_WIDTH, _HALO_WIDTH = 1.6, 2.8, 4.8
#: Width of a rater's line in legends and tables; thinner lines are shown in a paler colour.
_SAMPLE_WIDTH = 3
#: Offset between the lines of successive raters, which keeps all colours visible where contours
#: coincide; the maximum total offset; and the picture width in pixels to which both refer.
_APART, _MOST_APART, _USUAL_PIXELS = 1.1, 4.4, 340

_MOST_PIXELS = 384  # maximum width and height of the image below the contours, in pixels
_SHEET_PIXELS = 160  # the same for a contact sheet
_MARGIN_MM = 8.0  # margin around all marked voxels in figures of slices
_ANATOMY_MM = 30.0  # margin around all marked voxels in figures of a place ...
_WIDEST_MM = 140.0  # ... whose width is limited to this
_BAND_OPACITY = 0.5
_SCALE_BARS_MM = (100.0, 50.0, 20.0, 10.0, 5.0, 2.0, 1.0, 0.5, 0.2, 0.1)


@dataclass(frozen=True)
class Look:
    """Options for the display of a case."""

    window: GreyWindow | None = None  #: Grey-value window; by default one that suits the structure
    contact_sheet: bool = False  #: Whether to show all disputed slices as well
    most_slices: int = 6  #: Maximum number of disputed slices to show


#: Axes of a (Z, Y, X) volume by plane: slice axis, vertical axis and horizontal axis.
PLANES = {"axial": (0, 1, 2), "coronal": (1, 0, 2), "sagittal": (2, 0, 1)}


def dispute_figures(case: ShownCase, image: NDArray[Any] | None, look: Look) -> Markup:
    """Return figures of the largest disagreement of each kind, and optionally all slices."""
    volume = DisputedVolume(case, image, look.window)
    chosen = volume.chosen_slices(look.most_slices)
    figures = [volume.figure(index, kind=kind) for index, kind in sorted(chosen.items())]
    parts = [volume.note(), tag("div", *figures, class_="slices")]
    if look.contact_sheet:
        disputed = np.flatnonzero(volume.dissent.any(axis=(1, 2))).tolist()
        small = [volume.figure(index, _SHEET_PIXELS) for index in disputed]
        heading = tag("h3", f"All {pluralize(len(disputed), 'disputed slice')}")
        parts.append(tag("div", heading, tag("div", *small, class_="slices"), class_="sheet"))
    return tag("div", *parts, class_="dispute")


def place_figures(
    case: ShownCase, image: NDArray[Any] | None, look: Look, place: Place | None
) -> tuple[Markup, Markup]:
    """Return figures of a place in three planes (one for 2D images), and a note about all of them.

    By default, the most disputed place is shown. Figures include the surrounding anatomy.
    """
    planes = PLANES if case.consensus.ndim == 3 else ["axial"]
    volumes = [DisputedVolume(case, image, look.window, plane) for plane in planes]
    index = (0, 0, 0, *place.index)[-3:] if place else volumes[0].most_disputed()
    figures = tag("div", *(one.around(index) for one in volumes), class_="slices planes")
    lines = legend(case.names, switches=False, places=case.places)
    bare = tag("p", "No image given: outlines only.", class_="quiet") if image is None else None
    return tag("div", bare, figures, lines, class_="dispute"), volumes[0].note(place)


def switch_style(raters: int) -> str:
    """Return CSS rules that let the checkboxes of the legend hide contours without JavaScript."""
    names = [*(f"r{index}" for index in range(raters)), "consensus", "band"]
    rules = (f"body:has(#show-{n}:not(:checked)) .dispute .{n}{{display:none}}" for n in names)
    return "\n".join(rules)


def disputed_slices(dissent: NDArray[np.float64], most: int = Look.most_slices) -> list[int]:
    """Return the indices of the most disputed slice and of slices at equal quantiles of the
    dispute.
    """
    weight = dissent.sum(axis=(1, 2))
    if not weight.any():
        return [len(weight) // 2]
    share = np.cumsum(weight) / weight.sum()
    middles = (np.arange(most - 1) + 0.5) / max(most - 1, 1)
    chosen = {int(weight.argmax()), *np.searchsorted(share, middles).tolist()}
    return sorted(chosen)


class DisputedVolume:
    """A case of any dimension as slices of one plane; of a 4D image, only the most disputed volume.

    Rows and columns follow radiological convention; slices keep their original indices.
    """

    def __init__(
        self,
        case: ShownCase,
        image: NDArray[Any] | None,
        window: GreyWindow | None,
        plane: str = "axial",
    ) -> None:
        volumes = case.dissent.reshape(-1, *(1, 1, *case.dissent.shape)[-3:])
        self._shape = volumes.shape
        self._chosen = int(volumes.sum(axis=(1, 2, 3)).argmax())
        self._plane, self._axes = plane, PLANES[plane]
        self.case = case
        self.dissent = self._orient(case.dissent)
        self._maps = [self._orient(labels) for labels in case.maps]
        self._consensus = self._orient(case.consensus)
        sides = (1.0, 1.0, 1.0, *case.spacing)[-3:]
        self._spacing = tuple(sides[axis] for axis in self._axes)
        self._unit = length_unit(case.spacing)
        self._marked = self._orient(case.marked)
        self._part = Window.around(self._marked, self._spacing, _MARGIN_MM)
        self._image = None if image is None else self._orient(image)
        self.window = None
        if self._image is not None:
            self.window = window or windows_for(self._image, self._marked)[0]

    def _orient(self, array: NDArray[Any]) -> NDArray[Any]:
        volume = np.asarray(array.reshape(self._shape)[self._chosen])
        flipped = tuple(axis for axis in self._axes[1:] if self._is_mirrored(axis))
        return np.flip(volume, flipped).transpose(self._axes)

    def _is_mirrored(self, axis: int) -> bool:
        return self.case.orientation is not None and self.case.orientation.is_mirrored(axis)

    def most_disputed(self) -> tuple[int, ...]:
        """Return the index of the most disputed voxel in the most disputed axial slice."""
        dissent = self.case.dissent.reshape(self._shape)[self._chosen]
        weight = dissent.sum(axis=(1, 2))
        plane = dissent[int(weight.argmax())]
        row, column = np.unravel_index(int(plane.argmax()), plane.shape)
        return int(weight.argmax()), int(row), int(column)

    def around(self, index: Sequence[int]) -> Markup:
        """Return a figure of the slice through a voxel, with crosshair and surrounding anatomy."""
        through, *across = (int(index[axis]) for axis in self._axes)
        at = [
            self._marked.shape[n] - 1 - place if self._is_mirrored(axis) else place
            for n, (axis, place) in enumerate(zip(self._axes[1:], across, strict=True), start=1)
        ]
        wide = Window.around(self._marked, self._spacing, _ANATOMY_MM)
        sides = (wide.rows, wide.columns)
        most = [round(_WIDEST_MM / 2 / step) for step in wide.spacing]
        rows, columns = (
            side
            if side.stop - side.start <= 2 * reach
            else slice(max(side.start, place - reach), min(side.stop, place + reach))
            for side, place, reach in zip(sides, at, most, strict=True)
        )
        self._part = replace(wide, rows=rows, columns=columns)
        return self.figure(through, mark=(at[0] - rows.start, at[1] - columns.start), counts=False)

    def chosen_slices(self, most: int) -> dict[int, str]:
        """Choose the slices with the largest disagreement of each kind, and of all kinds combined.

        Returns a mapping from slice index to the name of the kind, or to an empty string. The kinds
        are voxels separate from the consensus, beyond its first or last slice, around it, and
        inside it.
        """
        inside = self._consensus != 0
        outside = self._marked & ~inside
        pieces = label_pieces(self._marked)
        apart = outside & pieces.any_of(pieces.without(inside))
        slices = np.arange(len(inside))
        drawn = np.flatnonzero(inside.any(axis=(1, 2)))
        beyond = np.ones(len(slices), bool)
        if len(drawn):
            beyond = (slices < drawn[0]) | (slices > drawn[-1])
        ends = outside & ~apart & beyond[:, None, None]
        kinds = {
            "marked apart from the consensus": apart,
            "beyond the ends of the consensus": ends,
            "marked around the consensus": outside & ~apart & ~ends,
            "left out of the consensus by some": inside & (self.dissent > 0),
        }
        chosen: dict[int, str] = {}
        for kind, voxels in kinds.items():
            weight = (voxels * self.dissent).sum(axis=(1, 2)) + voxels.sum(axis=(1, 2)) / 1e3
            weight[list(chosen)] = 0
            if weight.any() and len(chosen) < most:
                chosen[int(weight.argmax())] = kind
        for index in disputed_slices(self.dissent, most):
            if len(chosen) < most:
                chosen.setdefault(index, "")
        return chosen

    def note(self, place: Place | None = None) -> Markup:
        """Return a note on all figures: slice numbering, window, orientation, and position
        of the place.
        """
        texts = ["Slices are numbered from 0."] if len(self.dissent) > 1 else []
        if self.window is not None:
            texts.append(f"Grey values: {self.window}.")
        if self.case.orientation is not None:
            if place is not None:
                at = ", ".join(f"{one:.0f}" for one in place.position)
                texts.append(
                    f"Crosshair at ({at}) {place.unit}: patient coordinates, x to the left, y to "
                    "the back, z to the head."
                )
            texts.append("Letters: the patient's right, left, front (A), back (P), head (S), feet.")
        if len(self._maps) > 1:
            texts.append("Readers' lines are drawn a pixel apart, so that shared edges show all.")
        return tag("p", " ".join(texts), class_="quiet")

    def figure(
        self,
        index: int,
        most_pixels: int = _MOST_PIXELS,
        *,
        kind: str = "",
        mark: tuple[int, int] | None = None,
        counts: bool = True,
    ) -> Markup:
        """Return a figure of one slice with caption and an optional crosshair (row, column)."""
        part = self._part
        height, width = (side.stop - side.start for side in (part.rows, part.columns))
        disputed = int(np.count_nonzero(self.dissent[index]))
        text = (
            f"{self._plane.capitalize()} slice {index}: contours of "
            f"{pluralize(len(self._maps), 'reader')} and of the consensus; some reader differs "
            f"from it on {disputed} voxels."
        )
        layers = [*self._pictures(index, width, height, most_pixels), *self._contours(index, width)]
        if mark is not None:
            layers += _cross(mark, width, height)
        bar, bar_mm = self._scale_bar(width, height)
        picture = tag(
            "svg",
            *layers,
            *bar,
            viewBox=f"0 0 {width} {height}",
            preserveAspectRatio="none",
            role="img",
            aria_label=text,
            style=f"aspect-ratio:{1 / part.aspect:.4f}",
        )
        marks = [tag("span", f"{bar_mm:g} {self._unit}", class_="halo scale", aria_hidden="true")]
        if self.case.orientation is not None:
            sides = self.case.orientation.sides(*self._axes[1:])
            marks += [
                tag("span", letter, class_=f"halo {side}", aria_hidden="true")
                for side, letter in sides.items()
            ]
        last = len(self.dissent) - 1
        named = "Slice" if self._plane == "axial" else f"{self._plane.capitalize()} slice"
        of = f"{named} {index} (0 to {last})" if last else "The image"
        said = [kind or pluralize(disputed, "disputed voxel")] if counts else []
        if not self._consensus[index].any():
            said.append("no consensus in this slice" if last else "no consensus")
        caption = f"{of}: {', '.join(said)}." if said else f"{of}."
        hung = tag("div", picture, *marks, class_="picture")
        return tag("figure", hung, tag("figcaption", caption))

    def _pictures(self, index: int, width: int, height: int, most_pixels: int) -> list[Markup]:
        place = {"width": width, "height": height, "preserveAspectRatio": "none"}
        layers = []
        if self._image is not None and self.window is not None:
            plane = self._part.cut(self._image[index])
            step = -(-max(plane.shape) // most_pixels)
            pixels = grey(plane[::step, ::step], *self.window.limits)
            layers.append(tag("image", href=png_uri(pixels), **place))
        band = tint(_BAND_OPACITY * self._band(index), BAND_COLOR)
        layers.append(tag("image", href=png_uri(band), class_="band", **place))
        return layers

    def _band(self, index: int) -> NDArray[np.float64]:
        """Return each voxel's dispute: 1 if at least half of the raters differ from the result."""
        return np.asarray(np.minimum(2 * self._part.cut(self.dissent[index]), 1.0))

    def _contours(self, index: int, columns: int) -> list[Markup]:
        """Draw the raters' contours and, on top of them, that of the consensus in a thicker
        line.
        """
        number, paths = len(self._maps), []
        apart = min(_APART, _MOST_APART / max(number - 1, 1)) * columns / _USUAL_PIXELS
        for j, labels in enumerate(self._maps):
            plane = self._part.cut(labels[index])
            shift = f"{(j - (number - 1) / 2) * apart:.2f}"
            paths.append(
                tag(
                    "path",
                    d=contour_path(np.where(plane == self.case.missing, 0, plane)),
                    class_=f"r{self.case.place(j)}",
                    stroke=rater_color(self.case.place(j)),
                    stroke_width=_RATER_WIDTH,
                    stroke_dasharray=rater_dashes(self.case.place(j)),
                    transform=f"translate({shift} {shift})" if number > 1 else None,
                )
            )
        outline = contour_path(self._part.cut(self._consensus[index]))
        for color, width in ((_DARK, _HALO_WIDTH), (_BRIGHT, _CONSENSUS_WIDTH)):
            paths.append(
                tag("path", d=outline, class_="consensus", stroke=color, stroke_width=width)
            )
        return paths

    def _scale_bar(self, width: int, height: int) -> tuple[list[Markup], float]:
        across = self._part.spacing[1]
        fitting = (mm for mm in _SCALE_BARS_MM if mm <= 0.4 * width * across)
        mm = next(fitting, _SCALE_BARS_MM[-1])
        x, y = 0.04 * width, 0.96 * height
        place = {"x1": f"{x:.2f}", "x2": f"{x + mm / across:.2f}", "y1": f"{y:.2f}"}
        lines = [
            tag("line", **place, y2=f"{y:.2f}", stroke=color, stroke_width=wide)
            for color, wide in ((_DARK, 6), (_BRIGHT, 3))
        ]
        return lines, mm


def _cross(mark: tuple[int, int], width: int, height: int) -> list[Markup]:
    """Draw a crosshair: four lines towards a voxel that leave a gap around it."""
    row, column = mark[0] + 0.5, mark[1] + 0.5
    free, gap = 0.06 * width, 0.06 * height
    lines = [
        (0, row, column - free, row),
        (column + free, row, width, row),
        (column, 0, column, row - gap),
        (column, row + gap, column, height),
    ]
    return [
        tag("line", x1=f"{a:.1f}", y1=f"{b:.1f}", x2=f"{c:.1f}", y2=f"{d:.1f}", class_="cross")
        for a, b, c, d in lines
    ]


def legend(names: Sequence[str], *, switches: bool = True, places: Sequence[int] = ()) -> Markup:
    """Return the legend: a line sample for each rater, and checkboxes to hide them.

    Parameters
    ----------
    places : sequence of int
        Page-wide indices of these raters if some raters of the page are absent; () otherwise.
    """
    entries: list[tuple[str, Markup, str]] = [
        (f"r{j}", line_sample(rater_color(j), _SAMPLE_WIDTH, rater_dashes(j)), name)
        for j, name in zip(places or range(len(names)), names, strict=True)
    ]
    entries.append(("consensus", *_consensus_entry()))
    entries.append(("band", _band_sample(), "disputed: readers differ from the consensus"))
    if not switches:
        return tag(
            "p", *(tag("span", sample, text) for _, sample, text in entries), class_="legend"
        )
    boxes = [
        tag("label", tag("input", type="checkbox", id=f"show-{name}", checked=True), sample, text)
        for name, sample, text in entries
    ]
    return tag("fieldset", tag("legend", "Show"), *boxes, class_="legend")


def thumbnail_legend() -> list[Markup]:
    """Return the legend entries for thumbnails, which show the consensus and where readers
    differ.
    """
    return [tag("span", *_consensus_entry()), tag("span", _band_sample(), "readers differ")]


def _consensus_entry() -> tuple[Markup, str]:
    return line_sample(_BRIGHT, 1.5 * _SAMPLE_WIDTH), "consensus"


def _band_sample() -> Markup:
    """Return a sample of the colour of disputes in pictures: half transparent over the dark
    background.
    """
    mixed = (
        round(_BAND_OPACITY * band + (1 - _BAND_OPACITY) * int(_DARK[at : at + 2], 16))
        for band, at in zip(BAND_COLOR, (1, 3, 5), strict=True)
    )
    color = "#{:02X}{:02X}{:02X}".format(*mixed)
    return tag("span", class_="swatch", style=f"background:{color}")


def line_sample(color: str, width: float, dashes: str = "none") -> Markup:
    """Draw a sample of a contour's line on the dark background of the figures."""
    line = tag("line", x1=2, x2=34, y1=7, y2=7, stroke=color, stroke_width=width,
               stroke_dasharray=dashes)  # fmt: skip
    return join_markup([tag("svg", line, class_="sample", viewBox="0 0 36 14", aria_hidden="true")])
