"""Volumes drawn slice by slice: what every picture of masks needs, and matplotlib's one door."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.array_types import Mask
from itk_consensus.errors import MissingDependencyError
from itk_consensus.images.replacing import replacing

PANEL_INCHES = 1.7
# Okabe and Ito's colours, which colour-blind readers tell apart.
RATER_COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
TEXT_COLOR = "#444444"

_MOST_SLICES = 6
_MARGIN_MM = 3.0
_SCALE_BAR_MM = 10.0
_DOTS_PER_INCH = 160


def figure_class() -> Any:
    """matplotlib's Figure, which draws without a screen."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingDependencyError(
            "pictures need matplotlib: pip install 'itk-consensus[plot]'"
        ) from error
    return Figure


def save_figure(figure: Any, path: Path) -> None:
    """Write a picture, replacing `path` in one step."""
    with replacing(path) as draft:
        figure.savefig(draft, dpi=_DOTS_PER_INCH)


@dataclass(frozen=True)
class Window:
    """The part of every slice that is shown, with its place in mm from the image's corner."""

    rows: slice
    columns: slice
    spacing: tuple[float, float]

    @classmethod
    def around(cls, union: Mask, spacing: Sequence[float]) -> Window:
        """What is marked in any slice, with a margin."""
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
        """The shown part of a slice."""
        return plane[self.rows, self.columns]


def _padded(used: NDArray[np.int64], spacing: float, length: int) -> slice:
    if not used.size:
        return slice(0, length)
    margin = round(_MARGIN_MM / spacing)
    return slice(max(int(used.min()) - margin, 0), min(int(used.max()) + margin + 1, length))


def slices_to_show(union: Mask) -> list[int]:
    """Slices somebody marked, evenly spread if there are many."""
    marked = np.flatnonzero(union.any(axis=(1, 2)))
    if not marked.size:
        return [len(union) // 2]
    chosen = np.linspace(0, marked.size - 1, min(_MOST_SLICES, marked.size)).round().astype(int)
    return [int(index) for index in marked[chosen]]


def outline(
    panel: Any, window: Window, mask: Mask, color: str, dashes: Any = "-", width: float = 1.3
) -> None:
    """Draw the contour of one slice of a mask."""
    shown = window.cut(mask)
    if shown.any() and not shown.all():
        panel.contour(
            *window.centers(),
            shown.astype(float),
            levels=[0.5],
            colors=[color],
            linewidths=width,
            linestyles=[dashes],
        )


def draw_scale_bar(panel: Any, window: Window) -> None:
    """Draw 10 mm in a panel's lower left corner."""
    left, right, bottom, top = window.extent
    x, y = left + 0.05 * (right - left), bottom - 0.06 * (bottom - top)
    panel.plot([x, x + _SCALE_BAR_MM], [y, y], color=TEXT_COLOR, linewidth=2)
    label = f"{_SCALE_BAR_MM:g} mm"
    panel.text(x, y - 0.03 * (bottom - top), label, fontsize=7, color=TEXT_COLOR)
