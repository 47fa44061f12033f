"""Signed records: changes made without the key are detected."""

from __future__ import annotations

import hashlib
import hmac
from pathlib import Path

from itk_consensus.core.errors import FileError
from itk_consensus.storage.files import read_bytes, write_text

_SHORTEST_KEY = 16


def key_of(path: Path) -> bytes:
    """Return the key stored in a file, which consists of all its bytes."""
    key = read_bytes(path)
    if len(key) < _SHORTEST_KEY:
        raise FileError(
            f"holds {len(key)} bytes; a key needs {_SHORTEST_KEY}, as "
            "`head -c 32 /dev/urandom` makes them",
            path=path,
        )
    return key


def signature_path(record: Path) -> Path:
    """Return the path of a record's signature, which is beside the record."""
    return record.with_name(f"{record.name}.sig")


def signature_of(record: bytes, key: bytes) -> str:
    """Return the HMAC-SHA256 of a record's bytes; only owners of the key can compute it."""
    return hmac.new(key, record, hashlib.sha256).hexdigest()


def sign(record: Path, text: str, key: bytes) -> None:
    """Write the signature of a record's new contents, and keep that of the current contents.

    If the process is killed between writing the two files, one of the two signatures is still
    valid.
    """
    signatures = [signature_of(text.encode("utf-8", "backslashreplace"), key)]
    if record.is_file():
        signatures.append(signature_of(read_bytes(record), key))
    write_text(signature_path(record), "\n".join(signatures) + "\n")


def check_signature(record: Path, key: bytes) -> None:
    """Raise a `FileError` unless the record is unchanged since it was signed with this key."""
    place = signature_path(record)
    if not place.is_file():
        raise FileError(f"is not signed: there is no {place.name}", path=record)
    wanted = signature_of(read_bytes(record), key).encode()
    if not any(hmac.compare_digest(said, wanted) for said in read_bytes(place).split()):
        raise FileError("was changed, or signed with another key", path=record)
