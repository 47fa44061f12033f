"""Filters of the package with the settings of the "careful" columns of the reproduced tables."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import itk_consensus


def careful_staple(
    raters: NDArray[np.bool_], **parameters: Any
) -> tuple[itk_consensus.STAPLEImageFilter, NDArray[np.bool_]]:
    """Run STAPLE with a prior estimated from the vote; return the filter and its label map."""
    staple = itk_consensus.STAPLEImageFilter(**{"Variant": "advanced", **parameters})
    staple.Execute(list(raters))
    return staple, staple.GetLabelImage() != 0


def smoothed_vote(raters: NDArray[np.bool_], sigma: float = 1.0) -> NDArray[np.bool_]:
    """Return the vote, smoothed before thresholding: the baseline for spatial methods."""
    fused = itk_consensus.MajorityVote(list(raters), smoothingSigma=sigma, tieRule="background")
    return np.asarray(fused != 0)
