from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

REFERENCE = Path(__file__).resolve().parents[2] / "../shared/spec/generators/paper_phantoms.py"


@pytest.fixture(scope="session")
def reference() -> ModuleType:
    """Return the independent implementation of the paper's phantoms and raters."""
    if not REFERENCE.exists():
        pytest.skip("the reference generator is not beside this repository")
    spec = importlib.util.spec_from_file_location("paper_phantoms", REFERENCE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
