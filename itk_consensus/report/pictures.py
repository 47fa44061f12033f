"""Pictures of raters and their consensus. matplotlib is loaded only here, and only to draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.errors import MissingDependencyError
from itk_consensus.images.files import replacing

Mask = NDArray[np.bool_]

_MOST_SLICES = 6
_MARGIN_MM = 3.0
_SCALE_BAR_MM = 10.0
_PANEL_INCHES = 1.7
_DOTS_PER_INCH = 160
# Okabe and Ito's colours, which colour-blind readers tell apart.
_RATER_COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
_CONSENSUS_STYLES: tuple[tuple[str, Any], ...] = (("#111111", "-"), ("#D7263D", (0, (2.5, 1.2))))
_TEXT_COLOR = "#444444"


def draw_consensus(
    path: Path,
    masks: Sequence[Mask],
    consensus: Mapping[str, Mask],
    spacing: Sequence[float],
    title: str,
) -> None:
    """Draw every rater's outline and, below, the consensus, slice by slice.

    Parameters
    ----------
    path : Path
        PNG file, replaced in one step.
    masks : sequence of (Z, Y, X) ndarray of bool
        One per rater.
    consensus : mapping of str to (Z, Y, X) ndarray of bool
        One or two fused masks by name.
    spacing : (3,) sequence of float
        Voxel size in mm, in the order of the axes.
    title : str

    Raises
    ------
    MissingDependencyError
        matplotlib is not installed.
    """
    figure_type = _matplotlib_figure()
    votes = np.sum(masks, axis=0)
    window = _Window.around(votes > 0, spacing)
    slices = _slices_to_show(votes > 0)
    size = (_PANEL_INCHES * len(slices), 2 * _PANEL_INCHES * window.aspect + 0.9)
    figure = figure_type(figsize=size, layout="constrained")
    panels = figure.subplots(2, len(slices), squeeze=False)
    shades = [str(1 - 0.42 * n / len(masks)) for n in range(len(masks) + 1)]
    for (top, bottom), index in zip(panels.T, slices, strict=True):
        top.set_title(f"slice {index}", fontsize=8, color=_TEXT_COLOR)
        for panel in (top, bottom):
            _shade(panel, window, votes[index], shades)
        for mask, color in zip(masks, _cycled(_RATER_COLORS, len(masks)), strict=True):
            _outline(top, window, mask[index], color, "-")
        for mask, (color, dashes) in zip(consensus.values(), _CONSENSUS_STYLES, strict=False):
            _outline(bottom, window, mask[index], color, dashes)
    for panel, name in zip(panels[:, 0], ("raters", "consensus"), strict=True):
        panel.set_ylabel(name, fontsize=9, color=_TEXT_COLOR)
    _draw_scale_bar(panels[1, 0], window)
    figure.suptitle(title, fontsize=10)
    _draw_legend(figure, len(masks), list(consensus), shades)
    _save(figure, path)


@dataclass(frozen=True)
class _Window:
    """The part of every slice that is shown, with its place in mm from the image's corner."""

    rows: slice
    columns: slice
    spacing: tuple[float, float]

    @classmethod
    def around(cls, union: Mask, spacing: Sequence[float]) -> _Window:
        _, y, x = np.nonzero(union)
        size = (float(spacing[1]), float(spacing[2]))
        rows = _padded(y, size[0], union.shape[1])
        columns = _padded(x, size[1], union.shape[2])
        return cls(rows, columns, size)

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """Left, right, bottom, top as imshow wants them."""
        high, wide = self.spacing
        return (
            self.columns.start * wide,
            self.columns.stop * wide,
            self.rows.stop * high,
            self.rows.start * high,
        )

    @property
    def aspect(self) -> float:
        """Height over width."""
        left, right, bottom, top = self.extent
        return (bottom - top) / (right - left)

    def centers(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """x and y of the voxel centres."""
        high, wide = self.spacing
        x = (np.arange(self.columns.start, self.columns.stop) + 0.5) * wide
        y = (np.arange(self.rows.start, self.rows.stop) + 0.5) * high
        return x, y

    def cut(self, plane: NDArray[Any]) -> NDArray[Any]:
        return plane[self.rows, self.columns]


def _padded(used: NDArray[np.int64], spacing: float, length: int) -> slice:
    if not used.size:
        return slice(0, length)
    margin = round(_MARGIN_MM / spacing)
    return slice(max(int(used.min()) - margin, 0), min(int(used.max()) + margin + 1, length))


def _slices_to_show(union: Mask) -> list[int]:
    """Slices somebody marked, evenly spread if there are many."""
    marked = np.flatnonzero(union.any(axis=(1, 2)))
    if not marked.size:
        return [len(union) // 2]
    chosen = np.linspace(0, marked.size - 1, min(_MOST_SLICES, marked.size)).round().astype(int)
    return [int(index) for index in marked[chosen]]


def _cycled(values: Sequence[str], number: int) -> list[str]:
    return [values[index % len(values)] for index in range(number)]


def _shade(panel: Any, window: _Window, votes: NDArray[Any], shades: Sequence[str]) -> None:
    """Grey by the number of raters who marked a voxel."""
    levels = np.array([float(shade) for shade in shades])
    panel.imshow(levels[window.cut(votes)], cmap="gray", vmin=0, vmax=1, extent=window.extent)
    panel.set(xticks=[], yticks=[])
    panel.spines[:].set_visible(False)


def _outline(panel: Any, window: _Window, mask: Mask, color: str, dashes: Any) -> None:
    shown = window.cut(mask)
    if shown.any() and not shown.all():
        panel.contour(
            *window.centers(),
            shown.astype(float),
            levels=[0.5],
            colors=[color],
            linewidths=1.3,
            linestyles=[dashes],
        )


def _draw_scale_bar(panel: Any, window: _Window) -> None:
    left, right, bottom, top = window.extent
    x, y = left + 0.05 * (right - left), bottom - 0.06 * (bottom - top)
    panel.plot([x, x + _SCALE_BAR_MM], [y, y], color=_TEXT_COLOR, linewidth=2)
    label = f"{_SCALE_BAR_MM:g} mm"
    panel.text(x, y - 0.03 * (bottom - top), label, fontsize=7, color=_TEXT_COLOR)


def _draw_legend(figure: Any, raters: int, consensus: Sequence[str], shades: Sequence[str]) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    lines = [
        Line2D([], [], color=color, linewidth=1.6, label=f"rater {number}")
        for number, color in enumerate(_cycled(_RATER_COLORS, raters))
    ]
    lines += [
        Line2D([], [], color=color, linestyle=dashes, linewidth=1.6, label=name)
        for name, (color, dashes) in zip(consensus, _CONSENSUS_STYLES, strict=False)
    ]
    patches = [
        Patch(facecolor=shade, edgecolor="none", label=f"marked by {number} of {raters}")
        for number, shade in enumerate(shades)
        if number
    ]
    handles = [*lines, *patches]
    figure.legend(handles=handles, loc="outside lower center", ncols=5, fontsize=8, frameon=False)


def _matplotlib_figure() -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingDependencyError(
            "pictures need matplotlib: pip install 'itk-consensus[plot]'"
        ) from error
    return Figure


def _save(figure: Any, path: Path) -> None:
    with replacing(path) as draft:
        figure.savefig(draft, dpi=_DOTS_PER_INCH)
