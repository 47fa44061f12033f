"""Compare run times with SimpleITK's, and measure peak memory and growth.

MODULE is examples.benchmarks.speed.benchmark:

python -m MODULE                              every part; the clinical ones take long
python -m MODULE --only first crowd           some parts, as listed by --help
python -m MODULE --only waiting               work before and after a fusion, with limits
python -m MODULE --only crowd --workload Vote only clinical rows, or fusers, named like this
python -m MODULE --save benchmark.json        also stores results and plot there
python -m MODULE --readme README.md           writes stored results to the README
"""

from __future__ import annotations

import argparse
import json
import platform
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import itk_consensus
from examples.benchmarks.run_facts import run_facts
from examples.benchmarks.speed.clinical import atlas_workloads, crowd_workloads, growth
from examples.benchmarks.speed.comparisons import extra_memory, large_volume, small_volume
from examples.benchmarks.speed.growth_limits import Numbers, growth_of_fusers
from examples.benchmarks.speed.peers import PeerSizes, peers
from examples.benchmarks.speed.plot import save_growth_plot, save_plot
from examples.benchmarks.speed.scaling import rater_scaling, voxel_scaling
from examples.benchmarks.speed.tables import (
    clinical_line,
    comparison_line,
    memory_line,
    render_markdown,
    scaling_line,
    update_readme,
)
from examples.benchmarks.speed.timing import Effort
from examples.benchmarks.speed.volumes import size_text
from examples.benchmarks.speed.waiting import waiting, waiting_line
from itk_consensus.core.work import default_threads

__all__ = ["main", "render_markdown", "run"]

OUTPUT = Path("bench-output")
KEPT = Path(__file__).with_name("benchmark.json")

Row = dict[str, Any]
Shape = tuple[int, ...]


#: Values of --only.
PARTS = ("first", "waiting", "atlases", "crowd", "growth", "fusers", "peers")


class Plan(NamedTuple):
    """Sizes (z, y, x) and numbers of repetitions of a run."""

    small: Shape
    large: Shape
    growing: tuple[Shape, ...]
    raters: tuple[int, ...]
    effort: Effort
    scaling_effort: Effort
    atlas: Shape
    atlas_labels: int
    growth: Shape
    labels: tuple[int, ...]
    atlases: tuple[int, ...]
    clinical_effort: Effort
    fusers: Shape
    numbers: Numbers
    peers: PeerSizes


FULL = Plan(
    small=(128, 256, 256),
    large=(256, 512, 512),
    growing=((64, 64, 64), (128, 128, 128), (128, 256, 256), (128, 512, 512), (256, 512, 512)),
    raters=(5, 10, 15, 20, 25, 30),
    effort=Effort(rounds=4, turn_seconds=0.4),
    scaling_effort=Effort(rounds=3, turn_seconds=0.1),
    atlas=(160, 192, 160),
    atlas_labels=100,
    growth=(80, 96, 80),
    labels=(2, 5, 10, 20, 50, 100, 200),
    atlases=(5, 10, 15, 20, 30, 40),
    clinical_effort=Effort(rounds=3, turn_seconds=0.0),
    fusers=(40, 48, 40),
    numbers=Numbers(),
    peers=PeerSizes(),
)
QUICK = Plan(
    small=(24, 48, 48),
    large=(32, 64, 64),
    growing=((16, 16, 16), (24, 48, 48), (32, 64, 64)),
    raters=(5, 10, 18),
    effort=Effort(rounds=2, turn_seconds=0.0),
    scaling_effort=Effort(rounds=1, turn_seconds=0.0),
    atlas=(12, 16, 12),
    atlas_labels=3,
    growth=(12, 16, 12),
    labels=(2, 5, 10),
    atlases=(3, 5),
    clinical_effort=Effort(rounds=1, turn_seconds=0.0),
    fusers=(12, 16, 12),
    numbers=Numbers(raters=(3, 5), labels_of_raters=3, labels=(2, 5), raters_of_labels=3),
    peers=PeerSizes((12, 32, 32), (32, 32), (12, 12, 12), (12, 16, 12), 3, 3),
)


def run(
    plan: Plan,
    only: Sequence[str] = PARTS,
    workload: str = "",
    peers_python: Path | None = None,
) -> Row:
    """Measure the given parts, clinical ones with the given workloads only; print each result."""
    results: Row = {"environment": environment()}
    if "first" in only:
        results |= _first_part(plan)
    if "waiting" in only:
        rounds = plan.clinical_effort.rounds
        results["waiting"] = _shown(
            "What is around a fusion, in processor seconds",
            waiting(plan.atlas, plan.atlas_labels, plan.small, rounds),
            waiting_line,
        )
    if "atlases" in only:
        results["atlases"] = _shown(
            f"{size_text(plan.atlas)}, atlases of {plan.atlas_labels} labels",
            atlas_workloads(plan.atlas, plan.atlas_labels, plan.clinical_effort, workload),
            clinical_line,
        )
    if "crowd" in only:
        results["crowd"] = _shown(
            f"{size_text(plan.small)}, noise at every voxel",
            crowd_workloads(plan.small, plan.clinical_effort, workload),
            clinical_line,
        )
    if "growth" in only:
        results["growth"] = _shown(
            "Time against labels and atlases",
            growth(plan.growth, plan.labels, plan.atlases, plan.scaling_effort),
            scaling_line,
        )
    if "fusers" in only:
        results["fusers"] = _shown(
            f"{size_text(plan.fusers)}, growth of all fusers, in processor seconds",
            growth_of_fusers(plan.fusers, plan.numbers, 2, workload),
            waiting_line,
        )
    if "peers" in only:
        results["peers"] = _shown(
            "Beside what a user would take instead, in processor seconds",
            peers(plan.peers, max(2, plan.clinical_effort.rounds), peers_python),
            waiting_line,
        )
    return results


def _first_part(plan: Plan) -> Row:
    """Measure few raters and labels, large volumes, and the growth of the run time."""
    small, large = size_text(plan.small), size_text(plan.large)
    voxels = plan.small[0] * plan.small[1] * plan.small[2]
    return {
        "comparisons": [
            *_shown(f"{small}, 5 raters", small_volume(plan.small, plan.effort), comparison_line),
            *_shown(f"{large}, 5 raters", large_volume(plan.large, plan.effort), comparison_line),
        ],
        "voxel_scaling": _shown(
            "Time against voxels",
            voxel_scaling(plan.growing, voxels, plan.scaling_effort),
            scaling_line,
        ),
        "rater_scaling": _shown(
            "Time against raters",
            rater_scaling(plan.small, plan.raters, plan.scaling_effort),
            scaling_line,
        ),
        # Run last, since its raters occupy more than a gigabyte until the end of the run.
        "extra_memory": _shown(
            f"Memory beyond inputs and output, {large}", extra_memory(plan.large), memory_line
        ),
    }


def environment() -> Row:
    """Return facts about the machine and the libraries."""
    return {
        "run": run_facts(),
        "processor": _processor(),
        "threads": default_threads(),
        "versions": {
            "itk_consensus": itk_consensus.__version__,
            "Python": platform.python_version(),
            **{name: version(name) for name in ("numpy", "scipy", "SimpleITK", "itk")},
        },
    }


def save(results: Row, path: Path) -> None:
    """Write the results, merged with those of other parts, and the plot."""
    path.parent.mkdir(parents=True, exist_ok=True)
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    run = results["environment"]["run"]
    runs = {**kept.get("runs", {}), **{part: run for part in results if part != "environment"}}
    whole = {**kept, **results, "runs": runs}
    if "comparisons" not in results and "environment" in kept:
        # the facts about runs of single parts are in `runs`
        whole["environment"] = kept["environment"]
    path.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"Results in {path}")
    if "voxel_scaling" in results:
        save_plot(results, path.with_suffix(".png"))
    if "growth" in results:
        save_growth_plot(results, path.with_name(f"{path.stem}_growth.png"))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmark from the command line."""
    options = _parser().parse_args(arguments)
    if options.readme is not None:
        update_readme(options.readme, json.loads(options.results.read_text(encoding="utf-8")))
        return
    if options.quick:
        print("Tiny sizes, to see that everything runs: the limits are meant for the full run.")
    plan = QUICK if options.quick else FULL
    for part in options.only:
        # Save after each part, so that results of an interrupted run are kept.
        results = run(plan, [part], options.workload, options.peers)
        for path in (options.output / KEPT.name, options.save):
            if path is not None:
                save(results, path)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Time itk_consensus beside SimpleITK.")
    parser.add_argument("--quick", action="store_true", help="tiny sizes: does it run at all?")
    parser.add_argument(
        "--output", type=Path, default=OUTPUT, metavar="FOLDER", help="default: %(default)s"
    )
    parser.add_argument(
        "--only", nargs="+", choices=PARTS, default=PARTS, help="parts to run; default: all"
    )
    parser.add_argument(
        "--workload",
        default="",
        metavar="NAME",
        help="only clinical workloads named like this; a blank: all",
    )
    parser.add_argument(
        "--peers",
        type=Path,
        metavar="PYTHON",
        help="of an environment that has panoptica, surface-distance, MONAI and antspyx",
    )
    parser.add_argument("--save", type=Path, metavar="JSON", help="also keep the results here")
    parser.add_argument(
        "--readme", type=Path, metavar="README", help="only write kept results into this file"
    )
    parser.add_argument(
        "--results", type=Path, default=KEPT, metavar="JSON", help="kept results, for --readme"
    )
    return parser


def _shown(title: str, rows: Iterator[Row], line: Callable[[Row], str]) -> list[Row]:
    print(title, flush=True)
    shown = []
    for row in rows:
        print(line(row), flush=True)
        shown.append(row)
    return shown


def _processor() -> str:
    """Return the name of the processor; on Linux it is read from a file."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


if __name__ == "__main__":
    main()
