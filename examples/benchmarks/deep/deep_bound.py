"""Compute an upper bound of the gain from an image, given raters with known errors, on the hard
phantoms.

Near a contour all distributions are Gaussian: raters displace it by smooth random fields, the
image shows it with blur, texture and noise, and a displacement d changes the image by contrast *
blurred line * d. Thus the remaining variance of the contour, with and without the image, is a sum
over frequencies, and the loss of Dice is E|d| * length / (2 * area). Biases are assumed known, no
lesion is missed, and nothing is rounded to voxels: this is the gain over the optimal fusion of
raters alone, for small displacements. Experiment 9 of deep_evidence.py gives the gain of a network
trained on many cases.

python -m examples.benchmarks.deep.deep_bound
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.simulation.deep_phantoms import KNOWN_RATERS

SIDE = 64
CONTRASTS = (0.35, 0.7, 1.4)
#: Standard deviation and smoothness of the textures that `hard_cohort` adds; smoothness 0 is white
#: noise.
TEXTURES = ((0.12, 1.5), (0.12, 6.0), (0.08, 0.0))
BLUR = 1.5


class Structure(NamedTuple):
    """A contour of the hard phantoms, in voxels.

    Attributes
    ----------
    wobble : float
        Factor by which the raters' displacement is multiplied.
    smoothness : float
        Smoothness of the raters' displacement fields.
    spread : float
        Standard deviation of the true contour around the expected shape.
    radii : tuple of float
        Smallest and largest; a circle loses E|d| / radius of Dice.
    """

    wobble: float
    smoothness: float
    spread: float
    radii: tuple[float, float]


STRUCTURES = {
    "organ": Structure(1.0, 4.0, 2.0, (0.18 * SIDE, 0.3 * SIDE)),
    "lesion": Structure(0.6, 3.0, 1.0, (0.06 * SIDE, 0.13 * SIDE)),
}


def spectrum(
    variance: float, smoothness: float, squared: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the power of a smooth field at squared frequencies; its mean is the variance."""
    power = np.exp(-(smoothness**2) * squared)
    return np.asarray(variance * power / power.mean())


def variance_left(variance: float, smoothness: float, contrast: float, side: int = SIDE) -> float:
    """Return the remaining variance of a contour's displacement, given an image with this
    contrast.
    """
    along = (2 * np.pi * np.fft.fftfreq(side)) ** 2
    squared = along[:, None] + along[None]
    noise = sum(spectrum(amount**2, smooth, squared) for amount, smooth in TEXTURES)
    seen = (contrast**2 * np.exp(-(BLUR**2) * squared) / noise).mean(1)
    before = spectrum(variance, smoothness, along)
    return float(np.mean(before / (1 + before * seen)))


def dice_lost(structure: Structure, wobbles: Sequence[float], contrast: float) -> float:
    """Return the mean loss of Dice of one structure."""
    known = sum(1 / (structure.wobble * wobble) ** 2 for wobble in wobbles)
    variance = 1 / (known + 1 / structure.spread**2)
    low, high = structure.radii
    mean_curvature = np.log(high / low) / (high - low)
    left = variance_left(variance, structure.smoothness, contrast)
    return float(np.sqrt(2 / np.pi * left) * mean_curvature)


def gain(wobbles: Sequence[float], contrast: float) -> dict[str, float]:
    """Return the gain in Dice from the image, by structure."""
    return {
        name: dice_lost(one, wobbles, 0.0) - dice_lost(one, wobbles, contrast)
        for name, one in STRUCTURES.items()
    }


def table() -> str:
    """Return the gain from the image for five raters, for the worst three and for the worst one."""
    wobbles = sorted(rater.wobble for rater in KNOWN_RATERS)
    lines = ["| raters | contrast | organ | lesion | mean |", "|---|---|---|---|---|"]
    for title, some in {
        "all five": wobbles,
        "the worst three": wobbles[2:],
        "the worst alone": wobbles[4:],
    }.items():
        for contrast in CONTRASTS:
            found = list(gain(some, contrast).values())
            cells = " | ".join(f"{value:.4f}" for value in (*found, np.mean(found)))
            lines.append(f"| {title} | {contrast:g} | {cells} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
