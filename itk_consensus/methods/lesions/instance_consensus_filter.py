"""InstanceConsensusFilter: objects one by one; who found each, is it there, what is its outline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats, Mask
from itk_consensus.core.constraints import LENGTH, Choice, Kind, Real, optional
from itk_consensus.core.errors import InputError
from itk_consensus.core.parameters import Measurement, Parameter
from itk_consensus.core.process_object import made_later
from itk_consensus.core.work import in_threads, stage
from itk_consensus.fusing.estimates import Estimate, Told
from itk_consensus.fusing.fusion_case import FusionCase, both
from itk_consensus.fusing.fusion_result import Fused
from itk_consensus.fusing.inner_fusers import Fuser, InnerFusersMixin
from itk_consensus.images import convert
from itk_consensus.images.families.image_family import LoadedImages
from itk_consensus.methods.consensus.coherence_vote_filter import CoherenceVoteFilter
from itk_consensus.methods.lesions.detection import Detection as Judged
from itk_consensus.methods.lesions.detection import detect
from itk_consensus.methods.lesions.matching import LesionGroups, match_objects
from itk_consensus.methods.lesions.objects import (
    OBJECT_KINDS,
    NumberedObjects,
    Numbers,
    ReaderObjects,
    numbered_objects,
)
from itk_consensus.methods.lesions.outline import (
    MatchedMaps,
    matched_maps,
    nearest_cells,
    silent_readers,
)
from itk_consensus.methods.lesions.table import (
    LesionTable,
    ReaderDetection,
    lesion_table,
    reader_detections,
)
from itk_consensus.space.boxes import voxel_volume
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.fusions import VolumeFusion, VoxelShares
from itk_consensus.votes.kept_stack import KeptStack
from itk_consensus.votes.label_stack import MOST_LABELS, LabelStack
from itk_consensus.votes.ties import BACKGROUND
from itk_consensus.votes.uncertainty import UncertaintyKind, uncertainty

#: How far from one half a probability stays on its own side.
_SIDE = 1e-9


@dataclass(frozen=True)
class LesionTables(Kind[tuple[LesionTable, ...]]):
    """Tables of other cases."""

    annotation = "Sequence[LesionTable]"
    wanted = "a list of tables that match_lesions made"

    def accept(self, value: Any) -> tuple[LesionTable, ...]:
        if not isinstance(value, (list, tuple)):
            raise TypeError
        if not all(isinstance(one, LesionTable) for one in value):
            raise TypeError
        return tuple(value)


@dataclass(frozen=True)
class LesionCase(FusionCase):
    """Votes in which every object has one number in all readers' maps."""

    groups: LesionGroups | None = None
    matched: MatchedMaps | None = None
    looked: Mask | None = None  #: (G, J) who annotated there; None: everybody

    def without_inputs(self) -> FusionCase:
        kept = super().without_inputs()
        assert isinstance(kept, LesionCase)
        return replace(kept, matched=None)


class ObjectEstimate(Estimate):
    """Objects are judged one by one, in `Objects`."""

    def told(self, patterns: DecisionPatterns) -> Told:
        """That there is nothing to compare with what raters share of one mask."""
        return Told(is_shared=True)


class InstanceConsensusFilter(InnerFusersMixin):
    """Objects one by one: marks of different readers are matched, judged and drawn.

    Readers of lesions, nodules or cells find, and then outline. So marks are matched first; then
    a model of detection says from who marked what whether each object is there; and about its
    outline only those are asked who found it. Input are masks, whose connected pieces are objects,
    or instance maps, whose numbers mean nothing between readers. Output is an instance map with
    the objects that most readers found first, or a mask. A probability is that of the object
    being there times that of the voxel being inside, and above one half exactly where the map is.
    """

    whole_because = "it matches objects, which know no chunks"
    bytes_per_voxel = 90
    needs = "votes"
    method = "instance-consensus"
    summary = (
        "Assumes that readers find objects independently and err in outlines afterwards; matches "
        "lesions, nodules or cells, tells which are there, and asks their finders for the outline. "
        "Use where readers overlook or invent objects, and for instance maps."
    )
    laws = frozenset({"rater permutation"})

    OutputMap = Parameter(
        Choice(("instances", "mask")),
        "instances",
        "Whether each object has a number of its own in the output, or all are label 1.",
    )
    InputObjects = Parameter(
        Choice(OBJECT_KINDS),
        "components",
        "What is one object of a reader: a connected piece of one label, or all that has one "
        "label, in however many pieces.",
    )
    DetectionThreshold = Parameter(
        Real(0.0, 1.0),
        0.5,
        "Probability of being there from which an object is kept.",
    )
    MatchDistance = Parameter(
        optional(LENGTH),
        None,
        "Distance in mm up to which small marks that share no voxel are one object.",
        default_doc="diagonal of a voxel",
    )
    OutlineFilter = Parameter(
        optional(Fuser()),
        None,
        "Fuser that draws the outlines, from the masks of each object's finders.",
        default_doc="CoherenceVoteFilter()",
    )
    Cohort = Parameter(
        optional(LesionTables()),
        None,
        "Tables of other cases of the same readers, by match_lesions: how they find is estimated "
        "from all cases.",
        in_cli=False,
    )

    Objects = Measurement(
        LesionTable,
        "The objects: who marked each, its probability, position, volumes, and who split or "
        "joined it; with to_csv, to_json and to_frame.",
        lambda result: result.memo.made("objects", result.extras["table"]),
    )
    Detection = Measurement(
        tuple[ReaderDetection, ...],
        "For each reader how many objects it marked, how many alone, its sensitivity and its "
        "false finds per case, with 95 % intervals.",
        lambda result: reader_detections(*result.extras["detection"]),
        one_of=ReaderDetection,
    )

    @made_later
    def GetMatchedImages(self) -> list[Any]:
        """The readers' maps with the consensus's numbers of objects; None for a missing reader."""
        result = self.fused
        votes = result.case.votes
        assert isinstance(votes, (LabelStack, KeptStack))
        return [
            None if array is None else convert.to_image(array.astype(result.dtype), result.like)
            for array in votes.restored().arrays
        ]

    # -- matching, while loading ----------------------------------------------------------------

    def _case_of_labels(
        self, loaded: LoadedImages, needs: str, reuse_from: FusionCase | None
    ) -> LesionCase:
        stack = self._make_stack(
            loaded.arrays, missing_label=self.MissingLabel, **self._where(loaded)
        )
        annotated = _annotated(stack)
        inside = None if stack.mask is None else stack.mask.astype(bool)
        kind = self.InputObjects

        def numbered(reader: int) -> NumberedObjects:
            array = stack.arrays[reader]
            labels = np.zeros(stack.shape, np.uint8) if array is None else array
            return numbered_objects(labels, kind, both(inside, annotated[reader]))

        with stage(0.0, 0.2):
            numbers = list(in_threads(numbered, range(len(annotated))))
        # Who matches noise waits long, and each object of one reader is one more in the end.
        for reader, one in enumerate(numbers):
            self._require_few(one.number, f"rater {reader} has")
        objects = ReaderObjects.of(numbers)
        spacing = loaded.geometry.array_spacing
        groups = match_objects(objects, spacing, self.MatchDistance)
        matched = matched_maps(objects, groups)
        is_mask = self.OutputMap == "mask"
        self._require_few(groups.number, "found")
        maps = [
            None if array is None else (own > 0).astype(np.uint8) if is_mask else own
            for array, own in zip(stack.arrays, matched.maps, strict=True)
        ]
        votes = replace(
            stack,
            arrays=tuple(maps),
            labels=np.arange(2 if is_mask else groups.number + 1),
            missing_label=None,
            rater_masks=_rater_masks(stack, annotated),
        )
        looked = _looked(stack, annotated, matched.cells, groups.number)
        return LesionCase(loaded, votes, votes, groups=groups, matched=matched, looked=looked)

    def _require_few(self, number: int, who: str) -> None:
        """Raise if there are more objects than an instance map has numbers for."""
        if self.OutputMap != "mask" and number >= MOST_LABELS:
            raise InputError(
                f"{who} {number} objects, more than the {MOST_LABELS - 1} that an instance "
                "map holds: noise has no objects; set OutputMap to mask, or clean the inputs",
                owner=self.GetName(),
            )

    def _load(self, images: Any, reuse_from: FusionCase | None = None) -> FusionCase:
        return super()._load(images, None)

    def _match(self, images: Any) -> LesionTable:
        """The table of `match_lesions`."""
        with self._running():
            self._check_parameters()
            case = self._load(images)
            assert isinstance(case, LesionCase)
            assert case.groups is not None
            detection, _ = self._detected(case, case.groups)
            return _table(case, detection, self.DetectionThreshold)()

    # -- detection and outlines -------------------------------------------------------------------

    def _fuse(self, case: FusionCase) -> Fused[ObjectEstimate]:
        assert isinstance(case, LesionCase)
        assert case.groups is not None
        assert case.matched is not None
        groups = case.groups
        detection, found = self._detected(case, groups)
        threshold = self.DetectionThreshold
        kept = detection.there[: groups.number] >= threshold
        with stage(0.1, 0.3):
            cells = nearest_cells(case.matched.cells, kept, case.spacing)
        with stage(0.3, 1.0):
            inside, share = self._outlines(case, cells, kept)
        there = np.append(0.0, detection.there[: groups.number])
        chosen = inside & (cells > 0)
        drawn = _with_doubted(case.matched, chosen, cells, share, np.append(True, kept))
        fusion = _fusion(case, chosen, *drawn, there, self.OutputMap == "mask")
        table = _table(case, detection, threshold)
        return Fused(fusion, ObjectEstimate(), {"table": table, "detection": (found, detection)})

    def _detected(self, case: LesionCase, groups: LesionGroups) -> tuple[Judged, Mask]:
        """The detection of this case's objects, which come first, and of the cohort's."""
        sizes = groups.voxels.sum(axis=1) / groups.found.sum(axis=1)
        voxel, _ = _voxel(case)
        tables = self.Cohort or ()
        for index, table in enumerate(tables):
            if table.readers != groups.found.shape[1]:
                raise self._wrong(
                    "Cohort",
                    f"must hold tables of {groups.found.shape[1]} readers, got {table.readers} "
                    f"in table {index}",
                )
        found = np.concatenate([groups.found, *(table.found for table in tables)])
        looked = [_or_all(case.looked, groups.found)]
        looked += [_or_all(table.looked, table.found) for table in tables]
        volumes = np.concatenate([sizes * voxel, *(table.sizes for table in tables)])
        return detect(found, volumes, np.concatenate(looked), 1 + len(tables)), found

    def _outlines(self, case: LesionCase, cells: Numbers, kept: Mask) -> tuple[Mask, Floats]:
        """Where any object is, and with which probability, by the readers who found it."""
        assert case.stack is not None
        assert case.groups is not None
        assert case.matched is not None
        if not kept.any():
            return np.zeros(cells.shape, bool), np.zeros(cells.shape)
        drawn = np.append(False, kept).astype(np.uint8)
        asked = silent_readers(cells, case.groups.found)
        annotated = case.stack.rater_masks or (None,) * len(asked)
        images, masks = list[Any](), list[Any]()
        for array, own, *where in zip(
            case.stack.arrays, case.matched.maps, asked, annotated, strict=True
        ):
            images.append(None if array is None else convert.to_image(drawn[own], case.loaded))
            mask = None if array is None else _as_bytes(both(*where))
            masks.append(None if mask is None else convert.to_image(mask, case.loaded))
        terms = {"MissingLabel": None, "RaterMasks": tuple(masks) if any_given(masks) else None}
        fuser = self.OutlineFilter or CoherenceVoteFilter()
        fused = self._have_fused(fuser, images, terms=terms)
        return fused.decision([0, 1]) == 1, fused.probability(1)


def match_lesions(images: Any, **parameters: Any) -> LesionTable:
    """Which marks of different readers are one object, and whether it is there.

    Parameters
    ----------
    images : list of images
        Masks, or instance maps with any numbers, on one grid, as InstanceConsensusFilter takes
        them.
    parameters
        Of InstanceConsensusFilter.

    Returns
    -------
    LesionTable
        Has ``.lesions``, ``.rows()``, ``.to_csv()``, ``.to_json()``, ``.to_frame()``.
    """
    return InstanceConsensusFilter(**parameters)._match(images)


def any_given(values: Sequence[Any]) -> bool:
    """Whether any of some values is not None."""
    return any(value is not None for value in values)


def _table(case: LesionCase, detection: Judged, threshold: float) -> Callable[[], LesionTable]:
    """What makes the table; it holds no image."""
    assert case.groups is not None
    position, voxel = case.loaded.geometry.position, _voxel(case)
    return partial(lesion_table, case.groups, detection, threshold, position, voxel, case.looked)


def _with_doubted(
    matched: MatchedMaps, chosen: Mask, cells: Numbers, share: Floats, kept: Mask
) -> tuple[Numbers, Floats]:
    """Cells and shares with those of objects that were not kept, which are inside nowhere."""
    doubted = ~kept[matched.cells] & ~chosen
    where = np.nonzero(doubted)
    own = matched.cells[where]
    marked = np.stack([one[where] for one in matched.maps]) == own
    finders = np.array([np.bincount(own[one], minlength=len(kept)) > 0 for one in marked])
    cells, share = cells.copy(), share.copy()
    cells[where] = own
    share[where] = marked.sum(axis=0) / finders.sum(axis=0)[own]
    return cells, share


def _fusion(
    case: LesionCase,
    chosen: Mask,
    cells: Numbers,
    share: Floats,
    there: Floats,
    is_mask: bool,
) -> VolumeFusion:
    """The answer: at each voxel one object may be, or none."""
    assert case.stack is not None
    probability = there[cells] * share
    probability = np.where(
        chosen, np.maximum(probability, 0.5 + _SIDE), np.minimum(probability, 0.5 - _SIDE)
    )
    decision = np.where(chosen, 1 if is_mask else cells, 0).astype(np.int32)
    outside = None if case.stack.mask is None else case.stack.mask == 0
    if outside is not None:
        decision[outside] = BACKGROUND
    shares = LesionShares(probability, None if is_mask else cells, outside)
    return VolumeFusion(decision, shares)


@dataclass(frozen=True)
class LesionShares(VoxelShares):
    """At each voxel one object may be, or none."""

    probability: Floats  #: Of that object
    cells: Numbers | None  #: Which object it is; None: they are all one label
    outside: Mask | None  #: Where the mask is not; None: nowhere

    def write(self, label: int, out: NDArray[Any]) -> None:
        if label == 0:
            np.subtract(1, self.probability, out=out)
        elif self.cells is None:
            out[...] = self.probability
        else:
            out[...] = np.where(self.cells == label, self.probability, 0.0)
        self._leave_outside(out)

    def write_uncertainty(self, kind: UncertaintyKind, labels: int, out: NDArray[Any]) -> None:
        uncertainty(kind, iter([1 - self.probability, self.probability]), out)
        self._leave_outside(out)

    def _leave_outside(self, out: NDArray[Any]) -> None:
        if self.outside is not None:
            out[self.outside] = 0.0


def _annotated(stack: LabelStack) -> list[Mask | None]:
    """Where each reader annotated; None: everywhere. A missing reader did nowhere."""
    masks = stack.rater_masks or (None,) * len(stack.arrays)
    found: list[Mask | None] = []
    for array, mask in zip(stack.arrays, masks, strict=True):
        if array is None:
            found.append(np.zeros(stack.shape, bool))
            continue
        said = None if stack.missing_label is None else array != stack.missing_label
        where = both(mask, said)
        found.append(None if where is None or where.all() else where != 0)
    return found


def _looked(
    stack: LabelStack, annotated: Sequence[Mask | None], cells: Numbers, number: int
) -> Mask | None:
    """(G, J) who annotated at least half of what anybody marked of each object."""
    if not any_given(annotated):
        return None
    flat = cells.reshape(-1)
    size = np.maximum(np.bincount(flat, minlength=number + 1)[1:], 1)
    looked = np.ones((number, len(annotated)), bool)
    for reader, where in enumerate(annotated):
        if where is not None:
            own = np.bincount(flat, where.reshape(-1), number + 1)[1:]
            looked[:, reader] = 2 * own >= size
    return looked


def _rater_masks(
    stack: LabelStack, annotated: Sequence[Mask | None]
) -> tuple[NDArray[np.uint8] | None, ...] | None:
    """Where each reader annotated, as a stack has it; None if all who are there did everywhere."""
    masks = [
        None if array is None else _as_bytes(where)
        for array, where in zip(stack.arrays, annotated, strict=True)
    ]
    return tuple(masks) if any_given(masks) else None


def _as_bytes(mask: NDArray[Any] | None) -> NDArray[np.uint8] | None:
    return None if mask is None else (mask != 0).astype(np.uint8)


def _or_all(looked: Mask | None, found: Mask) -> Mask:
    return np.ones_like(found) if looked is None else looked


def _voxel(case: FusionCase) -> tuple[float, str]:
    """The size of a voxel and its unit."""
    return voxel_volume(case.spacing)
