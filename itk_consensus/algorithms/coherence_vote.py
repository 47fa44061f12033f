"""The coherence vote: smooth only what the raters do not share.

Detail finer than a smoothing is signal if raters share it beyond chance, and noise if they do not.
Every rater's mask is split into bands of scale. Where the bands of different raters correlate, the
band is kept; where they do not, it goes. This is Wiener's filter (Extrapolation, Interpolation and
Smoothing of Stationary Time Series, 1949) with the signal's power measured by the agreement of
independent copies, as electron microscopy does with half sets (Rosenthal & Henderson, Journal of
Molecular Biology 333:721-745, 2003). The contour is then drawn midway between what the raters mark
inside and outside (Rogan & Gladen, American Journal of Epidemiology 107:71-76, 1978).

It assumes that errors finer than the bands are independent between raters. Copies of one rater
make noise look shared: `near_copies` finds them.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter, maximum_filter, minimum_filter

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Box = tuple[slice, ...]

#: Standard deviations after which a Gaussian is cut off.
TRUNCATE = 3.0

#: A band weaker than this is rounding.
LEAST_POWER = 1e-8

#: Smallest voxel sides: what lies nearer to a contour, or farther from any mark, is not counted.
CONTOUR_REACH = 3.0

#: The mean of a whole side counts as this many voxels far from its contour.
PSEUDO_VOXELS = 10.0

#: Answers this close to the cut are a tie, and not chosen.
TIE_TOLERANCE = 1e-9

CUT_ROUNDS = 2
