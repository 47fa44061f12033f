"""Figures, what is wanted of them, and whether they are it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

#: Up to so many seeds, a table shows the figure of each.
_FEW = 3


class Requirement(NamedTuple):
    """One thing wanted of a figure.

    Attributes
    ----------
    figure : str
    wanted : str
    values : tuple of float
        One for each seed.
    met : bool
    """

    figure: str
    wanted: str
    values: tuple[float, ...]
    met: bool

    @property
    def is_a_time(self) -> bool:
        """Whether it depends on the machine; no test asserts those."""
        return self.figure.endswith("CPU_seconds")

    @property
    def verdict(self) -> str:
        """In one word."""
        return "met" if self.met else "MISSED"


@dataclass
class Experiment:
    """Figures by name, each with one value per seed, and what is wanted of them."""

    name: str
    figures: dict[str, list[float]] = field(default_factory=dict)
    requirements: list[Requirement] = field(default_factory=list)

    def add(self, **figures: float) -> None:
        """Append one seed's figures."""
        for name, value in figures.items():
            self.figures.setdefault(name, []).append(float(value))

    def at_least(self, figure: str, limit: float, *, of_mean: bool = False) -> None:
        """Want every value, or their mean, to reach a limit."""
        self._want(figure, ">=", limit, np.greater_equal, of_mean)

    def above(self, figure: str, limit: float) -> None:
        """Want every value to exceed a limit."""
        self._want(figure, ">", limit, np.greater, False)

    def clearly_above(self, figure: str, limit: float) -> None:
        """Want the mean to exceed a limit by more than two standard errors."""
        mean, error = mean_and_error(self.figures[figure])
        met = bool(mean - 2 * error > limit)
        wanted = f"mean - 2 standard errors > {limit:g}"
        self.requirements.append(Requirement(figure, wanted, tuple(self.figures[figure]), met))

    def at_most(self, figure: str, limit: float) -> None:
        """Want no value to exceed a limit."""
        self._want(figure, "<=", limit, np.less_equal, False)

    def missed(self) -> list[Requirement]:
        """What is not met, times aside."""
        return [one for one in self.requirements if not one.met and not one.is_a_time]

    def context(self) -> dict[str, list[float]]:
        """The figures of which nothing is wanted."""
        wanted = {one.figure for one in self.requirements}
        return {name: values for name, values in self.figures.items() if name not in wanted}

    def _want(
        self, figure: str, sign: str, limit: float, holds: Callable[..., object], of_mean: bool
    ) -> None:
        values = self.figures[figure]
        compared = np.mean(values) if of_mean else np.asarray(values)
        wanted = f"{'mean ' if of_mean else ''}{sign} {limit:g}"
        met = bool(np.all(holds(compared, limit)))
        self.requirements.append(Requirement(figure, wanted, tuple(values), met))

    def __str__(self) -> str:
        lines = [self.name]
        lines += [f"            {_words(n)}: {_numbers(v)}" for n, v in self.context().items()]
        lines += [
            f"    {one.verdict:<6}  {_words(one.figure)} {one.wanted}: {_numbers(one.values)}"
            for one in self.requirements
        ]
        return "\n".join(lines)


def markdown(experiments: Sequence[Experiment]) -> str:
    """A table with a row for each requirement."""
    lines = ["| phantoms | figure | wanted | measured | |", "|---|---|---|---|---|"]
    for experiment in experiments:
        title = experiment.name
        for one in experiment.requirements:
            cells = (title, _words(one.figure), one.wanted, _numbers(one.values), one.verdict)
            lines.append(f"| {' | '.join(cells)} |")
            title = ""
        beside = "; ".join(f"{_words(n)} {_numbers(v)}" for n, v in experiment.context().items())
        if beside:
            lines.append(f"| | {beside} | | | |")
    return "\n".join(lines)


def _words(name: str) -> str:
    return name.replace("_", " ").replace("CPU seconds", "CPU-s")


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """The mean over seeds and its standard error; without a second seed that is unknown."""
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return float(np.mean(values)), float(error)


def _numbers(values: Sequence[float]) -> str:
    """Every value, or of many their mean, its standard error and the range."""
    if len(values) <= _FEW:
        return " ".join(map(_number, values))
    mean, error = (_number(value) for value in mean_and_error(values))
    return f"{mean} ± {error} ({_number(min(values))} to {_number(max(values))})"


def _number(value: float) -> str:
    return f"{value:.2g}" if abs(value) < 1e-3 else f"{value:.4g}"
