"""Test the documentation's claims about cuts, margins, samples, volumes and numbers of raters.

Simulated cases have seeds from 3000 on, which are not used for anything else. Settings chosen on
LIDC were chosen on its first fifty nodules, and results are reported for the others. Parts that
need the shared data are skipped if they are missing.

    python -m examples.benchmarks.bands.margin_evidence
        [--only cut margin samples raters bias speed] [--quick] [--save margin_evidence.json]
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import betabinom

import itk_consensus as ic
from examples.benchmarks.methods.consensus_evidence import crowd_cases, masks_of
from examples.benchmarks.run_facts import run_facts
from examples.simulation import (
    LEVEL_FAMILIES,
    conformal_case,
    contour_error_raters,
    ellipsoid_mask,
    level_case,
)
from itk_consensus.assessment.scoring.rules import crps
from itk_consensus.calibration.conformal import conformal_rank, conformal_threshold
from itk_consensus.calibration.cuts import HALF, LabelCut, cut_scores
from itk_consensus.calibration.margins import MarginOptions, label_margin, margin_scores
from itk_consensus.calibration.probabilities import ProbabilityCase
from itk_consensus.calibration.samples import (
    ROUND,
    SampleModel,
    differences_of_masks,
    fit_samples,
    volume_interval,
)
from itk_consensus.calibration.scored_case import known_spreads

FIRST_SEED = 3000
DATA = Path(__file__).resolve().parents[3] / ".." / "shared" / "data"
ALPHAS = (0.05, 0.1, 0.2)
SIZES = (20, 50)
TESTS = 10
FAMILIES: dict[str, tuple[dict[str, Any], MarginOptions]] = {
    "disc": ({}, MarginOptions(0.1, "outward", 1.0, 1.0)),
    "lesions": ({"bias": 1.0}, MarginOptions(0.1, "outward", 0.99, 1.0)),
    "thick slices": ({}, MarginOptions(0.1, "both", 1.0, 1.5)),
}

Masks = list[NDArray[np.bool_]]
Row = dict[str, Any]


def nodules(first: int = 0) -> Iterator[tuple[Masks, tuple[float, ...]]]:
    """Return the padded masks of the four readers of each LIDC nodule from `first` on."""
    for path in sorted((DATA / "lidc").glob("*.nrrd"))[first:]:
        masks, sides = masks_of(path)
        yield [np.pad(mask, 4) for mask in masks], sides


# -- the cut ------------------------------------------------------------------------------------


def cut_rows(repetitions: int, cases: int) -> list[Row]:
    """Return the mean gain in Dice of learned cut-offs over a cut-off of one half, on cases that
    were not used for learning.
    """
    pools: dict[str, NDArray[Any]] = {}
    for family in LEVEL_FAMILIES:
        for who, soft in (("readers", False), ("ensemble", True)):
            for bias in (0.0, 1.0, -1.0):
                drawn = (
                    level_case(seed, family, bias=bias, soft=soft)
                    for seed in range(FIRST_SEED, FIRST_SEED + cases)
                )
                scores = [cut_scores(c.members.mean(axis=0), c.truth, "dice") for c in drawn]
                how = {0.0: "no bias", 1.0: "1 mm too tight", -1.0: "1 mm too wide"}[bias]
                pools[f"{family}, {who}, {how}"] = np.stack(scores)
    held_out = [
        cut_scores(np.mean([*m[:k], *m[k + 1 :]], axis=0), m[k], "dice")
        for number, (m, _) in enumerate(nodules())
        for k in [number % 4]
    ]
    crowds = [
        cut_scores(c.raters.mean(axis=0), np.asarray(c.truth) != 0, "dice") for c in crowd_cases()
    ]
    real = {"LIDC, a reader held out": held_out, "crowds against experts": crowds}
    pools |= {name: np.stack(scores) for name, scores in real.items() if scores}
    return [{"setting": name, **_cut_row(pool, repetitions)} for name, pool in pools.items()]


def _cut_row(pool: NDArray[Any], repetitions: int) -> Row:
    row: Row = {"cases": len(pool), "dice": float(pool[:, HALF].mean())}
    for number in (10, 20):
        rng = np.random.default_rng(0)
        gains, on = [], 0
        for _ in range(repetitions):
            order = rng.permutation(len(pool))
            learned = LabelCut.learn(pool[order[:number]])
            rest = pool[order[number:]]
            gains.append((rest[:, round(100 * learned.cut) - 1] - rest[:, HALF]).mean())
            on += learned.is_on
        row[f"gain {number}"] = float(np.mean(gains))
        row[f"worst {number}"] = float(np.min(gains))
        row[f"on {number}"] = on / repetitions
    return row


# -- the margin ---------------------------------------------------------------------------------


def margin_rows(cohorts: int) -> list[Row]:
    """Return the coverage of margins over repeated cohorts, and its distribution expected for
    exchangeable cases.
    """
    rows = []
    for family, (more, options) in FAMILIES.items():
        scores = np.empty((cohorts, max(SIZES) + TESTS))
        for place in np.ndindex(scores.shape):
            seed = FIRST_SEED + int(np.ravel_multi_index(place, scores.shape))
            truth, members, spacing = level_case(seed, family, members=3, **more)
            case = ProbabilityCase(
                (members.mean(axis=0),), spacing, reference=truth.astype(np.uint16)
            )
            scores[place] = margin_scores(case, options).margins[0]
        for alpha in ALPHAS:
            for n in SIZES:
                rank = conformal_rank(alpha, n)
                law = betabinom(TESTS, rank, n + 1 - rank)
                taus = np.array([conformal_threshold(row[:n].tolist(), alpha) for row in scores])
                covered = (scores[:, -TESTS:] <= taus[:, None]).mean()
                rows.append(
                    {
                        "family": f"{family}, {options.direction}",
                        "alpha": alpha,
                        "cases": n,
                        "coverage": float(covered),
                        "law": float(law.mean() / TESTS),
                        "error": float(law.std() / TESTS / cohorts**0.5),
                        "margin": float(taus.mean()),
                    }
                )
    return rows


def lidc_rows(splits: int) -> list[Row]:
    """Return the coverage and width, on LIDC with held-out readers, of margins and of bands with
    the same coverage guarantee.
    """
    scores, spreads = [], []
    for number, (masks, sides) in enumerate(nodules()):
        others = tuple(m.astype(np.uint8) for k, m in enumerate(masks) if k != number % 4)
        reference = masks[number % 4]
        case = ProbabilityCase(
            (np.mean(others, axis=0),), sides, others, reference.astype(np.uint16)
        )
        one = [
            label_margin(case.consensus == 1, reference, sides, MarginOptions(0.1, way, 1.0, 1.0))
            for way in ("outward", "both")
        ]
        scores.append(one)
        spreads.append(known_spreads(case, False, "margin_evidence")[1])
    if not scores:
        return []
    table, units = np.array(scores), np.array(spreads)
    rows = []
    for column, way in enumerate(("outward", "both")):
        for alpha in ALPHAS:
            found = []
            rng = np.random.default_rng(0)
            for _ in range(splits):
                order = rng.permutation(len(table))
                learn, test = order[:50], order[50:]
                plain, by_spread = table[:, column], table[:, column] / units
                mm = conformal_threshold(plain[learn].tolist(), alpha)
                tau = conformal_threshold(by_spread[learn].tolist(), alpha)
                found.append(
                    (
                        (plain[test] <= mm).mean(),
                        mm,
                        (by_spread[test] <= tau).mean(),
                        (tau * units[test]).mean(),
                    )
                )
            names = ("coverage", "margin", "band coverage", "band width")
            means = dict(zip(names, np.mean(found, axis=0).tolist(), strict=True))
            rows.append({"direction": way, "alpha": alpha, **means})
    return rows


# -- samples and volumes ------------------------------------------------------------------------


def sampled_cases(quick: bool) -> Iterator[tuple[str, Masks, tuple[float, ...]]]:
    """Return readers' masks of real and simulated structures."""
    for masks, sides in nodules(90 if quick else 50):
        yield "LIDC, nodules 51 to 100", masks, sides
    for seed in range(FIRST_SEED, FIRST_SEED + (10 if quick else 80)):
        radii = np.random.default_rng(seed).uniform(9, 16, 3)
        truth = ellipsoid_mask((24, 44, 44), (radii[0] / 2, radii[1], radii[2]))
        drawn = contour_error_raters(
            truth, 5, seed, displacement=1.5, bias=0.7, smoothness=8, spacing=(2.0, 1.0, 1.0)
        )
        yield "wandering contours", list(drawn), (2.0, 1.0, 1.0)
    for seed in range(FIRST_SEED, FIRST_SEED + (6 if quick else 40)):
        yield "organs with shared errors", list(conformal_case(seed).raters), (2.5, 1.0, 1.0)


def sample_rows(quick: bool) -> list[Row]:
    """Return differences between samples, the error of their mean, and how often their volume
    interval contains a held-out reader's volume.
    """
    found: dict[str, list[Row]] = {}
    for number, (family, masks, sides) in enumerate(sampled_cases(quick)):
        found.setdefault(family, []).append(_sample_row(number, masks, sides))
    return [
        {
            "family": family,
            "cases": len(rows),
            **{
                name: float(
                    (np.max if name.startswith("largest") else np.mean)([r[name] for r in rows])
                )
                for name in rows[0]
            },
        }
        for family, rows in found.items()
    ]


def _sample_row(number: int, masks: Masks, sides: tuple[float, ...]) -> Row:
    readers = differences_of_masks(masks)
    share = np.mean(masks, axis=0)
    row: Row = {"readers": readers.dice}
    for name, widen in (("samples", True), ("of the vote alone", False)):
        model = fit_samples(share, sides, readers, number, widen=widen)
        drawn = [mask for k in range(5) for mask in _masks_of(model, k)]
        row[name] = differences_of_masks(drawn[:ROUND]).dice
        row[f"largest error of the mean, {name}"] = float(
            np.abs(np.mean(drawn, axis=0) - model.probability).max()
        )
    every = range(len(masks)) if len(masks) == 4 else [number % len(masks)]
    volumes = [_left_out(masks, sides, out, number) for out in every]
    return row | {name: float(np.mean([one[name] for one in volumes])) for name in volumes[0]}


def _masks_of(model: SampleModel, number: int) -> Masks:
    drawn = model.round_of(number)
    return [drawn.mask(index) for index in range(ROUND)]


def _left_out(masks: Masks, sides: tuple[float, ...], out: int, seed: int) -> Row:
    """Return whether the volume of a held-out reader lies within the interval predicted from the
    other readers, and the errors of this prediction.
    """
    others = [mask for index, mask in enumerate(masks) if index != out]
    readers = differences_of_masks(others)
    model = fit_samples(np.mean(others, axis=0), sides, readers, seed)
    volumes = model.volumes(5 * ROUND)
    interval = volume_interval(volumes, 0.9, readers.number)
    volume = float(np.count_nonzero(masks[out]))
    drawn = [float(np.count_nonzero(mask)) for mask in others]
    return {
        "covered": float(interval.low <= volume <= interval.high),
        "covered by the readers' range": float(min(drawn) <= volume <= max(drawn)),
        "high over low": interval.high / max(interval.low, 1.0),
        "crps of samples": crps(volumes, volume) / volume,
        "crps of the readers": crps(drawn, volume) / volume,
        "error of the mean": abs(float(np.mean(drawn)) - volume) / volume,
    }


# -- raters, bias, speed ------------------------------------------------------------------------


def rater_rows(cases: int) -> list[Row]:
    """Return, for each family of cases, the agreement predicted for eight raters from five, and the
    agreement measured with eight other raters.
    """
    rows = []
    for family in LEVEL_FAMILIES:
        cohort = [
            [(m > 0).astype(np.uint8) for m in level_case(seed, family, members=14).members]
            for seed in range(FIRST_SEED, FIRST_SEED + cases)
        ]
        five = ic.rater_number_curve([readers[:5] for readers in cohort])
        nine = ic.rater_number_curve([readers[5:] for readers in cohort])
        left_out, moved = nine.points[7].with_left_out, nine.points[4].moved
        now = five.points[3].with_left_out
        assert left_out is not None
        assert moved is not None
        assert now is not None
        rows.append(
            {
                "family": family,
                "four of five": now.mean,
                "foretold for eight": five.dice_with_another(8),
                "eight": left_out.mean,
                "foretold mm of a sixth": five.moved_by_another(),
                "mm of a sixth": moved.mean,
            }
        )
    return rows


def bias_rows() -> list[Row]:
    """Return the measured bias of readers who draw the cranial side of a ball 2 mm too far
    outside or inside.
    """
    steps = (1.5, 0.8, 0.8)
    shape = (34, 60, 60)
    z, y, x = (
        (axis - side / 2) * step
        for axis, side, step in zip(np.indices(shape), shape, steps, strict=True)
    )
    radius, faces_up = np.sqrt(x**2 + y**2 + z**2), z >= np.maximum(abs(y), abs(x))
    import SimpleITK as sitk

    def image(cranially: float) -> Any:
        made = sitk.GetImageFromArray((radius < 14 + cranially * faces_up).astype(np.uint8))
        made.SetSpacing(steps[::-1])
        return made

    drawn = (2.0, -2.0, 4.0)
    result = ic.reader_bias(
        [image(mm) for mm in drawn], image(0.0), [f"{mm:+g} mm" for mm in drawn]
    )
    return [dict(row) for row in result.table()]


def speed_rows(rounds: int = 3) -> list[Row]:
    """Return the time in seconds to compute a margin and to draw one sample on 256 x 256 x 128
    voxels (best of several rounds).
    """
    shape = (128, 256, 256)
    truth = ellipsoid_mask(shape, (40, 70, 80))
    raters = list(
        contour_error_raters(truth, 5, 0, displacement=3.0, smoothness=20.0).view(np.uint8)
    )
    vote = ic.MajorityVoteFilter()
    vote.Execute(raters)
    share = vote.GetProbabilityImage(1)
    small = [level_case(seed, "thick slices") for seed in range(20)]
    margin = ic.ConformalMarginFilter(Direction="both", WithoutPromise=True)
    margin.Calibrate(
        [c.members.mean(axis=0).astype(float) for c in small],
        [c.truth.astype(np.uint8) for c in small],
    )

    def best(call: Callable[[int], Any]) -> float:
        seconds = []
        for number in range(rounds):
            start = time.perf_counter()
            call(number)
            seconds.append(time.perf_counter() - start)
        return min(seconds)

    fitted: list[Any] = []
    return [
        {"what": "ConformalMarginFilter.Execute", "seconds": best(lambda _: margin.Execute(share))},
        {
            "what": "fitting SampleSegmentations",
            "seconds": best(lambda _: fitted.append(ic.SampleSegmentations(vote, 400))),
        },
        {
            "what": "the first sample of a field",
            "seconds": best(lambda number: fitted[0][number * ROUND]),
        },
        {
            "what": "a further sample",
            "seconds": best(lambda number: fitted[0][2 * ROUND + 1 + number]),
        },
    ]


# -- tables for the documentation
# ------------------------------------------------------------------


def _lines(rows: Sequence[Row], **columns: tuple[str, Callable[[Any], str]]) -> list[str]:
    """Format a Markdown table; each title is mapped to the key of its column and the format of its
    cells.
    """
    head = ["| " + " | ".join(columns) + " |", "|---" * len(columns) + "|"]
    return head + [
        "| " + " | ".join(write(row[key]) for key, write in columns.values()) + " |" for row in rows
    ]


def short(value: float) -> str:
    """Format a value with three decimals, as in .912."""
    return f"{value:.3f}".replace("0.", ".", 1)


def signed(value: float) -> str:
    """Format a value with its sign and three decimals, as in +.012."""
    return f"{value:+.3f}".replace("0.", ".", 1)


def mm(value: float) -> str:
    """Format a length with two decimals, as in 2.31."""
    return f"{value:.2f}"


def markdown(kept: Row) -> str:
    """Return the tables of all parts."""
    runs = {name: part["run"] for name, part in kept.items()}
    results = {name: rows for part in kept.values() for name, rows in part.items()}
    made = " and ".join(dict.fromkeys(f"`{r['command']}` at {r['commit']}" for r in runs.values()))
    parts = [
        f"Kept from {made}, {runs['margin']['date']}.",
        "",
        "**The cut.** Gain in Dice on a cut at one half, on cases that it was not learned from, "
        f"mean and worst of {results['repetitions']} repetitions; in brackets how often the cut "
        "was used.",
        "",
        *_cut_lines(results["cut"]),
        "",
        "**The margin.** Share of the next ten cases that are covered, over "
        f"{results['cohorts']} cohorts, beside its expectation for exchangeable cases with the "
        "standard error of that many, and the mean margin.",
        "",
        *_lines(
            results["margin"],
            **{
                "family": ("family", str),
                "alpha": ("alpha", str),
                "calibrated on": ("cases", str),
                "covered": ("coverage", short),
                "expected": ("law", short),
                "± ": ("error", short),
                "mm": ("margin", mm),
            },
        ),
        "",
        "**Margin and band on LIDC**, a reader held out, 50 nodules to calibrate and 50 to test, "
        "500 splits; both promise that all of the reader's contour lies within.",
        "",
        *_lines(
            results["lidc"],
            **{
                "direction": ("direction", str),
                "alpha": ("alpha", str),
                "margin covers": ("coverage", short),
                "margin, mm": ("margin", mm),
                "band covers": ("band coverage", short),
                "band, mm on average": ("band width", mm),
            },
        ),
        "",
        "**Samples.** Mean Dice between two readers, two samples, and two samples of the vote's "
        "shares as they are; the largest difference anywhere of the mean of 200 samples to the "
        "probability they are drawn from; how often the 90 % interval of the others holds the "
        "volume of a reader left out, beside the range of the others' volumes; and the CRPS of "
        "that volume relative to it, of samples, of the others' volumes, and the error of their "
        "mean.",
        "",
        *_sample_lines(results["samples"]),
        "",
        "**How many readers.** Dice with another reader: what five readers foretell of eight, and "
        "what eight others have; and how far a sixth moves the contour.",
        "",
        *_lines(
            results["raters"],
            **{
                "family": ("family", str),
                "four of five": ("four of five", short),
                "eight, foretold": ("foretold for eight", short),
                "eight": ("eight", short),
                "mm of a sixth, foretold": ("foretold mm of a sixth", mm),
                "mm of a sixth": ("mm of a sixth", mm),
            },
        ),
        "",
        "**Bias by direction.** A ball on thick slices, drawn so much wider on the cranial side; "
        "what is told, in mm.",
        "",
        *_lines(
            results["bias"],
            **{name: (name, str if name == "rater" else mm) for name in results["bias"][0]},
        ),
        "",
        f"**Speed.** Seconds on 256 x 256 x 128 voxels, {runs['speed']['machine']}, two cores.",
        "",
        *_lines(results["speed"], **{" ": ("what", str), "seconds": ("seconds", mm)}),
    ]
    return "\n".join(parts)


def _cut_lines(rows: Sequence[Row]) -> list[str]:
    head = [
        "| | cases | Dice at one half | learned from ten | from twenty |",
        "|---|---|---|---|---|",
    ]
    return head + [
        f"| {row['setting']} | {row['cases']} | {short(row['dice'])} | "
        + " | ".join(
            f"{signed(row[f'gain {n}'])}, worst {signed(row[f'worst {n}'])} ({row[f'on {n}']:.0%})"
            for n in (10, 20)
        )
        + " |"
        for row in rows
    ]


def _sample_lines(rows: Sequence[Row]) -> list[str]:
    return _lines(
        rows,
        **{
            "family": ("family", str),
            "cases": ("cases", str),
            "readers": ("readers", short),
            "samples": ("samples", short),
            "of the shares": ("of the vote alone", short),
            "mean of 200 off by": ("largest error of the mean, samples", short),
            "of the shares by": ("largest error of the mean, of the vote alone", short),
            "volume covered": ("covered", short),
            "by the others' range": ("covered by the readers' range", short),
            "CRPS of samples": ("crps of samples", short),
            "of the others": ("crps of the readers", short),
            "error of their mean": ("error of the mean", short),
        },
    )


def main() -> None:
    """Measure, print and store the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parts = ("bias", "speed", "raters", "cut", "margin", "samples")
    parser.add_argument("--only", nargs="+", choices=parts, default=parts)
    parser.add_argument("--quick", action="store_true", help="a few cases only")
    parser.add_argument("--save", type=Path)
    options = parser.parse_args()
    quick = options.quick
    results: Row = {}
    if options.save is not None and options.save.exists():
        results = json.loads(options.save.read_text(encoding="utf-8"))
    makers: dict[str, Callable[[], Row]] = {
        "cut": lambda: {
            "repetitions": 20 if quick else 200,
            "cut": cut_rows(20 if quick else 200, 60 if quick else 500),
        },
        "margin": lambda: {
            "cohorts": 5 if quick else 500,
            "margin": margin_rows(5 if quick else 500),
            "lidc": lidc_rows(20 if quick else 500),
        },
        "samples": lambda: {"samples": sample_rows(quick)},
        "raters": lambda: {"raters": rater_rows(10 if quick else 100)},
        "bias": lambda: {"bias": bias_rows()},
        "speed": lambda: {"speed": speed_rows()},
    }
    for part in options.only:
        facts = run_facts()
        made = makers[part]()
        results[part] = {"run": facts, **made}
        print(json.dumps(made, indent=1), flush=True)
        if options.save is not None:
            options.save.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
