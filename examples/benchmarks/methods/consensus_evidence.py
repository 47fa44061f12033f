"""Compare the recommended method and other fusers with the vote, setting by setting.

For every setting, prints the mean Dice, the mean difference from the vote with its standard error,
the share of cases worse than the vote, and the worst case. Real readers, which need the shared
data next to the repository, come first: LIDC nodules, each reader against the consensus of the
others; crowds against the experts' gold standard; and both with a gross error ("slip") of one
reader. They are followed by simulated settings in two groups: those on which defaults were chosen,
on seeds below 3000, and realistic ones, on which nothing was chosen. Seeds 3000 to 3999 are for
reporting. Finally, error rates of the detection of copies are printed.

    python -m examples.benchmarks.methods.consensus_evidence [--first-seed 3000] [--seeds 60]
        [--fusers consensus corrected] [--settings vessels ring] [--without-real]
    python -m examples.benchmarks.methods.consensus_evidence --smoothing
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import itk_consensus
from examples.simulation import (
    HARM_SETTINGS,
    PRACTICE_SETTINGS,
    SLIP_SETTINGS,
    SLIPS,
    STRUCTURE_SETTINGS,
    SpacedCase,
    twelve_settings,
)
from itk_consensus.core.errors import ConsensusWarning
from itk_consensus.fusing.near_copies import near_copies
from itk_consensus.methods.consensus.coherence_vote import coherence_vote
from itk_consensus.methods.consensus.rater_masks import RaterMasks
from itk_consensus.methods.consensus.scale_bands import CoherenceSettings
from itk_consensus.methods.consensus.shared_consensus import shared_consensus
from itk_consensus.methods.voting.corrected_vote import corrected_vote
from itk_consensus.methods.voting.majority_vote import majority_vote
from itk_consensus.methods.voting.smoothed_vote import smoothed_vote
from itk_consensus.space.boxes import bounding_box
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.label_stack import LabelStack
from itk_consensus.votes.overlap import dice

Labels = NDArray[Any]
Fuser = Callable[[DecisionPatterns, tuple[float, ...]], Labels]

DATA = Path(__file__).resolve().parents[3] / ".." / "shared" / "data"
VOTE = "vote"

#: Sigma of the smoothed vote, as a multiple of the smallest voxel side: the best value for the
#: even nodules of LIDC, according to `print_smoothing`. A sigma of one side, which is better for
#: noise, is worse there.
BEST_SMOOTHING = 0.6
SMOOTHINGS = (0.4, 0.5, BEST_SMOOTHING, 0.7, 0.8, 1.0)


def vote(patterns: DecisionPatterns, spacing: tuple[float, ...]) -> Labels:
    """Return the plurality vote; ties are background."""
    return patterns.expand(majority_vote(patterns, ties="background").decision)


def smoothed(patterns: DecisionPatterns, spacing: tuple[float, ...]) -> Labels:
    """Return the vote with the best smoothing."""
    return _smoothed_by(BEST_SMOOTHING, patterns, spacing)


def _smoothed_by(sides: float, patterns: DecisionPatterns, spacing: tuple[float, ...]) -> Labels:
    """Return the vote smoothed with a sigma given as a multiple of the smallest voxel side."""
    sigma = sides * min(spacing)
    return smoothed_vote(patterns, sigma, spacing, ties="background").decision()


def corrected(patterns: DecisionPatterns, spacing: tuple[float, ...]) -> Labels:
    """Return the corrected vote, with a sigma of the smallest voxel side."""
    return corrected_vote(patterns, min(spacing), spacing).decision()


def coherence(patterns: DecisionPatterns, spacing: tuple[float, ...]) -> Labels:
    """Return the coherence vote without further steps."""
    return coherence_vote(RaterMasks.from_patterns(patterns), spacing).decision


def consensus(patterns: DecisionPatterns, spacing: tuple[float, ...]) -> Labels:
    """Return the coherence vote with copies merged and overlooked lesions added."""
    return shared_consensus(patterns, spacing).decision


def staple_smooth(patterns: DecisionPatterns, spacing: tuple[float, ...]) -> Labels:
    """Return the result of advanced STAPLE with a smoothness prior."""
    return _filtered(
        itk_consensus.STAPLEImageFilter(Variant="advanced", SmoothnessWeight=2.0), patterns
    )


def direct(patterns: DecisionPatterns, spacing: tuple[float, ...]) -> Labels:
    """Return the result of direct inference."""
    return _filtered(itk_consensus.DirectInferenceFilter(), patterns)


FUSERS: dict[str, Fuser] = {
    VOTE: vote,
    "smoothed": smoothed,
    "corrected": corrected,
    "coherence": coherence,
    "consensus": consensus,
    "staple-smooth": staple_smooth,
    "direct": direct,
}

#: Candidates for the settings of the coherence vote.
CHOICES = {
    "coherence-wiener": CoherenceSettings(gain_sharpness=1.0),
    "coherence-two-bands": CoherenceSettings(scales=(0.0, 0.7, 1.4)),
    "coherence-four-bands": CoherenceSettings(scales=(0.0, 0.7, 1.4, 2.8, 4.0)),
    "coherence-window-3": CoherenceSettings(window=3.0),
    "coherence-window-7": CoherenceSettings(window=7.0),
    "coherence-blunt-detail": CoherenceSettings(detail_sharpness=2.0),
    "coherence-sharp-detail": CoherenceSettings(detail_sharpness=6.0),
}


def _with_settings(settings: CoherenceSettings) -> Fuser:
    def fuse(patterns: DecisionPatterns, spacing: tuple[float, ...]) -> Labels:
        return coherence_vote(RaterMasks.from_patterns(patterns), spacing, settings).decision

    return fuse


FUSERS |= {name: _with_settings(settings) for name, settings in CHOICES.items()}
FUSERS |= {f"smoothed-{sides}": partial(_smoothed_by, sides) for sides in SMOOTHINGS}


def _filtered(fuser: Any, patterns: DecisionPatterns) -> Labels:
    columns = np.ascontiguousarray(patterns.patterns.T.astype(np.uint8))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsensusWarning)
        fuser.Execute([patterns.expand(column) for column in columns])
    return np.asarray(fuser.GetLabelImage())


def encoded(raters: Labels) -> DecisionPatterns:
    """Encode (J, \\*shape) masks or labels as decision patterns."""
    if raters.dtype == bool:
        return DecisionPatterns.from_stack(LabelStack.binary(list(raters.astype(np.uint8)), 1.0))
    return DecisionPatterns.from_stack(LabelStack.multilabel(list(raters)))


def labelled(decision: Labels, patterns: DecisionPatterns) -> Labels:
    """Return a decision's label values, which differ from its indices if a label is not used."""
    return np.asarray(patterns.labels[np.maximum(decision, 0)])


def overlap(answer: Labels, truth: Labels) -> float:
    """Return the mean Dice over the reference's labels; if it is empty, 1 for an empty result,
    else 0.
    """
    values = [value for value in np.unique(truth) if value != 0]
    if not values:
        return float(not (answer > 0).any())
    return float(np.mean([dice(answer == value, truth == value) for value in values]))


class Row(NamedTuple):
    """Dice of one fuser and of the vote, case by case."""

    ours: NDArray[np.float64]
    vote: NDArray[np.float64]

    def __str__(self) -> str:
        gain = self.ours - self.vote
        error = gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else np.nan
        lost = np.mean(gain < -1e-9)
        return (
            f"{self.ours.mean():7.4f} {gain.mean():+8.4f} +- {error:.4f} "
            f"{lost:6.0%} {gain.min():+8.3f}"
        )


def compare(cases: Iterable[SpacedCase], names: Sequence[str]) -> dict[str, Row]:
    """Run every fuser on the same cases."""
    scores: dict[str, list[float]] = {name: [] for name in {VOTE: None, **dict.fromkeys(names)}}
    for truth, raters, spacing in cases:
        patterns = encoded(raters)
        for name, values in scores.items():
            values.append(overlap(labelled(FUSERS[name](patterns, spacing), patterns), truth))
    reference = np.array(scores[VOTE])
    return {name: Row(np.array(scores[name]), reference) for name in names}


#: Groups of settings in addition to the twelve.
SETTINGS = {
    "structures": STRUCTURE_SETTINGS,
    "slips": SLIP_SETTINGS,
    "practice": PRACTICE_SETTINGS,
    "harm": HARM_SETTINGS,
}


def all_settings(
    seeds: Sequence[int], groups: Sequence[str] = tuple(SETTINGS)
) -> Iterator[tuple[str, str, Iterator[SpacedCase]]]:
    """Yield group, name and cases of each setting: the twelve, structures, slips, and realistic
    ones.
    """
    for setting in twelve_settings(seeds):
        yield "noise", setting.name, (SpacedCase(*case, (1.0, 1.0)) for case in setting.cases)
    for group in groups:
        for name, draw in SETTINGS[group].items():
            yield group, name, (draw(seed) for seed in seeds)


def print_settings(seeds: Sequence[int], names: Sequence[str], only: Sequence[str]) -> None:
    """Print a line per setting and fuser, then means over settings."""
    means: dict[str, list[float]] = {name: [] for name in (VOTE, *names)}
    groups: list[str] = []
    print_heads("setting")
    for group, setting, cases in all_settings(seeds):
        if only and not any(word in setting for word in only):
            continue
        groups.append(group)
        for name, row in compare(cases, list(means)).items():
            means[name].append(float(row.ours.mean()))
            print(f"{setting:26} {name:16} {row}", flush=True)
    for group in dict.fromkeys(groups):
        of_group = np.array(groups) == group
        for name, values in means.items():
            gain = np.subtract(values, means[VOTE])[of_group]
            mean = np.array(values)[of_group].mean()
            print(
                f"{name:16} mean {mean:.4f} ({gain.mean():+.4f} to the vote) of {of_group.sum()} "
                f"settings of {group}; worst setting against the vote {gain.min():+.4f}"
            )


def print_copies(seeds: Sequence[int]) -> None:
    """Print how often copies are reported in cases with and without copies."""
    found, wrong, cases = [], [], 0
    for _, name, drawn in all_settings(seeds):
        merged = [any(len(g) > 1 for g in near_copies(encoded(case.raters))) for case in drawn]
        if name == "colluding":
            found = merged
            continue
        cases += len(merged)
        if any(merged):
            wrong.append(f"{name} {sum(merged)} of {len(merged)}")
    print(f"copies: found in {sum(found)} of {len(found)} cases of colluding raters, and in these")
    print(f"of {cases} others: {'; '.join(wrong) or 'none'}")


def print_heads(first: str) -> None:
    """Print the header of a table."""
    print(f"{first:26} {'fuser':16} {'Dice':>7} {'to the vote':>18} {'lost':>7} {'worst':>8}")


def masks_of(path: Path) -> tuple[NDArray[np.bool_], tuple[float, ...]]:
    """Return the (J, \\*shape) masks of a vector image, and its voxel size in array order."""
    import SimpleITK as sitk

    image = sitk.ReadImage(str(path))
    array = sitk.GetArrayFromImage(image)
    sides = tuple(image.GetSpacing()[::-1])
    if image.GetNumberOfComponentsPerPixel() == 1:
        array = array[..., None]
    return np.moveaxis(array, -1, 0) != 0, sides


def reader_rows(names: Sequence[str]) -> Iterator[tuple[str, dict[str, Row]]]:
    """Return means over nodules of each reader against the consensus of the others."""
    for path in sorted((DATA / "lidc").glob("*.nrrd")):
        readers, sides = masks_of(path)
        cases = (
            SpacedCase(reader, np.delete(readers, j, axis=0), sides)
            for j, reader in enumerate(readers)
        )
        yield path.stem, compare(cases, names)


def print_readers(names: Sequence[str]) -> None:
    """Print differences from the vote for LIDC."""
    rows = [row for _, row in reader_rows(names)]
    if not rows:
        print("LIDC nodules: no shared data")
        return
    for name in names:
        ours = np.array([row[name].ours.mean() for row in rows])
        votes = np.array([row[name].vote.mean() for row in rows])
        print(f"{f'LIDC {len(rows)} nodules':26} {name:16} {Row(ours, votes)}", flush=True)


def print_smoothing() -> None:
    """Print Dice by smoothing on the even nodules of LIDC, used for choosing, and on the odd
    ones.
    """
    names = [f"smoothed-{sides}" for sides in SMOOTHINGS]
    rows = [row for _, row in reader_rows(names)]
    if not rows:
        print("LIDC nodules: no shared data")
        return
    for name in names:
        gain = np.array([(row[name].ours - row[name].vote).mean() for row in rows])
        halves = (f"{part.mean():+.4f} +- {_error(part):.4f}" for part in (gain[::2], gain[1::2]))
        print(f"{name:16}", *halves)


def _error(values: NDArray[np.float64]) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values)))


def crowd_cases() -> Iterator[SpacedCase]:
    """Return crowd workers and gold standard, cropped to their common bounding box."""
    for path in sorted((DATA / "bubil").glob("*_crowd.nrrd")):
        workers, sides = masks_of(path)
        gold = masks_of(Path(str(path).replace("_crowd", "_gold")))[0][0]
        box = bounding_box(workers.any(axis=0) | gold)
        assert box is not None
        wide = tuple(slice(max(part.start - 12, 0), part.stop + 12) for part in box)
        yield SpacedCase(gold[wide], workers[(slice(None), *wide)], sides)


def print_crowds(names: Sequence[str]) -> None:
    """Print differences of methods from the vote and from the smoothed vote on crowds."""
    cases = list(crowd_cases())
    if not cases:
        print("crowds: no shared data")
        return
    rows = compare(cases, sorted({*names, "smoothed"}))
    for name, row in rows.items():
        print(f"{f'{len(cases)} crowds':26} {name:16} {row}")
        gain = row.ours - rows["smoothed"].ours
        error = gain.std(ddof=1) / np.sqrt(len(gain))
        print(f"{'':26} {name:16} against the smoothed vote {gain.mean():+.4f} +- {error:.4f}")


def slipped_cases() -> Iterator[tuple[str, list[SpacedCase]]]:
    """Return real readers, one of whom makes a gross error: three LIDC readers, or three to five
    workers.
    """
    nodules = [masks_of(path) for path in sorted((DATA / "lidc").glob("*.nrrd"))]
    sets = {
        "LIDC, 3 readers": [SpacedCase(m[0], m[1:], sides) for m, sides in nodules],
        **{
            f"crowd, {number} workers": [
                case._replace(raters=case.raters[:number]) for case in crowd_cases()
            ]
            for number in (3, 4, 5)
        },
    }
    for name, cases in sets.items():
        if not cases:
            return
        others = [case.raters[0] for case in cases]
        slips = SLIPS | {"of another case": partial(_of_another_case, others)}
        for slip, change in slips.items():
            yield f"{name}, one {slip}", [_slipped(case, change, i) for i, case in enumerate(cases)]


def _slipped(case: SpacedCase, change: Any, seed: int) -> SpacedCase:
    raters = case.raters.copy()
    raters[0] = change(raters[0], np.random.default_rng(seed))
    return case._replace(raters=raters)


def _of_another_case(others: Sequence[Labels], mask: Labels, rng: np.random.Generator) -> Labels:
    """Return the mask of another case, centred on this one's and cropped to its grid."""
    other = others[int(rng.integers(len(others)))]
    changed = np.zeros_like(mask)
    sides = [min(pair) for pair in zip(other.shape, mask.shape, strict=True)]

    def middle(shape: Sequence[int]) -> tuple[slice, ...]:
        pairs = zip(shape, sides, strict=True)
        return tuple(slice((size - side) // 2, (size - side) // 2 + side) for size, side in pairs)

    changed[middle(mask.shape)] = other[middle(other.shape)]
    return changed


def print_slips(names: Sequence[str]) -> None:
    """Print results for real readers, one of whom makes a gross error."""
    for name, cases in slipped_cases():
        for fuser, row in compare(cases, names).items():
            print(f"{name:26} {fuser:16} {row}", flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--first-seed", type=int, default=3000)
    parser.add_argument("--seeds", type=int, default=60, help="seeds per setting")
    parser.add_argument(
        "--fusers", nargs="+", choices=list(FUSERS), default=["corrected", "consensus"]
    )
    parser.add_argument("--settings", nargs="*", default=[], help="words in the settings' names")
    parser.add_argument("--without-real", action="store_true", help="simulated settings only")
    parser.add_argument("--without-simulated", action="store_true", help="real readers only")
    parser.add_argument("--smoothing", action="store_true", help="how far to smooth a vote, only")
    options = parser.parse_args(arguments)
    if options.smoothing:
        print_smoothing()
        return
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    if not options.without_real:
        print_heads("real readers")
        print_readers(options.fusers)
        print_crowds(options.fusers)
        print_slips(options.fusers)
    if not options.without_simulated:
        print_settings(seeds, options.fusers, options.settings)
        if not options.settings:
            print_copies(seeds)


if __name__ == "__main__":
    main()
