"""A review stored on disk: its record after every action, and the map when it is saved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from numpy.typing import NDArray

from itk_consensus.core.array_types import Mask
from itk_consensus.core.errors import FileError
from itk_consensus.images.dicom.series import DicomSeries
from itk_consensus.images.geometry import ImageGeometry
from itk_consensus.review.case import ReviewCase
from itk_consensus.review.one_review import Remark, Stroke
from itk_consensus.review.record import ReviewRecord, default_record_path
from itk_consensus.review.signature import check_signature, sign
from itk_consensus.review.voxel_runs import Places


class ReviewSession:
    """One case and one reviewer; when a method returns, its changes are on disk.

    Parameters
    ----------
    output : Path, optional
        Where the adjudicated map is written; its record is beside it. By default nothing is
        written.
    raters : sequence of Path
        The readers' files, which DICOM output references.
    hide_consensus : bool
        Whether the consensus of a dispute is shown only after an initial decision about it.
    key : bytes, optional
        Key that signs the record; a resumed record must be signed with the same key.
    """

    def __init__(
        self,
        case: ReviewCase,
        output: Path | None = None,
        *,
        who: str = "",
        blinded: bool = False,
        hide_consensus: bool = False,
        series: DicomSeries | None = None,
        raters: tuple[Path, ...] = (),
        fresh: bool = False,
        key: bytes | None = None,
    ) -> None:
        self.output, self.series, self.raters = output, series, raters
        self._key = key
        self.hide_consensus = hide_consensus
        self.record_path = None if output is None else default_record_path(output)
        #: Whether the reviewer marked the case as finished; reset by any later action.
        self.done = False
        #: Number of actions in the map on disk.
        self.saved: int | None = None
        self.resumed = self.record_path is not None and self.record_path.exists() and not fresh
        if self.record_path is not None and self.resumed:
            if key is not None:
                check_signature(self.record_path, key)
            record, source = ReviewRecord.read(self.record_path), str(self.record_path)
            if record.blinded != blinded:
                how = "blinded" if record.blinded else "not blinded"
                raise FileError(f"{source}: this review was begun {how}; go on like that")
            if record.consensus_hidden != hide_consensus:
                how = "with the consensus " + ("hidden" if record.consensus_hidden else "shown")
                raise FileError(f"{source}: this review was begun {how}; go on like that")
            shuffled = case.blinded(record) if blinded else case
            self.case = shuffled.of_record(record, source)
            self.review = self.case.continued(record, source, who)
            self.done, self.saved = record.done, record.saved_actions
        else:
            self.case = case.blinded() if blinded else case
            self.review = self.case.begun(who)
        self._writer = self.case.writer(self.review, consensus_hidden=hide_consensus)

    @property
    def progress(self) -> Progress | None:
        """Return the progress of the review; None if it has no actions."""
        if not self.review.actions and not self.done:
            return None
        who = {one.who: None for one in self.review.actions if one.who}
        return Progress(
            len(self.review.disputes), len(self.review.undecided), tuple(who), self.done
        )

    def is_hidden(self, number: int) -> bool:
        """Whether the consensus of a dispute is still hidden."""
        return self.hide_consensus and number not in self.review.touched

    @property
    def is_saved(self) -> bool:
        """Whether the map on disk contains all decisions."""
        return self.saved == len(self.review.actions)

    def decide(
        self,
        number: int | Sequence[int],
        choice: str,
        value: int | None = None,
        remark: Remark | None = None,
    ) -> None:
        """Decide one or several disputes; see `Review.decide`."""
        self.review.decide(number, choice, value, remark)
        self._acted()

    def confirm(self, number: int, remark: Remark | None = None) -> None:
        """Decide a dispute as painted."""
        self.review.confirm(number, remark)
        self._acted()

    def reopen(self, number: int) -> None:
        """Unlock a decided dispute."""
        self.review.reopen(number)
        self._acted()

    def discard(self, number: int) -> None:
        """Discard what was painted in an open dispute."""
        self.review.discard(number)
        self._acted()

    def paint(self, structure: str, painted: NDArray[Any]) -> Stroke:
        """Apply a painted map; see `Review.paint`."""
        return self._painted(self.review.paint(structure, painted))

    def paint_voxels(self, structure: str, places: Places, labels: NDArray[Any]) -> Stroke:
        """Apply painted voxels; see `Review.paint_voxels`."""
        return self._painted(self.review.paint_voxels(structure, places, labels))

    def _painted(self, stroke: Stroke) -> Stroke:
        if stroke.drafted or stroke.corrected:
            self._acted()
        return stroke

    def undo(self) -> bool:
        """Undo the last action."""
        return self.review.undo() and self._acted()

    def redo(self) -> bool:
        """Redo the last undone action."""
        return self.review.redo() and self._acted()

    def _acted(self) -> bool:
        self.done = False  # a changed map is no longer finished
        self.keep()
        return True

    def prepare(self) -> None:
        """Precompute the constant parts of the record, to speed up the first decision."""
        if self.record_path is not None:
            self._writer.prepare()

    def keep(self) -> None:
        """Write the current record."""
        if self.record_path is not None:
            record = self._writer.record(done=self.done, saved=self.saved)
            if self._key is not None:
                sign(self.record_path, record.to_json(), self._key)
            record.write(self.record_path)

    def save(self, *, done: bool | None = None) -> None:
        """Write the adjudicated map, and the record.

        Parameters
        ----------
        done : bool, optional
            Whether the case is finished; by default the previous state is kept.
        """
        if self.output is not None:
            maps = {name: self.review.adjudicated(name) for name in self.review.rated}
            self.case.on_file.write(maps, self.output, self.series, self.raters)
            self.saved = len(self.review.actions)
        self.done = self.done if done is None else done
        self.keep()

    def result(self) -> Any:
        """Return the adjudicated label map as an image, or a list of images for structures."""
        maps = {name: self.review.adjudicated(name) for name in self.review.rated}
        if self.case.on_file.templates:
            return self.case.on_file.structures(maps)
        return self.case.on_file.image(maps[""])


class SeenImage(NamedTuple):
    """The image that the readers annotated."""

    voxels: NDArray[Any]
    geometry: ImageGeometry
    #: A reader's mask; the image is shown in the grey-value window suited to it.
    drawn: Mask | None = None


class Progress(NamedTuple):
    """Progress of the review of a case."""

    disputes: int
    undecided: int
    who: tuple[str, ...] = ()  #: Names of all who made a decision
    done: bool = False  #: Whether a reviewer marked the case as finished

    @classmethod
    def of(cls, record: ReviewRecord) -> Progress:
        """Return the progress stored in a record."""
        who = {one.who: None for one in record.actions if one.who}
        return cls(len(record.disputes), record.undecided, tuple(who), record.done)

    def __str__(self) -> str:
        return f"{'done, ' * self.done}{self.undecided} of {self.disputes} undecided"


@dataclass(frozen=True)
class CaseToOpen:
    """A case whose image can be viewed while its readers are being fused."""

    title: str
    session: Callable[[], ReviewSession]  #: Returns the session; takes as long as fusing
    image: Callable[[], SeenImage | None] = lambda: None
    before: Progress | None = None  #: Earlier progress; None if the review was not begun
    verdict: str = ""  #: Verdict of the batch that contains the case
