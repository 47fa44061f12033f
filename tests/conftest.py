from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

import itk_consensus

# Timings vary between machines, so there is no deadline. `make test` always draws the same cases,
# so that tests that passed once keep passing; `make test-all` draws new ones and prints how to
# reproduce a failure.
settings.register_profile(
    "exploring",
    deadline=None,
    print_blob=True,
    max_examples=50,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.filter_too_much,
    ],
)
settings.register_profile("itk_consensus", settings.get_profile("exploring"), derandomize=True)
settings.load_profile("itk_consensus")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of real multi-rater data next to the repository."""
    folder = Path(__file__).resolve().parents[1] / "../shared/data"
    if not folder.is_dir():
        pytest.skip("the shared data is not beside this repository")
    return folder.resolve()


@pytest.fixture(scope="session")
def run_python() -> Callable[[str], subprocess.CompletedProcess[str]]:
    """Return a function that runs a script in a new interpreter with the package under test."""
    root = str(Path(itk_consensus.__file__).resolve().parents[1])

    def run(script: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", textwrap.dedent(script)],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            env={**os.environ, "PYTHONPATH": root},
        )

    return run


@pytest.fixture
def masks() -> list[np.ndarray]:
    """Return four raters of one disc: two accurate, one generous, one careless."""
    rng = np.random.default_rng(7)
    y, x = np.mgrid[:18, :23]
    distance = np.hypot(y - 8.5, x - 11.5)
    raters = [distance < 5, distance < 5.6, distance < 7, distance < 4.8]
    noise = [0.02, 0.02, 0.03, 0.15]
    return [
        (mask ^ (rng.random(mask.shape) < share)).astype(np.uint8)
        for mask, share in zip(raters, noise, strict=True)
    ]


@pytest.fixture
def label_maps() -> list[np.ndarray]:
    """Return five raters of a map with the labels 0, 1, 2 and 4."""
    rng = np.random.default_rng(11)
    truth = np.repeat(np.repeat(np.array([[0, 1, 1], [2, 4, 1], [2, 2, 0]]), 5, axis=0), 6, axis=1)
    values = np.array([0, 1, 2, 4])
    return [
        np.where(rng.random(truth.shape) < share, rng.choice(values, truth.shape), truth).astype(
            np.uint8
        )
        for share in (0.05, 0.1, 0.15, 0.3, 0.2)
    ]
