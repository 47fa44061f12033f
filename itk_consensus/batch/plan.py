"""Settings of a batch, which apply to every case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Plan:
    """Settings of a batch, which apply to every case."""

    method: str
    output: Path  #: Folder in which each case gets its own folder
    #: Parameters of the method's filter; images are passed as paths.
    parameters: Mapping[str, Any] = field(default_factory=dict)
    reports: bool = False  #: Whether each case gets a page
    threads: int = 1  #: Number of threads per case
    overwrite: bool = False  #: Whether files not written by an earlier run may be replaced
    suffix: str = ".nii.gz"
    surfaces: bool = False  #: Whether distances between contours are measured
    bids: bool = False  #: Whether files are named and described as BIDS derivatives
    excel: bool = False  #: Whether the tables are also written as a workbook
    #: Appearance of pages: keyword arguments of `itk_consensus.report`.
    look: Mapping[str, Any] = field(default_factory=dict)
    full: bool = False  #: Whether results are compared with Consensus
    accept_own_outputs: bool = False  #: Whether results of earlier runs are accepted as raters
    volume_intervals: bool = False  #: Whether intervals for another rater's volume are computed
    #: Whether label maps are written directly into the folder and named after their cases
    nnunet: bool = False
    learned: Path | None = None  #: Record of a learned fusion, used in place of the method

    def absolute(self) -> Plan:
        """Return the same plan with absolute paths, for processes in another working directory."""
        parameters = {
            name: value.absolute() if isinstance(value, Path) else value
            for name, value in self.parameters.items()
        }
        learned = None if self.learned is None else self.learned.absolute()
        return replace(self, output=self.output.absolute(), parameters=parameters, learned=learned)
