"""Draw the README's plots: run time against voxels, raters, labels and atlases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

Results = dict[str, Any]
Row = dict[str, Any]

COLORS = {"contour-error": "tab:blue", "noisy": "tab:orange"}
SIMPLEITK_COLOR = "tab:gray"


def save_plot(results: Results, path: Path) -> None:
    """Draw both curves of a run and write them as PNG."""
    figure = Figure(figsize=(10, 5), layout="constrained")
    FigureCanvasAgg(figure)
    by_voxels, by_raters = figure.subplots(1, 2)
    rows = results["rater_scaling"]
    # Overhead dominates on small volumes, so the proportional line is anchored at the largest one.
    _draw(by_voxels, results["voxel_scaling"], "voxels", anchor=-1)
    by_voxels.set(title="5 raters", xscale="log")
    _draw(by_raters, rows, "raters", anchor=0)
    by_raters.set(title=f"{rows[0]['size']} voxels")
    figure.savefig(path, dpi=120)


def save_growth_plot(results: Results, path: Path) -> None:
    """Draw time against labels and against atlases and write them as PNG."""
    figure = Figure(figsize=(10, 5), layout="constrained")
    FigureCanvasAgg(figure)
    for axes, axis in zip(figure.subplots(1, 2), ("labels", "atlases"), strict=True):
        rows = [row for row in results["growth"] if row["axis"] == axis]
        for operation in dict.fromkeys(row["operation"] for row in rows):
            points = [row for row in rows if row["operation"] == operation]
            x = [row["labels" if axis == "labels" else "raters"] for row in points]
            axes.plot(x, [row["seconds"] for row in points], "o-", label=operation)
        axes.set(xlabel=axis, ylabel="seconds", yscale="log", title=f"{rows[0]['size']} voxels")
        axes.grid(alpha=0.3)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.15), frameon=False)
    figure.savefig(path, dpi=120)


def _draw(axes: Axes, rows: list[Row], x: str, anchor: int) -> None:
    for operation, kind in dict.fromkeys((row["operation"], row["kind"]) for row in rows):
        points = [r for r in rows if (r["operation"], r["kind"]) == (operation, kind)]
        color = SIMPLEITK_COLOR if operation.startswith("sitk.") else COLORS[kind]
        where = [point[x] for point in points]
        seconds = [point["seconds"] for point in points]
        axes.plot(where, seconds, "o-", color=color, label=f"{operation}, {kind} raters")
        if color == COLORS["contour-error"]:
            straight = [seconds[anchor] * value / where[anchor] for value in where]
            axes.plot(where, straight, ":", color=color, label=f"proportional to {x}")
    axes.set(xlabel=x, ylabel="seconds", yscale="log")
    axes.grid(alpha=0.3)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.15), frameon=False)
