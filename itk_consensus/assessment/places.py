"""Locate findings: slice and position of the largest connected component concerned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Mask, length_unit
from itk_consensus.fusing.fusion_result import FusionResult
from itk_consensus.images.geometry import ImageGeometry
from itk_consensus.space.boxes import Box, bounding_box
from itk_consensus.space.distance import signed_distance
from itk_consensus.space.pieces import label_pieces
from itk_consensus.votes.decision_patterns import DecisionPatterns

if TYPE_CHECKING:
    from itk_consensus.assessment.findings import Finding

#: Depths in mm that differ by less than this are considered equal.
_AS_DEEP = 1e-6

#: Maximum number of findings that get a place.
MOST_PLACED = 12


@dataclass(frozen=True)
class Place:
    """A voxel at the centre of the region to inspect, with its physical position."""

    index: tuple[int, ...]  #: Index of the voxel, per array axis
    position: tuple[float, ...]  #: Physical position in the order x, y, z
    unit: str  #: Unit of the position

    @property
    def slice(self) -> int | None:
        """Index of the slice along the first spatial axis, from 0; None in 2D."""
        return self.index[-3] if len(self.index) > 2 else None

    @property
    def target(self) -> str:
        """URL fragment that opens the page's viewer at this place."""
        return "look=" + ",".join(map(str, self.index))

    def __str__(self) -> str:
        at = ", ".join(f"{one:.0f}" for one in self.position)
        unit = "" if self.unit == "voxels" else f" {self.unit}"
        # Planning systems count slices from 1.
        slice_ = "" if self.slice is None else f"slice {self.slice} (from 0), at "
        return f"{slice_}({at}){unit}"

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain types for JSON."""
        return {
            "slice": self.slice,
            "position": [round(one, 3) for one in self.position],
            "unit": self.unit,
            "index": list(self.index),
            "target": self.target,
        }


def largest_place(
    mask: Mask, box: Box, geometry: ImageGeometry, spacing: Sequence[float]
) -> Place | None:
    """Return the middle of the thickest part of a mask's largest component; None if empty.

    The slice with the largest area is not used: it is often an end slice on which a reader started
    too early, whereas a more important region lies elsewhere.

    Parameters
    ----------
    mask : ndarray of bool
        Voxels within `box`.
    box : tuple of slices
        Position of the mask in the image.
    """
    tight = bounding_box(mask)
    if tight is None:
        return None
    pieces = label_pieces(mask[tight])
    largest = int(pieces.sizes.argmax())
    within = pieces.box(largest)
    own = pieces.places[within] == largest
    depth = -signed_distance(np.pad(own, 1), spacing)[(slice(1, -1),) * own.ndim]
    where = np.argwhere(own & (depth >= depth.max() - _AS_DEEP))
    if own.ndim > 2:
        slices = where[:, -3]
        where = where[slices == np.bincount(slices).argmax()]
    middle = where[np.abs(where - where.mean(axis=0)).sum(axis=1).argmin()]
    starts = zip(middle, within, tight, box, strict=True)
    index = tuple(int(at + a.start + b.start + c.start) for at, a, b, c in starts)
    return Place(index, geometry.position(index), length_unit(spacing))


def attach_places(findings: Sequence[Finding], result: FusionResult[Any]) -> tuple[Finding, ...]:
    """Set the place of findings that require inspection, for at most the `MOST_PLACED` most
    severe.
    """
    patterns = result.case.patterns
    if patterns.codes is None or patterns.codes.ndim > 3:
        return tuple(findings)
    grave = [one for one in findings if one.concern and not one.because]
    chosen = {id(one) for one in sorted(grave, key=lambda one: -one.grade)[:MOST_PLACED]}
    known: dict[bytes, Place | None] = {}

    def locate(one: Finding) -> Finding:
        if id(one) not in chosen:
            return one
        flags = disagreement(patterns, one)
        key = np.packbits(flags).tobytes()
        if key not in known:
            known[key] = _place(flags, result)
        return replace(one, where=known[key])

    return tuple(locate(one) for one in findings)


def disagreement(patterns: DecisionPatterns, finding: Finding) -> Mask:
    """Return a (P,) mask of patterns in which the raters of a finding differ from the others.

    If a finding concerns all raters, these are the patterns with the most evenly split votes.
    """
    said = _gives_label(patterns, finding.label)
    present = patterns.present
    number = patterns.number_of_raters
    who = np.isin(np.arange(number), finding.who)
    if 0 < who.sum() < number and finding.rule != "pairwise Dice":
        marked = said & present
        share = marked[:, ~who].sum(axis=1) / np.maximum(present[:, ~who].sum(axis=1), 1)
        own = marked[:, who].any(axis=1)
        differs = np.asarray((own != (share >= 0.5)) & present[:, who].any(axis=1))
        return differs if differs.any() else np.asarray(own)
    if who.sum() == 2:
        first, second = finding.who
        both = present[:, first] & present[:, second]
        return np.asarray((said[:, first] != said[:, second]) & both)
    share = (said & present).sum(axis=1) / np.maximum(present.sum(axis=1), 1)
    minority = np.minimum(share, 1 - share)
    evenly = minority >= 0.4
    disputed = evenly if evenly.any() else minority > 0
    return np.asarray(disputed if disputed.any() else share > 0)


def _gives_label(patterns: DecisionPatterns, label: int | None) -> NDArray[np.bool_]:
    """Return a (P, J) mask of the raters who gave the label; None stands for any foreground
    label.
    """
    if label is None:
        values = np.append(patterns.labels, 0)
        return np.asarray(values[patterns.patterns] != 0)
    return np.asarray(patterns.patterns == np.flatnonzero(patterns.labels == label)[0])


def _place(flags: Mask, result: FusionResult[Any]) -> Place | None:
    patterns, geometry = result.case.patterns, result.like.geometry
    if not flags.any():
        return None
    box = patterns.region(flags, [0] * geometry.dimension)
    mask = patterns.crop(box).expand(flags)
    return largest_place(mask, box, geometry, result.case.spacing)
