"""Measure clinical workloads, of many atlases and labels or noisy raters, against SimpleITK.

Times are relative to SimpleITK on the same stack: its vote for label maps, its STAPLE for noisy
masks. Memory is the peak of a separate process beyond inputs and output.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from examples.benchmarks.speed.operations import DERIVED, OPERATIONS
from examples.benchmarks.speed.peak_memory import peak_bytes, save_raters
from examples.benchmarks.speed.timing import Effort, best_seconds
from examples.benchmarks.speed.volumes import ATLASES, CONTOUR_ERROR, CROWD, json_stack, raters
from itk_consensus.methods.registry import FUSER_MODULES, short_name

Row = dict[str, Any]
Shape = tuple[int, ...]

VOTE = "sitk.LabelVoting"
STAPLE = "sitk.STAPLE"


class Workload(NamedTuple):
    """An operation on a stack, and the limit of its run time relative to the reference.

    The limit is the requirement set, for two cores, when the workload was added; it was not
    derived from measurements. Workloads without a limit are run once.
    """

    operation: str
    number: int
    limit: float | None = None
    bytes_per_voxel: float = 24.0
    by_iteration: bool = False


#: Label maps of atlases; the reference is SimpleITK's vote.
ATLAS_WORKLOADS = (
    Workload("LabelVoting, SimpleITK images", 5, 1 / 3),
    Workload("LabelVoting, SimpleITK images", 15, 1 / 4),
    Workload("LabelVoting, SimpleITK images", 40, 1 / 3),
    Workload("MajorityVote, SimpleITK images", 5, 1 / 3),
    Workload("MajorityVote, SimpleITK images", 15, 1 / 4),
    Workload("MajorityVote, SimpleITK images", 40, 1 / 3),
    Workload("MultiLabelSTAPLE, SimpleITK images", 15, 0.4, by_iteration=True),
    Workload("COLLATE, SimpleITK images", 5, 100),
    Workload("DirectInference, SimpleITK images", 5, 60),
    Workload("smoothed vote, SimpleITK images", 15, 4, 16.0),
    Workload("CorrectedVote, SimpleITK images", 15, 4, 16.0),
    Workload("CoherenceVote, SimpleITK images", 15, 20),
    Workload("Consensus, SimpleITK images", 15, 20),
    Workload("ShapeBasedAveraging, SimpleITK images", 15, 20),
    Workload("SpatialSTAPLE, SimpleITK images", 5, 400),
    Workload("DirectInference, SimpleITK images", 15),
    Workload("SpatialSTAPLE, SimpleITK images", 15),
    Workload("FrechetConsensus, SimpleITK images", 15),
    Workload("SIMPLE, SimpleITK images", 15),
    Workload("BoundarySIMPLE, SimpleITK images", 15),
    Workload("LogOpinionPool, SimpleITK images", 15),
    Workload("HybridFusion, SimpleITK images", 15),
    Workload("ProbabilityAverage, SimpleITK images", 15),
    Workload("MultiLabelSTAPLE with smoothness, SimpleITK images", 5),
    Workload("Agreement, SimpleITK images", 15),
    *(
        Workload(f"{what} of {short_name(name)}, SimpleITK images", 5)
        for what in DERIVED
        for name in FUSER_MODULES
        if name != "STAPLEImageFilter"  # accepts two labels only
    ),
    *(
        Workload(f"{what} of {name}, SimpleITK images", 15)
        for what in DERIVED
        for name in ("CorrectedVote", "Consensus", "HybridFusion")
    ),
)
#: Masks with noise at every voxel; the reference is SimpleITK's STAPLE.
CROWD_WORKLOADS = (
    Workload("STAPLE, SimpleITK images", 30, 1 / 8, 6.0),
    Workload("smoothed vote, SimpleITK images", 5, 1 / 4),
    Workload("CorrectedVote, SimpleITK images", 5, 1 / 4),
    Workload("SpatialSTAPLE, SimpleITK images", 5, 2),
    # The limit is two seconds on a machine on which the STAPLE of SimpleITK took 2.3.
    Workload("CoherenceVote, SimpleITK images", 5, 0.87),
    Workload("Consensus, SimpleITK images", 5, 0.87),
    *(
        Workload(f"{name}, SimpleITK images", 5)
        for name in (
            "LabelVoting",
            "STAPLE",
            "COLLATE",
            "DirectInference",
            "ShapeBasedAveraging",
            "FrechetConsensus",
            "SIMPLE",
            "BoundarySIMPLE",
            "LogOpinionPool",
            "HybridFusion",
            "STAPLE with smoothness",
            "CohortSTAPLE",
            "ConformalBand",
            "uncertainty of CorrectedVote",
            "Agreement",
        )
    ),
)
#: One organ with differing contours; the reference is SimpleITK's STAPLE.
ORGAN_WORKLOADS = (
    # The limit is one second on a machine on which the STAPLE of SimpleITK took 3.9.
    Workload("Consensus, SimpleITK images", 5, 0.25),
)


def atlas_workloads(shape: Shape, labels: int, effort: Effort, named: str = "") -> Iterator[Row]:
    """Measure voting, EM and spatial methods on atlases of many labels."""
    for workload in _chosen(ATLAS_WORKLOADS, named):
        yield _measured(workload, f"{ATLASES} {labels}", VOTE, shape, effort)


def crowd_workloads(shape: Shape, effort: Effort, named: str = "") -> Iterator[Row]:
    """Measure workloads with noise at every voxel, and the same without noise."""
    for workload in _chosen(CROWD_WORKLOADS, named):
        yield _measured(workload, CROWD, STAPLE, shape, effort)
    for workload in _chosen(ORGAN_WORKLOADS, named):
        yield _measured(workload, CONTOUR_ERROR, STAPLE, shape, effort)


def growth(
    shape: Shape, labels: Sequence[int], numbers: Sequence[int], effort: Effort
) -> Iterator[Row]:
    """Measure the time by number of labels, for 15 atlases, and by number of atlases."""
    half = max(labels) // 2
    stacks = [("labels", f"{ATLASES} {count}", 15) for count in labels]
    stacks += [("atlases", f"{ATLASES} {half}", number) for number in numbers]
    for axis, kind, number in stacks:
        names = (VOTE, "LabelVoting, SimpleITK images", "MultiLabelSTAPLE, SimpleITK images")
        stack = raters(kind, shape, number)
        calls = {name: _call(name, stack) for name in names}
        for name, seconds in best_seconds(calls, effort).items():
            yield {
                **json_stack(kind, shape, number),
                "axis": axis,
                "labels": int(kind.split()[1]),
                "operation": name,
                "seconds": seconds,
            }


def _chosen(workloads: Sequence[Workload], named: str) -> list[Workload]:
    """Return the named workloads; by default those with a limit, since some others take minutes."""
    if not named:
        return [workload for workload in workloads if workload.limit is not None]
    return [workload for workload in workloads if named in workload.operation]


def _measured(workload: Workload, kind: str, reference: str, shape: Shape, effort: Effort) -> Row:
    stack = raters(kind, shape, workload.number)
    calls = {name: _call(name, stack) for name in (workload.operation, reference)}
    seconds = best_seconds(calls, effort if workload.limit else effort._replace(rounds=1))
    ours = seconds[workload.operation]
    if workload.by_iteration:
        ours /= _iterations(stack)
    with TemporaryDirectory() as folder:
        files = save_raters(stack, Path(folder))
        peak = peak_bytes(workload.operation, kind, files)
    output = OPERATIONS[workload.operation].output_bytes * stack[0].size
    extra = None if peak is None else (peak - output) / stack[0].size
    ratio = ours / seconds[reference]
    return {
        **json_stack(kind, shape, workload.number),
        "ours": workload.operation + (", an iteration" if workload.by_iteration else ""),
        "reference": reference,
        "wanted": "at most",
        "limit": workload.limit,
        "ours_seconds": ours,
        "reference_seconds": seconds[reference],
        "ratio": ratio,
        "met": None if workload.limit is None else ratio <= workload.limit,
        "bytes_per_voxel": extra,
        "bytes_limit": workload.bytes_per_voxel,
    }


def _call(name: str, stack: Sequence[Any]) -> Any:
    operation = OPERATIONS[name]
    return partial(operation.run, operation.images(stack))


def _iterations(stack: Sequence[Any]) -> int:
    """Return the number of iterations of MultiLabelSTAPLE, including the one that detects
    convergence.
    """
    from itk_consensus import MultiLabelSTAPLEImageFilter

    fuser = MultiLabelSTAPLEImageFilter()
    fuser.Execute(list(stack))
    return int(fuser.ElapsedIterations) + 1
