"""The common base class of calibration records."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from typing import ClassVar

import itk_consensus
from itk_consensus.storage.record import SCHEMA_VERSION, Record


@dataclass(frozen=True)
class CalibrationRecord(Record):
    """Base class for the result of a calibration."""

    checksum_problem: ClassVar[str] = (
        "the record was edited or damaged, as its checksum shows; calibrate again"
    )
    outdated_problem: ClassVar[str] = (
        f"{SCHEMA_VERSION} is the first released version, so older ones cannot be migrated; "
        "calibrate again"
    )


def library_versions() -> dict[str, str]:
    """Return the versions of the libraries that are written to a record."""
    libraries = {name: version(name) for name in ("numpy", "scipy", "SimpleITK")}
    return {"itk_consensus": itk_consensus.__version__, **libraries}
