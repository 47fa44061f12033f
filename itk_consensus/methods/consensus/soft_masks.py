"""Convert the probabilities given by raters to the memberships of rater_masks.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats, Mask
from itk_consensus.methods.consensus.rater_masks import RaterMasks
from itk_consensus.space.boxes import Box
from itk_consensus.votes.class_probabilities import Masks, Opinion, Opinions, both_classes


@dataclass(frozen=True)
class _Memberships:
    """Reads the raters' probabilities of K classes."""

    raters: Sequence[Opinion]  #: Probabilities of all classes, by rater
    present: Mask  #: (J, *shape) whether each rater annotated each voxel

    def __call__(self, label: int, box: Box = ()) -> Floats:
        given = np.stack([rater[label][box] for rater in self.raters]).astype(np.float64)
        # Values may be NaN where a rater did not annotate.
        return np.where(self.present[(slice(None), *box)], given, 0.0)


def soft_masks(
    opinions: Opinions, annotated: Masks, mask: NDArray[Any] | None, weights: Floats | None = None
) -> RaterMasks:
    """Convert probabilities of K classes to memberships.

    The mask is zero at voxels to exclude. A weight of 0 excludes a rater; None stands for equal
    weights.
    """
    counted = np.ones(len(opinions)) if weights is None else weights
    given = annotated or (None,) * len(opinions)
    used = [i for i, opinion in enumerate(opinions) if opinion is not None and counted[i] > 0]
    raters = [both_classes(opinion) for i in used if (opinion := opinions[i]) is not None]
    shape = raters[0][0].shape
    inside = np.ones(shape, bool) if mask is None else np.asarray(mask != 0)
    present = np.stack([inside & (True if (at := given[i]) is None else at != 0) for i in used])

    everywhere = bool(present.all())
    numbers = len(raters), len(raters[0])
    read = _Memberships(raters, present)
    return RaterMasks(read, shape, *numbers, counted[used], None if everywhere else present)
