"""Fusers as members of ITK pipelines: ``from itk_consensus.pipeline import STAPLEImageFilter``.

There is one class for every fuser, under the fuser's own name; itk is loaded with the first, and
with nothing else of this room. Beside them: many cases at once (`batch`).
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from itk_consensus.core.errors import MissingDependencyError
from itk_consensus.methods.registry import FUSER_MODULES


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return __dir__()
    # Python asks here for modules of this room too, before it imports them.
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
