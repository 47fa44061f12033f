"""Thumbnail of a case: its most disputed slice, for tables of cases."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.assessment.places import Place
from itk_consensus.fusing.fusion_result import FusionResult
from itk_consensus.images import convert
from itk_consensus.images.grey_windows import GreyWindow, windows_for
from itk_consensus.report.dispute_figures import BAND_COLOR
from itk_consensus.report.disputed_slices import disputed_patterns
from itk_consensus.report.drawing import grey, png_bytes
from itk_consensus.report.orientation import Orientation
from itk_consensus.space.boxes import Box
from itk_consensus.votes.decision_patterns import DecisionPatterns

_PIXELS = 112
_MARGIN_MM = 6.0
_DARK = 24


def thumbnail(
    result: FusionResult[Any],
    consensus: Any,
    image: Any = None,
    window: GreyWindow | None = None,
    place: Place | None = None,
) -> bytes:
    """Return a PNG of one slice, with the consensus outlined and disputes in yellow.

    Parameters
    ----------
    consensus : image
        The label map of the result.
    image : image, optional
        The image that the raters segmented.
    window : GreyWindow, optional
        Grey-value window; by default one that suits modality and structure.
    place : Place, optional
        The place whose slice is shown; by default the most disputed slice.
    """
    votes, like = result.case.patterns, result.like
    geometry = like.geometry
    labels = np.asarray(convert.load_one(consensus, like, owner="thumbnail", parameter="image"))
    part = _part(votes, geometry.array_spacing)
    disputed = disputed_patterns(votes).astype(np.uint8)
    planes = votes.crop(part).expand(disputed).reshape(-1, *(1, 1, *_sides(part))[-2:])
    worst = int(planes.sum(axis=(1, 2)).argmax())
    if place is not None and place.slice is not None and geometry.dimension == 3:
        worst = min(max(place.slice - part[0].start, 0), len(planes) - 1)

    def plane_of(volume: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(volume[part].reshape(planes.shape)[worst])

    pixels = np.full(planes.shape[1:], _DARK, np.uint8)
    if image is not None:
        values = convert.load_one(image, like, owner="thumbnail", parameter="image")
        shown = plane_of(values)
        chosen = window or windows_for(values[part], labels[part] != 0)[0]
        pixels = grey(shown, *chosen.limits)
    placed = like.family.has_space and geometry.dimension > 2
    hung = Orientation.of(geometry.direction) if placed else None
    high, across = (1.0, *geometry.array_spacing)[-2:]
    drawn = _render(pixels, planes[worst], plane_of(labels), (high, across))
    axes = [axis for axis in (0, 1) if hung is not None and hung.is_mirrored(axis + 1)]
    return png_bytes(np.ascontiguousarray(np.flip(drawn, tuple(axes))))


def _sides(part: Box) -> list[int]:
    return [side.stop - side.start for side in part]


def _part(votes: DecisionPatterns, spacing: Any) -> Box:
    """Return the bounding box of all marked voxels with a margin; the whole image if none
    is marked.
    """
    values = np.append(votes.labels, 0)
    marked = ((values[votes.patterns] != 0) & votes.present).any(axis=1)
    margin = [round(_MARGIN_MM / step) for step in spacing]
    assert votes.codes is not None
    part = votes.region(np.asarray(marked), margin)
    empty = any(side.start >= side.stop for side in part)
    return tuple(slice(0, side) for side in votes.codes.shape) if empty else part


def _render(
    pixels: NDArray[np.uint8],
    disputed: NDArray[np.uint8],
    labels: NDArray[Any],
    spacing: tuple[float, float],
) -> NDArray[np.uint8]:
    """Return a (Y, X, 3) RGB image, scaled to thumbnail size, with outline and disputes."""
    tall, wide = (side * step for side, step in zip(pixels.shape, spacing, strict=True))
    scale = _PIXELS / max(tall, wide)
    sides = [max(round(extent * scale), 1) for extent in (tall, wide)]
    places = np.ix_(
        *(np.arange(n) * side // n for n, side in zip(sides, pixels.shape, strict=True))
    )
    colors = np.repeat(pixels[places][..., None], 3, axis=2).astype(np.float64)
    colors += 0.5 * disputed[places][..., None] * (np.array(BAND_COLOR) - colors)
    shown = np.pad(labels[places], 1)
    edge = (shown[1:-1, 1:-1] != shown[1:-1, :-2]) | (shown[1:-1, 1:-1] != shown[:-2, 1:-1])
    colors[edge] = 255
    return np.rint(colors).astype(np.uint8)
