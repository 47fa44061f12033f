"""Labels of several raters as a training target: a folder for nnU-Net, and soft labels.

Where readers differ, voxels get nnU-Net's ignore label; the soft labels are for a loss of your own.

python examples/11_soft_labels.py
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import numpy as np
import SimpleITK as sitk

import itk_consensus as ic

IGNORE = 2  # the label after the last one, as nnU-Net requires
UNSURE = (0.4, 0.6)  # voxels with probabilities between these are ignored


def targets(raters: list[sitk.Image]) -> tuple[sitk.Image, sitk.Image]:
    """Label map with uncertain voxels ignored, and the probability it is made from."""
    fuser = ic.ConsensusFilter()
    labels = sitk.Cast(fuser.Execute(raters), sitk.sitkUInt8)
    soft = sitk.Cast(fuser.GetProbabilityImage(1), sitk.sitkFloat32)
    unsure = sitk.And(soft > UNSURE[0], soft < UNSURE[1])
    return sitk.Mask(labels, unsure == 0, IGNORE), soft


def main() -> dict[str, float]:
    """Write twenty simulated cases, and compare the targets with their known truth."""
    folder = Path(tempfile.mkdtemp()) / "Dataset501_Readers"
    for name in ("imagesTr", "labelsTr", "softTr"):
        (folder / name).mkdir(parents=True)
    rows = []
    for number, case in enumerate(ic.sample_cohort(20, seed=1)):
        name = f"case{number:02d}"
        hard, soft = targets(case.raters)
        sitk.WriteImage(case.image, str(folder / "imagesTr" / f"{name}_0000.nii.gz"))
        sitk.WriteImage(hard, str(folder / "labelsTr" / f"{name}.nii.gz"))
        sitk.WriteImage(soft, str(folder / "softTr" / f"{name}.nii.gz"))
        truth, codes = map(sitk.GetArrayFromImage, (case.truth, hard))
        vote = sitk.GetArrayFromImage(ic.MajorityVote(case.raters))
        lost, organ = codes == IGNORE, truth != 0
        rows.append([np.mean(vote != truth), np.mean((codes != truth)[~lost]), lost[organ].mean()])
    labels = {"background": 0, "organ": 1, "ignore": IGNORE}
    about = {"channel_names": {"0": "MR"}, "labels": labels, "numTraining": 20}
    (folder / "dataset.json").write_text(json.dumps(about | {"file_ending": ".nii.gz"}, indent=1))
    names = ("the vote is wrong", "wrong where not ignored", "ignored, of the organ")
    shares = dict(zip(names, np.mean(rows, axis=0).tolist(), strict=True))
    for name, share in shares.items():
        print(f"{name:26s}{share:6.1%}")
    return shares


if __name__ == "__main__":
    main()
