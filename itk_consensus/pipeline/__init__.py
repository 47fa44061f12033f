"""Fusers as members of ITK pipelines: ``from itk_consensus.pipeline import STAPLEImageFilter``.

There is one class for every fuser, under the fuser's own name; itk is loaded with the first.
Beside them: many cases at once (`batch`).
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


def _classes() -> dict[str, Any]:
    classes: dict[str, Any] = import_module("itk_consensus.pipeline.itk_pipeline").PIPELINE_FILTERS
    return classes


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return sorted(_classes())
    if name.startswith("_") or name not in _classes():
        raise AttributeError(f"module 'itk_consensus.pipeline' has no attribute '{name}'")
    return _classes()[name]


def __dir__() -> list[str]:
    return sorted(_classes())
