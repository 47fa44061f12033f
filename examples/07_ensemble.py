"""Fuse the probabilities of five networks inside MONAI transforms.

python examples/07_ensemble.py
"""

from __future__ import annotations

import numpy as np
import torch
from monai.data import MetaTensor
from monai.transforms import Activationsd, AsDiscreted, Compose, CopyItemsd, VoteEnsembled
from scipy.ndimage import gaussian_filter

import itk_consensus as ic

MODELS = [f"model{number}" for number in range(5)]


def predictions(seed: int = 0) -> tuple[np.ndarray, dict[str, MetaTensor]]:
    """Return a true label map of three classes, and logits of five networks with errors."""
    rng = np.random.default_rng(seed)
    shape = (48, 48, 24)
    truth = np.digitize(gaussian_filter(rng.normal(size=shape), 4), [-0.02, 0.02])
    sure = np.eye(3)[truth].transpose(3, 0, 1, 2)

    def logits() -> MetaTensor:
        errors = gaussian_filter(rng.normal(size=sure.shape), (0, 1, 1, 1))
        return MetaTensor(torch.from_numpy(3 * sure + 15 * errors), affine=np.eye(4))

    return truth, {model: logits() for model in MODELS}


def main() -> dict[str, float]:
    """Vote as MONAI does, average, and smooth the probabilities where networks disagree."""
    truth, data = predictions()
    labels = [f"labels of {model}" for model in MODELS]
    fuse = Compose(
        [
            Activationsd(MODELS, softmax=True),
            ic.ConsensusEnsembled(MODELS, output_key="mean of probabilities"),
            ic.ConsensusEnsembled(
                MODELS, ic.CorrectedVoteFilter(), "corrected vote", uncertainty_key="doubt"
            ),
            CopyItemsd(MODELS, names=labels),
            AsDiscreted(labels, argmax=True),
            VoteEnsembled(labels, "MONAI's vote", num_classes=3),
        ]
    )
    said = fuse(data)
    scores = {}
    for name in (labels[0], "MONAI's vote", "mean of probabilities", "corrected vote"):
        found = np.asarray(said[name])[0]
        scores[name] = float(np.mean([ic.dice(found == k, truth == k) for k in range(3)]))
        print(f"{name:24s} mean Dice {scores[name]:.3f}")
    return scores


if __name__ == "__main__":
    main()
