"""Show where the consensus is certain: a band with a coverage guarantee.

python examples/03_band.py
"""

from __future__ import annotations

import numpy as np
import SimpleITK as sitk

import itk_consensus as ic


def vote_shares(raters: list[sitk.Image]) -> sitk.Image:
    """Return the fraction of raters who marked each pixel."""
    vote = ic.MajorityVoteFilter()
    vote.Execute(raters)
    return vote.GetProbabilityImage(1)


def main() -> None:
    """Calibrate on forty simulated cases with known truth, and test the band on forty others."""
    known, new = ic.sample_cohort(40, seed=1), ic.sample_cohort(40, seed=2)

    band = ic.ConformalBandFilter(Alpha=0.1)
    band.Calibrate(
        [vote_shares(case.raters) for case in known],
        [case.truth for case in known],
        [case.raters for case in known],
    )
    print(band.GetGuarantee())

    missed, thickness = [], []
    for case in new:
        marked = band.Execute(vote_shares(case.raters), raters=case.raters)
        codes, truth = sitk.GetArrayFromImage(marked), sitk.GetArrayFromImage(case.truth)
        missed.append(np.mean(codes[truth == 1] == 0))  # 0 is certain background, 2 ambiguous
        thickness.append(band.GetBandThickness())
    kept = sum(share <= 0.05 for share in missed)
    print(f"\nIn {kept} of {len(new)} new cases at least 95% of the true foreground was found;")
    print(f"the band was {np.mean(thickness):.1f} mm thick on average.")


if __name__ == "__main__":
    main()
