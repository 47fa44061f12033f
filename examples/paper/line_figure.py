"""A small line plot as inline SVG, drawn without any library."""

from __future__ import annotations

from typing import Any

from itk_consensus.report.markup import Markup, tag

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP, _RIGHT = 520, 260, 70, 40, 12, 12
_COLORS = ("#2a78d6", "#d7263d", "#1b9e77", "#8a5cc2", "#b8860b")


def line_figure(figure: dict[str, Any]) -> Markup:
    """A figure with a title, axes, one line per name and a legend.

    Parameters
    ----------
    figure : dict
        ``title``, ``x`` and ``y`` (what the axes mean), ``lines`` ({name: [(x, y), ...]}).
    """
    points = [point for line in figure["lines"].values() for point in line]
    xs, ys = _range([x for x, _ in points]), _range([y for _, y in points])
    drawn = [_axes(figure, xs, ys)]
    for color, line in zip(_COLORS * 3, figure["lines"].values(), strict=False):
        places = [(_across(x, xs), _up(y, ys)) for x, y in line]
        path = "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in places)
        drawn.append(tag("path", d=path, stroke=color, fill="none", stroke_width=2))
        drawn += [tag("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r=3, fill=color) for x, y in places]
    legend = [
        tag("span", "■ ", name, "  ", style=f"color:{color};margin-right:1em")
        for color, name in zip(_COLORS * 3, figure["lines"], strict=False)
    ]
    picture = tag(
        "svg",
        *drawn,
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        role="img",
        aria_label=figure["title"],
        style="max-width:100%;width:520px;color:inherit",
    )
    return tag("figure", picture, tag("div", *legend), tag("figcaption", figure["title"]))


def _range(values: list[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    margin = 0.05 * (high - low) or 0.5
    return low - margin, high + margin


def _across(x: float, xs: tuple[float, float]) -> float:
    return _LEFT + (x - xs[0]) / (xs[1] - xs[0]) * (_WIDTH - _LEFT - _RIGHT)


def _up(y: float, ys: tuple[float, float]) -> float:
    return _HEIGHT - _BOTTOM - (y - ys[0]) / (ys[1] - ys[0]) * (_HEIGHT - _BOTTOM - _TOP)


def _ticks(values: list[float]) -> list[float]:
    """The values themselves while they are few, else every other, or fewer."""
    found = sorted(set(values))
    return found[:: 1 + len(found) // 8]


def _axes(figure: dict[str, Any], xs: tuple[float, float], ys: tuple[float, float]) -> Markup:
    bottom, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
    frame = f"M{_LEFT},{_TOP}V{bottom}H{right}"
    parts = [tag("path", d=frame, stroke="currentColor", fill="none")]
    words = {"fill": "currentColor", "font_size": 12}
    for x in _ticks([x for line in figure["lines"].values() for x, _ in line]):
        place = {"x": f"{_across(x, xs):.1f}", "y": bottom + 15, "text_anchor": "middle"}
        parts.append(tag("text", f"{x:g}", **place, **words))
    for share in (0.1, 0.5, 0.9):
        y = ys[0] + share * (ys[1] - ys[0])
        place = {"x": _LEFT - 6, "y": f"{_up(y, ys) + 4:.1f}", "text_anchor": "end"}
        parts.append(tag("text", f"{y:.3g}", **place, **words))
    middle = (_LEFT + right) / 2
    parts.append(
        tag(
            "text",
            figure["x"],
            x=middle,
            y=_HEIGHT - 6,
            text_anchor="middle",
            fill="currentColor",
            font_size=12,
        )
    )
    parts.append(
        tag(
            "text",
            figure["y"],
            transform=f"translate(12 {bottom / 2:.0f}) rotate(-90)",
            text_anchor="middle",
            fill="currentColor",
            font_size=12,
        )
    )
    return tag("g", *parts)
