"""Rooms that carry the name of their main function, and are called like it."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any


class _Room(ModuleType):
    """A package that may be called; its function is loaded then."""

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
    """Let a room be called like the function of its name that a module of it has.

    ``itk_consensus.report(filter, path)`` writes the page, and ``import itk_consensus.report.page``
    works, whichever comes first: both find the one room.
    """
    found = sys.modules[room]
    found.__class__ = _Room
    vars(found)["_function_module"] = module
