"""Build HTML with automatic escaping; markup is never escaped a second time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import Any

from itk_consensus.core.escaping import html_text
from itk_consensus.report.text import format_value

#: Elements without an end tag; in SVG they must be closed explicitly.
_VOID = {"input", "image", "img", "path", "line", "rect", "circle", "meta"}


_NOTHING_FROM_OUTSIDE = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
)


class Markup(str):
    """Text that is already HTML and is not escaped again."""

    __slots__ = ()


def tag(name: str, /, *children: Any, **attributes: Any) -> Markup:
    """Make an HTML or SVG element.

    Parameters
    ----------
    children
        Content: Markup is inserted as is, None is skipped, anything else is escaped.
    attributes
        ``class_`` becomes class, ``aria_label`` becomes aria-label; True gives an attribute without
        a value, None and False omit the attribute.
    """
    words = [name]
    for spelled, value in attributes.items():
        if value is None or value is False:
            continue
        word = spelled.rstrip("_").replace("_", "-")
        words.append(word if value is True else f'{word}="{html_text(str(value))}"')
    start = " ".join(words)
    return Markup(f"<{start}/>" if name in _VOID else f"<{start}>{join_markup(children)}</{name}>")


def join_markup(children: Iterable[Any]) -> Markup:
    """Concatenate markup and text; text is escaped, None is skipped."""
    return Markup(
        "".join(
            child if isinstance(child, Markup) else html_text(str(child))
            for child in children
            if child is not None
        )
    )


def data_table(
    caption: str,
    header: Sequence[Any],
    rows: Iterable[Sequence[Any]],
    class_: str | None = None,
    labels: Sequence[str] | None = None,
) -> Markup:
    """Return a table whose first column contains row headers; cells may be whole ``td`` elements.

    Parameters
    ----------
    labels : sequence of str, optional
        Column labels of the cells after the first; they are shown on narrow screens, where rows
        become cards. Use "" for cells that need no label.
    """
    head = tag("tr", *(tag("th", cell, scope="col") for cell in header))
    body = []
    for first, *rest in rows:
        cells = [_cell(one) for one in rest]
        if labels is not None:
            cells = [_labelled(*pair) for pair in zip(cells, labels, strict=True)]
        body.append(tag("tr", tag("th", first, scope="row"), *cells))
    return framed_table(
        caption, tag("table", tag("thead", head), tag("tbody", *body), class_=class_)
    )


def framed_table(caption: str, table: Markup) -> Markup:
    """Put a caption above a table that scrolls sideways if it is too wide."""
    # A scrollable region must be focusable and labelled (WCAG 2).
    frame = tag("div", table, class_="scroll", role="region", aria_label=caption, tabindex="0")
    return tag("div", tag("p", caption, class_="quiet", aria_hidden="true"), frame)


def section(title: str, *children: Any, id_: str) -> Markup:
    """Make a section with a heading."""
    heading = tag("h2", title, id=id_)
    return tag("section", heading, *children, aria_labelledby=id_)


def collapsible(title: str, *children: Any) -> Markup:
    """Make a collapsible block (``details``)."""
    return tag("details", tag("summary", title), *children, class_="folded")


def document(title: str, lead: Any, *sections: Markup, extra_style: str = "") -> str:
    """Make a complete, self-contained HTML page for screens, phones and print."""
    room = files("itk_consensus.report")
    style = "".join((room / name).read_text(encoding="utf-8") for name in ("parts.css", "page.css"))
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        # forbids any network request
        tag("meta", http_equiv="Content-Security-Policy", content=_NOTHING_FROM_OUTSIDE),
        tag("title", title),
        tag("style", Markup(style + extra_style)),
        # Keeps browsers from requesting a favicon.
        Markup('<link rel="icon" href="data:,">'),
    )
    page = tag("body", tag("header", tag("h1", title), lead), tag("main", *sections))
    return f"<!DOCTYPE html>\n{tag('html', head, page, lang='en')}\n"


def _labelled(cell: Markup, label: str) -> Markup:
    """Add a data-label attribute to a table cell."""
    if not label:
        return cell
    return Markup(cell.replace("<td", f'<td data-label="{html_text(label)}"', 1))


def _cell(value: Any) -> Markup:
    """Make a table cell: floats are shown with three decimals, NaN as a dash."""
    if isinstance(value, Markup):
        return value if value.startswith("<td") else tag("td", value)
    if isinstance(value, float):
        return tag("td", f"{value:.3f}" if value == value else "–")
    return tag("td", format_value(value))
