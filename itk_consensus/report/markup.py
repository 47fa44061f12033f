"""Building HTML: text is escaped, and markup is not escaped twice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import Any

from itk_consensus.core.escaping import html_text
from itk_consensus.report.text import shown

#: Elements without an end tag; within SVG they must be closed explicitly.
_VOID = {"input", "image", "img", "path", "line", "rect", "circle", "meta"}


_NOTHING_FROM_OUTSIDE = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
)


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def tag(name: str, /, *children: Any, **attributes: Any) -> Markup:
    """One element.

    Parameters
    ----------
    children
        Markup is taken as it is, None left out, anything else escaped.
    attributes
        ``class_`` is class, ``aria_label`` is aria-label; True stands for a bare attribute, None
        and False for none.
    """
    words = [name]
    for spelled, value in attributes.items():
        if value is None or value is False:
            continue
        word = spelled.rstrip("_").replace("_", "-")
        words.append(word if value is True else f'{word}="{html_text(str(value))}"')
    start = " ".join(words)
    return Markup(f"<{start}/>" if name in _VOID else f"<{start}>{joined(children)}</{name}>")


def joined(children: Iterable[Any]) -> Markup:
    """Several pieces one after the other."""
    return Markup(
        "".join(
            child if isinstance(child, Markup) else html_text(str(child))
            for child in children
            if child is not None
        )
    )


def data_table(
    caption: str, header: Sequence[Any], rows: Iterable[Sequence[Any]], class_: str | None = None
) -> Markup:
    """A table whose first column names the rows; cells may be whole ``td`` elements."""
    head = tag("tr", *(tag("th", cell, scope="col") for cell in header))
    body = [tag("tr", tag("th", first, scope="row"), *map(_cell, rest)) for first, *rest in rows]
    return framed_table(
        caption, tag("table", tag("thead", head), tag("tbody", *body), class_=class_)
    )


def framed_table(caption: str, table: Markup) -> Markup:
    """A table below its caption; only the table scrolls sideways where it must."""
    # What scrolls must be reachable by keyboard and have a label.
    frame = tag("div", table, class_="scroll", role="region", aria_label=caption, tabindex="0")
    return tag("div", tag("p", caption, class_="quiet", aria_hidden="true"), frame)


def section(title: str, *children: Any, id_: str) -> Markup:
    """A part of the page under a heading."""
    heading = tag("h2", title, id=id_)
    return tag("section", heading, *children, aria_labelledby=id_)


def folded(title: str, *children: Any) -> Markup:
    """What is opened on demand; paper and the keyboard reach it, too."""
    return tag("details", tag("summary", title), *children, class_="folded")


def document(title: str, lead: Any, *sections: Markup, extra_style: str = "") -> str:
    """A whole page that needs nothing else: it opens offline, on a phone, and on paper."""
    room = files("itk_consensus.report")
    style = "".join((room / name).read_text(encoding="utf-8") for name in ("parts.css", "page.css"))
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        # Whatever stands in a page, it asks nobody for anything.
        tag("meta", http_equiv="Content-Security-Policy", content=_NOTHING_FROM_OUTSIDE),
        tag("title", title),
        tag("style", Markup(style + extra_style)),
        # Otherwise browsers ask the server, or the disk, for one.
        Markup('<link rel="icon" href="data:,">'),
    )
    page = tag("body", tag("header", tag("h1", title), lead), tag("main", *sections))
    return f"<!DOCTYPE html>\n{tag('html', head, page, lang='en')}\n"


def _cell(value: Any) -> Markup:
    """Numbers with three decimals; a dash for what is not defined."""
    if isinstance(value, Markup):
        return value if value.startswith("<td") else tag("td", value)
    if isinstance(value, float):
        return tag("td", f"{value:.3f}" if value == value else "–")
    return tag("td", shown(value))
