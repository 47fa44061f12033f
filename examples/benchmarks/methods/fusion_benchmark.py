"""Compare all fusers in twelve simulated settings and on real crowd workers.

Prints and plots the mean Dice with the reference, on which the choice of ConsensusFilter is based.
The crowd (7 workers against the experts' gold standard) needs the shared data next to the
repository.

    python fusion_benchmark.py [--seeds 24] [--plot fusion_benchmark.png]
    python fusion_benchmark.py --first-seed 7000 --seeds 200 --fusers corrected-vote
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from examples.simulation import twelve_settings
from itk_consensus.core.errors import ConsensusWarning
from itk_consensus.fusing.label_fusion import LabelFusionFilter
from itk_consensus.images.files import read_image
from itk_consensus.methods.registry import FUSERS
from itk_consensus.methods.staple.staple_filter import STAPLEImageFilter
from itk_consensus.methods.voting.majority_vote_filter import MajorityVoteFilter
from itk_consensus.votes.overlap import dice

Masks = NDArray[np.bool_]
Case = tuple[Masks, Masks]
Table = dict[str, dict[str, float]]

FIRST_SEED = 3000  # defaults were chosen on lower seeds
CROWD = Path(__file__).resolve().parents[3] / ".." / "shared" / "data" / "bubil"
CROWD_COLUMN = "bubil crowd"
REFERENCE = "vote, smoothed"


def fusers() -> dict[str, Callable[[], LabelFusionFilter]]:
    """Return the compared fusers: each with its defaults, and some variants."""
    rows: dict[str, Callable[[], LabelFusionFilter]] = {
        "vote": lambda: MajorityVoteFilter(TieRule="background"),
        REFERENCE: lambda: MajorityVoteFilter(TieRule="background", SmoothingSigma=1.0),
        "staple": STAPLEImageFilter,
        "staple, Advanced": lambda: STAPLEImageFilter(Variant="advanced"),
        "staple, Restricted": lambda: STAPLEImageFilter(Variant="restricted"),
    }
    rows |= {fuser.method: fuser for fuser in FUSERS if fuser.method not in rows}
    return rows


def fused_mask(make: Callable[[], LabelFusionFilter], raters: Masks) -> Masks:
    """Return the foreground of a fuser's result; undecided voxels count as background."""
    fuser = make()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsensusWarning)
        fuser.Execute(list(raters.astype(np.uint8)))
    return np.asarray(fuser.GetLabelImage() == 1)


def crowd_cases() -> Iterator[Case]:
    """Return the gold standard and the crowd workers of every public image."""
    for file in sorted(CROWD.glob("*_crowd.nrrd")):
        gold = read_image(str(file).replace("_crowd", "_gold"))
        raters = np.moveaxis(_array(read_image(file)), -1, 0)
        yield _array(gold) != 0, raters != 0


def _array(image: object) -> NDArray[np.uint8]:
    import SimpleITK as sitk

    return np.asarray(sitk.GetArrayFromImage(image))


def columns(seeds: Sequence[int]) -> Iterator[tuple[str, list[Case]]]:
    """Return the settings, and the crowd if its data are available."""
    for setting in twelve_settings(seeds):
        yield setting.name, [(case.truth, case.raters) for case in setting.cases]
    if CROWD.is_dir():
        yield CROWD_COLUMN, list(crowd_cases())


def compute(seeds: Sequence[int], names: Sequence[str] | None = None) -> Table:
    """Compute the mean Dice of fusers (rows; by default all) in every setting (columns)."""
    wanted = {REFERENCE, *(names or fusers())}
    makers = {name: make for name, make in fusers().items() if name in wanted}
    table: Table = {name: {} for name in makers}
    for column, cases in columns(seeds):
        for name, make in makers.items():
            overlaps = [dice(fused_mask(make, raters), truth) for truth, raters in cases]
            table[name][column] = float(np.mean(overlaps))
    return table


def print_table(table: Table) -> None:
    """Print a row per fuser, with its mean over settings and its largest loss against the
    reference.
    """
    settings = [column for column in table[REFERENCE] if column != CROWD_COLUMN]
    width = max(map(len, table))
    heads = [column.removeprefix("jitter ").removeprefix("spatial ") for column in table[REFERENCE]]
    print(" " * width, *(f"{head[-11:]:>11}" for head in heads), f"{'mean of 12':>11} {'worst':>7}")
    for name, row in sorted(table.items(), key=lambda item: -mean_of(item[1], settings)):
        worst = min(row[s] - table[REFERENCE][s] for s in settings)
        cells = (f"{value:11.3f}" for value in row.values())
        print(f"{name:<{width}}", *cells, f"{mean_of(row, settings):11.3f} {worst:+7.3f}")
    print(f"worst: largest loss to '{REFERENCE}' in one of the twelve settings")


def mean_of(row: dict[str, float], settings: Sequence[str]) -> float:
    """Return the mean Dice over the settings."""
    return float(np.mean([row[setting] for setting in settings]))


def draw(table: Table, path: Path) -> None:
    """Plot the gain over the smoothed vote by setting."""
    from matplotlib.figure import Figure

    names = sorted(table, key=lambda name: -np.mean(list(table[name].values())))
    settings = list(table[REFERENCE])
    gains = np.array([[table[n][s] - table[REFERENCE][s] for s in settings] for n in names])
    figure = Figure(figsize=(9, 0.36 * len(names) + 1.8), layout="constrained")
    axes = figure.subplots()
    picture = axes.imshow(gains, cmap="RdBu", vmin=-0.3, vmax=0.3, aspect="auto")
    axes.set_xticks(range(len(settings)), settings, rotation=40, ha="right", fontsize=8)
    axes.set_yticks(range(len(names)), names, fontsize=8)
    for i, name in enumerate(names):
        for j, setting in enumerate(settings):
            value = table[name][setting]
            ink = "white" if abs(gains[i, j]) > 0.2 else "black"
            axes.text(j, i, f"{value:.3f}"[1:], ha="center", va="center", fontsize=6.5, color=ink)
    axes.set_title("Mean Dice to the truth; colour: gain over the smoothed vote", fontsize=10)
    figure.colorbar(picture, shrink=0.8)
    figure.savefig(path, dpi=150)


def main(arguments: Sequence[str] | None = None) -> None:
    """Compute, print and plot the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=24, help="seeds per setting")
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    parser.add_argument("--fusers", nargs="+", choices=list(fusers()), metavar="NAME")
    parser.add_argument("--plot", type=Path, default=None, help="PNG to draw")
    options = parser.parse_args(arguments)
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    table = compute(seeds, options.fusers)
    print_table(table)
    if options.plot is not None:
        draw(table, options.plot)


if __name__ == "__main__":
    main()
