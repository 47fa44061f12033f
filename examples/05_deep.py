"""Train an image-aware consensus on raters' masks without reference segmentations (needs torch).

python examples/05_deep.py [cases] [iterations]
"""

from __future__ import annotations

import sys

import numpy as np
import SimpleITK as sitk

import itk_consensus as ic


def mean_dice(masks: list[sitk.Image], cohort: list[ic.SampleCase]) -> float:
    """Return the mean Dice with the true segmentations, which no method has used."""
    pairs = zip(masks, cohort, strict=True)
    array = sitk.GetArrayFromImage
    return float(np.mean([ic.dice(array(mask) == 1, array(case.truth)) for mask, case in pairs]))


def main(number: int = 80, iterations: int = 200) -> None:
    """Train on some cases without their true segmentations; compare with the vote on twenty
    others.
    """
    known, new = ic.sample_cohort(number, seed=1), ic.sample_cohort(20, seed=2)

    # A quarter of the cases, and some of their raters, are held out to test whether the network is
    # better than the vote. If this is not shown, the filter returns the vote.
    deep = ic.DeepConsensusFilter(
        NumberOfIterations=iterations, ValidationFraction=0.25, NumberOfThreads=1
    )
    deep.Fit([case.image for case in known], [case.raters for case in known])

    fused = [deep.Execute(case.image, case.raters) for case in new]
    voted = [ic.MajorityVote(case.raters) for case in new]
    print(f"mean Dice: vote {mean_dice(voted, new):.3f}, deep {mean_dice(fused, new):.3f}")
    for rater, reliability in deep.GetRaterReliability().items():
        print(f"reliability of rater {rater}: {reliability:.3f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
