"""Estimate the performance of raters from many cases together, which is more accurate.

python examples/04_cohort.py
"""

from __future__ import annotations

import numpy as np
import SimpleITK as sitk

import itk_consensus as ic


def true_sensitivity(cohort: list[ic.SampleCase], rater: int) -> float:
    """Return the fraction of the true foreground that a rater marked, over all cases."""
    found = marked = 0
    for case in cohort:
        truth = sitk.GetArrayFromImage(case.truth) == 1
        found += int((sitk.GetArrayFromImage(case.raters[rater])[truth] == 1).sum())
        marked += int(truth.sum())
    return found / marked


def main() -> None:
    """Compare one STAPLE fitted to twenty cases with twenty separate ones."""
    cohort = ic.sample_cohort(20)
    cases = [case.raters for case in cohort]

    together = ic.CohortSTAPLEFilter(Variant="advanced")
    probabilities = together.Execute(cases)

    alone = []
    for raters in cases:
        staple = ic.STAPLEImageFilter(Variant="advanced")
        staple.Execute(raters)
        alone.append(staple.GetSensitivity())

    print("sensitivity   truly  cohort  case by case (lowest to highest)")
    for rater, estimate in enumerate(together.GetSensitivity()):
        single = [sensitivities[rater] for sensitivities in alone]
        truly = true_sensitivity(cohort, rater)
        spread = f"{min(single):.3f} to {max(single):.3f}"
        print(f"rater {rater + 1}       {truly:.3f}   {estimate:.3f}  {spread}")

    masks = [sitk.GetArrayFromImage(probability) >= 0.5 for probability in probabilities]
    truths = [sitk.GetArrayFromImage(case.truth) for case in cohort]
    overlaps = [ic.dice(mask, truth) for mask, truth in zip(masks, truths, strict=True)]
    print(f"\nmean Dice to the truth: {np.mean(overlaps):.3f}")


if __name__ == "__main__":
    main()
