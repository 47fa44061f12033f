"""A conformal band over its consensus and the raters' contours, slice by slice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.calibration.prediction_sets import AMBIGUOUS, FOREGROUND
from itk_consensus.report.slices import (
    PANEL_INCHES,
    RATER_COLORS,
    TEXT_COLOR,
    Mask,
    Window,
    draw_scale_bar,
    figure_class,
    outline,
    save_figure,
    slices_to_show,
)

_WHITE, _CERTAIN, _BAND = "#FFFFFF", "#C9CDD2", "#FBD9A0"
_CONSENSUS_COLOR = "#111111"


def draw_band(
    path: Path,
    raters: Mapping[str, Mask],
    consensus: Mask,
    band: NDArray[Any],
    spacing: Sequence[float],
    title: str,
) -> None:
    """Draw what is certain, what is ambiguous, and everybody's contour.

    Parameters
    ----------
    path : Path
        PNG file, replaced in one step.
    raters : mapping of str to (Z, Y, X) ndarray of bool
        Contours by name.
    consensus : (Z, Y, X) ndarray of bool
    band : (Z, Y, X) ndarray of uint8
        What ConformalBandFilter returns.
    spacing : (3,) sequence of float
        Voxel size in mm, in the order of the axes.
    """
    shown = (band != 0) | np.any(list(raters.values()), axis=0)
    window, slices = Window.around(shown, spacing), slices_to_show(shown)
    columns = (len(slices) + 1) // 2 if len(slices) > 4 else len(slices)
    rows = -(-len(slices) // columns)
    size = (1.6 * PANEL_INCHES * columns, 1.6 * PANEL_INCHES * rows * window.aspect + 1.1)
    figure = figure_class()(figsize=size, layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for panel in panels:
        panel.set_axis_off()
    for panel, index in zip(panels, slices, strict=False):
        panel.set_title(f"slice {index}", fontsize=8, color=TEXT_COLOR)
        panel.imshow(_colors(window.cut(band[index])), extent=window.extent)
        for mask, color in zip(raters.values(), RATER_COLORS, strict=False):
            outline(panel, window, mask[index], color, width=1.2)
        outline(panel, window, consensus[index], _CONSENSUS_COLOR, width=2.2)
    draw_scale_bar(panels[0], window)
    figure.suptitle(title, fontsize=10)
    _draw_legend(figure, list(raters))
    save_figure(figure, path)


def _colors(codes: NDArray[Any]) -> NDArray[np.uint8]:
    """An RGB value per voxel."""
    table = np.array([_rgb(_WHITE), _rgb(_CERTAIN), _rgb(_BAND), _rgb(_BAND)], dtype=np.uint8)
    assert (FOREGROUND, AMBIGUOUS) == (1, 2)
    colors: NDArray[np.uint8] = table[codes]
    return colors


def _rgb(color: str) -> list[int]:
    return [int(color[i : i + 2], 16) for i in (1, 3, 5)]


def _draw_legend(figure: Any, raters: Sequence[str]) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles = [
        Line2D([], [], color=color, linewidth=1.4, label=name)
        for name, color in zip(raters, RATER_COLORS, strict=False)
    ]
    handles += [
        Line2D([], [], color=_CONSENSUS_COLOR, linewidth=2.2, label="consensus"),
        Patch(facecolor=_CERTAIN, label="certainly foreground"),
        Patch(facecolor=_BAND, label="ambiguous"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, fontsize=8, frameon=False)
