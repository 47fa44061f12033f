"""InstanceConsensusFilter: match the raters' objects, decide which are real, fuse the outlines."""

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
from itk_consensus.core.process_object import output_method
from itk_consensus.core.work import in_threads, stage
from itk_consensus.fusing.estimates import AnswerFacts, Estimate
from itk_consensus.fusing.fusion_case import FusionCase, intersect_masks
from itk_consensus.fusing.fusion_result import Fused
from itk_consensus.fusing.inner_fusers import Fuser, InnerFusersMixin
from itk_consensus.images import convert
from itk_consensus.images.families.image_family import LoadedImages
from itk_consensus.methods.consensus.coherence_vote_filter import CoherenceVoteFilter
from itk_consensus.methods.lesions.detection import Detection as DetectionResult
from itk_consensus.methods.lesions.detection import detect
from itk_consensus.methods.lesions.matching import LesionGroups, match_objects
from itk_consensus.methods.lesions.objects import (
    OBJECT_KINDS,
    NumberedObjects,
    Numbers,
    RaterObjects,
    number_objects,
)
from itk_consensus.methods.lesions.outline import (
    RelabelledMaps,
    finder_masks,
    nearest_cells,
    relabel_maps,
)
from itk_consensus.methods.lesions.table import (
    LesionTable,
    ReaderDetection,
    lesion_table,
    rater_detections,
)
from itk_consensus.space.boxes import voxel_volume
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.fusions import VolumeFusion, VoxelShares
from itk_consensus.votes.kept_stack import KeptStack
from itk_consensus.votes.label_stack import MOST_LABELS, LabelStack
from itk_consensus.votes.ties import BACKGROUND
from itk_consensus.votes.uncertainty import UncertaintyKind, uncertainty

#: Probabilities are kept at least this far from 1/2, on the side that matches the decision.
_SIDE = 1e-9


@dataclass(frozen=True)
class LesionTables(Kind[tuple[LesionTable, ...]]):
    """Constraint: lesion tables of other cases."""

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
    """Case whose objects have been matched: an object has the same label in all raters' maps."""

    groups: LesionGroups | None = None
    matched: RelabelledMaps | None = None
    #: (G, J) whether a rater annotated each object's location; None: all did
    looked: Mask | None = None

    def without_inputs(self) -> FusionCase:
        kept = super().without_inputs()
        assert isinstance(kept, LesionCase)
        return replace(kept, matched=None)


class ObjectEstimate(Estimate):
    """An estimate without values, since lesion results are described by the measurements `Objects`
    and `Detection`.
    """

    def answer_facts(self, patterns: DecisionPatterns) -> AnswerFacts:
        """State that comparisons of whole masks do not apply to objects."""
        return AnswerFacts(is_shared=True)


class InstanceConsensusFilter(InnerFusersMixin):
    """Object-by-object fusion: match the raters' marks, test which are real, fuse the outlines.

    Raters of lesions, nodules or cells first find objects and then outline them. Accordingly, marks
    of different raters are matched first; then a detection model estimates the probability that
    each object is real; finally each outline is fused from the raters who found the object. Inputs
    are masks, whose connected components are objects, or instance maps, whose labels need not
    correspond between raters. The output is an instance map, with labels sorted by the number of
    raters who found an object, or a mask. A voxel's probability is the product of the probability
    that its object is real and the probability that the voxel is inside the object, adjusted to
    exceed one half exactly inside the output's objects.
    """

    chunking_unsupported_reason = "it matches whole objects, which may extend over several chunks"
    bytes_per_voxel = 90
    needs = "votes"
    method = "instance-consensus"
    summary = (
        "Assumes that raters find objects independently and err in outlines afterwards; matches "
        "lesions, nodules or cells, decides which are real, and fuses the outlines of those who "
        "found them. Use where raters overlook or invent objects, and for instance maps."
    )
    laws = frozenset({"rater permutation"})

    OutputMap = Parameter(
        Choice(("instances", "mask")),
        "instances",
        "Whether each object has its own label in the output (instances), or all have label 1.",
    )
    InputObjects = Parameter(
        Choice(OBJECT_KINDS),
        "components",
        "Whether an object of a rater is one connected component of a label, or all voxels with "
        "the same label.",
    )
    DetectionThreshold = Parameter(
        Real(0.0, 1.0),
        0.5,
        "Objects are kept if their probability of being real is at least this.",
    )
    MatchDistance = Parameter(
        optional(LENGTH),
        None,
        "Maximum distance in mm at which small marks that share no voxel are matched.",
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
        "Tables of other cases of the same raters, from match_lesions: detection rates are "
        "estimated from all cases.",
        in_cli=False,
    )

    Objects = Measurement(
        LesionTable,
        "The objects: the raters who marked each, its probability, position and volumes, and the "
        "raters who split or joined it; with to_csv, to_json and to_frame.",
        lambda result: result.memo.get_or_make("objects", result.extras["table"]),
    )
    Detection = Measurement(
        tuple[ReaderDetection, ...],
        "For each rater the number of objects it marked, and of those nobody else marked, its "
        "sensitivity and its false marks per case, with 95 % intervals.",
        lambda result: rater_detections(*result.extras["detection"]),
        one_of=ReaderDetection,
    )

    @output_method
    def GetMatchedImages(self) -> list[Any]:
        """Return the raters' maps, relabelled by consensus object; None for a missing rater."""
        result = self.fused
        votes = result.case.votes
        assert isinstance(votes, (LabelStack, KeptStack))
        return [
            None if array is None else convert.to_image(array.astype(result.dtype), result.like)
            for array in votes.to_stack().arrays
        ]

    # -- matching, while loading ----------------------------------------------------------------

    def _case_of_labels(
        self, loaded: LoadedImages, needs: str, reuse_from: FusionCase | None
    ) -> LesionCase:
        stack = self._make_stack(
            loaded.arrays, missing_label=self.MissingLabel, **self._where(loaded)
        )
        annotated = _annotated_masks(stack)
        inside = None if stack.mask is None else stack.mask.astype(bool)
        kind = self.InputObjects

        def number_map(rater: int) -> NumberedObjects:
            array = stack.arrays[rater]
            labels = np.zeros(stack.shape, np.uint8) if array is None else array
            return number_objects(labels, kind, intersect_masks(inside, annotated[rater]))

        with stage(0.0, 0.2):
            numbers = list(in_threads(number_map, range(len(annotated))))
        # Fail early on noisy inputs: matching many objects is slow, and groups are never fewer than
        # one rater's objects.
        for rater, one in enumerate(numbers):
            self._require_few(one.number, f"rater {rater} has")
        objects = RaterObjects.of(numbers)
        spacing = loaded.geometry.array_spacing
        groups = match_objects(objects, spacing, self.MatchDistance)
        matched = relabel_maps(objects, groups)
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
        looked = _looked_table(stack, annotated, matched.cells, groups.number)
        return LesionCase(loaded, votes, votes, groups=groups, matched=matched, looked=looked)

    def _require_few(self, number: int, who: str) -> None:
        """Raise if there are more objects than an instance map can have labels."""
        if self.OutputMap != "mask" and number >= MOST_LABELS:
            raise InputError(
                f"{who} {number} objects, more than the {MOST_LABELS - 1} labels of an instance "
                "map, probably noise; set OutputMap to mask, or clean the inputs",
                owner=self.GetName(),
            )

    def _load(self, images: Any, reuse_from: FusionCase | None = None) -> FusionCase:
        return super()._load(images, None)

    def _match_images(self, images: Any) -> LesionTable:
        """Return the lesion table, for `match_lesions`."""
        with self._running():
            self._check_parameters()
            case = self._load(images)
            assert isinstance(case, LesionCase)
            assert case.groups is not None
            detection, _ = self._detect(case, case.groups)
            return _table(case, detection, self.DetectionThreshold)()

    # -- detection and outlines -------------------------------------------------------------------

    def _fuse(self, case: FusionCase) -> Fused[ObjectEstimate]:
        assert isinstance(case, LesionCase)
        assert case.groups is not None
        assert case.matched is not None
        groups = case.groups
        detection, found = self._detect(case, groups)
        threshold = self.DetectionThreshold
        kept = detection.there[: groups.number] >= threshold
        with stage(0.1, 0.3):
            cells = nearest_cells(case.matched.cells, kept, case.spacing)
        with stage(0.3, 1.0):
            inside, share = self._outlines(case, cells, kept)
        there = np.append(0.0, detection.there[: groups.number])
        chosen = inside & (cells > 0)
        drawn = _add_rejected_objects(case.matched, chosen, cells, share, np.append(True, kept))
        fusion = _fusion(case, chosen, *drawn, there, self.OutputMap == "mask")
        table = _table(case, detection, threshold)
        return Fused(fusion, ObjectEstimate(), {"table": table, "detection": (found, detection)})

    def _detect(self, case: LesionCase, groups: LesionGroups) -> tuple[DetectionResult, Mask]:
        """Return the detection result for the objects of this case, followed by those of the
        cohort, and which raters found each object.
        """
        sizes = groups.voxels.sum(axis=1) / groups.found.sum(axis=1)
        voxel, _ = _voxel(case)
        tables = self.Cohort or ()
        for index, table in enumerate(tables):
            if table.readers != groups.found.shape[1]:
                raise self._parameter_error(
                    "Cohort",
                    f"must hold tables of {groups.found.shape[1]} raters, got {table.readers} "
                    f"in table {index}",
                )
        found = np.concatenate([groups.found, *(table.found for table in tables)])
        looked = [_all_if_none(case.looked, groups.found)]
        looked += [_all_if_none(table.looked, table.found) for table in tables]
        volumes = np.concatenate([sizes * voxel, *(table.sizes for table in tables)])
        return detect(found, volumes, np.concatenate(looked), 1 + len(tables)), found

    def _outlines(self, case: LesionCase, cells: Numbers, kept: Mask) -> tuple[Mask, Floats]:
        """Fuse outlines from the raters who found each object; return the mask and probability."""
        assert case.stack is not None
        assert case.groups is not None
        assert case.matched is not None
        if not kept.any():
            return np.zeros(cells.shape, bool), np.zeros(cells.shape)
        drawn = np.append(False, kept).astype(np.uint8)
        asked = finder_masks(cells, case.groups.found)
        annotated = case.stack.rater_masks or (None,) * len(asked)
        images, masks = list[Any](), list[Any]()
        for array, own, *where in zip(
            case.stack.arrays, case.matched.maps, asked, annotated, strict=True
        ):
            images.append(None if array is None else convert.to_image(drawn[own], case.loaded))
            mask = None if array is None else _as_bytes(intersect_masks(*where))
            masks.append(None if mask is None else convert.to_image(mask, case.loaded))
        terms = {"MissingLabel": None, "RaterMasks": tuple(masks) if any_given(masks) else None}
        fuser = self.OutlineFilter or CoherenceVoteFilter()
        fused = self._run_fuser(fuser, images, terms=terms)
        return fused.decision([0, 1]) == 1, fused.probability(1)


def match_lesions(images: Any, **parameters: Any) -> LesionTable:
    """Match the marks of different raters, and estimate which objects are real.

    Parameters
    ----------
    images : list of images
        Masks or instance maps on one grid, as for InstanceConsensusFilter.
    parameters
        Parameters of InstanceConsensusFilter.

    Returns
    -------
    LesionTable
        Has ``.lesions``, ``.rows()``, ``.to_csv()``, ``.to_json()``, ``.to_frame()``.
    """
    return InstanceConsensusFilter(**parameters)._match_images(images)


def any_given(values: Sequence[Any]) -> bool:
    """Return whether at least one of the values is not None."""
    return any(value is not None for value in values)


def _table(
    case: LesionCase, detection: DetectionResult, threshold: float
) -> Callable[[], LesionTable]:
    """Return a function that builds the table without keeping any image in memory."""
    assert case.groups is not None
    position, voxel = case.loaded.geometry.position, _voxel(case)
    return partial(lesion_table, case.groups, detection, threshold, position, voxel, case.looked)


def _add_rejected_objects(
    matched: RelabelledMaps, chosen: Mask, cells: Numbers, share: Floats, kept: Mask
) -> tuple[Numbers, Floats]:
    """Return copies in which voxels of rejected objects are also set: `cells` to the candidate
    object, and `share` to the fraction of its finders who marked the voxel.
    """
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
    """Build the fusion, which has at most one candidate object per voxel."""
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
    """Probabilities with one candidate object per voxel."""

    probability: Floats  #: Probability of the candidate object
    cells: Numbers | None  #: Label of the candidate object; None: all have label 1
    outside: Mask | None  #: Voxels outside the mask; None if there is no mask

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


def _annotated_masks(stack: LabelStack) -> list[Mask | None]:
    """Return a mask of each rater's annotated voxels; None: all. A missing rater's is empty."""
    masks = stack.rater_masks or (None,) * len(stack.arrays)
    found: list[Mask | None] = []
    for array, mask in zip(stack.arrays, masks, strict=True):
        if array is None:
            found.append(np.zeros(stack.shape, bool))
            continue
        labelled = None if stack.missing_label is None else array != stack.missing_label
        where = intersect_masks(mask, labelled)
        found.append(None if where is None or where.all() else where != 0)
    return found


def _looked_table(
    stack: LabelStack, annotated: Sequence[Mask | None], cells: Numbers, number: int
) -> Mask | None:
    """Return (G, J) whether each rater annotated at least half of an object's marked voxels."""
    if not any_given(annotated):
        return None
    flat = cells.reshape(-1)
    size = np.maximum(np.bincount(flat, minlength=number + 1)[1:], 1)
    looked = np.ones((number, len(annotated)), bool)
    for rater, where in enumerate(annotated):
        if where is not None:
            own = np.bincount(flat, where.reshape(-1), number + 1)[1:]
            looked[:, rater] = 2 * own >= size
    return looked


def _rater_masks(
    stack: LabelStack, annotated: Sequence[Mask | None]
) -> tuple[NDArray[np.uint8] | None, ...] | None:
    """Return rater masks for a label stack, or None if all present raters annotated everywhere."""
    masks = [
        None if array is None else _as_bytes(where)
        for array, where in zip(stack.arrays, annotated, strict=True)
    ]
    return tuple(masks) if any_given(masks) else None


def _as_bytes(mask: NDArray[Any] | None) -> NDArray[np.uint8] | None:
    return None if mask is None else (mask != 0).astype(np.uint8)


def _all_if_none(looked: Mask | None, found: Mask) -> Mask:
    return np.ones_like(found) if looked is None else looked


def _voxel(case: FusionCase) -> tuple[float, str]:
    """Return the size of a voxel and its unit."""
    return voxel_volume(case.spacing)
