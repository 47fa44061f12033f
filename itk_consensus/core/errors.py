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
    """What an error is about, to be passed on: ``InputError("has no voxels", **where)``."""

    owner: str
    parameter: str
    input_index: int
    path: str | os.PathLike[str]


class ConsensusError(Exception):
    """Base of every error this package raises on purpose; its text is made from its fields.

    Attributes
    ----------
    problem : str
        What is wrong, and what to do about it.
    owner : str
        The filter or function that was called.
    parameter : str
        The parameter that is wrong.
    input_index : int or None
        The input that is wrong.
    path : path or None
        The file that is wrong.
    mentions : sequence of str
        Other parameters, which the problem names in braces.
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
        """The same error of another owner, or about another file."""
        return type(self)(
            self.problem,
            owner=self.owner if owner is None else owner,
            parameter=self.parameter,
            input_index=self.input_index,
            path=self.path if path is None else path,
            mentions=self.mentions,
        )

    def respelled(self: E, owner: str, spelled: Callable[[str], str]) -> E:
        """The same error for those who know owner and parameters by other names."""
        return type(self)(
            self._problem_with(spelled),
            owner=owner,
            parameter=spelled(self.parameter) if self.parameter else "",
            input_index=self.input_index,
            path=self.path,
        )


class InputError(ConsensusError, ValueError, RuntimeError):
    """The images handed to a filter cannot be fused as they are."""


class GeometryError(InputError):
    """Inputs do not occupy the same physical space."""


class ParameterError(ConsensusError, ValueError, RuntimeError):
    """A parameter value is outside what the filter accepts."""


class NotExecutedError(ConsensusError, RuntimeError):
    """A measurement or output was asked for before Execute."""


class MissingDependencyError(ConsensusError, ImportError, RuntimeError):  # type: ignore[misc]
    """An optional package is needed; the message names the extra that installs it."""


class ProcessAborted(ConsensusError, RuntimeError):
    """Abort() was called before there was any estimate to return."""


class TrainingError(ConsensusError, RuntimeError):
    """Training did not lead to a model."""


class FileError(ConsensusError, RuntimeError):
    """A file could not be read or written."""


class ConsensusWarning(UserWarning):
    """A result is undefined, label-switched or without its guarantee; never mere advice."""
