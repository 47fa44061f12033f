"""Measure how often diagnostics warn of bad results, and how often of good ones.

The settings are the twelve with noise and those of thin and small structures. A result is bad if
its Dice with the true mask is more than .05 below that of the vote, and good if it is at least .95
and at most .005 below that of the vote; other results are neither. The hit rate is the share of bad
results with a finding above "note" about the fusion, and the false alarm rate is this share of the
good results. Thresholds were chosen on seeds below 3000, with ``--choose``, which prints both rates
for a range of thresholds; seeds 3000 to 3999 are for reporting.

    python -m examples.benchmarks.findings.diagnostics_evidence
        [--first-seed 3000] [--seeds 6] [--choose]

With ``--slips`` the settings contain gross errors ("slips") of a reader, absent structures or
readers of unequal skill, and a result is good if its Dice is above .9 and not below the vote's.
``--raters`` instead prints, without running fusers, how often a deviating rater is reported in each
setting, before and after one mask is enlarged to twice its volume. `readers_evidence.py` prints how
often findings about raters name simulated slips.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import SimpleITK as sitk
from numpy.typing import NDArray
from scipy import ndimage

import itk_consensus
from examples.simulation import SLIP_SETTINGS, STRUCTURE_SETTINGS, SpacedCase, twelve_settings
from itk_consensus.assessment.findings import Diagnostics
from itk_consensus.core.errors import ConsensusWarning
from itk_consensus.fusing.deviating_rater import farthest_rater
from itk_consensus.fusing.label_fusion import LabelFusionFilter
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.label_stack import LabelStack
from itk_consensus.votes.overlap import dice

Mask = NDArray[np.bool_]

METHODS: dict[str, Callable[[], LabelFusionFilter]] = {
    "Consensus": itk_consensus.ConsensusFilter,
    "STAPLE Basic": itk_consensus.STAPLEImageFilter,
    "STAPLE Advanced": lambda: itk_consensus.STAPLEImageFilter(Variant="advanced"),
}

#: Candidate thresholds of the Dice with Consensus, and of the difference in volume relative to the
#: vote.
DICE_THRESHOLDS = (0.7, 0.75, 0.8, 0.9, 0.93, 0.94, 0.945, 0.95, 0.955)
VOLUME_THRESHOLDS = (0.0, 0.08, 0.1, 0.12, 0.125, 0.13, 0.15, 0.2)

#: With fewer bad results than this, the hit rate is not meaningful.
LEAST_BAD = 20


class Run(NamedTuple):
    """A result's Dice with the true mask, the Dice of the vote, and the result's diagnostics."""

    setting: str
    ours: float
    vote: float
    found: Diagnostics
    is_slip: bool = False

    @property
    def bad(self) -> bool:
        return self.ours < self.vote - 0.05

    @property
    def good(self) -> bool:
        if self.is_slip:
            return self.ours > 0.9 and self.ours >= self.vote
        return self.ours >= 0.95 and self.ours >= self.vote - 0.005


def cases(seeds: range) -> Iterator[tuple[str, SpacedCase]]:
    """Yield cases of all settings; with several labels, the first label against the others."""
    for name, make in STRUCTURE_SETTINGS.items():
        for seed in seeds:
            case = make(seed)
            yield name, SpacedCase(case.truth == 1, case.raters == 1, case.spacing)
    for setting in twelve_settings(seeds):
        for truth, raters in setting.cases:
            yield setting.name, SpacedCase(truth != 0, raters != 0, (1.0,) * truth.ndim)


def slipped(seeds: range) -> Iterator[tuple[str, SpacedCase]]:
    """Yield cases of the settings for ``--slips``."""
    for name, make in SLIP_SETTINGS.items():
        for seed in seeds:
            yield name, make(seed)


def runs(
    drawn: Iterator[tuple[str, SpacedCase]], method: Callable[[], LabelFusionFilter]
) -> Iterator[Run]:
    """Yield the results of a method in all settings."""
    for name, case in drawn:
        images = [sitk.GetImageFromArray(rater.astype(np.uint8)) for rater in case.raters]
        for image in images:
            image.SetSpacing(case.spacing[::-1])
        filter_ = method()
        filter_.Execute(images)
        fused = sitk.GetArrayFromImage(filter_.GetLabelImage())
        vote = case.raters.mean(axis=0) > 0.5
        diagnostics = filter_.GetDiagnostics()
        yield Run(name, _dice(fused, case.truth), _dice(vote, case.truth), diagnostics)


def _dice(answer: NDArray[Any], truth: Mask) -> float:
    """Return the Dice; for an absent structure, 1 if the result is empty, else 0."""
    return dice(answer, truth) if truth.any() else float(not answer.any())


def rates(flagged: Sequence[bool], of: Sequence[Run]) -> str:
    """Format the hit rate and the false alarm rate; no hit rate if there are few bad results."""
    warned = np.array(flagged, bool)
    bad, good = np.array([run.bad for run in of]), np.array([run.good for run in of])
    hits = f"{warned[bad].mean():5.3f}" if bad.sum() >= LEAST_BAD else "    -"
    return f"hits {hits}   false alarms {warned[good].mean():5.3f}"


def print_rates(name: str, of: Sequence[Run]) -> None:
    """Print the rates of a method, for all rules together and for each rule, including notes."""
    bad, good = sum(run.bad for run in of), sum(run.good for run in of)
    print(f"{name}: {len(of)} results, {bad} bad, {good} good")
    print(
        f"  {'fusion above note':26} {rates([bool(run.found.fusion.concerns) for run in of], of)}"
    )
    for rule in [finding.rule for finding in of[0].found.findings]:
        for above, word in ((True, ""), (False, " (note)")):
            flags = [_fires(run, rule, above) for run in of]
            if any(flags):
                print(f"    {rule + word:28} {rates(flags, of)}")


def _fires(run: Run, rule: str, concern: bool) -> bool:
    return any(
        f.rule == rule and f.severity is not None and f.concern == concern
        for f in run.found.findings
    )


def values(of: Sequence[Run], rule: str) -> NDArray[np.float64]:
    """Return the value of a rule for each result; NaN if the rule gave none."""
    found = [next((f.value for f in run.found.findings if f.rule == rule), None) for run in of]
    return np.array([np.nan if value is None else value for value in found])


def print_choices(of: Sequence[Run]) -> None:
    """Print rates of the two deciding rules for a range of thresholds."""
    volume = np.abs(values(of, "volume against vote") - 1)
    overlap = values(of, "far from the consensus")
    for share in VOLUME_THRESHOLDS:
        print(f"    volume off by {share:.2f}: {rates((volume > share).tolist(), of)}")
        for dice_ in DICE_THRESHOLDS if np.isfinite(overlap).any() else ():
            flags = (volume > share) & (overlap < dice_)
            print(f"      and Dice to the consensus < {dice_:5}: {rates(flags.tolist(), of)}")


def with_one_at_twice_the_volume(raters: Mask, rater: int) -> Mask:
    """Return the raters, with one mask enlarged to twice its volume."""
    grown, wanted = raters[rater], 2 * raters[rater].sum()
    while 0 < grown.sum() < min(wanted, grown.size):
        grown = ndimage.binary_dilation(grown)
    changed = raters.copy()
    changed[rater] = grown
    return changed


def print_deviating_raters(seeds: range) -> None:
    """Print how often any rater is reported, and how often the rater with the enlarged mask is."""
    rows: dict[str, list[tuple[float, bool, bool]]] = {}
    for index, (name, case) in enumerate(cases(seeds)):
        raters = np.asarray(case.raters, bool)
        grown = index % len(raters)
        before, after = (
            farthest_rater(DecisionPatterns.from_stack(LabelStack.binary(list(masks), 1.0)))
            for masks in (raters, with_one_at_twice_the_volume(raters, grown))
        )
        if before is None or after is None:
            continue
        found = after.deviates and after.rater == grown
        rows.setdefault(name, []).append((before.others_dice, before.deviates, found))
    print(f"{'':28} {'others Dice':>11} {'noted':>7} {'noted after growth':>19}")
    every = [case for of_setting in rows.values() for case in of_setting]
    rows["all"] = every
    rows["where others have > .85"] = [case for case in every if case[0] > 0.85]
    for name, of_setting in rows.items():
        agreement, noted, found = np.mean(of_setting, axis=0)
        print(f"{name:28} {agreement:11.2f} {noted:7.3f} {found:19.3f}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the rates of every method."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--first-seed", type=int, default=3000)
    parser.add_argument("--seeds", type=int, default=6, help="seeds per setting")
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--choose", action="store_true", help="rates for a range of thresholds")
    parser.add_argument("--slips", action="store_true", help="settings in which readers slipped")
    parser.add_argument("--raters", action="store_true", help="how often a rater deviates")
    options = parser.parse_args(arguments)
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    if options.raters:
        print_deviating_raters(seeds)
        return
    for name in options.methods:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConsensusWarning)
            drawn = slipped(seeds) if options.slips else cases(seeds)
            results = [run._replace(is_slip=options.slips) for run in runs(drawn, METHODS[name])]
        print_rates(name, results)
        if options.choose:
            print_choices(results)


if __name__ == "__main__":
    main()
