"""The common base class of calibration records."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from typing import ClassVar

import itk_consensus
from itk_consensus.storage.record import SCHEMA_VERSION, Record


@dataclass(frozen=True)
class CalibrationRecord(Record):
    """Base: the result of a calibration."""

    checksum_problem: ClassVar[str] = (
        "the record was edited or damaged, as its checksum shows; calibrate again"
    )
    outdated_problem: ClassVar[str] = (
        f"{SCHEMA_VERSION} is the first released version, so older ones cannot be migrated; "
        "calibrate again"
    )


def library_versions() -> dict[str, str]:
    """The versions of the libraries that made a record."""
    libraries = {name: version(name) for name in ("numpy", "scipy", "SimpleITK")}
    return {"itk_consensus": itk_consensus.__version__, **libraries}
