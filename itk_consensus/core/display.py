"""What notebooks show of an object: the parts of a page.

`report` knows how things look and lies above them: the package is asked for it, and only when a
notebook asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, ParamSpec

P = ParamSpec("P")


class Displayed:
    """Something that notebooks show as a page would; where nothing fits, as its text."""

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        import itk_consensus

        return itk_consensus.html_of(self)


class Rows(Displayed, list[dict[str, Any]]):
    """Rows of a table: a list, and a data frame for those who have pandas."""

    __slots__ = ()

    def to_frame(self) -> Any:
        """The rows as a pandas.DataFrame."""
        from itk_consensus.core.errors import MissingDependencyError

        try:
            import pandas
        except ImportError as error:
            raise MissingDependencyError(
                "to_frame needs pandas: pip install 'itk-consensus[notebook]'"
            ) from error
        return pandas.DataFrame(list(self))


def rows(make: Callable[P, Iterator[dict[str, Any]]]) -> Callable[P, Rows]:
    """Have a function that yields rows give all of them."""

    @wraps(make)
    def listed(*arguments: P.args, **keywords: P.kwargs) -> Rows:
        return Rows(make(*arguments, **keywords))

    return listed


class Sentence(Displayed, str):
    """A text that notebooks set apart, such as a guarantee."""

    __slots__ = ()
