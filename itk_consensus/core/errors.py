"""Errors and warnings of the package.

Every error is also a ``ValueError`` or a ``RuntimeError``, so scripts written against SimpleITK
(which raises ``RuntimeError``) or NumPy (``ValueError``) keep working.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TypedDict, TypeVar

E = TypeVar("E", bound="ConsensusError")


class Where(TypedDict, total=False):
    """Subject of an error, as keywords: ``InputError("has no voxels", **where)``."""

    owner: str
    parameter: str
    input_index: int
    path: str | os.PathLike[str]


class ConsensusError(Exception):
    """Base class of all errors raised by this package; the message is composed of the fields.

    Attributes
    ----------
    problem : str
        Description of the problem, and how to solve it.
    owner : str
        Filter or function that was called.
    parameter : str
        Parameter with the invalid value.
    input_index : int or None
        Index of the invalid input.
    path : path or None
        File to which the error refers.
    mentions : sequence of str
        Other parameters, whose names appear in braces in `problem`.
    """

    def __init__(
        self,
        problem: str = "",
        *,
        owner: str = "",
        parameter: str = "",
        input_index: int | None = None,
        path: str | os.PathLike[str] | None = None,
        mentions: Sequence[str] = (),
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.owner = owner
        self.parameter = parameter
        self.input_index = input_index
        self.path = path
        self.mentions = mentions

    def __str__(self) -> str:
        subject = self.parameter
        if self.input_index is not None:
            subject += f"[{self.input_index}]" if subject else f"input {self.input_index}"
        before = [f"{part}: " for part in (self.owner, self.path) if part]
        return "".join(before) + f"{subject} {self._problem_with(str)}".strip()

    def _problem_with(self, spelled: Callable[[str], str]) -> str:
        problem = self.problem
        for name in self.mentions:
            problem = problem.replace(f"{{{name}}}", spelled(name))
        return problem

    def about(
        self: E, *, owner: str | None = None, path: str | os.PathLike[str] | None = None
    ) -> E:
        """Return a copy of the error with another owner or path."""
        return type(self)(
            self.problem,
            owner=self.owner if owner is None else owner,
            parameter=self.parameter,
            input_index=self.input_index,
            path=self.path if path is None else path,
            mentions=self.mentions,
        )

    def respelled(self: E, owner: str, spelled: Callable[[str], str]) -> E:
        """Return a copy of the error with the owner and the parameters renamed."""
        return type(self)(
            self._problem_with(spelled),
            owner=owner,
            parameter=spelled(self.parameter) if self.parameter else "",
            input_index=self.input_index,
            path=self.path,
        )


class InputError(ConsensusError, ValueError, RuntimeError):
    """The inputs of a filter or function are invalid."""


class GeometryError(InputError):
    """Inputs do not occupy the same physical space."""


class ParameterError(ConsensusError, ValueError, RuntimeError):
    """A parameter value is outside what the filter accepts."""


class NotExecutedError(ConsensusError, RuntimeError):
    """A measurement or output was requested before Execute."""


class MissingDependencyError(ConsensusError, ImportError, RuntimeError):  # type: ignore[misc]
    """A required optional package is missing; the message names the extra that installs it."""


class ProcessAborted(ConsensusError, RuntimeError):
    """Abort() was called before an estimate was available."""


class TrainingError(ConsensusError, RuntimeError):
    """Training did not produce a model."""


class FileError(ConsensusError, RuntimeError):
    """A file could not be read or written."""


class ConsensusWarning(UserWarning):
    """A result is undefined, label-switched or without its guarantee."""
