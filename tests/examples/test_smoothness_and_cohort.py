from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "examples" / "benchmarks"


@pytest.fixture
def example(request):
    return importlib.import_module(f"examples.benchmarks.methods.{request.param}")


@pytest.mark.parametrize("example", ["cohort"], indirect=True)
@pytest.mark.parametrize("variant", ["basic", "advanced"])
def test_cohorts_beat_case_by_case_on_simulated_raters(example, variant):
    cohorts = [example.simulated_cohort(seed) for seed in range(3)]
    together = np.mean([example.together(cohort, variant) for cohort in cohorts], axis=0)
    alone = np.mean([example.case_by_case(cohort, variant) for cohort in cohorts], axis=0)
    assert together[0] < alone[0] / 1.5
    assert together[1] < alone[1] / 1.5
    assert together[2] > alone[2]


@pytest.mark.parametrize("example", ["cohort"], indirect=True)
def test_the_cohort_example_prints_both_variants(example, capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(example, "BUBIL", tmp_path / "absent")
    example.main(["--seeds", "1"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(",")[0] for line in lines[2:]] == ["basic"] * 2 + ["advanced"] * 2


@pytest.mark.slow
@pytest.mark.parametrize("example", ["cohort"], indirect=True)
def test_people_keep_their_habits_over_the_sets_of_bubil(example, capsys, shared_data):
    example.print_experts(shared_data / "bubil")
    tables = capsys.readouterr().out.split("BU-BIL set ")[1:]
    assert [table[:2] for table in tables] == list(example.TEN_EXPERT_SETS)
    for table in tables:
        rows = [line.split() for line in table.splitlines() if line.startswith("person")]
        sensitivity = np.array([[float(row[2]), float(row[5])] for row in rows])
        # Person 1 draws smaller contours than the others with both tools, in every set.
        assert sensitivity[0].mean() < np.median(sensitivity.mean(axis=1))


@pytest.mark.parametrize("example", ["smoothness"], indirect=True)
def test_the_smoothness_table_has_a_row_per_setting(example, capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(example, "CROWD", tmp_path / "absent")
    example.print_table([0])
    header, *rows = capsys.readouterr().out.splitlines()
    assert header.split()[:3] == ["mean", "Dice", "vote"]
    assert len(rows) == 7 + 3 + 4
    values = np.array([row[22:].split() for row in rows], float)
    assert values.shape == (14, len(example.FUSERS))
    assert ((values > 0) & (values <= 1)).all()
