"""lesion_agreement: agreement between raters on objects such as lesions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.assessment.agreement.lesions import (
    SIZE_LIMITS,
    LesionAgreements,
    agreement_by_size,
    pair_objects,
)
from itk_consensus.core.errors import ParameterError
from itk_consensus.fusing.label_fusion import LabelFusionFilter
from itk_consensus.fusing.label_inputs import load_labels
from itk_consensus.images import convert
from itk_consensus.methods.lesions.objects import OBJECT_KINDS, ObjectKind, number_objects
from itk_consensus.space.boxes import bounding_box, voxel_sides


def lesion_agreement(
    images: Any,
    reference: Any = None,
    names: Sequence[str] | None = None,
    *,
    inputObjects: ObjectKind = "components",
    leastOverlap: float = 0.5,
    sizeLimits: Sequence[float] = SIZE_LIMITS,
    inputsAreLabels: bool = False,
) -> LesionAgreements:
    """Compare raters by objects: detection F1, panoptic quality, Dice and volumes, by object size.

    Parameters
    ----------
    images : list of images
        Masks, or instance maps with arbitrary instance labels, on one grid.
    reference : image or LabelFusionFilter, optional
        A consensus with which each rater is compared, or a filter that fuses `images`.
    names : sequence of str, optional
        Names of the raters.
    inputObjects : "components" or "labels"
        Definition of an object: a connected component of one label, or all voxels of one label.
    leastOverlap : float
        Minimum intersection over union of two objects that match.
    sizeLimits : sequence of float
        Boundaries between size classes, as equivalent sphere diameters in mm.
    inputsAreLabels : bool
        Accept inputs as label images even if one looks like an intensity image.

    Returns
    -------
    LesionAgreements
        Has ``.rows``, ``.to_csv()``, ``.to_pandas()``: a row for each pair and size class.
    """
    owner = "lesion_agreement"
    if inputObjects not in OBJECT_KINDS:
        raise ParameterError(
            f"must be one of {OBJECT_KINDS}, got {inputObjects!r}",
            owner=owner,
            parameter="inputObjects",
        )
    limits = tuple(sizeLimits)
    if list(limits) != sorted(set(limits)):
        raise ParameterError(
            f"must be increasing, got {limits}", owner=owner, parameter="sizeLimits"
        )
    if not 0 < leastOverlap <= 1:
        raise ParameterError(
            f"must be > 0 and <= 1, got {leastOverlap}", owner=owner, parameter="leastOverlap"
        )
    listed = convert.as_list(images, owner)
    if isinstance(reference, LabelFusionFilter):
        fused = reference.fuse(listed)
        reference = convert.to_image(fused.settled_labels(), fused.like)
    given = listed if reference is None else [*listed, reference]
    loaded, _ = load_labels(given, owner=owner, insist=inputsAreLabels)
    maps = _objects_where_marked(
        [np.asarray(array) for array in loaded.arrays if array is not None], inputObjects
    )
    named = _names(names, len(maps), reference is not None, owner)
    sides = voxel_sides(loaded.geometry.array_spacing)
    rows = []
    for one, other in combinations(range(len(maps)), 2):
        pairs = pair_objects(maps[one], maps[other], leastOverlap)
        rows += agreement_by_size((named[one], named[other]), pairs, sides, limits)
    return LesionAgreements(tuple(rows))


def _objects_where_marked(
    maps: Sequence[NDArray[Any]], kind: ObjectKind
) -> list[NDArray[np.int32]]:
    """Return each map's object numbers at the M voxels that are foreground in any map.

    The result is an (M,) array per map, in which 0 is background. Since lesions are small, this
    makes all comparisons fast.
    """
    marked = np.zeros(maps[0].shape, bool)
    for labels in maps:
        marked |= labels != 0
    box = bounding_box(marked)
    if box is None:
        return [np.zeros(0, np.int32) for _ in maps]
    inside = marked[box]
    return [number_objects(labels[box], kind).places[inside] for labels in maps]


def _names(names: Sequence[str] | None, maps: int, has_reference: bool, owner: str) -> list[str]:
    readers = maps - has_reference
    given = [f"rater {index}" for index in range(readers)] if names is None else list(names)
    if len(given) != readers:
        raise ParameterError(f"must be {readers}, got {len(given)}", owner=owner, parameter="names")
    return [*given, "reference"] if has_reference else given
