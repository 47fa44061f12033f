"""Matplotlib figures of raters, their consensus, and calibration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.assessment.agreement.rater_number import RaterNumberCurve
from itk_consensus.calibration.reliability import BINS, ReliabilityCurve
from itk_consensus.core.array_types import Mask
from itk_consensus.core.errors import MissingDependencyError
from itk_consensus.space.boxes import bounding_box, grow_box
from itk_consensus.storage.files import PathLike
from itk_consensus.storage.replacing import atomic_write

PANEL_INCHES = 1.7
# Colours by Okabe and Ito, distinguishable by people with colour vision deficiency.
RATER_COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
TEXT_COLOR = "#444444"

_MOST_SLICES = 6
_MARGIN_MM = 3.0
_SCALE_BAR_MM = 10.0
_DOTS_PER_INCH = 160


def figure_class() -> Any:
    """Import matplotlib's Figure class, which does not require a display."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingDependencyError(
            "pictures need matplotlib: pip install 'itk-consensus[plot]'"
        ) from error
    return Figure


def save_figure(figure: Any, path: Path) -> None:
    """Write a figure, replacing `path` atomically."""
    with atomic_write(path) as draft:
        figure.savefig(draft, dpi=_DOTS_PER_INCH)


@dataclass(frozen=True)
class Window:
    """The displayed region, which is the same in every slice."""

    rows: slice
    columns: slice
    spacing: tuple[float, float]

    @classmethod
    def around(cls, union: Mask, spacing: Sequence[float], margin_mm: float = _MARGIN_MM) -> Window:
        """Create a window around all marked voxels, with a margin; if no voxel is marked, use the
        whole slice.
        """
        size = (float(spacing[1]), float(spacing[2]))
        shape = union.shape[1:]
        marked = np.asarray(union.any(axis=0))
        box = bounding_box(marked) or tuple(slice(0, side) for side in shape)
        rows, columns = grow_box(box, [round(margin_mm / step) for step in size], shape)
        return cls(rows, columns, size)

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """Left, right, bottom and top in mm from the image's corner, for imshow."""
        high, wide = self.spacing
        return (
            self.columns.start * wide,
            self.columns.stop * wide,
            self.rows.stop * high,
            self.rows.start * high,
        )

    @property
    def aspect(self) -> float:
        """Ratio of height to width."""
        left, right, bottom, top = self.extent
        return (bottom - top) / (right - left)

    def centers(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """x and y coordinates of the voxel centres in mm."""
        high, wide = self.spacing
        x = (np.arange(self.columns.start, self.columns.stop) + 0.5) * wide
        y = (np.arange(self.rows.start, self.rows.stop) + 0.5) * high
        return x, y

    def cut(self, plane: NDArray[Any]) -> NDArray[Any]:
        """Crop a slice to the region."""
        return plane[self.rows, self.columns]


def slices_to_show(union: Mask) -> list[int]:
    """Return the indices of the marked slices or, if there are many, of evenly spaced ones."""
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
    """Draw a scale bar of 10 mm in a panel's lower left corner."""
    left, right, bottom, top = window.extent
    x, y = left + 0.05 * (right - left), bottom - 0.06 * (bottom - top)
    panel.plot([x, x + _SCALE_BAR_MM], [y, y], color=TEXT_COLOR, linewidth=2)
    label = f"{_SCALE_BAR_MM:g} mm"
    panel.text(x, y - 0.03 * (bottom - top), label, fontsize=7, color=TEXT_COLOR)


_DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 2)), (0, (7, 2, 1, 2)))
_CONSENSUS_STYLES: tuple[tuple[str, Any], ...] = (("#111111", "-"), ("#D7263D", (0, (2.5, 1.2))))


def draw_consensus(
    path: Path,
    masks: Sequence[Mask],
    consensus: Mapping[str, Mask],
    spacing: Sequence[float],
    title: str,
) -> None:
    """Draw every rater's outline and, in the row below, the consensus, slice by slice.

    Parameters
    ----------
    path : Path
        PNG file, replaced atomically.
    masks : sequence of (Z, Y, X) ndarray of bool
        One per rater.
    consensus : mapping of str to (Z, Y, X) ndarray of bool
        One or two fused masks by name.
    spacing : (3,) sequence of float
        Voxel size in mm, in array axis order.

    Raises
    ------
    MissingDependencyError
        If matplotlib is not installed.
    """
    figure_type = figure_class()
    votes = np.sum(masks, axis=0)
    window = Window.around(votes > 0, spacing)
    slices = slices_to_show(votes > 0)
    size = (PANEL_INCHES * len(slices), 2 * PANEL_INCHES * window.aspect + 0.9)
    figure = figure_type(figsize=size, layout="constrained")
    panels = figure.subplots(2, len(slices), squeeze=False)
    shades = [str(1 - 0.42 * n / len(masks)) for n in range(len(masks) + 1)]
    for (top, bottom), index in zip(panels.T, slices, strict=True):
        top.set_title(f"slice {index}", fontsize=8, color=TEXT_COLOR)
        for panel in (top, bottom):
            _shade(panel, window, votes[index], shades)
        for number, mask in enumerate(masks):
            outline(top, window, mask[index], *rater_style(number))
        for mask, (color, dashes) in zip(consensus.values(), _CONSENSUS_STYLES, strict=False):
            outline(bottom, window, mask[index], color, dashes)
    for panel, name in zip(panels[:, 0], ("raters", "consensus"), strict=True):
        panel.set_ylabel(name, fontsize=9, color=TEXT_COLOR)
    draw_scale_bar(panels[1, 0], window)
    figure.suptitle(title, fontsize=10)
    _draw_legend(figure, len(masks), list(consensus), shades)
    save_figure(figure, path)


def rater_style(number: int) -> tuple[str, Any]:
    """Return the colour and dash pattern of a rater; the first six have solid lines."""
    return RATER_COLORS[number % len(RATER_COLORS)], _DASHES[number // len(RATER_COLORS) % 4]


def _shade(panel: Any, window: Window, votes: NDArray[Any], shades: Sequence[str]) -> None:
    """Shade voxels according to the number of raters who marked them."""
    levels = np.array([float(shade) for shade in shades])
    panel.imshow(levels[window.cut(votes)], cmap="gray", vmin=0, vmax=1, extent=window.extent)
    panel.set(xticks=[], yticks=[])
    panel.spines[:].set_visible(False)


def _draw_legend(figure: Any, raters: int, consensus: Sequence[str], shades: Sequence[str]) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    styles = [rater_style(number) for number in range(raters)]
    lines = [
        Line2D([], [], color=color, linestyle=dashes, linewidth=1.6, label=f"rater {number}")
        for number, (color, dashes) in enumerate(styles)
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


def draw_rater_number(curve: RaterNumberCurve, path: PathLike) -> None:
    """Plot the quality of the consensus against the number of raters, extrapolated to twice that
    number.

    Parameters
    ----------
    curve : RaterNumberCurve
        Result of rater_number_curve.
    path : str or path
        PNG file, replaced atomically.
    """
    figure = figure_class()(figsize=(7.2, 3.6), layout="constrained")
    overlap, movement = figure.subplots(1, 2)
    followed = range(curve.raters, 2 * curve.raters + 1)
    panels = (
        (overlap, "with_all", "with the consensus of all", None),
        (overlap, "with_left_out", "with a rater left out", curve.dice_with_another),
        (movement, "moved", "moved by one more rater", curve.moved_by_another),
    )
    for (panel, measure, label, expected), color in zip(panels, RATER_COLORS, strict=False):
        known = [(p.raters, m) for p in curve.points if (m := getattr(p, measure)) is not None]
        raters = [number for number, _ in known]
        means, lows, highs = np.array([interval for _, interval in known]).T
        panel.fill_between(raters, lows, highs, color=color, alpha=0.2, linewidth=0)
        panel.plot(raters, means, marker="o", markersize=4, color=color, label=label)
        if expected is not None:
            values = [expected(number) for number in followed]
            panel.plot(followed, values, color=color, linestyle=":", label=f"{label}, expected")
    overlap.set(ylabel="Dice")
    movement.set(ylabel="mm", ylim=(0, None))
    for panel in (overlap, movement):
        panel.set_xlabel("raters")
        panel.xaxis.get_major_locator().set_params(integer=True)
        panel.legend(frameon=False, fontsize=8)
    figure.suptitle("\n".join(wrap(curve.answer, 95)), fontsize=9)
    save_figure(figure, Path(path))


def draw_reliability(path: Path, curves: Mapping[str, ReliabilityCurve], title: str) -> None:
    """Plot observed frequency against predicted probability, and the share of voxels in each bin.

    Parameters
    ----------
    path : Path
        PNG file, replaced atomically.
    curves : mapping of str to ReliabilityCurve
        Curves by name, such as {"before": ..., "after": ...}.
    """
    figure = figure_class()(figsize=(4.2, 4.8), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(4, 1))
    upper.plot([0, 1], [0, 1], color=TEXT_COLOR, linewidth=0.8, linestyle=":")
    for (name, curve), color in zip(curves.items(), RATER_COLORS, strict=False):
        held = curve.counts > 0
        label = f"{name}: ECE {curve.expected_calibration_error:.4f}"
        predicted, observed = (
            sums[held] / curve.counts[held] for sums in (curve.predicted, curve.observed)
        )
        upper.plot(predicted, observed, marker="o", markersize=4, color=color, label=label)
        share = curve.counts / max(curve.counts.sum(), 1.0)
        lower.stairs(share, np.linspace(0, 1, BINS + 1), color=color)
    upper.set(ylabel="observed frequency", xlim=(0, 1), ylim=(0, 1), title=title)
    upper.legend(frameon=False, fontsize=8, loc="upper left")
    lower.set(xlabel="predicted probability", ylabel="share of voxels", yscale="log")
    save_figure(figure, path)
