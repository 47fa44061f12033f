"""Test how robust a dose is to contour uncertainty: dose-volume histograms with a band.

python examples/10_dose_robustness.py
"""

from __future__ import annotations

import numpy as np
import SimpleITK as sitk

import itk_consensus as ic

PRESCRIBED = 50.0  # Gy
LEVELS = np.arange(0.0, 56.0, 5.0)


def dose_on(target: sitk.Image, margin: float) -> np.ndarray:
    """Return a dose: as prescribed within a margin (mm) around the target, decreasing outside."""
    distance = sitk.SignedMaurerDistanceMap(target, squaredDistance=False, useImageSpacing=True)
    away = np.maximum(sitk.GetArrayFromImage(distance) - margin, 0)
    return PRESCRIBED * np.exp(-((away / 6) ** 2))


def volume_histogram(dose: np.ndarray, contour: sitk.Image) -> np.ndarray:
    """Return the fraction of a contour's volume that receives at least each dose level."""
    inside = np.sort(dose[sitk.GetArrayFromImage(contour) != 0])
    return 1 - np.searchsorted(inside, LEVELS - 1e-6) / max(len(inside), 1)


def main() -> None:
    """Plan on the consensus of a nodule, with and without a margin; evaluate both plans on 40
    sampled contours.
    """
    readers = ic.sample_case("LIDC-IDRI-0023")
    fuser = ic.ConsensusFilter()
    target = fuser.Execute(readers)
    samples = ic.SampleSegmentations(fuser, 40, seed=1)
    estimate, low, high = samples.volume()
    print(
        f"volume {estimate:.2f} ml; another reader's is expected between {low:.2f} and {high:.2f}"
    )

    for margin in (0.0, 3.0):
        dose = dose_on(target, margin)
        curves = np.array([volume_histogram(dose, contour) for contour in samples])
        planned = volume_histogram(dose, target)
        worst, best = np.quantile(curves, [0.05, 0.95], axis=0)
        print(f"\nmargin {margin:g} mm: share of the volume that gets at least the dose")
        print("  Gy   planned   5 to 95 % of the contours that it might have been")
        for level, *shares in zip(LEVELS, planned, worst, best, strict=True):
            if level >= 30:
                print(f"{level:4.0f}   {shares[0]:7.2f}   {shares[1]:.2f} to {shares[2]:.2f}")
        covered = curves[:, LEVELS.tolist().index(PRESCRIBED - 5)] >= 0.95
        print(f"{covered.mean():.0%} of them get 45 Gy in 95 % of their volume")


if __name__ == "__main__":
    main()
