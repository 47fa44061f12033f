"""The stored full run of the paper's experiments."""

from __future__ import annotations

import json
from pathlib import Path

KEPT = Path(__file__).resolve().parents[2] / "examples" / "paper" / "paper.json"


def test_every_experiment_has_its_verdict_and_the_deep_rows_are_in() -> None:
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    assert not kept["quick"]
    assert {"commit", "command", "date"} <= set(kept["run"])
    assert not kept["run"]["commit"].endswith("dirty")
    experiments = kept["experiments"]
    assert [one["title"][0] for one in experiments] == list("1234567")
    for one in experiments:
        assert one["word"]
        assert one["verdict"]
        assert one["figures"] or one["title"].startswith("7")
        for rows in one["columns"].values():
            assert all(len(row) == len(one["measures"]) for row in rows.values())
    deep = experiments[5]
    place = list(deep["measures"]).index("deep consensus")
    for column in ("paper", "ours", "careful"):
        assert float(deep["columns"][column]["0"][place].split()[0]) > 0.8
    titles = [figure["title"] for one in experiments for figure in one["figures"]]
    for figure in ("Figure 1, left", "Figure 2, left", "Figure 2, right", "Figure 3, loss"):
        assert figure in titles
    assert "–" not in experiments[4]["columns"]["careful"]["5"]
