"""Record of the files that a run wrote into a folder, stored there as a JSON file.

The record is written before the files, and again after them with their hashes. Therefore, even
after a crash, every file can be assigned to a finished run (its hash matches), to an unfinished run
(it is listed without a hash), or to neither.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from itk_consensus.core.errors import FileError
from itk_consensus.report.text import PROGRAM
from itk_consensus.storage.files import read_bytes, write_text
from itk_consensus.storage.hashes import file_hash


@dataclass(frozen=True)
class FolderRecord:
    """The content of a record; a file is considered ours only if its hash matches."""

    path: Path  #: The record's own file, next to the files
    #: All data on which the contents of the files depend
    fingerprint: Mapping[str, Any] = field(default_factory=dict)
    #: SHA-256 of each file by name; None for a file that is still being written.
    written: Mapping[str, str | None] = field(default_factory=dict)
    #: Additional results; None until all files have been written
    result: Mapping[str, Any] | None = None

    @classmethod
    def read(cls, path: Path) -> FolderRecord | None:
        """Read a record; return None if there is none, or if the file was written by another
        program.

        A damaged record is read as an empty one, so existing files are never mistaken for ours.

        Raises
        ------
        FileError
            The path is not a file, or the file cannot be read.
        """
        if not os.path.lexists(path):
            return None
        text = read_bytes(path)
        try:
            content = json.loads(text)
        except (ValueError, RecursionError):
            return cls(path) if text[:1] in (b"", b"{") else None
        if not isinstance(content, dict) or content.get("made_by") != PROGRAM:
            return None
        fingerprint, result = content.get("fingerprint"), content.get("result")
        written: Any = content.get("written")
        if not isinstance(fingerprint, dict) or not _are_hashes(written):
            return cls(path)
        return cls(path, fingerprint, written, result if isinstance(result, dict) else None)

    def is_whole(self) -> bool:
        """Whether the run has finished and all its files are unchanged."""
        if self.result is None:
            return False
        return all(_holds(self.path.parent / name, self.written[name]) for name in self.written)


def begin(path: Path, fingerprint: Mapping[str, Any], names: Iterable[str]) -> FolderRecord:
    """Record that files are about to be written; the files of the previous run remain listed."""
    before = FolderRecord.read(path)
    known = {} if before is None else before.written
    record = FolderRecord(path, fingerprint, {**known, **dict.fromkeys(names)})
    _write(record)
    return record


def finish(record: FolderRecord, names: Iterable[str], result: Mapping[str, Any]) -> None:
    """Record that the files have been written, and delete earlier files that were not rewritten."""
    folder = record.path.parent
    written = {name: file_hash(folder / name) for name in names if (folder / name).exists()}
    for name in record.written.keys() - written.keys():
        known = record.written[name]
        if known is None or _holds(folder / name, known):
            (folder / name).unlink(missing_ok=True)
    _write(FolderRecord(record.path, record.fingerprint, written, result))


def require_ours(path: Path, names: Iterable[str]) -> None:
    """Raise if files to be replaced are not listed in the record or were modified.

    Raises
    ------
    FileError
        A file is not listed in the record or has changed since. Empty files are ignored.
    """
    record = FolderRecord.read(path)
    if record is None and os.path.lexists(path):
        raise FileError(f"{path} exists; give --overwrite to replace it")
    for name in names:
        file = path.parent / name
        if not file.is_symlink() and (not file.exists() or file.stat().st_size == 0):
            continue
        if record is None or name not in record.written:
            damaged = "" if record is None or record.written else f", and {path.name} is damaged"
            raise FileError(f"{file} exists{damaged}; give --overwrite to replace it")
        expected = record.written[name]
        if expected is not None and not _holds(file, expected):
            raise FileError(
                f"{file} was changed after it was written; give --overwrite to replace it"
            )


def _write(record: FolderRecord) -> None:
    content = {
        "made_by": PROGRAM,
        "fingerprint": dict(record.fingerprint),
        "written": dict(record.written),
        "result": record.result,
    }
    write_text(record.path, json.dumps(content, indent=2) + "\n")


def _are_hashes(written: Any) -> bool:
    """Whether a value maps names of files in one folder to hashes or None."""
    return isinstance(written, dict) and all(
        name == Path(name).name and name != ".." and isinstance(value, str | None)
        for name, value in written.items()
    )


def _holds(file: Path, digest: str | None) -> bool:
    try:
        return file_hash(file) == digest
    except FileError:
        return False
