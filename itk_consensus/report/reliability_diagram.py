"""Reliability diagrams: what probabilities say against what happens."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from itk_consensus.calibration.reliability import BINS, ReliabilityCurve
from itk_consensus.report.slices import RATER_COLORS, TEXT_COLOR, figure_class, save_figure


def draw_reliability(path: Path, curves: Mapping[str, ReliabilityCurve], title: str) -> None:
    """Draw observed frequency over predicted probability, and how many voxels each bin holds.

    Parameters
    ----------
    path : Path
        PNG file, replaced in one step.
    curves : mapping of str to ReliabilityCurve
        Such as {"before": ..., "after": ...}.
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
