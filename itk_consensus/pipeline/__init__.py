"""Fusion filters for ITK pipelines: ``from itk_consensus.pipeline import STAPLEImageFilter``.

There is one class per fusion filter, with the same name; itk is imported when the first class is
accessed.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from itk_consensus.core.errors import MissingDependencyError
from itk_consensus.methods.registry import FUSER_MODULES


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return __dir__()
    # This is also called for submodules, before Python imports them.
    if name not in FUSER_MODULES:
        raise AttributeError(f"module 'itk_consensus.pipeline' has no attribute '{name}'")
    try:
        classes = import_module("itk_consensus.pipeline.itk_pipeline").PIPELINE_FILTERS
    except ImportError as error:
        raise MissingDependencyError(
            f"itk_consensus.pipeline.{name} needs itk: pip install 'itk-consensus[itk]'"
        ) from error
    return classes[name]


def __dir__() -> list[str]:
    return sorted(FUSER_MODULES)
