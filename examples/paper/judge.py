"""Compare every experiment of the paper with our runs, and judge its claim.

python -m examples.paper.judge --output paper-output [--quick] [--jobs 2]

Writes paper.html, a self-contained page, and paper.json; with --keep also next to this file. The
quick form has two seeds and a few rows, without training networks or calibrating the last
experiment.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import itk_consensus
from examples.benchmarks.run_facts import run_facts
from examples.paper.experiment import Experiment
from examples.paper.experiments import (
    EXPERIMENTS,
    experiment5,
    experiment6,
    experiment7,
    quick_form,
)
from examples.paper.line_figure import dot_figure, line_figure
from itk_consensus.report.markup import Markup, data_table, document, section, tag

#: The full run whose results are quoted.
KEPT = Path(__file__).with_name("paper.json")

#: Text cells are aligned left, unlike the numbers on other pages.
_STYLE = "main td, main th { text-align: left }"


def run(place: int, quick: bool) -> Experiment:
    """Run one experiment, in a separate process."""
    if not quick:
        return EXPERIMENTS[place]()
    quick_form()
    made = EXPERIMENTS[place]
    if made in (experiment5, experiment6):
        return made(with_deep=False)
    if made is experiment7:
        return experiment7(corrected=False)
    return made()


def page(experiments: Sequence[Experiment], quick: bool) -> str:
    """Build the HTML page."""
    lead = tag(
        "p",
        "“When Does Consensus Beat Voting?”, every experiment: what was printed, what the same "
        "procedure gives here, and what a careful run shows. ",
        f"itk_consensus {itk_consensus.__version__}.",
        tag("strong", " Quick form: two seeds, few rows; figures differ from the paper's.")
        if quick
        else None,
    )
    verdicts = [
        (
            tag("a", one.title, href=f"#experiment-{one.title[0]}"),
            one.claim,
            tag("strong", one.word),
        )
        for one in experiments
    ]
    summary = section(
        "Verdicts",
        data_table("Each claim and its verdict", ("experiment", "claim", "verdict"), verdicts),
        id_="verdicts",
    )
    sections = (summary, *map(_section, experiments))
    return document("The paper, judged", lead, *sections, extra_style=_STYLE)


def _section(one: Experiment) -> Markup:
    rows = [
        (
            f"{key}" if one.key else "",
            measure,
            *(column[key][place] for column in one.columns.values()),
        )
        for key in next(iter(one.columns.values()))
        for place, measure in enumerate(one.measures)
    ]
    return section(
        one.title,
        tag("p", tag("strong", "Claim: "), one.claim),
        tag("p", tag("strong", f"Verdict: {one.word}. "), one.verdict),
        *(
            dot_figure(figure) if "dots" in figure else line_figure(figure)
            for figure in one.figures
        ),
        data_table(
            "Mean ± standard deviation over seeds", (one.key or "", "measure", *one.columns), rows
        ),
        id_=f"experiment-{one.title[0]}",
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all experiments and write the page and the data."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("paper-output"), metavar="FOLDER")
    parser.add_argument("--quick", action="store_true", help="two seeds, few rows")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--keep", action="store_true", help=f"also write {KEPT.name} beside this")
    options = parser.parse_args(arguments)
    places = range(len(EXPERIMENTS))
    # One thread per process: two processes with threads on all cores would slow each other down.
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        # Start the longest first, so that no core is idle at the end.
        tasks: dict[int, Any] = {n: pool.submit(run, n, options.quick) for n in reversed(places)}
        experiments = [tasks[n].result() for n in places]
    options.output.mkdir(parents=True, exist_ok=True)
    text = page(experiments, options.quick)
    (options.output / "paper.html").write_text(text, encoding="utf-8")
    data = {
        "run": run_facts(),
        "quick": options.quick,
        "experiments": [one.as_json() for one in experiments],
    }
    kept = json.dumps(data, indent=1)
    (options.output / "paper.json").write_text(kept, encoding="utf-8")
    if options.keep:
        KEPT.write_text(kept, encoding="utf-8")
    for one in experiments:
        print(f"{one.title}: {one.word}. {one.verdict}")
    print(options.output / "paper.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())
