"""The record of a review as JSON: hashes of the inputs, and each dispute with its decision.

A record contains the consensus and the voxels of each dispute, so any version can apply the
decisions again without repeating the fusion, whichever method was used. Only the raters' maps are
read from their files, which must be unchanged. The last line is a checksum of all preceding
characters, which the page of a report can compute as well.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np

import itk_consensus
from itk_consensus.core.constraints import Boolean, Choice, Integer, Real, Text, optional
from itk_consensus.core.errors import FileError, InputError
from itk_consensus.images.geometry import ImageGeometry
from itk_consensus.review.actions import Action, actions_of
from itk_consensus.review.decisions import Decision, Runs
from itk_consensus.review.disputes import Dispute, RatedMap
from itk_consensus.review.one_review import Review
from itk_consensus.review.voxel_runs import counted, decoded, decoded_map, encoded, encoded_map
from itk_consensus.storage.record import (
    Each,
    Members,
    OnePart,
    Part,
    Record,
    RecordError,
    field_lines,
)

_LABEL = Integer(-(2**31), 2**53)
_VOXELS = Integer(0)
_TEXT = Text(may_be_empty=True)
_CHECKSUM = ',\n  "checksum": "'


@dataclass(frozen=True)
class ReviewInput(Part):
    """One rater's drawing, identified by its content."""

    rater: Annotated[str, _TEXT]
    #: Path relative to the record; None if readers are to remain anonymous.
    path: Annotated[str | None, optional(_TEXT)]
    #: Index of the rater in a file that holds several.
    component: Annotated[int, Integer(0, 10_000)]
    #: SHA-256 of every file of the rater, or of the voxels as 64-bit integers.
    sha256: Annotated[tuple[str, ...], Each(_TEXT, 1, 16)]
    hashed: Annotated[str, Choice(("files", "voxels"))]


@dataclass(frozen=True)
class ReviewedGrid(Part):
    """Geometry of the maps, with the fields of `ImageGeometry`."""

    size: Annotated[tuple[int, ...], Each(Integer(1, 2**31), 1, 8)]
    spacing: Annotated[tuple[float, ...], Each(Real(), 1, 8)]
    origin: Annotated[tuple[float, ...], Each(Real(), 1, 8)]
    direction: Annotated[tuple[float, ...], Each(Real(), 1, 64)]

    def contradictions(self) -> Iterator[tuple[str, str]]:
        """Yield combinations of fields that are invalid although each field alone is valid."""
        axes = len(self.size)
        if not len(self.spacing) == len(self.origin) == axes or len(self.direction) != axes**2:
            yield "size", "does not fit spacing, origin and direction"
        if prod(self.size) > 2**40:
            yield "size", "is larger than any volume"

    @property
    def geometry(self) -> ImageGeometry:
        """Convert to `ImageGeometry`."""
        return ImageGeometry(self.size, self.spacing, self.origin, self.direction)


@dataclass(frozen=True)
class ReviewedMap(Part):
    """The consensus of one structure, or of a label map (with an empty name)."""

    name: Annotated[str, _TEXT]
    labels: Annotated[tuple[int, ...], Each(_LABEL, 0, 2**20)]
    #: Value of voxels that a rater did not annotate; None if all raters annotated everywhere.
    missing_label: Annotated[int | None, optional(_LABEL)]
    undecided: Annotated[int | None, optional(_LABEL)]
    #: Each reader's name for the structure, None if it was not drawn; empty for a label map.
    drawn_as: Annotated[tuple[str | None, ...], Each(optional(_TEXT), 0, 10_000)]
    consensus: Annotated[str, Runs()]
    #: Voxels painted where raters agree.
    correction: Annotated[str, Runs()]
    ml_before: Annotated[Mapping[str, float], Members(Real(0.0))]
    ml_after: Annotated[Mapping[str, float], Members(Real(0.0))]
    voxels_before: Annotated[Mapping[str, int], Members(_VOXELS)]
    voxels_after: Annotated[Mapping[str, int], Members(_VOXELS)]


@dataclass(frozen=True)
class ReviewedDispute(Part):
    """A dispute and its decision, which is None while the dispute is undecided."""

    number: Annotated[int, Integer(1)]
    structure: Annotated[str, _TEXT]
    voxels: Annotated[int, Integer(1)]
    ml: Annotated[float, Real(0.0)]
    position_mm: Annotated[tuple[float, ...], Each(Real(), 1, 8)]
    index: Annotated[tuple[int, ...], Each(Integer(0), 1, 8)]
    consensus: Annotated[int, _LABEL]
    labels: Annotated[tuple[int, ...], Each(_LABEL, 1)]
    votes: Annotated[tuple[Mapping[str, int], ...], Each(Members(_VOXELS), 1)]
    probability: Annotated[Mapping[str, float], Members(Real(0.0, 1.0))]
    decision: Annotated[Decision | None, optional(OnePart(Decision))]
    #: Unconfirmed painting, which is not part of the map.
    draft: Annotated[str, Runs()]
    voxels_after: Annotated[Mapping[str, int], Members(_VOXELS)]
    ml_after: Annotated[Mapping[str, float], Members(Real(0.0))]
    where: Annotated[str, Runs()]

    @cached_property
    def line(self) -> str:
        """Return the dispute as a line of the file."""
        return json.dumps(self.to_plain(), ensure_ascii=False, allow_nan=False)

    def dispute(self, voxels: int) -> Dispute:
        """Return the `Dispute`, in a volume with the given number of voxels."""
        places, _ = decoded(self.where, voxels)
        if places.size != self.voxels:
            raise RecordError(
                f"has {places.size} voxels, not {self.voxels}", f"dispute {self.number}"
            )
        return Dispute(
            self.number,
            self.structure,
            places,
            self.consensus,
            self.labels,
            tuple({int(k): n for k, n in vote.items()} for vote in self.votes),
            {int(k): p for k, p in self.probability.items()},
            self.index,
        )


@dataclass(frozen=True)
class ReviewRecord(Record):
    """A review, finished or not."""

    schema: ClassVar[str] = "itk_consensus review"
    schema_version: ClassVar[int] = 3
    older_versions: ClassVar[tuple[int, ...]] = (1, 2)
    #: Maximum number of characters; a volume of a hundred million voxels takes a few million.
    largest: ClassVar[int] = 2**30

    version: Annotated[str, _TEXT]  #: Version of this package
    method: Annotated[str, _TEXT]  #: Fusion method of the consensus
    blinded: Annotated[bool, Boolean()]
    #: Key of a blinded review: for each reader in displayed order, the index among the given
    #: inputs.
    given_order: Annotated[tuple[int, ...], Each(Integer(0, 10_000), 0, 10_000)]
    #: Whether the consensus of a dispute was shown only after an initial decision on it.
    consensus_hidden: Annotated[bool, Boolean()]
    done: Annotated[bool, Boolean()]  #: Whether the reviewer marked the case as finished
    #: Number of actions contained in the written map; None if no map was written.
    saved_actions: Annotated[int | None, optional(Integer(0))]
    inputs: Annotated[tuple[ReviewInput, ...], Each(OnePart(ReviewInput), 1)]
    grid: Annotated[ReviewedGrid, OnePart(ReviewedGrid)]
    undecided: Annotated[int, _VOXELS]  #: Number of undecided disputes
    #: Voxels of disputes that are too small, or too many, to be listed
    unlisted_voxels: Annotated[int, _VOXELS]
    maps: Annotated[tuple[ReviewedMap, ...], Each(OnePart(ReviewedMap), 1)]
    disputes: Annotated[tuple[ReviewedDispute, ...], Each(OnePart(ReviewedDispute))]
    #: All actions, including undone ones; the decisions follow from them.
    actions: Annotated[tuple[Action, ...], Each(OnePart(Action))]

    def contradictions(self) -> Iterator[tuple[str, str]]:
        """Yield combinations of fields that are invalid although each field alone is valid."""
        names = [one.name for one in self.maps]
        if len(set(names)) < len(names):
            yield "maps", "has two of one name"
        if [one.number for one in self.disputes] != list(range(1, len(self.disputes) + 1)):
            yield "disputes", "are not numbered from 1"
        for one in self.disputes:
            if one.structure not in names:
                yield f"dispute {one.number}", "is about no map"
            if len(one.votes) != len(self.inputs):
                yield f"dispute {one.number}", "has not one vote for each rater"
            decided = one.decision is not None and one.decision.rater
            if decided and decided >= len(self.inputs):
                yield f"dispute {one.number}", "is decided by a rater that is not there"
        yield from self._miscounted()

    def _miscounted(self) -> Iterator[tuple[str, str]]:
        if self.undecided != sum(one.decision is None for one in self.disputes):
            yield "undecided", "is not the number of undecided disputes"
        if self.given_order and sorted(self.given_order) != list(range(len(self.inputs))):
            yield "given_order", "does not name every input once"
        if (self.saved_actions or 0) > len(self.actions):
            yield "saved_actions", "are more than there are actions"

    @property
    def decisions(self) -> dict[int, Decision]:
        """The decision about each decided dispute."""
        return {d.number: d.decision for d in self.disputes if d.decision is not None}

    @property
    def corrections(self) -> dict[str, str]:
        """Painting where raters agree, by structure."""
        return {one.name: one.correction for one in self.maps if one.correction}

    @classmethod
    def upgrade(cls, written: dict[str, Any]) -> dict[str, Any]:
        """Upgrade the fields of the version that stored only decisions, without actions."""
        hidden = {"consensus_hidden": False}
        if "actions" in written:
            return {**written, **hidden}
        try:
            disputes, decisions = [], dict[int, Decision]()
            for one in written["disputes"]:
                said = one["decision"]
                if said is not None:
                    said = {**said, "reason": "", "confidence": None, "seconds": None}
                    decisions[one["number"]] = Decision.from_plain(said)
                disputes.append({**one, "decision": said, "draft": ""})
            actions = actions_of(
                decisions,
                {one["number"]: one["structure"] for one in disputes},
                {one["name"]: one["correction"] for one in written["maps"] if one["correction"]},
            )
        except (KeyError, TypeError) as error:
            raise RecordError("cannot be understood", "disputes") from error
        new = {"disputes": disputes, "actions": [action.to_plain() for action in actions]}
        return {**written, "given_order": [], "saved_actions": None, **new, **hidden}

    def to_json(self) -> str:
        """Return the record as text; lines of unchanged disputes are reused."""
        few = replace(self, disputes=())
        lines = field_lines({**self.opening(), **few.to_plain()})
        if self.disputes:
            every = ",\n    ".join(one.line for one in self.disputes)
            lines[lines.index('  "disputes": []')] = f'  "disputes": [\n    {every}\n  ]'
        return _sealed(lines)

    @classmethod
    def seal(cls, written: Mapping[str, Any]) -> str:
        """Return the fields as text, followed by the CRC-32 of all preceding characters.

        The fields are not hashed as those of other records are, since the page of a report formats
        numbers as JavaScript does.
        """
        return _sealed(field_lines(written))

    @classmethod
    def is_sealed(cls, written: Mapping[str, Any], contents: str) -> bool:
        """Whether the checksum matches the preceding characters."""
        body, mark, rest = contents.rpartition(_CHECKSUM)
        return bool(mark) and rest == f'{checksum(body)}"\n}}\n'


def _sealed(lines: Sequence[str]) -> str:
    body = "{\n" + ",\n".join(lines)
    return f'{body}{_CHECKSUM}{checksum(body)}"\n}}\n'


def checksum(body: str) -> str:
    """Return the CRC-32 of a text as eight digits; it detects damage, not forgery."""
    return f"{zlib.crc32(body.encode()):08x}"


class RecordWriter:
    """Creates the record of a review after each action; parts that never change are
    computed once.
    """

    def __init__(
        self,
        review: Review,
        inputs: Sequence[ReviewInput],
        geometry: ImageGeometry,
        *,
        method: str,
        given_order: tuple[int, ...] | None = None,
        consensus_hidden: bool = False,
        missing_label: int | None = None,
        unlisted_voxels: int = 0,
        drawn_as: Mapping[str, tuple[str | None, ...]] | None = None,
    ) -> None:
        self.review, self.inputs, self.geometry = review, tuple(inputs), geometry
        self.method, self._given_order = method, given_order
        self._consensus_hidden = consensus_hidden
        self._missing_label, self._unlisted = missing_label, unlisted_voxels
        self._drawn_as = drawn_as or {}
        self._disputes: dict[int, ReviewedDispute] = {}

    def prepare(self) -> tuple[Any, Any]:
        """Compute the parts that do not depend on decisions; can run in another thread."""
        return self._consensus, self._regions

    def write(self, path: Path, *, done: bool = False, saved: int | None = None) -> None:
        """Write the current record, replacing the file atomically."""
        self.record(done=done, saved=saved).write(path)

    def record(self, *, done: bool = False, saved: int | None = None) -> ReviewRecord:
        """Return the current record; `saved` is the number of actions in the written map."""
        grid = self.geometry
        return ReviewRecord(
            itk_consensus.__version__,
            self.method,
            self._given_order is not None,
            self._given_order or (),
            self._consensus_hidden,
            done,
            saved,
            self.inputs,
            ReviewedGrid(grid.size, grid.spacing, grid.origin, grid.direction),
            len(self.review.undecided),
            self._unlisted,
            tuple(self._map(one) for one in self.review.rated.values()),
            tuple(self._dispute(one) for one in self.review.disputes.values()),
            self.review.actions,
        )

    @cached_property
    def _consensus(self) -> dict[str, tuple[str, dict[int, int]]]:
        """Return each map as runs, with the voxel counts of its labels."""
        return {
            name: (encoded_map(one.consensus), counted(one.consensus))
            for name, one in self.review.rated.items()
        }

    @cached_property
    def _regions(self) -> dict[int, str]:
        return {
            number: encoded(one.places, np.full(one.voxels, one.consensus))
            for number, one in self.review.disputes.items()
        }

    @property
    def _voxel_ml(self) -> float:
        return prod(self.geometry.spacing) / 1000

    def _ml(self, voxels: Mapping[str, int]) -> dict[str, float]:
        return {label: round(n * self._voxel_ml, 6) for label, n in voxels.items()}

    def _map(self, one: RatedMap) -> ReviewedMap:
        runs, counts = self._consensus[one.name]
        changes = self.review.changes(one.name)
        after = {label: counts.get(label, 0) + changes.get(label, 0) for label in counts | changes}
        voxels = [{str(k): n for k, n in sorted(c.items()) if k and n} for c in (counts, after)]
        return ReviewedMap(
            one.name,
            one.labels,
            self._missing_label,
            one.undecided,
            self._drawn_as.get(one.name, ()),
            runs,
            self.review.corrections.get(one.name, ""),
            self._ml(voxels[0]),
            self._ml(voxels[1]),
            voxels[0],
            voxels[1],
        )

    def _dispute(self, one: Dispute) -> ReviewedDispute:
        """Return the current state of a dispute; an unchanged one is returned from the cache."""
        decision, draft = self.review.decision(one.number), self.review.draft(one.number)
        known = self._disputes.get(one.number)
        if known is None or known.decision is not decision or known.draft != draft:
            known = self._disputes[one.number] = self._made(one, decision, draft)
        return known

    def _made(self, one: Dispute, decision: Decision | None, draft: str) -> ReviewedDispute:
        after = {str(k): n for k, n in sorted(self.review.voxels_after(one.number).items())}
        return ReviewedDispute(
            one.number,
            one.structure,
            one.voxels,
            round(one.voxels * self._voxel_ml, 6),
            tuple(round(mm, 3) for mm in self.geometry.position(one.index)),
            one.index,
            one.consensus,
            one.labels,
            tuple({str(k): n for k, n in vote.items()} for vote in one.votes),
            {str(k): p for k, p in one.probability.items()},
            decision,
            draft,
            after,
            self._ml(after),
            self._regions[one.number],
        )


def rated_maps(
    record: ReviewRecord, source: str, maps: Mapping[str, Sequence[Any]], missing: int
) -> tuple[RatedMap, ...]:
    """Combine the raters' maps with the consensus stored in a record.

    Parameters
    ----------
    source : str
        The record's file name, for messages.
    maps : mapping of structure to label maps
        As in `RatedMap`, with `missing` where a rater did not annotate.
    """
    shape = record.grid.geometry.shape
    rated = []
    for one in record.maps:
        labels = [*one.labels, *(() if one.undecided is None else (one.undecided,)), missing]
        dtype = np.result_type(*map(np.min_scalar_type, (min(labels), max(labels))))
        try:
            consensus = decoded_map(one.consensus, shape, dtype)
        except RecordError as error:
            raise FileError(f"the record is damaged: {error}", path=source) from error
        drawn = tuple(maps[one.name])
        rated.append(RatedMap(one.name, drawn, missing, consensus, one.labels, one.undecided))
    return tuple(rated)


def resumed(record: ReviewRecord, source: str, rated: Sequence[RatedMap], who: str = "") -> Review:
    """Return the review in the state stored in a record.

    Raises
    ------
    FileError
        The stored result of a dispute contradicts its decision, or the actions lead to other
        decisions.
    """
    try:
        return _resumed(record, rated, who)
    except (RecordError, InputError) as error:
        raise FileError(f"the record is damaged: {error}", path=source) from error


def _resumed(record: ReviewRecord, rated: Sequence[RatedMap], who: str) -> Review:
    disputes = [one.dispute(prod(record.grid.geometry.shape)) for one in record.disputes]
    review = Review(rated, disputes, record.actions, who)
    for said in record.disputes:
        where = f"dispute {said.number}"
        after = {str(k): n for k, n in review.voxels_after(said.number).items()}
        if after != dict(said.voxels_after):
            raise RecordError("became something else than was decided", where)
        if review.decision(said.number) != said.decision:
            raise RecordError("is decided otherwise than the actions say", where)
        if review.draft(said.number) != said.draft:
            raise RecordError("is painted otherwise than the actions say", where)
    if review.corrections != record.corrections:
        raise RecordError("are others than the actions say", "corrections")
    return review


def default_record_path(output: Path) -> Path:
    """Return the default path of a review's record: beside its output, with the same stem."""
    name = output.name
    for suffix in (".seg.nrrd", ".rtstruct.dcm", ".nii.gz"):
        if name.lower().endswith(suffix):
            return output.with_name(f"{name[: -len(suffix)]}.review.json")
    return output.with_name(f"{output.stem}.review.json")


def path_from(record: Path, file: Path) -> str:
    """Return a file's path relative to the folder of the record."""
    return Path(os.path.relpath(file.absolute(), record.absolute().parent)).as_posix()
