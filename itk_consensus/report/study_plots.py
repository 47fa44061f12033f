"""SVG plots of a study: box plots of Dice, Bland-Altman plots of volumes, and dot plots."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from itk_consensus.report.markup import Markup, tag
from itk_consensus.review.rater_colors import rater_color

_WIDTH, _LEFT, _ROW = 640, 150, 26
_PLOT_HEIGHT, _BOTTOM = 300, 40


class Volume(NamedTuple):
    """A rater's volume for a structure in a case, compared with those of the other raters."""

    case: str
    rater: int
    mean: float  #: Mean of the rater's volume and the mean volume of the others
    difference: float  #: Difference between these two, in % of `mean`


def box_plots(values: Mapping[str, Sequence[float]], title: str) -> Markup:
    """Draw box plots, one row per structure: quartiles, whiskers to 1.5 IQR, and outliers."""
    low = min([0.5, *(value for row in values.values() for value in row)])
    low = math.floor(low * 10) / 10

    def x(value: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - 20) * (value - low) / (1 - low)

    parts = []
    for number, (name, row) in enumerate(values.items()):
        y = 20 + _ROW * number
        parts.append(tag("text", name, x=_LEFT - 10, y=y + 5, text_anchor="end"))
        parts += _box(np.sort(row), x, y)
    height = 20 + _ROW * len(values)
    ticks = [low + (1 - low) * n / 5 for n in range(6)]
    for tick in ticks:
        at = f"{x(tick):.1f}"
        parts.append(tag("line", x1=at, x2=at, y1=8, y2=height, class_="grid"))
        label = tag("text", f"{tick:.2f}", x=at, y=height + 16, text_anchor="middle", class_="tick")
        parts.append(label)
    return _plot(parts, height + 24, title)


def _box(row: np.ndarray[tuple[int], np.dtype[np.float64]], x: object, y: int) -> list[Markup]:
    assert callable(x)
    first, middle, third = np.percentile(row, (25, 50, 75))
    fence = 1.5 * (third - first)
    within = row[(row >= first - fence) & (row <= third + fence)]
    parts = [
        tag("line", x1=_at(x(within.min())), x2=_at(x(within.max())), y1=y, y2=y, class_="whisker"),
        tag("rect", x=_at(x(first)), y=y - 7, width=_at(max(x(third) - x(first), 1)), height=14,
            class_="box"),
        tag("line", x1=_at(x(middle)), x2=_at(x(middle)), y1=y - 7, y2=y + 7, class_="median"),
    ]  # fmt: skip
    beyond = row[(row < first - fence) | (row > third + fence)]
    return parts + [tag("circle", cx=_at(x(one)), cy=y, r=3, class_="beyond") for one in beyond]


def bland_altman(points: Sequence[Volume], unit: str, title: str) -> Markup:
    """Draw a Bland-Altman plot of volumes with limits of agreement; the axis of means is
    logarithmic.
    """
    shown = [one for one in points if one.mean > 0 and math.isfinite(one.difference)]
    if not shown:
        return tag("p", "Nobody drew anything that has a volume.", class_="quiet")
    means = np.log10([one.mean for one in shown])
    differences = np.array([one.difference for one in shown])
    bias, spread = differences.mean(), differences.std(ddof=1) if len(shown) > 1 else 0.0
    limits = {"mean": bias, "+1.96 SD": bias + 1.96 * spread, "-1.96 SD": bias - 1.96 * spread}
    reach = max(5.0, 1.1 * np.abs([*differences, *limits.values()]).max())
    low, high = means.min() - 0.05, means.max() + 0.05
    left = 60

    def x(mean: float) -> str:
        return _at(left + (_WIDTH - left - 125) * (mean - low) / (high - low))

    def y(difference: float) -> str:
        return _at(15 + (_PLOT_HEIGHT - 30) * (1 - (difference / reach + 1) / 2))

    parts = []
    for tick in (-reach, -reach / 2, 0.0, reach / 2, reach):
        parts.append(tag("line", x1=left, x2=_WIDTH - 125, y1=y(tick), y2=y(tick), class_="grid"))
        parts.append(tag("text", f"{tick:.0f} %", x=left - 8, y=y(tick), dy=4, text_anchor="end",
                         class_="tick"))  # fmt: skip
    for name, value in limits.items():
        parts.append(
            tag("line", x1=left, x2=_WIDTH - 125, y1=y(value), y2=y(value), class_="limit")
        )
        parts.append(tag("text", f"{name} {value:.1f} %", x=_WIDTH - 121, y=y(value), dy=4,
                         class_="tick"))  # fmt: skip
    parts += [
        tag("circle", cx=x(mean), cy=y(one.difference), r=3.5, fill=rater_color(one.rater),
            class_="point")
        for one, mean in zip(shown, means, strict=True)
    ]  # fmt: skip
    for power in np.linspace(means.min(), means.max(), 4) if high - low > 0.11 else [means.mean()]:
        parts.append(tag("text", _format_volume(10**power), x=x(power), y=_PLOT_HEIGHT + 14,
                         text_anchor="middle", class_="tick"))  # fmt: skip
    parts.append(tag("text", f"mean volume, {unit}", x=(_WIDTH - 65) / 2, y=_PLOT_HEIGHT + 32,
                     text_anchor="middle", class_="tick"))  # fmt: skip
    return _plot(parts, _PLOT_HEIGHT + _BOTTOM, title)


def _plot(parts: Sequence[Markup], height: int, title: str) -> Markup:
    picture = tag("svg", *parts, viewBox=f"0 0 {_WIDTH} {height}", role="img", aria_label=title,
                  class_="plot")  # fmt: skip
    return tag("figure", picture, tag("figcaption", title))


def _format_volume(volume: float) -> str:
    return f"{volume:.0f}" if volume >= 100 else f"{volume:.3g}"


def _at(place: float) -> str:
    return f"{place:.1f}"


class Dot(NamedTuple):
    """A value with its interval, whose bounds are NaN if there is no interval."""

    name: str
    value: float
    low: float
    high: float


def dot_plot(dots: Sequence[Dot], band: tuple[float, float, float] | None, title: str) -> Markup:
    """Draw a dot plot, one row per value, over a reference band (low, middle, high)."""
    values = [number for dot in dots for number in dot[1:]] + list(band or ())
    known = [number for number in values if math.isfinite(number)]
    low, high = min(known), max(known)
    margin = 0.06 * (high - low) or max(abs(high), 1.0) * 0.05
    low, high = low - margin, high + margin

    def x(value: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - 20) * (value - low) / (high - low)

    height = 20 + _ROW * len(dots)
    parts = []
    if band is not None:
        first, middle, last = (band[1] if math.isnan(one) else one for one in band)
        width = _at(max(x(last) - x(first), 1))
        parts.append(tag("rect", x=_at(x(first)), y=4, width=width, height=height - 4,
                         class_="ceiling"))  # fmt: skip
        parts.append(tag("line", x1=_at(x(middle)), x2=_at(x(middle)), y1=4, y2=height,
                         class_="limit"))  # fmt: skip
    for number, dot in enumerate(dots):
        y = 20 + _ROW * number
        parts.append(tag("text", dot.name, x=_LEFT - 10, y=y + 5, text_anchor="end"))
        if math.isfinite(dot.low):
            ends = {"x1": _at(x(dot.low)), "x2": _at(x(dot.high))}
            parts.append(tag("line", **ends, y1=y, y2=y, class_="median"))
        parts.append(tag("circle", cx=_at(x(dot.value)), cy=y, r=5, fill=rater_color(number),
                         class_="point"))  # fmt: skip
    for number in range(5):
        value = low + margin + (high - low - 2 * margin) * number / 4
        parts.append(tag("text", f"{value:.3g}", x=_at(x(value)), y=height + 16,
                         text_anchor="middle", class_="tick"))  # fmt: skip
    return _plot(parts, height + 24, title)
