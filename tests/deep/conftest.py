from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from itk_consensus.simulation.deep_phantoms import Cohort, easy_cohort

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def bars(monkeypatch):
    """The example that measures the bars."""
    monkeypatch.syspath_prepend(EXAMPLES)
    return importlib.import_module("deep_bars")


@pytest.fixture(scope="session")
def cohort() -> Cohort:
    """Ten small cases that train in a second or two."""
    return easy_cohort(10, 0, shape=(24, 28))
