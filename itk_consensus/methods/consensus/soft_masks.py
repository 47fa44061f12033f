"""Raters who give probabilities, as the memberships that methods of rater_masks.py work on."""

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
    """Reads the probabilities of K classes that raters give."""

    raters: Sequence[Opinion]  #: With both of two classes
    present: Mask  #: (J, *shape) where each rater said something

    def __call__(self, label: int, box: Box = ()) -> Floats:
        said = np.stack([rater[label][box] for rater in self.raters]).astype(np.float64)
        # What lies where nothing was said may be no number at all.
        return np.where(self.present[(slice(None), *box)], said, 0.0)


def soft_masks(
    opinions: Opinions, annotated: Masks, mask: NDArray[Any] | None, weights: Floats | None = None
) -> RaterMasks:
    """Probabilities of K classes as memberships.

    The mask is zero at voxels to leave out. Of (J,) weights 0 leaves a rater out; None: all equal.
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
