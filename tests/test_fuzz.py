from __future__ import annotations

import numpy as np
import pytest
from fuzz_cases import FAMILIES, FUZZED, GUESTS, draw_case
from fuzzing import run_cases, run_command_lines, run_damage, run_references, run_stores

SEED = 2026
PARTS = 10
CASES = 300


@pytest.mark.parametrize("part", range(PARTS))
def test_random_cases_are_answered_or_refused_and_what_must_hold_holds(part: int) -> None:
    tally = run_cases(SEED, range(part, CASES, PARTS))
    assert not tally.failures, "\n".join(tally.failures)
    assert tally.outcomes["answered"] > CASES // PARTS // 4
    assert tally.outcomes["refused"] > 0


def test_random_command_lines_end_with_an_answer_or_a_reason() -> None:
    tally = run_command_lines(SEED, range(20))
    assert not tally.failures, "\n".join(tally.failures)
    assert tally.outcomes["answered"] > 0
    assert tally.outcomes["refused"] > 0


def test_damaged_records_and_models_are_refused_or_give_sensible_answers() -> None:
    pytest.importorskip("torch")
    # One forged record in ten yields a result; with fewer attempts there might be none.
    tally = run_damage(SEED, range(150))
    assert not tally.failures, "\n".join(tally.failures)
    assert tally.outcomes["answered"] > 0
    assert tally.outcomes["refused"] > 0


def test_batches_and_stores_that_were_stopped_and_damaged_give_right_answers() -> None:
    pytest.importorskip("dask")
    pytest.importorskip("zarr")
    tally = run_stores(SEED, range(8))
    assert not tally.failures, "\n".join(tally.failures)
    assert tally.outcomes["answered"] > 0


def test_random_references_and_series_are_answered_or_refused() -> None:
    pytest.importorskip("highdicom")
    tally = run_references(SEED, range(20))
    assert not tally.failures, "\n".join(tally.failures)
    assert tally.outcomes["answered"] > 0
    assert tally.outcomes["refused"] > 0


def test_the_cases_reach_every_fuser_and_family() -> None:
    cases = [draw_case(np.random.default_rng([SEED, number])) for number in range(CASES)]
    assert {case.fuser for case in cases} == set(FUZZED)
    assert {case.family for case in cases} == {*FAMILIES, *GUESTS}
    assert {next(a.ndim for a in case.raters if a is not None) for case in cases} == {2, 3, 4}
    softly = [array for case in cases for array in case.raters if array is not None]
    assert any(((array > 0) & (array < 1)).any() for array in softly)
    for name in ("MaskImage", "RaterMasks", "MissingLabel"):
        assert any(name in case.given for case in cases)
