"""Store results of DeepConsensusFilter on real images, and format tables of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from examples.benchmarks.run_facts import run_facts

RESULTS = Path(__file__).resolve().with_suffix(".json")

#: Rows by name: "dice" of each case and, for networks, facts about the training.
Rows = dict[str, dict[str, Any]]

#: Rows with which the others are compared, if they were run.
_BASES = {
    "vote": "the vote",
    "JointLabelFusion": "JointLabelFusion",
    "network, image alone": "the image alone",
}


def table(rows: Rows) -> str:
    """Format Markdown: Dice with its standard error over cases, and paired differences."""
    bases = {name: np.array(rows[name]["dice"]) for name in _BASES if name in rows}
    beyond = [f"beyond {_BASES[name]}" for name in bases]
    head = ["", "cases", "Dice", *beyond, "CPU seconds of training", "what Fit says of the gain"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for name, row in rows.items():
        dice = np.array(row["dice"])
        cells = [name, str(len(dice)), _with_error(dice)]
        cells += [
            "" if name == base or len(dice) < len(own) else _with_error(dice - own, "+")
            for base, own in bases.items()
        ]
        cells += [f"{row['processor']:.0f}" if "processor" in row else "", row.get("said", "")]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _with_error(values: Any, sign: str = "") -> str:
    error = np.std(values, ddof=1) / np.sqrt(len(values))
    return f"{np.mean(values):{sign}.4f} ± {error:.4f}"


def keep(title: str, rows: Rows, folder: Path | None = None) -> None:
    """Store rows under a title, replacing those of the same name.

    The path of `folder` is removed from the stored command.
    """
    kept = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    run = run_facts()
    run["command"] = run["command"].replace(str(folder), "FOLDER")
    before = kept.get(title, {"rows": {}})["rows"]
    # Rows may come from different runs, so each stores the facts about its own run.
    kept[title] = {"rows": {**before, **{name: {**row, "run": run} for name, row in rows.items()}}}
    RESULTS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def kept_tables() -> str:
    """Return the tables of all stored results."""
    kept = json.loads(RESULTS.read_text(encoding="utf-8"))
    parts = []
    for title, part in kept.items():
        runs = dict.fromkeys(
            f"`{row['run']['command']}` at commit {row['run']['commit']}, {row['run']['date']}"
            for row in part["rows"].values()
        )
        parts.append(f"**{title}** (kept from {'; '.join(runs)})\n\n{table(part['rows'])}")
    return "\n\n".join(parts)
