"""The records of calibrations: what they have in common."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from typing import ClassVar

import itk_consensus
from itk_consensus.storage.record import SCHEMA_VERSION, Record


@dataclass(frozen=True)
class CalibrationRecord(Record):
    """The result of a calibration."""

    edited: ClassVar[str] = (
        "the record is damaged: it was edited: its checksum differs; calibrate again"
    )
    outdated: ClassVar[str] = (
        f"{SCHEMA_VERSION} is the first that was released, so there is nothing to migrate it from; "
        "calibrate again"
    )


def library_versions() -> dict[str, str]:
    """The versions of the libraries that made a record."""
    libraries = {name: version(name) for name in ("numpy", "scipy", "SimpleITK")}
    return {"itk_consensus": itk_consensus.__version__, **libraries}
