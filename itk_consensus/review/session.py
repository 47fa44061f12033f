"""A review that is kept on disk: after every action its record, and the map when it is saved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from numpy.typing import NDArray

from itk_consensus.core.errors import FileError
from itk_consensus.images.dicom.series import DicomSeries
from itk_consensus.images.geometry import ImageGeometry
from itk_consensus.review.case import ReviewCase
from itk_consensus.review.record import ReviewRecord, default_record_path


class ReviewSession:
    """One case, one reviewer. What `review` has in memory is on disk when a method returns.

    Parameters
    ----------
    output : Path, optional
        Where the adjudicated map goes; its record lies beside it. Without it nothing is written.
    raters : sequence of Path
        The readers' files, to which DICOM refers.
    """

    def __init__(
        self,
        case: ReviewCase,
        output: Path | None = None,
        *,
        who: str = "",
        blinded: bool = False,
        series: DicomSeries | None = None,
        raters: tuple[Path, ...] = (),
        fresh: bool = False,
    ) -> None:
        self.case = case.blinded() if blinded else case
        self.output, self.series, self.raters = output, series, raters
        self.record_path = None if output is None else default_record_path(output)
        self.resumed = False
        self.done = False
        if self.record_path is not None and self.record_path.exists() and not fresh:
            record = ReviewRecord.read(self.record_path)
            if record.blinded != blinded:
                how = "blinded" if record.blinded else "not blinded"
                raise FileError(f"{self.record_path}: this review was begun {how}; go on like that")
            self.review = self.case.continued(record, str(self.record_path), who)
            self.resumed, self.done = True, record.done
        else:
            self.review = self.case.begun(who)
        self._writer = self.case.writer(self.review, blinded=blinded)

    def decide(self, number: int, choice: str, value: int | None = None) -> None:
        """Decide a dispute, as `Review.decide`."""
        self.review.decide(number, choice, value)
        self.keep()

    def clear(self, number: int) -> None:
        """Make a dispute undecided again."""
        self.review.clear(number)
        self.keep()

    def paint(self, structure: str, painted: NDArray[Any]) -> list[int]:
        """Take over what was painted, as `Review.paint`."""
        touched = self.review.paint(structure, painted)
        self.keep()
        return touched

    def undo(self) -> bool:
        """Take the last action back."""
        undone = self.review.undo()
        self.keep()
        return undone

    def keep(self) -> None:
        """Write the record as it is now."""
        if self.record_path is not None:
            self._writer.write(self.record_path, done=self.done)

    def save(self, *, done: bool = False) -> None:
        """Write the adjudicated map, and the record; `done` says that nobody need look again."""
        self.done = done
        if self.output is not None:
            maps = {name: self.review.adjudicated(name) for name in self.review.rated}
            self.case.on_file.write(maps, self.output, self.series, self.raters)
        self.keep()

    def result(self) -> Any:
        """The adjudicated label map as an image; of structures a list of them."""
        maps = {name: self.review.adjudicated(name) for name in self.review.rated}
        if self.case.on_file.templates:
            return self.case.on_file.structures(maps)
        return self.case.on_file.image(maps[""])


class SeenImage(NamedTuple):
    """What readers looked at."""

    voxels: NDArray[Any]
    geometry: ImageGeometry


@dataclass(frozen=True)
class CaseToOpen:
    """A case whose image can be looked at while its readers are fused."""

    title: str
    session: Callable[[], ReviewSession]  #: Takes as long as fusing
    image: Callable[[], SeenImage | None] = lambda: None
