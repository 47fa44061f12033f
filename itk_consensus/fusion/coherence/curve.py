"""How fine raters agree: coherence by scale, and the resolution of their consensus in mm.

As electron microscopy reads a map's resolution off the scale at which two half sets correlate by a
fixed amount (Harauz & van Heel, Optik 73:146-156, 1986), so here: the scale at which half of the
power in the raters' masks is shared.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from itk_consensus.array_types import Floats
from itk_consensus.fusion.coherence.bands import (
    TRUNCATE,
    effective_number,
    shared_power,
    smallest_sides,
)
from itk_consensus.fusion.coherence.rater_masks import RaterMasks
from itk_consensus.neighbourhood.boxes import clipped, read_extended, relative_to, widened
from itk_consensus.neighbourhood.gaussian import band_means

#: Smallest voxel sides where bands begin; each is sqrt(2) wide.
FIRST_SCALE = 0.5
NUMBER_OF_BANDS = 8

SHARED_HALF = 0.5


class Resolution(NamedTuple):
    """The scale in mm at which raters share half of their detail."""

    millimetres: float
    #: "<=" if they share even the finest scale that was looked at, ">=" if not
    #: even the coarsest.
    bound: Literal["=", "<=", ">="]

    def __str__(self) -> str:
        sign = "" if self.bound == "=" else f"{self.bound} "
        return f"{sign}{self.millimetres:.2g} mm"


class CoherenceCurve(NamedTuple):
    """Share of the power that raters have in common, by scale."""

    scales: Floats  #: (B,) in mm, ascending
    #: (B,) 1: they draw the same; 0: no more alike than by chance. NaN where nothing is drawn.
    coherence: Floats

    def resolution(self) -> Resolution | None:
        """Where the curve, followed from coarse to fine, falls below one half; None if undefined.

        Between bands it is linear in the logarithm of the scale.
        """
        scales, values = self.scales, self.coherence
        if np.isnan(values).all():
            return None
        unshared = np.flatnonzero(~(values >= SHARED_HALF))
        if len(unshared) == 0:
            return Resolution(float(scales[0]), "<=")
        last = int(unshared[-1])
        if last == len(scales) - 1:
            return Resolution(float(scales[-1]), ">=")
        low, high = values[last], values[last + 1]
        part = (SHARED_HALF - low) / (high - low)
        crossing = scales[last] * (scales[last + 1] / scales[last]) ** part
        return Resolution(float(crossing), "=")


def coherence_curve(
    masks: RaterMasks, label: int, spacing: Sequence[float], bands: int = NUMBER_OF_BANDS
) -> CoherenceCurve | None:
    """Coherence by scale in the region where raters differ about a label.

    None if they differ nowhere, or there is one rater only.
    """
    tight = masks.disputed_box(label)
    if tight is None or masks.number_of_raters < 2:
        return None
    sides = smallest_sides(spacing)
    starts = FIRST_SCALE * np.sqrt(2.0) ** np.arange(bands + 1)
    reach = [int(TRUNCATE * sigma + 0.5) for sigma in starts[-1] * sides]
    wide = widened(tight, reach)
    box = clipped(wide, masks.shape)
    around = relative_to(wide, box)
    stack = read_extended(masks.read(label, box), around)
    present = None
    if masks.present is not None:
        present = read_extended(masks.present[(slice(None), *box)], around)
    shares = []
    for pair in itertools.pairwise(starts):
        mean = band_means(
            stack,
            masks.weights,
            [(scale * sides).tolist() for scale in pair],
            present=present,
            truncate=TRUNCATE,
            wanted=() if present is None else ("raters",),
        )
        number = effective_number(masks.weights) if mean.raters is None else mean.raters
        shared = shared_power(mean.values[0], mean.squares[0], number).sum(dtype=np.float64)
        total = mean.squares.sum(dtype=np.float64)
        shares.append(shared / total if total > 0 else np.nan)
    smallest = float(np.min(np.asarray(spacing, np.float64)[-3:]))
    return CoherenceCurve(smallest * starts[:-1] * 2**0.25, np.array(shares))
