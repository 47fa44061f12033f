"""Format results: lines for the terminal, Markdown for the README."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from examples.benchmarks.readme_section import replace_section
from examples.benchmarks.speed.reasons import reason

Results = dict[str, Any]
Row = dict[str, Any]

PICTURE = "examples/benchmarks/speed/benchmark.png"
GROWTH_PICTURE = "examples/benchmarks/speed/benchmark_growth.png"


def comparison_line(row: Row) -> str:
    """Format one comparison for the terminal."""
    times = f"{_time(row['ours_seconds'])} / {_time(row['reference_seconds'])}"
    peaks = f"{_megabytes(row['ours_peak_bytes'])} / {_megabytes(row['reference_peak_bytes'])}"
    names = f"{row['ours']} / {row['reference']}"
    return f"  {_ratio(row):>15}  {names:<70} {times:<20} peak {peaks:<18} ({_verdict(row)})"


def clinical_line(row: Row) -> str:
    """Format one workload of clinical size for the terminal."""
    times = f"{_time(row['ours_seconds'])} / {_time(row['reference_seconds'])}"
    names = f"{row['ours']} / {row['reference']}"
    return (
        f"  {row['ratio']:8.2f}× the time  {names:<70} {row['raters']:>2} raters  {times:<20} "
        f"({_verdict(row)}), {_bytes_per_voxel(row)} bytes/voxel (at most {row['bytes_limit']:g})"
    )


def memory_line(row: Row) -> str:
    """Format one memory measurement for the terminal."""
    return (
        f"  {_bytes_per_voxel(row)} bytes/voxel  {row['raters']} {row['kind']} raters, "
        f"{row['patterns']:,} patterns  ({_verdict(row)})"
    )


def scaling_line(row: Row) -> str:
    """Format one point of a curve for the terminal."""
    return (
        f"  {_time(row['seconds']):>8}  {row['operation']}  {row['size']}, "
        f"{row['raters']} {row['kind']} raters"
    )


def render_markdown(results: Results) -> str:
    """Format the section of the README: description, table, memory and plot."""
    paragraphs = [
        _environment_text(results["environment"]),
        _table(
            [
                "5 raters",
                "size",
                "against",
                "ours",
                "theirs",
                "ratio",
                "peak memory",
                "largest difference",
            ],
            [_comparison_cells(row) for row in results["comparisons"]],
        ),
        "Peak memory counts the output and leaves out the inputs, ours / theirs. "
        "STAPLE on arrays needs, beyond inputs and output:",
        _table(
            ["size", "raters", "patterns", "bytes per voxel"],
            [_memory_cells(row) for row in results["extra_memory"]],
        ),
        *_clinical_section(results),
        *_waiting_section(results),
        f"![Time of STAPLE against voxels and against raters]({PICTURE})",
    ]
    if "growth" in results:
        paragraphs.append(f"![Time against labels and against atlases]({GROWTH_PICTURE})")
    return "\n\n".join(paragraphs)


def _clinical_section(results: Results) -> list[str]:
    """Format clinical sizes, if they were measured."""
    rows = [*results.get("atlases", []), *results.get("crowd", [])]
    if not rows:
        return []
    header = ["clinical sizes", "size", "raters", "against", "ours", "theirs", "ratio", "bytes"]
    return [
        "Slower methods are measured against SimpleITK's vote too, for want of one like them. "
        "Atlases are followed by their number of labels; a crowd errs at every voxel. Bytes are "
        "per voxel, beyond inputs and output. "
        + (_run_of(results, "atlases") or "It was run before what the next table shows was done."),
        _table(header, [_clinical_cells(row) for row in rows]),
    ]


def _waiting_section(results: Results) -> list[str]:
    """Format work before and after a fusion, if it was measured."""
    if "waiting" not in results:
        return []
    return [
        "What people wait for, in processor seconds of all threads. T is SimpleITK's vote of the "
        "same stack, Execute the fusion itself; what it took before was measured on another "
        f"machine. A limit in bold is not kept. {_run_of(results, 'waiting')}",
        _table(
            ["waiting for", "takes", "that is", "at most", "took before", "why not less"],
            [[*_waiting_cells(row), reason(row)] for row in results["waiting"]],
        ),
        *_growth_section(results),
        *_peers_section(results),
    ]


def _peers_section(results: Results) -> list[str]:
    """Format the comparison with alternatives, if it was measured."""
    if "peers" not in results:
        return []
    slower = sum(row["met"] is False for row in results["peers"])
    return [
        "Beside what a user would take instead, in processor seconds of one thread, in turns, the "
        f"least of several runs; {slower} of {len(results['peers'])} limits, in bold, are not "
        f"kept. {_run_of(results, 'peers')}",
        _table(
            ["ours", "takes", "that is", "at most", "why not less"],
            [[*_waiting_cells(row)[:4], reason(row)] for row in results["peers"]],
        ),
    ]


def _growth_section(results: Results) -> list[str]:
    """Format the growth of every fuser, if it was measured."""
    if "fusers" not in results:
        return []
    return [
        "How the processor time of every fuser grows with twice the raters and four times the "
        f"labels. {_run_of(results, 'fusers')}",
        _table(
            ["fuser", "the larger takes", "that is", "at most", "why"],
            [[*_waiting_cells(row)[:4], reason(row)] for row in results["fusers"]],
        ),
    ]


def _run_of(results: Results, part: str) -> str:
    run = results.get("runs", {}).get(part)
    if run is None:
        return ""
    return f"Kept from `{run['command']}` at commit {run['commit']}, {run['date']}."


def _waiting_cells(row: Row) -> list[str]:
    seconds, unit, limit, before = (
        row[key] for key in ("processor_seconds", "unit", "limit", "before")
    )
    then = before if seconds is None or before is None else _time(before)
    bound = "" if limit is None else f"{limit:g}"
    return [
        row["what"],
        "" if seconds is None else _unbroken(_time(seconds)),
        "?" if row["ratio"] is None else _unbroken(f"{row['ratio']:.3g} {unit}"),
        f"**{bound}**" if row["met"] is False else bound,
        "" if then is None else _unbroken(str(then)),
    ]


def _clinical_cells(row: Row) -> list[str]:
    return [
        row["ours"],
        row["size"],
        f"{row['raters']} {row['kind']}",
        row["reference"],
        _unbroken(_time(row["ours_seconds"])),
        _unbroken(_time(row["reference_seconds"])),
        f"**{_faster_or_slower(row['ratio'])}**",
        _bytes_per_voxel(row),
    ]


def update_readme(readme: Path, results: Results) -> None:
    """Replace the text between the markers in a README."""
    replace_section(readme, "benchmark", render_markdown(results))


def _environment_text(environment: Row) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in environment["versions"].items())
    return (
        "Best times, each contender taking turns with its reference in one run, on "
        f"{environment['threads']} threads of {environment['processor']}; {versions}."
    )


def _comparison_cells(row: Row) -> list[str]:
    peaks = (_megabytes(row["ours_peak_bytes"]), _megabytes(row["reference_peak_bytes"]))
    difference = row["largest_difference"]
    return [
        row["ours"],
        row["size"],
        row["reference"],
        _unbroken(_time(row["ours_seconds"])),
        _unbroken(_time(row["reference_seconds"])),
        f"**{_ratio(row)}**",
        " / ".join(peaks),
        "" if difference is None else f"{difference:.2g}",
    ]


def _memory_cells(row: Row) -> list[str]:
    return [
        row["size"],
        f"{row['raters']} {row['kind']}",
        f"{row['patterns']:,}",
        _bytes_per_voxel(row),
    ]


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _unbroken(text: str) -> str:
    """Keep a number and its unit on one line of a narrow cell."""
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def _ratio(row: Row) -> str:
    if row["wanted"] == "at least":
        return f"{row['ratio']:.3g}× faster"
    return f"{row['ratio']:.2f}× the time"


def _faster_or_slower(ratio: float) -> str:
    """Format the ratio to the reference's time as a factor above one, with "faster" or "slower"."""
    return f"{1 / ratio:.3g}× faster" if ratio < 1 else f"{ratio:.3g}× the time"


def _verdict(row: Row) -> str:
    if row["limit"] is None:
        return "no limit"
    if row["met"] is None:
        return "not measurable on this system"
    return f"{row['wanted']} {row['limit']:g}: {'met' if row['met'] else 'MISSED'}"


def _bytes_per_voxel(row: Row) -> str:
    return "?" if row["bytes_per_voxel"] is None else f"{row['bytes_per_voxel']:.2f}"


def _time(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{1000 * seconds:.1f} ms"


def _megabytes(size: int | None) -> str:
    return "?" if size is None else f"{size / 1e6:.0f} MB"
