"""LesionAgreement: how well readers agree, object by object."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.assessment.agreement.lesions import (
    SIZE_LIMITS,
    LesionAgreements,
    lesion_agreement,
    paired_objects,
)
from itk_consensus.core.errors import ParameterError
from itk_consensus.fusing.label_fusion import LabelFusionFilter
from itk_consensus.fusing.label_inputs import load_labels
from itk_consensus.images import convert
from itk_consensus.methods.lesions.objects import OBJECT_KINDS, ObjectKind, numbered_objects
from itk_consensus.space.boxes import bounding_box, voxel_sides


def LesionAgreement(
    images: Any,
    reference: Any = None,
    names: Sequence[str] | None = None,
    *,
    inputObjects: ObjectKind = "components",
    leastOverlap: float = 0.5,
    sizeLimits: Sequence[float] = SIZE_LIMITS,
    inputsAreLabels: bool = False,
) -> LesionAgreements:
    """Detection F1, panoptic quality, and Dice and volumes of what both found, by size.

    Parameters
    ----------
    images : list of images
        Masks, or instance maps with any numbers, on one grid.
    reference : image or LabelFusionFilter, optional
        A consensus to compare each reader with, or a filter that makes one of `images`.
    names : sequence of str, optional
        What each reader is called.
    inputObjects : "components" or "labels"
        What is one object: a connected piece of one label, or all that has one label.
    leastOverlap : float
        Intersection over union from which two marks are one object.
    sizeLimits : sequence of float
        Diameters of balls in mm, between which objects are of one size.
    inputsAreLabels : bool
        Take inputs for masks although one looks like an image.

    Returns
    -------
    LesionAgreements
        Has ``.rows``, ``.to_csv()``, ``.to_pandas()``: a row for each pair and class of size.
    """
    owner = "LesionAgreement"
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
        pairs = paired_objects(maps[one], maps[other], leastOverlap)
        rows += lesion_agreement((named[one], named[other]), pairs, sides, limits)
    return LesionAgreements(tuple(rows))


def _objects_where_marked(
    maps: Sequence[NDArray[Any]], kind: ObjectKind
) -> list[NDArray[np.int32]]:
    """(M,) by map the number of the object at each voxel that anybody marked; 0: not by this one.

    Lesions are few voxels, and whatever is compared then costs as little.
    """
    marked = np.zeros(maps[0].shape, bool)
    for labels in maps:
        marked |= labels != 0
    box = bounding_box(marked)
    if box is None:
        return [np.zeros(0, np.int32) for _ in maps]
    inside = marked[box]
    return [numbered_objects(labels[box], kind).places[inside] for labels in maps]


def _names(names: Sequence[str] | None, maps: int, has_reference: bool, owner: str) -> list[str]:
    readers = maps - has_reference
    given = [f"rater {index}" for index in range(readers)] if names is None else list(names)
    if len(given) != readers:
        raise ParameterError(f"must be {readers}, got {len(given)}", owner=owner, parameter="names")
    return [*given, "reference"] if has_reference else given
