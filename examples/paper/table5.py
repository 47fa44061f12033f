"""Table 5: deep consensus with annotator embeddings (Experiment 6, section 4.6).

All images have the same true mask, which can be obtained by thresholding the image: the deep row
shows that the network learned this threshold. Below it are the paper's reliabilities, which do not
rank the raters. The careful column is DeepConsensusFilter, trained on the same images and true
masks. All methods are also compared on harder phantoms, whose true masks cannot be obtained by
thresholding: ellipses of random size and position with texture and a distractor, and raters with
correlated errors.
"""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import itk_consensus
from examples.paper.careful import careful_staple
from examples.paper.notebook_simple import notebook_simple
from examples.paper.notebook_staple import Votes, majority_vote, notebook_staple
from examples.paper.side_by_side import mean_and_spread
from examples.simulation import ellipsoid_phantom, paper_raters
from itk_consensus.core.errors import ConsensusWarning
from itk_consensus.deep.deep_consensus_filter import DeepConsensusFilter
from itk_consensus.simulation.deep_phantoms import hard_cohort
from itk_consensus.votes.overlap import dice

SHAPE, SEMI_AXES = (64, 64), (21, 16)
TRAINING, VALIDATION = range(400), range(9999, 10099)
OUTLIER_EVERY = 5
SIMPLE_ITERATIONS = 5
THRESHOLD = 0.35
EPOCHS = 50
#: The paper also trains only once.
DEEP_SEEDS = range(1)
PUBLISHED_RHO = (0.675, 0.557, 0.600, 0.551, 0.463)
#: Iterations of DeepConsensusFilter, which is evaluated on cases it was not trained on.
ITERATIONS = 300
#: Numbers and first seeds of the harder phantoms for training and testing.
HARD_CASES, HARD_SEEDS = (100, 50), (10, 3000)
PUBLISHED = {
    "majority vote": "0.836 ± 0.035",
    "STAPLE": "0.817 ± 0.042",
    "SIMPLE": "0.823 ± 0.041",
    "deep consensus": "0.999 ± 0.000",
}


class Samples(NamedTuple):
    """Arrays of (N, 1, H, W) images, (N, A, H, W) masks and (N, H, W) true masks."""

    images: NDArray[np.float32]
    masks: NDArray[np.bool_]
    truths: NDArray[np.bool_]


def draw(seeds: range) -> Samples:
    """Draw one phantom per seed; in every fifth one, the last rater is random."""
    cases = []
    for number, seed in enumerate(seeds):
        truth, image = ellipsoid_phantom(SHAPE, SEMI_AXES, seed)
        outlier = -1 if number % OUTLIER_EVERY == 0 else None
        cases.append((image[None], paper_raters(truth, 5, seed, outlier=outlier), truth))
    images, masks, truths = (np.array(part) for part in zip(*cases, strict=True))
    return Samples(images.astype(np.float32), masks, truths)


def compute() -> dict[str, str]:
    """Compute the rows of the methods that use only labels, and of the threshold on the image."""
    samples = draw(VALIDATION)
    methods = {
        "majority vote": majority_vote,
        "STAPLE": lambda raters: notebook_staple(Votes.of(raters)).segmentation,
        "SIMPLE": lambda raters: notebook_simple(raters, SIMPLE_ITERATIONS),
    }
    rows = {
        name: _row(np.array([fuse(masks) for masks in samples.masks]), samples.truths)
        for name, fuse in methods.items()
    }
    thresholded = samples.images[:, 0] > THRESHOLD
    rows["image > 0.35"] = _row(thresholded, samples.truths)
    return rows


def deep(
    seed: int = 0, epochs: int | None = None, dynamics: list[tuple[float, float]] | None = None
) -> tuple[str, list[float]]:
    """Return the Dice of the paper's two-stream network, and its reliabilities.

    `dynamics` receives the loss and the mean validation Dice after each epoch, as in Figure 3.
    """
    from examples.paper.notebook_two_stream import TwoStreamNet, segment, train

    def watch(net: TwoStreamNet, loss: float) -> None:
        if dynamics is not None:
            found = segment(net, validation.images, validation.masks.astype(np.float32))
            pairs = zip(found, validation.truths, strict=True)
            dynamics.append((loss, float(np.mean([dice(m, t) for m, t in pairs]))))

    training, validation = draw(TRAINING), draw(VALIDATION)
    net = train(
        training.images,
        training.masks.astype(np.float32),
        training.truths.astype(np.int64),
        epochs or EPOCHS,
        seed,
        watch,
    )
    found = segment(net, validation.images, validation.masks.astype(np.float32))
    return _row(found, validation.truths), net.rho().tolist()


def deep_filter(
    images: NDArray[np.float32],
    masks: NDArray[np.bool_],
    truths: NDArray[np.bool_],
    iterations: int | None = None,
) -> DeepConsensusFilter:
    """Train a DeepConsensusFilter on (N, 1, H, W) images with their true masks."""
    network = DeepConsensusFilter(NumberOfIterations=iterations or ITERATIONS, NumberOfThreads=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsensusWarning)  # expected warnings
        network.Fit(
            list(images[:, 0]),
            [list(case.astype(np.uint8)) for case in masks],
            list(truths.astype(np.uint8)),
        )
    return network


def answers(network: DeepConsensusFilter, samples: Samples) -> NDArray[np.bool_]:
    """Return the (N, H, W) results of the filter for the samples."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsensusWarning)
        return np.array(
            [
                network.Execute(image[0], list(case.astype(np.uint8))) == 1
                for image, case in zip(samples.images, samples.masks, strict=True)
            ]
        )


def careful() -> tuple[dict[str, str], list[float]]:
    """Compute the table for the package's filters, and each rater's accuracy estimated by the
    network.
    """
    training, validation = draw(TRAINING), draw(VALIDATION)
    network = deep_filter(*training)
    methods = {
        "majority vote": majority_vote,
        "STAPLE": lambda raters: careful_staple(raters)[1],
        "SIMPLE": lambda raters: itk_consensus.SIMPLE(list(raters), tieRule="background") == 1,
    }
    rows = {
        name: _row(np.array([fuse(masks) for masks in validation.masks]), validation.truths)
        for name, fuse in methods.items()
    }
    rows["deep consensus"] = _row(answers(network, validation), validation.truths)
    return rows, list(network.GetRaterReliability().values())


def hard_samples(number: int, seed: int) -> Samples:
    """Draw samples with two labels, random true masks, texture and a distractor."""
    cohort = hard_cohort(number, seed, number_of_classes=2)
    return Samples(cohort.images, cohort.labels == 1, cohort.truths == 1)


def hard(with_deep: bool = True) -> dict[str, str]:
    """Return the Dice on the harder phantoms; the threshold is the best in training."""
    training, judged = (
        hard_samples(number, seed) for number, seed in zip(HARD_CASES, HARD_SEEDS, strict=True)
    )
    levels = np.linspace(training.images.min(), training.images.max(), 60)
    best = max(levels, key=lambda level: _mean(training.images[:, 0] > level, training.truths))
    rows = {
        "image > its best threshold": _row(judged.images[:, 0] > best, judged.truths),
        "majority vote": _row(np.array([majority_vote(m) for m in judged.masks]), judged.truths),
        "STAPLE": _row(np.array([careful_staple(m)[1] for m in judged.masks]), judged.truths),
    }
    if with_deep:
        network = deep_filter(*training)
        rows["deep consensus"] = _row(answers(network, judged), judged.truths)
    return rows


def _mean(masks: NDArray[np.bool_], truths: NDArray[np.bool_]) -> float:
    return float(np.mean([dice(m, t) for m, t in zip(masks, truths, strict=True)]))


def _row(masks: NDArray[np.bool_], truths: NDArray[np.bool_]) -> str:
    return mean_and_spread([dice(m, t) for m, t in zip(masks, truths, strict=True)])


def main() -> None:
    """Print the published table and ours."""
    rows, reliability = compute(), None
    if find_spec("torch") is None:
        rows["deep consensus"] = "needs torch: pip install 'itk-consensus[deep]'"
    else:
        rows["deep consensus"], reliability = deep()
    print("Table 5. Dice of 100 validation samples that share one truth")
    print(f"{'method':<16}{'paper':<16}ours")
    for name, value in rows.items():
        print(f"{name:<16}{PUBLISHED.get(name, '-'):<16}{value}")
    if reliability is not None:
        print("rho, seed 0:", " ".join(f"{rho:.3f}" for rho in reliability), "(outlier last)")
    print()


if __name__ == "__main__":
    main()
