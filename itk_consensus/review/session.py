"""A review that is kept on disk: after every action its record, and the map when it is saved."""

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
    """One case, one reviewer. What `review` has in memory is on disk when a method returns.

    Parameters
    ----------
    output : Path, optional
        Where the adjudicated map goes; its record lies beside it. Without it nothing is written.
    raters : sequence of Path
        The readers' files, to which DICOM refers.
    hide_consensus : bool
        Whether the consensus of a dispute is seen only after a first opinion about it.
    key : bytes, optional
        Signs the record, and must have signed one that is resumed.
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
        #: Whether the reviewer said that nobody need look again; no longer once anything is done.
        self.done = False
        #: How many actions the map on disk holds.
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
        """How far the review is; None while nothing was done."""
        if not self.review.actions and not self.done:
            return None
        who = {one.who: None for one in self.review.actions if one.who}
        return Progress(
            len(self.review.disputes), len(self.review.undecided), tuple(who), self.done
        )

    def is_hidden(self, number: int) -> bool:
        """Whether the consensus of a dispute is not to be seen yet."""
        return self.hide_consensus and number not in self.review.touched

    @property
    def is_saved(self) -> bool:
        """Whether the map on disk is what was decided."""
        return self.saved == len(self.review.actions)

    def decide(
        self,
        number: int | Sequence[int],
        choice: str,
        value: int | None = None,
        remark: Remark | None = None,
    ) -> None:
        """Decide one dispute or several, as `Review.decide`."""
        self.review.decide(number, choice, value, remark)
        self._acted()

    def confirm(self, number: int, remark: Remark | None = None) -> None:
        """Decide a dispute as it was painted."""
        self.review.confirm(number, remark)
        self._acted()

    def reopen(self, number: int) -> None:
        """Unlock a decided dispute."""
        self.review.reopen(number)
        self._acted()

    def discard(self, number: int) -> None:
        """Throw away what was painted in an open dispute."""
        self.review.discard(number)
        self._acted()

    def paint(self, structure: str, painted: NDArray[Any]) -> Stroke:
        """Take over what was painted, as `Review.paint`."""
        return self._painted(self.review.paint(structure, painted))

    def paint_voxels(self, structure: str, places: Places, labels: NDArray[Any]) -> Stroke:
        """Take over voxels that were painted, as `Review.paint_voxels`."""
        return self._painted(self.review.paint_voxels(structure, places, labels))

    def _painted(self, stroke: Stroke) -> Stroke:
        if stroke.drafted or stroke.corrected:
            self._acted()
        return stroke

    def undo(self) -> bool:
        """Take the last action back."""
        return self.review.undo() and self._acted()

    def redo(self) -> bool:
        """Do again what was taken back last."""
        return self.review.redo() and self._acted()

    def _acted(self) -> bool:
        self.done = False  # what was said about the map before is not said about this one
        self.keep()
        return True

    def prepare(self) -> None:
        """Make what every record of this review has, so that the first decision need not wait."""
        if self.record_path is not None:
            self._writer.prepare()

    def keep(self) -> None:
        """Write the record as it is now."""
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
            Whether nobody need look again; without it what was said before stands.
        """
        if self.output is not None:
            maps = {name: self.review.adjudicated(name) for name in self.review.rated}
            self.case.on_file.write(maps, self.output, self.series, self.raters)
            self.saved = len(self.review.actions)
        self.done = self.done if done is None else done
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
    #: What a reader drew: the image is shown in the window in which that is looked at.
    drawn: Mask | None = None


class Progress(NamedTuple):
    """How far the review of a case is."""

    disputes: int
    undecided: int
    who: tuple[str, ...] = ()  #: Who decided something
    done: bool = False  #: Whether somebody said that nobody need look again

    @classmethod
    def of(cls, record: ReviewRecord) -> Progress:
        """As a record left it."""
        who = {one.who: None for one in record.actions if one.who}
        return cls(len(record.disputes), record.undecided, tuple(who), record.done)

    def __str__(self) -> str:
        return f"{'done, ' * self.done}{self.undecided} of {self.disputes} undecided"


@dataclass(frozen=True)
class CaseToOpen:
    """A case whose image can be looked at while its readers are fused."""

    title: str
    session: Callable[[], ReviewSession]  #: Takes as long as fusing
    image: Callable[[], SeenImage | None] = lambda: None
    before: Progress | None = None  #: How far it was before; None if nobody began it
    verdict: str = ""  #: Of the batch that it is from
