"""Base class of filters that learn from cases: a record that is saved, loaded and pickled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from itk_consensus.core.errors import FileError, NotExecutedError, ParameterError
from itk_consensus.core.parameters import defensive_copy, find_parameter
from itk_consensus.core.process_object import ProcessObject, on_class_or_instance
from itk_consensus.storage.files import PathLike, read_bytes

R = TypeVar("R")
Keeper = TypeVar("Keeper", bound="RecordKeeper[Any]")


class RecordKeeper(ProcessObject, Generic[R]):
    """Base class of filters that store what they learned from cases in a record, for use on
    other cases.
    """

    record_class: ClassVar[type[Any]]
    #: Name of the method that creates a record, used in messages.
    learns_by: ClassVar[str] = "Calibrate"

    _record: R | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "record": self._record}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._record = state["record"]

    def GetRecord(self) -> R:
        """Return the record that was learned or loaded last."""
        return defensive_copy(self._known_record())

    def Save(self, path: PathLike) -> None:
        """Write the record as JSON, replacing the file atomically."""
        record: Any = self._known_record()
        record.write(Path(path))

    @on_class_or_instance
    def Load(self, path: PathLike) -> Any:
        """Load a saved record and its options; when called on the class, make a new filter."""
        record = self.record_class.from_json(text_of(path), str(path))
        for name, value in self._parameters_of(record).items():
            setattr(self, name, value)
        return self._take(record)

    @classmethod
    def FromRecord(cls: type[Keeper], record: Any, **parameters: Any) -> Keeper:
        """Create a filter with a record and its options, some of which may be overridden."""
        return cls(**{**cls._parameters_of(record), **parameters})._take(record)

    def _known_record(self) -> R:
        if self._record is None:
            raise NotExecutedError(f"needs {self.learns_by} or Load first", owner=self.GetName())
        return self._record

    def _take(self: Keeper, record: Any) -> Keeper:
        """Adopt a record that another filter made."""
        self._record = defensive_copy(record)
        return self

    @classmethod
    def _parameters_of(cls, record: Any) -> dict[str, Any]:
        """Return the options of a record, keyed by the names of this filter's parameters."""
        known = record.parameters.items()
        return {find_parameter(cls, name, cls.__name__).name: value for name, value in known}

    def _reject_other(self, made_with: Mapping[str, Any], given: Mapping[str, Any]) -> None:
        """Raise if a known property differs from the one with which the record was made."""
        for name, expected in made_with.items():
            if None not in (expected, given[name]) and expected != given[name]:
                raise ParameterError(
                    f"the calibration was made with {name} {expected}, "
                    f"this is {given[name]}; calibrate again for it",
                    owner=self.GetName(),
                )

    def _tell(self, messages: Iterable[str]) -> None:
        for message in messages:
            self._warn(message)


def text_of(path: PathLike) -> str:
    """Read the text of a record's file."""
    try:
        return read_bytes(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise FileError(f"is not a calibration record: {error}", path=path) from error
