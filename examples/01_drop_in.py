"""Replace SimpleITK's STAPLE by changing one import: same call, same result.

python examples/01_drop_in.py
"""

from __future__ import annotations

import numpy as np
import SimpleITK as sitk

import itk_consensus as ic


def main() -> None:
    """Fuse one nodule with both libraries."""
    images = ic.sample_case()  # four radiologists' masks of one lung nodule, as SimpleITK images

    theirs = sitk.STAPLE(images, 1.0)
    ours = ic.STAPLE(images, 1.0)

    difference = np.abs(sitk.GetArrayFromImage(ours) - sitk.GetArrayFromImage(theirs))
    print(f"largest difference of a probability: {difference.max():.0e}")
    print(f"same grid: {ours.GetSpacing() == theirs.GetSpacing()}, {ours.GetSize()} voxels")

    labels = ic.Consensus(images)  # the recommended method
    statistics = sitk.LabelShapeStatisticsImageFilter()
    statistics.Execute(labels)
    print(f"volume of the consensus: {statistics.GetPhysicalSize(1):.0f} mm3")


if __name__ == "__main__":
    main()
