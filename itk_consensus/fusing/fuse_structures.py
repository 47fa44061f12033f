"""Fuse structures that may overlap, each separately."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from itk_consensus.core.errors import InputError
from itk_consensus.fusing.label_fusion import LabelFusionFilter


def fuse_structures(
    structures: Mapping[str, Sequence[Any]],
    fuser: LabelFusionFilter,
    output: Callable[[LabelFusionFilter], Any] | None = None,
) -> dict[str, Any]:
    """Fuse structures, which may overlap, each one separately.

    Parameters
    ----------
    structures : mapping of name to list of masks
        One mask per reader, with 1 inside; None if a reader did not draw the structure.
    fuser : LabelFusionFilter
        Any fuser, with its parameters.
    output : callable, optional
        Called with the fuser after each structure; its return value is used as the result, by
        default the fused mask. With ``lambda fuser: fuser.GetProbabilityImage(1)`` the result is
        the probability.

    Returns
    -------
    dict of name to image
        Fused masks; undecided voxels, if any, have the fuser's label for undecided voxels.
    """
    if not structures:
        raise InputError("fuse_structures: needs at least one structure, got none")
    fused = {}
    for name, masks in structures.items():
        if all(mask is None for mask in masks):
            raise InputError(f"fuse_structures: no reader has a mask of {name}; leave it out")
        if output is None:
            fused[name] = fuser.fuse_to_labels(list(masks))
        else:
            fuser.Execute(list(masks))
            fused[name] = output(fuser)
    return fused
