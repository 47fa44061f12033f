"""Packages that can be called like the function of the same name."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any


class _Room(ModuleType):
    """A package that can be called; the function is imported on the first call."""

    _function_module: str

    @property
    def __wrapped__(self) -> Callable[..., Any]:
        function: Callable[..., Any] = getattr(
            import_module(self._function_module), self.__name__.rpartition(".")[2]
        )
        return function

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self.__wrapped__)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self.__wrapped__(*arguments, **keywords)


def make_callable(room: str, module: str) -> None:
    """Make a package callable as the function of the same name in one of its modules.

    Both ``itk_consensus.report(filter, path)`` and ``import itk_consensus.report.page`` then work,
    in either order.
    """
    found = sys.modules[room]
    found.__class__ = _Room
    vars(found)["_function_module"] = module
