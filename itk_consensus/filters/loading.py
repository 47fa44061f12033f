"""Load, of a class or of an instance."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any


class on_class_or_instance(classmethod):  # type: ignore[type-arg]  # noqa: N801
    """A method that, asked of the class, works on a new instance of it.

    ``Filter.Load(path)`` makes a filter; ``filter.Load(path)`` fills the one there is.
    """

    def __init__(self, method: Callable[..., Any]) -> None:
        super().__init__(method)

    def __get__(self, instance: Any, owner: type | None = None) -> Callable[..., Any]:
        of = instance if instance is not None else owner() if owner else None
        return MethodType(self.__func__, of)
