"""Draw the figure of docs/howto/learned.md: the networks' weights, and gain by number of cases.

python -m examples.benchmarks.learned.learned_picture [--output learned.png]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from examples.benchmarks.learned.learned_evidence import RESULTS
from itk_consensus.report.pictures import RATER_COLORS, figure_class, save_figure

OUTPUT = RESULTS.with_name("learned.png")
#: Cohorts that are drawn as curves, and their names in the legend.
CURVES = {
    "prostates": "four networks",
    "prostates, fair three": "three networks",
    "traces, set 3": "eight traces",
    "CONTROL shuffled prostates": "names shuffled",
}


def draw(kept: dict[str, Any], output: Path) -> None:
    """Draw both panels."""
    figure = figure_class()(figsize=(8.0, 3.0), layout="constrained")
    left, right = figure.subplots(1, 2)
    _weights(left, kept["networks"]["rows"])
    _curves(right, kept["report"])
    save_figure(figure, output)


def _weights(axes: Any, rows: list[dict[str, Any]]) -> None:
    """Draw the weights of networks, learned from twenty cases."""
    row = next(one for one in rows if one["learned_from"] == 20 and "weights" in one)
    for place, (weight, low, high) in enumerate(row["weights"].values()):
        color = RATER_COLORS[place % len(RATER_COLORS)]
        axes.plot([low, high], [place, place], color=color, linewidth=2)
        axes.plot([weight], [place], "o", color=color)
    axes.set_yticks(range(len(row["weights"])), list(row["weights"]))
    axes.invert_yaxis()
    axes.axvline(0, color="#999999", linewidth=0.8)
    axes.set_xlabel("weight, log-odds, with 95 % interval")
    axes.set_title("How far each network is believed", fontsize=10)


def _curves(axes: Any, sets: dict[str, Any]) -> None:
    """Draw the mean gain over 200 draws."""
    for place, (name, called) in enumerate(CURVES.items()):
        draws = sets.get(name, {}).get("draws", {})
        sizes = sorted(map(int, draws))
        means = [draws[str(size)]["learned"]["mean"] for size in sizes]
        color = RATER_COLORS[place % len(RATER_COLORS)]
        axes.plot([0, *sizes], [0.0, *means], "o-", color=color, label=called)
    axes.axhline(0, color="#999999", linewidth=0.8)
    axes.set_xlabel("cases with a truth")
    axes.set_ylabel("Dice beyond Consensus")
    axes.set_title("What it gains on other cases", fontsize=10)
    axes.legend(fontsize=8, frameon=False)


def main() -> None:
    """Draw the stored results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=OUTPUT)
    draw(json.loads(RESULTS.read_text(encoding="utf-8")), parser.parse_args().output)


if __name__ == "__main__":
    main()
