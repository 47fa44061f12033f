"""How objects are displayed in notebooks.

The HTML comes from `report`, a higher layer, so it is looked up lazily through the package.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, ParamSpec

P = ParamSpec("P")


class Displayed:
    """Base of objects that notebooks display as HTML, if `report` has a form for them."""

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        import itk_consensus

        return itk_consensus.html_of(self)


class Rows(Displayed, list[dict[str, Any]]):
    """Rows of a table: a list of dicts that can be converted to a pandas.DataFrame."""

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
    """Decorator that makes a generator of rows return all of them as `Rows`."""

    @wraps(make)
    def listed(*arguments: P.args, **keywords: P.kwargs) -> Rows:
        return Rows(make(*arguments, **keywords))

    return listed


class Sentence(Displayed, str):
    """A text that notebooks highlight, such as a guarantee."""

    __slots__ = ()
