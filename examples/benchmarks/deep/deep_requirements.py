"""Measured values, their requirements, and whether these are met."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from examples.benchmarks.run_facts import run_facts

#: Up to this number of seeds, tables show the value for each seed.
_FEW = 3


class Want(NamedTuple):
    """A required limit of a measured value; its kind is one of `_WAYS`.

    Limits were set before the experiments were run on the reported seeds.
    """

    figure: str
    way: str
    limit: float


class Requirement(NamedTuple):
    """A requirement for a measured value, and whether it is met.

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
        """Return whether the value is a time, which depends on the machine and is not tested."""
        return self.figure.endswith("CPU_seconds")

    @property
    def verdict(self) -> str:
        """Return the result in one word."""
        return "met" if self.met else "MISSED"


@dataclass
class Experiment:
    """Named results, each with one value per seed, and their requirements."""

    name: str
    figures: dict[str, list[float]] = field(default_factory=dict)
    seeds: list[int] = field(default_factory=list)
    wants: list[Want] = field(default_factory=list)
    runs: list[dict[str, str]] = field(default_factory=list)  #: The run of each seed

    def add(self, seed: int | None = None, /, **figures: float) -> None:
        """Append the values of one seed."""
        self.seeds += [] if seed is None else [seed]
        self.runs.append(run_facts())
        for name, value in figures.items():
            self.figures.setdefault(name, []).append(float(value))

    def at_least(self, figure: str, limit: float, *, of_mean: bool = False) -> None:
        """Require every value, or the mean of all values, to be at least a limit."""
        self.wants.append(Want(figure, "mean >=" if of_mean else ">=", limit))

    def above(self, figure: str, limit: float) -> None:
        """Require every value to exceed a limit."""
        self.wants.append(Want(figure, ">", limit))

    def clearly_above(self, figure: str, limit: float) -> None:
        """Require the mean to exceed a limit by more than two standard errors."""
        self.wants.append(Want(figure, "mean - 2 standard errors >", limit))

    def at_most(self, figure: str, limit: float) -> None:
        """Require that no value exceeds a limit."""
        self.wants.append(Want(figure, "<=", limit))

    @property
    def requirements(self) -> list[Requirement]:
        """Return the requirements, and whether they are met."""
        return [
            Requirement(
                one.figure,
                f"{one.way} {one.limit:g}",
                tuple(self.figures[one.figure]),
                bool(_WAYS[one.way](self.figures[one.figure], one.limit)),
            )
            for one in self.wants
        ]

    def missed(self) -> list[Requirement]:
        """Return the requirements that are not met, except for times."""
        return [one for one in self.requirements if not one.met and not one.is_a_time]

    def context(self) -> dict[str, list[float]]:
        """Return the results without requirements."""
        wanted = {one.figure for one in self.wants}
        return {name: values for name, values in self.figures.items() if name not in wanted}

    def joined(self, earlier: Experiment) -> Experiment:
        """Return the experiment with the seeds of an earlier run, for results in both runs."""
        if not self.seeds or not earlier.seeds:
            return self
        kept = [place for place, seed in enumerate(earlier.seeds) if seed not in self.seeds]
        seeds = [earlier.seeds[place] for place in kept] + self.seeds
        order = sorted(range(len(seeds)), key=seeds.__getitem__)
        runs = [earlier.runs[place] for place in kept] + self.runs
        figures = {}
        for name in self.figures.keys() & earlier.figures.keys():
            values = [earlier.figures[name][place] for place in kept] + self.figures[name]
            figures[name] = [values[place] for place in order]
        in_order = {name: figures[name] for name in self.figures if name in figures}
        runs = [runs[place] for place in order]
        return Experiment(self.name, in_order, sorted(seeds), self.wants, runs)

    def __str__(self) -> str:
        lines = [self.name]
        lines += [f"            {_words(n)}: {_numbers(v)}" for n, v in self.context().items()]
        lines += [
            f"    {one.verdict:<6}  {_words(one.figure)} {one.wanted}: {_numbers(one.values)}"
            for one in self.requirements
        ]
        return "\n".join(lines)


_WAYS: Mapping[str, Callable[[Sequence[float], float], Any]] = {
    ">=": lambda values, limit: np.min(values) >= limit,
    ">": lambda values, limit: np.min(values) > limit,
    "<=": lambda values, limit: np.max(values) <= limit,
    "mean >=": lambda values, limit: np.mean(values) >= limit,
    "mean - 2 standard errors >": lambda values, limit: (
        np.subtract(*np.multiply(mean_and_error(values), (1, 2))) > limit
    ),
}


def save(experiments: Sequence[Experiment], path: Path) -> None:
    """Store experiments in a file, merged with its other seeds and experiments."""
    kept = {one.name: one for one in (load(path) if path.exists() else [])}
    for one in experiments:
        kept[one.name] = one.joined(kept[one.name]) if one.name in kept else one
    rows = [asdict(kept[name]) for name in sorted(kept)]
    path.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def load(path: Path) -> list[Experiment]:
    """Return the experiments that `save` stored."""
    rows = json.loads(path.read_text(encoding="utf-8"))
    return [Experiment(**{**row, "wants": [Want(*one) for one in row["wants"]]}) for row in rows]


def markdown(experiments: Sequence[Experiment]) -> str:
    """Format a table with a row for each requirement and each other result."""
    lines = ["| phantoms | figure | wanted | measured | |", "|---|---|---|---|---|"]
    for experiment in experiments:
        title = experiment.name + _which(experiment.seeds)
        for cells in _rows(experiment):
            lines.append(f"| {' | '.join((title, *cells))} |")
            title = ""
    return "\n".join(lines)


def _rows(experiment: Experiment) -> Iterator[tuple[str, str, str, str]]:
    for one in experiment.requirements:
        yield _words(one.figure), one.wanted, _numbers(one.values), one.verdict
    for name, values in experiment.context().items():
        yield _words(name), "", _numbers(values), ""


def _which(seeds: Sequence[int]) -> str:
    if len(seeds) < 2:
        return "".join(f", seed {seed}" for seed in seeds)
    return f", seeds {min(seeds)} to {max(seeds)}"


def _words(name: str) -> str:
    return name.replace("_", " ").replace("CPU seconds", "CPU-s")


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean over seeds and its standard error, which is undefined for a single seed."""
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return float(np.mean(values)), float(error)


def _numbers(values: Sequence[float]) -> str:
    """Format all values or, if there are many, mean, standard error and range."""
    if len(values) <= _FEW:
        return " ".join(map(_number, values))
    mean, error = (_number(value) for value in mean_and_error(values))
    return f"{mean} ± {error} ({_number(min(values))} to {_number(max(values))})"


def _number(value: float) -> str:
    return f"{value:.2g}" if abs(value) < 1e-3 else f"{value:.4g}"
