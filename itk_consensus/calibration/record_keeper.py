"""What filters share that learn from cases: a record kept, saved, loaded and pickled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from itk_consensus.core.errors import FileError, NotExecutedError, ParameterError
from itk_consensus.core.parameters import find_parameter, handed_out
from itk_consensus.core.process_object import ProcessObject, on_class_or_instance
from itk_consensus.storage.files import PathLike, read_bytes

R = TypeVar("R")
Keeper = TypeVar("Keeper", bound="RecordKeeper[Any]")


class RecordKeeper(ProcessObject, Generic[R]):
    """Base: what is learned from some cases is a record that serves further ones."""

    record_class: ClassVar[type[Any]]
    #: The method that makes a record, for messages.
    learns_by: ClassVar[str] = "Calibrate"

    _record: R | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "record": self._record}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._record = state["record"]

    def GetRecord(self) -> R:
        """What was learned last, or loaded."""
        return handed_out(self._known_record())

    def Save(self, path: PathLike) -> None:
        """Write the record as JSON, replacing the file in one step."""
        record: Any = self._known_record()
        record.write(Path(path))

    @on_class_or_instance
    def Load(self, path: PathLike) -> Any:
        """Take what a saved record holds, options too; the class makes a new filter."""
        record = self.record_class.from_json(text_of(path), str(path))
        for name, value in self._parameters_of(record).items():
            setattr(self, name, value)
        return self._take(record)

    @classmethod
    def FromRecord(cls: type[Keeper], record: Any, **parameters: Any) -> Keeper:
        """Make a filter with a record and the options it was made with, or others given."""
        return cls(**{**cls._parameters_of(record), **parameters})._take(record)

    def _known_record(self) -> R:
        if self._record is None:
            raise NotExecutedError(f"needs {self.learns_by} or Load first", owner=self.GetName())
        return self._record

    def _take(self: Keeper, record: Any) -> Keeper:
        """Have a record that was made elsewhere."""
        self._record = handed_out(record)
        return self

    @classmethod
    def _parameters_of(cls, record: Any) -> dict[str, Any]:
        """The options a record was made with, by the names they have here."""
        known = record.parameters.items()
        return {find_parameter(cls, name, cls.__name__).name: value for name, value in known}

    def _reject_other(self, made_with: Mapping[str, Any], given: Mapping[str, Any]) -> None:
        """Raise if something is known to differ from what the record was made with."""
        for name, wanted in made_with.items():
            if None not in (wanted, given[name]) and wanted != given[name]:
                raise ParameterError(
                    f"the calibration was made with {name} {wanted}, "
                    f"this is {given[name]}; calibrate again for it",
                    owner=self.GetName(),
                )

    def _tell(self, messages: Iterable[str]) -> None:
        for message in messages:
            self._warn(message)


def text_of(path: PathLike) -> str:
    """The text of a record's file."""
    try:
        return read_bytes(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise FileError(f"is not a calibration record: {error}", path=path) from error
