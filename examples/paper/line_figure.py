"""Small line and dot plots as inline SVG, without any library."""

from __future__ import annotations

from math import ceil, floor, log10
from typing import Any

from itk_consensus.report.markup import Markup, tag

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP, _RIGHT = 520, 260, 70, 40, 12, 12
_WORDS = {"fill": "currentColor", "font_size": 12}
_CENTRED = {"text_anchor": "middle", **_WORDS}
_FAINT = {"stroke": "currentColor", "opacity": 0.15, "fill": "none"}
_COLORS = ("#2a78d6", "#d7263d", "#1b9e77", "#8a5cc2", "#b8860b")


def line_figure(figure: dict[str, Any]) -> Markup:
    """Draw a figure with a title, axes, one line per name and a legend.

    Parameters
    ----------
    figure : dict
        ``title``, ``x`` and ``y`` (labels of the axes), ``lines`` ({name: [(x, y), ...]}); with
        ``log`` x is on a logarithmic scale.
    """
    scale = log10 if figure.get("log") else float
    points = [point for line in figure["lines"].values() for point in line]
    xs, ys = _range([scale(x) for x, _ in points]), _range([y for _, y in points])
    drawn = [_axes(figure, xs, ys)]
    for color, line in zip(_COLORS * 3, figure["lines"].values(), strict=False):
        places = [(_across(scale(x), xs), _up(y, ys)) for x, y in line]
        path = "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in places)
        drawn.append(tag("path", d=path, stroke=color, fill="none", stroke_width=2))
        drawn += [tag("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r=3, fill=color) for x, y in places]
    return _framed(figure["title"], drawn, list(figure["lines"]), _HEIGHT)


def dot_figure(figure: dict[str, Any]) -> Markup:
    """Draw a figure with one row per measure and one dot per column of the table.

    Parameters
    ----------
    figure : dict
        ``title``, ``x`` (label of the axis), ``dots`` ({name: {row: x}}).
    """
    rows = list(dict.fromkeys(row for dots in figure["dots"].values() for row in dots))
    left, bottom = 190, 24 * len(rows) + 12
    drawn = []
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        x = left + tick * (_WIDTH - left - 20)
        drawn.append(tag("path", d=f"M{x:.1f},6V{bottom}", **_FAINT))
        drawn.append(tag("text", f"{tick:g}", x=f"{x:.1f}", y=bottom + 15, **_CENTRED))
    for place, row in enumerate(rows):
        y = 24 * place + 20
        drawn.append(tag("text", row, x=left - 10, y=y + 4, text_anchor="end", **_WORDS))
        for color, dots in zip(_COLORS, figure["dots"].values(), strict=False):
            if row in dots:
                x = left + dots[row] * (_WIDTH - left - 20)
                drawn.append(tag("circle", cx=f"{x:.1f}", cy=y, r=5, fill=color, opacity=0.8))
    drawn.append(tag("text", figure["x"], x=(left + _WIDTH) / 2, y=bottom + 32, **_CENTRED))
    return _framed(figure["title"], drawn, list(figure["dots"]), bottom + 38)


def _framed(title: str, drawn: list[Markup], names: list[str], height: float) -> Markup:
    legend = [
        tag("span", "■ ", name, style=f"color:{color};margin-right:1em")
        for color, name in zip(_COLORS * 3, names, strict=False)
    ]
    picture = tag(
        "svg",
        *drawn,
        viewBox=f"0 0 {_WIDTH} {height}",
        role="img",
        aria_label=title,
        style="max-width:100%;width:520px;color:inherit",
    )
    return tag("figure", picture, tag("div", *legend), tag("figcaption", title))


def _range(values: list[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    margin = 0.05 * (high - low) or 0.5
    return low - margin, high + margin


def _across(x: float, xs: tuple[float, float]) -> float:
    return _LEFT + (x - xs[0]) / (xs[1] - xs[0]) * (_WIDTH - _LEFT - _RIGHT)


def _up(y: float, ys: tuple[float, float]) -> float:
    return _HEIGHT - _BOTTOM - (y - ys[0]) / (ys[1] - ys[0]) * (_HEIGHT - _BOTTOM - _TOP)


def _ticks(values: list[float]) -> list[float]:
    """Return tick values: all values if there are few, otherwise every second one or fewer."""
    found = sorted(set(values))
    return found[:: 1 + len(found) // 8]


def _round_values(low: float, high: float) -> list[float]:
    """Return three to six round values between two numbers."""
    size = 10 ** floor(log10((high - low) / 3))
    step = max(size * factor for factor in (1, 2, 5) if size * factor <= (high - low) / 3)
    return [step * n for n in range(ceil(low / step), floor(high / step) + 1)]


def _axes(figure: dict[str, Any], xs: tuple[float, float], ys: tuple[float, float]) -> Markup:
    bottom, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
    scale = log10 if figure.get("log") else float
    frame = f"M{_LEFT},{_TOP}V{bottom}H{right}"
    parts = [tag("path", d=frame, stroke="currentColor", fill="none")]
    for x in _ticks([x for line in figure["lines"].values() for x, _ in line]):
        place = {"x": f"{_across(scale(x), xs):.1f}", "y": bottom + 15}
        parts.append(tag("text", f"{x:g}", **place, **_CENTRED))
    for y in _round_values(*ys):
        height = _up(y, ys)
        parts.append(tag("path", d=f"M{_LEFT},{height:.1f}H{right}", **_FAINT))
        place = {"x": _LEFT - 6, "y": f"{height + 4:.1f}", "text_anchor": "end"}
        parts.append(tag("text", f"{y:.3g}", **place, **_WORDS))
    turned = f"translate(12 {bottom / 2:.0f}) rotate(-90)"
    parts.append(tag("text", figure["x"], x=(_LEFT + right) / 2, y=_HEIGHT - 6, **_CENTRED))
    parts.append(tag("text", figure["y"], transform=turned, **_CENTRED))
    return tag("g", *parts)
