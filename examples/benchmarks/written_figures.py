"""Format the results that README and documentation quote, from files of stored results."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable
from operator import itemgetter
from typing import Any

from examples.benchmarks.atlases.real_atlases import choices_table, ratios
from examples.benchmarks.atlases.real_atlases import table as atlas_table
from examples.benchmarks.bands.margin_evidence import markdown as margin_tables
from examples.benchmarks.contours.conformance import errors as conformance_errors
from examples.benchmarks.deep import deep_bound
from examples.benchmarks.deep.deep_real import kept_tables
from examples.benchmarks.deep.deep_requirements import load, markdown
from examples.benchmarks.findings.readers_evidence import LEAST_AGREEMENT
from examples.benchmarks.findings.readers_evidence import table as readers_table
from examples.benchmarks.findings.verdict_evidence import (
    AGREE,
    BETTER,
    GOOD,
    LOW,
    MODERATE,
    NOT_WORSE,
    WANTED,
    WORSE_THAN_VOTE,
    met,
    real_table,
)
from examples.benchmarks.findings.verdict_evidence import table as verdict_table
from examples.benchmarks.kept_files import FOLDER, kept, short, signed
from examples.benchmarks.learned.learned_evidence import markdown as learned_tables
from examples.benchmarks.methods.harm_evidence import markdown as harm_table
from examples.benchmarks.speed.tables import render_markdown
from examples.benchmarks.truth_in_short import truth_in_short
from itk_consensus.assessment.findings import Finding
from itk_consensus.assessment.sentences import SENTENCES
from itk_consensus.fusing.agreement_limits import AgreementLimits

_TITLES = {
    "vote": "vote",
    "smoothed": "smoothed vote",
    "corrected": "corrected vote",
    "consensus": "Consensus",
    "sitk-staple": "SimpleITK's STAPLE",
    "staple-advanced": "STAPLE Advanced",
}

#: Groups of settings, by their kind in the stored file, in the order of the tables.
_GROUPS = {
    "Real readers": ("real",),
    "Real readers, one of whom slipped": ("real slips",),
    "Simulated, defaults were chosen on them (on seeds below 3000)": (
        "noise",
        "structures",
        "slips",
        "harm",
    ),
    "Simulated, nothing was chosen on them": ("practice",),
}


def evidence_table() -> str:
    """Format all settings and fusers: Dice of the vote, and gains over it; the best in bold."""
    results = kept("methods/evidence.json")
    others = {name: title for name, title in _TITLES.items() if name != "vote"}
    head = f"| | cases | vote | {' | '.join(others.values())} |"
    parts = [f"Kept from `{results['run']['command']}` at {_of_run(results)}."]
    for group, kinds in _GROUPS.items():
        rows = [
            f"| {e['setting']} | {e['cases']} | {short(e['dice']['vote'])} "
            f"| {' | '.join(_gains(e, others))} |"
            for e in results["settings"]
            if e["kind"] in kinds
        ]
        parts += ["", f"**{group}**", "", head, "|---" * (3 + len(others)) + "|", *rows]
    return "\n".join(parts)


def _of_run(results: dict[str, Any]) -> str:
    return f"commit {results['run']['commit']}, {results['run']['date']}"


def _gains(entry: dict[str, Any], names: Iterable[str]) -> list[str]:
    """Format the gain of each fuser over the vote with its standard error; the best in bold."""
    best = max(0.0, *(round(entry["gain"][name], 3) for name in names))
    cells = []
    for name in names:
        text = f"{signed(entry['gain'][name])} ± {short(entry['error'][name])}"
        cells.append(f"**{text}**" if round(entry["gain"][name], 3) == best else text)
    return cells


#: Names of the data sets of `real_evidence.py` in tables.
_REAL_SETS = {
    "LIDC": "lung nodules, a radiologist left out",
    "crowd": "crowd workers against experts",
    "experts": "cells and vessels, an expert left out",
    "kidneys": "kidneys, tumours and cysts, an annotation left out",
    "hippocampi": "hippocampi, 15 atlases",
    "prostates": "prostates, four networks against a human truth",
    "skin": "skin findings, a dermatologist left out",
    "KiTS19": "kidneys and tumours, three annotations against another truth",
}
_REAL_MEASURES = {
    "dice": "Dice",
    "surface_dice": "Surface Dice within a voxel",
    "volume_error": "Relative error of volume (less is better)",
}


def _real_rows(results: dict[str, Any], measure: str) -> list[str]:
    """Format differences from the vote: fusers, then other packages; the best of each set in
    bold.
    """
    found: dict[str, dict[str, Any]] = {}
    for name, rows in results["sets"].items():
        for row in rows:
            # The same method, implemented for two labels and for many.
            fuser = row["fuser"].replace("MultiLabelSTAPLE", "STAPLE")
            found.setdefault(fuser, {})[name] = row
    votes = found.pop("vote")
    heads = [
        f"{_REAL_SETS[name]} ({row['cases']}; vote {short(row[measure])})"
        for name, row in votes.items()
    ]
    sign = -1 if measure == "volume_error" else 1
    best = {
        name: max(
            0.0,
            *(sign * round(of[name][f"{measure}_gain"], 3) for of in found.values() if name in of),
        )
        for name in votes
    }
    lines = [f"| | {' | '.join(heads)} |", "|---" * (1 + len(heads)) + "|"]
    for fuser, of in sorted(found.items(), key=lambda item: _is_peer(item[0])):
        cells = []
        for name in votes:
            if name not in of:
                cells.append("")
                continue
            gain, error = of[name][f"{measure}_gain"], of[name][f"{measure}_error"]
            text = f"{signed(gain)} ± {short(error)}"
            cells.append(f"**{text}**" if sign * round(gain, 3) == best[name] else text)
        lines.append(f"| {fuser} | {' | '.join(cells)} |")
    return lines


#: Fusers with their own row in the README.
_SHOWN = ("Consensus", "CoherenceVote", "HybridFusion")


def _is_peer(fuser: str) -> bool:
    return fuser.startswith(("sitk.", "ANTs", "CMTK", "crowd-kit"))


def paper_verdicts() -> str:
    """Format the paper's experiments from `make paper`: claim, verdict and reason."""
    results = json.loads((FOLDER.parent / "paper" / "paper.json").read_text(encoding="utf-8"))
    rows = [
        f"| {one['title']} | {one['claim']} | **{one['word']}** | {one['verdict']} |"
        for one in results["experiments"]
    ]
    return "\n".join(
        [
            f"Kept from `{results['run']['command']}` at {_of_run(results)}; every table and "
            "figure of the paper beside ours is on the page that it writes.",
            "",
            "| experiment | claim | verdict | because |",
            "|---|---|---|---|",
            *rows,
        ]
    )


def real_summary(page: str) -> str:
    """Format the Dice of the vote on real data, and gains of STAPLE, Consensus and the best
    other fuser.
    """
    results = kept("methods/real_evidence.json")
    heads, cells = [], dict[str, list[str]]()
    for name, rows in results["sets"].items():
        found = {row["fuser"]: row for row in rows}
        vote = found.pop("vote")
        others = [row for row in found.values() if not _is_peer(row["fuser"])]
        best = max(
            (row for row in others if row["fuser"] not in _SHOWN), key=itemgetter("dice_gain")
        )
        heads.append(f"{_REAL_SETS[name]} ({vote['cases']})")
        staple = found.get("sitk.STAPLE") or found["sitk.MultiLabelSTAPLE"]
        cells.setdefault("vote: Dice", []).append(short(vote["dice"]))
        cells.setdefault("`sitk.STAPLE`", []).append(_gain(staple))
        cells.setdefault("**Consensus**", []).append(f"**{_gain(found['Consensus'])}**")
        cells.setdefault("the best other", []).append(f"{_gain(best)}, {best['fuser']}")
    text = (
        "Gains in Dice on the plain vote, ± standard error over cases, on real segmentations whose "
        f"truth is another reader or an expert ([every fuser, peer and measure]({page})). "
        f"`{results['run']['command']}` at {_of_run(results)}."
    )
    # One row per data set: eight columns would be too wide for a page.
    lines = [f"| | {' | '.join(cells)} |", "|---" * (1 + len(cells)) + "|"]
    table = zip(heads, zip(*cells.values(), strict=True), strict=True)
    lines += [f"| {head} | {' | '.join(row)} |" for head, row in table]
    return "\n".join([text, "", *lines])


def _gain(row: dict[str, Any]) -> str:
    return f"{signed(row['dice_gain'])} ± {short(row['dice_error'])}"


def real_tables() -> str:
    """Format tables of real data with all measures."""
    results = kept("methods/real_evidence.json")
    lines = [f"Kept from `{results['run']['command']}` at {_of_run(results)}."]
    for measure, title in _REAL_MEASURES.items():
        lines += ["", f"**{title}: difference to the vote**", "", *_real_rows(results, measure)]
    return "\n".join(lines)


def evidence_summary() -> str:
    """Format the difference of each method from the vote in each group of simulated settings."""
    results = kept("methods/evidence.json")
    of_group = {
        group: [e for e in results["settings"] if e["kind"] in kinds]
        for group, kinds in _GROUPS.items()
        if kinds != ("real",)
    }
    heads = [f"{group} ({len(entries)} settings)" for group, entries in of_group.items()]
    rows = []
    for name, title in _TITLES.items():
        if name == "vote":
            continue
        cells = []
        for entries in of_group.values():
            gains = [e["gain"][name] for e in entries]
            cells.append(f"{signed(sum(gains) / len(gains))}, worst {signed(min(gains))}")
        rows.append(f"| {title} | {' | '.join(cells)} |")
    text = (
        "Then what is planted and simulated: the mean gain over settings and the worst of them, "
        f"{results['seeds']} seeds from 3000 on each."
    )
    head = [f"| | {' | '.join(heads)} |", "|---" * (1 + len(heads)) + "|"]
    return "\n".join([text, "", *head, *rows])


def speed_summary() -> str:
    """Format the README's sentence about speed, with three numbers."""
    results = kept("speed/benchmark.json")
    faster = {
        row["reference"]: f"**{row['ratio']:.0f} times** faster than `{row['reference']}`"
        for row in results["comparisons"]
        if row["reference"].startswith("sitk.") and row["ours"].endswith("SimpleITK images")
    }
    first = results["comparisons"][0]
    environment = results["environment"]
    return (
        f"{', '.join(faster.values())}, with the same answer: {first['raters']} raters' SimpleITK "
        f"images of {first['size']} voxels on {environment['threads']} threads, SimpleITK "
        f"{environment['versions']['SimpleITK']} taking turns with us "
        "([how fast, and where we are slower](docs/truth/speed.md))."
    )


def speed_section() -> str:
    """Return the section on speed, with the path of its picture relative to docs/truth/."""
    return render_markdown(kept("speed/benchmark.json")).replace("](examples/", "](../../examples/")


def band_promise() -> str:
    """Format the guarantee of the stored calibration on lung nodules."""
    return f"> {kept('bands/lidc_band.json')['guarantee']}"


def deep_table() -> str:
    """Format the requirements of the deep network, and its controls."""
    return markdown(load(FOLDER / "deep/deep_evidence.json"))


#: Size in gigabytes of a case, with five raters, of the cohort whose cost is estimated.
_CASE_GB = 5 * 160 * 192 * 160 / 1e9


def beyond_memory_table(rows: list[dict[str, Any]]) -> str:
    """Format processor time and memory of the vote and of Consensus from store to store, and of
    Consensus in memory.
    """
    names = {"vote": "MajorityVote", "memory": "Consensus in memory", "store": "Consensus"}
    lines = ["| | volume | CPU s | ns per voxel | of memory | peak GB |", "|---" * 6 + "|"]
    for row in rows:
        volume = " x ".join(map(str, row["shape"]))
        for kind in (kind for kind in names if kind in row):
            found = row[kind]
            times = f"{row['times_of_memory']:.2f}" if kind == "store" and "memory" in row else ""
            lines.append(
                f"| {names[kind]} | {volume} | {found['processor_seconds']:.0f} | "
                f"{found['nanoseconds_per_voxel']:.0f} | {times} | {found['peak_gb']:.1f} |"
            )
    return "\n".join(lines)


def cost_table(results: list[dict[str, Any]]) -> str:
    """Format volumes on disk: measurements, and estimates for 10,000 cases and for 1 TB."""
    lines = [
        "| | volume | labels | GB in | seconds | of dask alone (each round) | peak GB "
        "| 10,000 cases | 1 TB |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in results:
        rate = row["gigabytes"] / row["seconds"]
        rounds = ", ".join(f"{ratio:.2f}" for ratio in row["each_round"])
        lines.append(
            f"| {row['method']} | {' x '.join(map(str, row['shape']))} | {row['labels']} "
            f"| {row['gigabytes']:.1f} | {row['seconds']:.0f} "
            f"| {row['times_dask_alone']:.2f} ({rounds}) "
            f"| {row['peak_gb']:.2f} | {10_000 * _CASE_GB / rate / 60:.0f} min "
            f"| {1000 / rate / 3600:.1f} h |"
        )
    return "\n".join(lines)


def contour_table() -> str:
    """Format the accuracy of contours of small bodies: the worst value over pixel sizes."""
    rows = kept("contours/rtstruct_rasterisation.json")["rows"]
    lines = [
        "| mm | Dice of voxels written and read back (by plastimatch) "
        "| drawn: volume against the contours' own | against the body | by plastimatch "
        "| Dice with the voxels whose centres lie inside |",
        "|---|---|---|---|---|---|",
    ]
    kind = itemgetter("body", "diameter", "slice")
    for body, diameter, thickness in dict.fromkeys(map(kind, rows)):
        own = [row for row in rows if kind(row) == (body, diameter, thickness)]
        least = {name: min(row[name] for row in own) for name in ("trip", "by plastimatch", "Dice")}
        most = {
            name: max((row[name] for row in own), key=float)
            for name in ("V/outlines", "V/body", "V plastimatch")
        }
        lines.append(
            f"| {body}s of {diameter}, slices of {thickness} | {least['trip']} "
            f"({least['by plastimatch']}) | {most['V/outlines']} % | {most['V/body']} % "
            f"| {most['V plastimatch']} % | {least['Dice']} |"
        )
    return "\n".join(lines)


def conformance_table() -> str:
    """Format the largest error of each package over all grids, body by body."""
    results = kept("contours/conformance.json")
    lines = [f"Largest error over all grids, at {_of_run(results)}.", ""]
    head, *rows = conformance_errors(results["rows"])
    lines += [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    held = [row for row in results["rows"] if row["held_by_grid"]]
    worst = max(_relative_error(row) for row in held)
    lines += ["", f"Where the grid can hold the number ({len(held)} of {len(results['rows'])} "]
    lines[-1] += f"rows) ours is within {100 * worst:.2f} % of it."
    return "\n".join(lines)


def _relative_error(row: dict[str, Any]) -> float:
    """Return the relative error of our value; the absolute error if 0 is expected."""
    return abs(row["itk_consensus"] - row["expected"]) / (row["expected"] or 1.0)


def tie_summary() -> str:
    """Format the number of random stacks in which MultiLabelSTAPLE differs from SimpleITK's."""
    found = kept("methods/tied_votes.json")
    two, more = found["two raters"], found["two to six raters"]
    equal = [found[name] for name in ("with the fault", "two raters with the fault")]
    differing = sum(sum(counts.values()) for counts in equal)
    return (
        f"Of {found['stacks']} random stacks with ties of two readers the label map differs from "
        f"SimpleITK {found['SimpleITK']}'s in {two['label maps']}, of {found['stacks']} of two to "
        f"six readers in {more['label maps']} (and some confusion matrix in {more['matrices']}); "
        f"with the fault below, in {differing} of {2 * found['stacks']}. Without ties there is no "
        "difference (`examples/benchmarks/methods/tied_votes.py`)."
    )


def real_atlases() -> str:
    """Format the fusers on real brains with registered atlases, and the alternatives that were
    tried.
    """
    parts = kept("atlases/real_atlases.json")
    reported, choosing = parts["reported"], parts["choosing"]
    return "\n\n".join(
        [
            *(
                f"Kept from `{part['run']['command']}` at {_of_run(part)}:\n\n{text}"
                for part, text in (
                    (reported, atlas_table(reported["targets"])),
                    (choosing, choices_table(choosing["targets"])),
                )
            ),
            ratios(reported["targets"]),
        ]
    )


def reader_findings() -> str:
    """Format how often findings identify raters with simulated errors, and how often they concern
    raters who agree.
    """
    results = kept("findings/readers_evidence.json")
    head = f"Kept from `{results['run']['command']}` at {_of_run(results)}."
    return f"{head}\n\n{readers_table(results)}"


def verdict_rates() -> str:
    """Format the rates of justified and false warnings of verdicts, for all families of readers."""
    results = kept("findings/verdict_evidence.json")
    titles = {
        "simulated": "Simulated families",
        "fresh": "Families that nobody tuned on",
        "tools": "Families whose errors come from tools, written last and read once",
    }
    parts = [
        f"Bad: worse than the vote by {WORSE_THAN_VOTE:g} of Dice, or below {LOW:g} where another "
        f"fuser of the package is better by {BETTER:g}. Good: {GOOD:g} or more, and not worse than "
        f"the vote by {NOT_WORSE:g}. Readers agree from a mean Dice of {AGREE:g} on, and "
        f"moderately from {MODERATE:g} on. Wanted are {WANTED['bad']:.0%} of bad results, and at "
        f"most {WANTED['agree']:.0%} and {WANTED['moderate']:.0%} of good ones. These seeds chose "
        "nothing. Of families that nobody tuned on there are few, so that chance weighs: good "
        "results are warned of above all where readers fall into two groups by the luck of their "
        "thresholds, or turned copies lie as if mirrored. Real readers of odd cases were looked at "
        "once before the last two choices, which even cases made. What is missed is listed in "
        "`examples/benchmarks/findings/verdict_evidence.json`."
    ]
    for part, title in titles.items():
        found = results[part]
        head = f"{title}, kept from `{found['run']['command']}` at {_of_run(found)}:"
        parts.append(f"{head}\n\n{verdict_table(found['rates'])}\n\n{met(found['rates'])}")
    real = results["real"]
    head = f"Slips in real readers, and real readers who agree (mean Dice {LEAST_AGREEMENT:g})"
    by = f"by Consensus, kept from `{real['run']['command']}` at {_of_run(real)}"
    parts.append(f"{head}, {by}:\n\n{real_table(real['rows'])}")
    missed = [row for row in results["simulated"]["families"] if row["missed"]]
    worst = sorted(missed, key=lambda row: -row["missed"])
    told = (f"{r['family']} by {r['method']} ({r['missed']} of {r['bad']})" for r in worst)
    parts.append(f"Bad results that no verdict warned of: {', '.join(told)}.")
    return "\n\n".join(parts)


def sentences_table() -> str:
    """Format the texts of all findings except "fine", with example numbers."""
    names = ("ann", "bob", "cem", "dan", "eva")
    rows = ["| rule | what it says | what to do |", "|---|---|---|"]
    for (rule, kind), words in SENTENCES.items():
        if words.do:
            one = Finding(rule, 1.0, "look", words.who, words.label, words.example, kind=kind)
            named = one.named(names)
            rows.append(f"| {rule} | {named.what} | {named.do} |")
    return "\n".join(rows)


def limits_table() -> str:
    """Format the limits of findings about raters, with the reason for each group."""
    defaults, rows = AgreementLimits(), ["| limits | why |", "|---|---|"]
    reasons, names = list[str](), list[str]()
    for line in [*inspect.getsource(AgreementLimits).splitlines(), "    #:"]:
        text = line.strip()
        if text.startswith("#:"):
            if names:
                values = ", ".join(f"`{name}` {getattr(defaults, name):g}" for name in names)
                rows.append(f"| {values} | {' '.join(reasons)} |")
                reasons, names = [], []
            reasons.append(text.removeprefix("#:").strip())
        elif ": float" in text:
            names.append(text.partition(":")[0])
    return "\n".join(rows)


_FUSED = {
    "vote": "vote",
    "sitk-staple": "SimpleITK's STAPLE",
    "consensus": "Consensus",
    "instance": "InstanceConsensus",
}


def lesion_tables() -> str:
    """Format the lesion tables: object F1, Dice with missed lesions, kidneys, LIDC, and speed."""
    results = kept("lesions/lesion_evidence.json")
    parts = [f"Kept from `{results['run']['command']}` at {_of_run(results)}."]
    for title, entries in (("Object F1", results["objects"]), ("Dice", results["masks"])):
        parts += ["", f"| {title} | {' | '.join(_FUSED.values())} | gain on the vote |"]
        parts.append("|---" * (2 + len(_FUSED)) + "|")
        for entry in entries:
            means = [short(entry["mean"][name]) for name in _FUSED]
            gain = f"{signed(entry['gain'])} ± {short(entry['error'])}"
            parts.append(f"| {entry['setting']} | {' | '.join(means)} | {gain} |")
    kidneys, speed = results["kidneys"], results["speed"]
    right = sum(row["groups"] for row in kidneys if row["one to one"])
    parts += [
        "",
        f"KiTS21: {right} of {sum(row['names'] for row in kidneys)} kidneys, tumours and cysts of "
        f"{len(kidneys)} cases are matched between three annotations as their names, which the "
        f"filter does not see, have it. Five readers of about {min(speed['objects'])} to "
        f"{max(speed['objects'])} cells in {' x '.join(map(str, speed['shape']))} pixels take "
        f"{speed['filter']:.1f} s, matching alone {speed['match']:.1f} s.",
        "",
        _nodules(kept("lesions/lidc_lesions.json")),
    ]
    return "\n".join(parts)


def _nodules(found: dict[str, Any]) -> str:
    """Format the nodules of LIDC by the number of readers who found them, by this package and
    by pylidc.
    """
    rows = [
        f"| {title} | {' | '.join(str(found[key][k]) for k in '1234')} |"
        for title, key in (("match_lesions", "found by"), ("pylidc 0.2.3", "pylidc"))
    ]
    reasons = "; ".join(f"{reason} ({number})" for reason, number in found["reasons"].items())
    return "\n".join(
        [
            f"LIDC, {found['scans']} whole scans with {found['annotations']} outlines (of "
            f"{found['left out']} more the database does not tell readings apart): nodules by how "
            "many readings marked them.",
            "",
            "| | 1 | 2 | 3 | 4 |",
            "|---|---|---|---|---|",
            *rows,
            "",
            f"{found['in equal groups']} outlines are in equal groups. The clusters that are not: "
            f"{reasons}.",
        ]
    )


#: For each page below docs/ (and README), functions that generate its sections, by marker.
FIGURES: dict[str, Callable[[], dict[str, str]]] = {
    "README": lambda: {"real": real_summary("docs/truth/real_data.md"), "speed": speed_summary()},
    "truth": lambda: {"short": truth_in_short()},
    "truth/real_data": lambda: {"real": real_tables()},
    "truth/fusers": lambda: {"which": evidence_summary(), "evidence": evidence_table()},
    "truth/lesions": lambda: {"lesions": lesion_tables()},
    "truth/atlases": lambda: {"atlases": real_atlases()},
    "truth/verdicts": lambda: {"verdicts": verdict_rates(), "readers": reader_findings()},
    "truth/speed": lambda: {"benchmark": speed_section()},
    "truth/deep": lambda: {
        "deep": deep_table(),
        "networks": kept_tables(),
        "bound": deep_bound.table(),
    },
    "truth/bands": lambda: {
        "band": band_promise(),
        "margins": margin_tables(kept("bands/margin_evidence.json")),
    },
    "howto/findings": lambda: {"limits": limits_table(), "sentences": sentences_table()},
    "howto/learned": lambda: {"learned": learned_tables(kept("learned/learned_evidence.json"))},
    "methods/consensus": lambda: {"harm": harm_table(kept("methods/harm_evidence.json"))},
    "migration": lambda: {"ties": tie_summary()},
    "howto/dicom": lambda: {"contours": contour_table()},
    "conformance": lambda: {"conformance": conformance_table()},
    "theory": lambda: {"paper": paper_verdicts()},
    "paper/paper": lambda: {"real": real_summary("../truth/real_data.md")},
    "howto/out-of-core": lambda: {
        "costs": cost_table(kept("speed/chunked_throughput.json")["rows"]),
        "consensus": beyond_memory_table(kept("speed/consensus_beyond_memory.json")["rows"]),
    },
}
