"""Pictures of raters and their consensus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.array_types import Mask
from itk_consensus.report.slices import (
    PANEL_INCHES,
    RATER_COLORS,
    TEXT_COLOR,
    Window,
    draw_scale_bar,
    figure_class,
    outline,
    save_figure,
    slices_to_show,
)

_CONSENSUS_STYLES: tuple[tuple[str, Any], ...] = (("#111111", "-"), ("#D7263D", (0, (2.5, 1.2))))


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
        for mask, color in zip(masks, cycle(RATER_COLORS), strict=False):
            outline(top, window, mask[index], color, "-")
        for mask, (color, dashes) in zip(consensus.values(), _CONSENSUS_STYLES, strict=False):
            outline(bottom, window, mask[index], color, dashes)
    for panel, name in zip(panels[:, 0], ("raters", "consensus"), strict=True):
        panel.set_ylabel(name, fontsize=9, color=TEXT_COLOR)
    draw_scale_bar(panels[1, 0], window)
    figure.suptitle(title, fontsize=10)
    _draw_legend(figure, len(masks), list(consensus), shades)
    save_figure(figure, path)


def _shade(panel: Any, window: Window, votes: NDArray[Any], shades: Sequence[str]) -> None:
    """Grey by the number of raters who marked a voxel."""
    levels = np.array([float(shade) for shade in shades])
    panel.imshow(levels[window.cut(votes)], cmap="gray", vmin=0, vmax=1, extent=window.extent)
    panel.set(xticks=[], yticks=[])
    panel.spines[:].set_visible(False)


def _draw_legend(figure: Any, raters: int, consensus: Sequence[str], shades: Sequence[str]) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    lines = [
        Line2D([], [], color=color, linewidth=1.6, label=f"rater {number}")
        for number, color in zip(range(raters), cycle(RATER_COLORS), strict=False)
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
