"""Errors and warnings of the package.

Every error is also a ``ValueError`` or a ``RuntimeError``, so scripts written against SimpleITK
(which raises ``RuntimeError``) or NumPy (``ValueError``) keep working.
"""

from __future__ import annotations


class ConsensusError(Exception):
    """Base of every error this package raises on purpose."""


class InputError(ConsensusError, ValueError, RuntimeError):
    """The images handed to a filter cannot be fused as they are."""


class GeometryError(InputError):
    """Inputs do not occupy the same physical space."""


class ParameterError(ConsensusError, ValueError, RuntimeError):
    """A parameter value is outside what the filter accepts."""


class NotExecutedError(ConsensusError, RuntimeError):
    """A measurement or output was asked for before Execute."""


class MissingDependencyError(ConsensusError, ImportError, RuntimeError):
    """An optional package is needed; the message names the extra that installs it."""


class ProcessAborted(ConsensusError, RuntimeError):
    """Abort() was called before there was any estimate to return."""


class TrainingError(ConsensusError, RuntimeError):
    """Training did not lead to a model."""


class FileError(ConsensusError, RuntimeError):
    """A file could not be read or written."""


class ConsensusWarning(UserWarning):
    """A result is undefined, label-switched or without its guarantee; never mere advice."""
