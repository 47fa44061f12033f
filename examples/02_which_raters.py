"""Assess which raters agree, how well each performs, and whether the result can be trusted.

python examples/02_which_raters.py
"""

from __future__ import annotations

import SimpleITK as sitk

import itk_consensus as ic


def main() -> None:
    """Assess four radiologists with STAPLE, and by the overlap of their masks with the
    consensus.
    """
    images = ic.sample_case()
    names = [f"radiologist {number}" for number in range(1, 1 + len(images))]

    staple = ic.STAPLEImageFilter()
    staple.SetVariant("advanced")  # estimates the prior, as recommended for small structures
    staple.SetNumberOfInitializations(20)  # adds little run time
    staple.Execute(images)
    consensus = sitk.GetArrayFromImage(staple.GetLabelImage())

    print(f"{'':<14} sensitivity  specificity  Dice to the consensus")
    rows = zip(names, images, staple.GetSensitivity(), staple.GetSpecificity(), strict=True)
    for name, image, sensitivity, specificity in rows:
        overlap = ic.dice(sitk.GetArrayFromImage(image), consensus)
        print(f"{name:<14} {sensitivity:11.3f}  {specificity:11.4f}  {overlap:21.3f}")

    print("\nReasons for doubt, if any, and what else to know:")
    print(staple.GetDiagnostics())


if __name__ == "__main__":
    main()
