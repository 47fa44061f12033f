"""The README's plot: time against voxels, and against raters."""

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
    figure = Figure(figsize=(10, 4), layout="constrained")
    FigureCanvasAgg(figure)
    by_voxels, by_raters = figure.subplots(1, 2)
    rows = results["rater_scaling"]
    _draw(by_voxels, results["voxel_scaling"], "voxels", "5 raters")
    by_voxels.set_xscale("log")
    _draw(by_raters, rows, "raters", f"{rows[0]['size']} voxels")
    figure.savefig(path, dpi=120)


def _draw(axes: Axes, rows: list[Row], x: str, title: str) -> None:
    series = dict.fromkeys((row["operation"], row["kind"]) for row in rows)
    for operation, kind in series:
        points = [r for r in rows if (r["operation"], r["kind"]) == (operation, kind)]
        color = SIMPLEITK_COLOR if operation.startswith("sitk.") else COLORS[kind]
        where = [point[x] for point in points]
        seconds = [point["seconds"] for point in points]
        axes.plot(where, seconds, "o-", color=color, label=f"{operation}, {kind} raters")
        if operation.startswith("sitk."):
            continue
        # A straight line through the last point, to judge by eye whether the curve is one.
        linear = [seconds[-1] * value / where[-1] for value in where]
        axes.plot(where, linear, ":", color=color, linewidth=1, label=f"linear in {x}")
    axes.set(title=title, xlabel=x, ylabel="seconds", yscale="log")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
