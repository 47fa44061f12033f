"""Write the summary of the page on evidence: one sentence with numbers per question."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import mean, stdev
from typing import Any

from examples.benchmarks.kept_files import kept, short, signed

#: Names of the data sets of `real_evidence.py` in running text.
_SETS = {
    "LIDC": "lung nodules",
    "crowd": "crowds",
    "experts": "experts' cells and vessels",
    "kidneys": "kidneys",
    "hippocampi": "hippocampi",
    "prostates": "prostates",
    "skin": "skin findings",
    "KiTS19": "kidneys against KiTS19's truth",
}


def truth_in_short() -> str:
    """Return a numbered list of the gain or loss of each method by data set, compared with
    alternatives.
    """
    return "\n".join(f"{at}. {text}" for at, text in enumerate(_sentences(), 1))


def _sentences() -> Iterator[str]:
    yield from _real()
    yield from _settings()
    yield _brains()
    yield _deep()
    yield _learned()
    yield _verdicts()
    yield _margins()
    yield from _speed()


def _real() -> Iterator[str]:
    sets = kept("methods/real_evidence.json")["sets"]
    gains = {
        fuser: {
            name: row
            for name, rows in sets.items()
            for row in rows
            if row["fuser"].replace("MultiLabelSTAPLE", "STAPLE") == fuser
        }
        for fuser in ("Consensus", "sitk.STAPLE")
    }
    listed = {fuser: ", ".join(_gain(name, of[name]) for name in of) for fuser, of in gains.items()}
    yield (
        f"**Real raters.** Consensus gains on the vote, in Dice: {listed['Consensus']}. "
        f"SimpleITK's STAPLE: {listed['sitk.STAPLE']} ([every fuser and peer](truth/real_data.md))."
    )


def _gain(name: str, row: dict[str, Any]) -> str:
    gain, error = signed(row["dice_gain"]), short(row["dice_error"])
    return f"{gain} ± {error} ({_SETS[name]}, {row['cases']})"


def _settings() -> Iterator[str]:
    settings = kept("methods/evidence.json")["settings"]
    slips = [e for e in settings if e["kind"] == "real slips"]
    yield (
        "**Slips.** Where one real reader's mask was inverted, emptied, moved, widened or "
        f"exchanged, in {len(slips)} ways, Consensus gains {_mean(slips, 'consensus')}, at worst "
        f"{_worst(slips, 'consensus')}; SimpleITK's STAPLE {_mean(slips, 'sitk-staple')}, at worst "
        f"{_worst(slips, 'sitk-staple')} ([every setting](truth/fusers.md))."
    )
    simulated = [e for e in settings if not e["kind"].startswith("real")]
    behind = sorted(
        (e["gain"]["consensus"] - max(e["gain"].values()), e["setting"], e) for e in simulated
    )[:3]
    lost = ", ".join(
        f"{name} ({signed(e['gain']['consensus'])}, the best {signed(max(e['gain'].values()))})"
        for _, name, e in behind
    )
    yield (
        f"**Simulated raters.** In {len(simulated)} settings Consensus gains "
        f"{_mean(simulated, 'consensus')}, at worst {_worst(simulated, 'consensus')}: most of "
        f"it is in noise, which real readers do not have. It is behind others most in: {lost} "
        "([every setting](truth/fusers.md))."
    )


def _mean(entries: list[dict[str, Any]], fuser: str) -> str:
    return signed(mean(e["gain"][fuser] for e in entries))


def _worst(entries: list[dict[str, Any]], fuser: str) -> str:
    worst = min(entries, key=lambda e: e["gain"][fuser])
    return f"{signed(worst['gain'][fuser])} ({worst['setting']})"


def _brains() -> str:
    rows = {row["fuser"]: row for row in kept("methods/real_evidence.json")["sets"]["hippocampi"]}
    ours, theirs = rows["JointLabelFusion"], rows["ANTs joint fusion"]
    return (
        f"**Atlases.** With the atlases' images joint fusion gains {_of(ours)} on the vote of 15 "
        f"atlases ({ours['cases']} hippocampi), ANTs' {_of(theirs)}, in many times the processor "
        "time ([atlases](truth/atlases.md))."
    )


def _of(row: dict[str, Any]) -> str:
    return f"{signed(row['dice_gain'])} ± {short(row['dice_error'])}"


def _deep() -> str:
    found = kept("deep/deep_real.json")
    rows = {title.partition(":")[0]: of["rows"] for title, of in found.items()}
    brains = rows["Hippocampi"]
    beyond = _paired(brains["network"]["dice"], brains["JointLabelFusion"]["dice"])
    alone = _paired(brains["network"]["dice"], brains["network, image alone"]["dice"])
    return (
        f"**The deep filter.** There it gains {beyond} on joint fusion and {alone} "
        "on a network that sees the image alone; on crowds and on six lung nodules it finds no "
        "gain, says so, and answers with the vote ([deep](truth/deep.md))."
    )


def _paired(ours: list[float], theirs: list[float]) -> str:
    gains = [one - other for one, other in zip(ours, theirs, strict=True)]
    return f"{signed(mean(gains))} ± {short(stdev(gains) / len(gains) ** 0.5)}"


def _learned() -> str:
    rows = kept("learned/learned_evidence.json")["networks"]["rows"]
    said = "; ".join(
        f"{row['networks']}, from {row['learned_from']} cases, "
        f"{signed(row['gain']['learned'])} ± {short(row['error']['learned'])}"
        for row in rows
        if not row["networks"].startswith("CONTROL")
    )
    return (
        f"**Learned from cases with a truth.** Beyond Consensus, networks on prostates: {said} "
        "([which networks to believe](howto/learned.md))."
    )


def _verdicts() -> str:
    found = kept("findings/verdict_evidence.json")["simulated"]["rates"]
    every = next(row for row in found if row["method"] == "all")
    bad, agree, moderate = (
        f"{every[f'{kind}, warned']} of {every[kind]}" for kind in ("bad", "agree", "moderate")
    )
    return (
        f"**Verdicts.** Of bad results {bad} are *look* or *do not use*; of good ones {agree} "
        f"among readers who agree, and {moderate} among those who agree moderately "
        "([verdicts](truth/verdicts.md))."
    )


def _margins() -> str:
    rows = kept("bands/margin_evidence.json")["margin"]["lidc"]
    one = next(row for row in rows if row["direction"] == "outward" and row["alpha"] == 0.1)
    return (
        f"**Promises.** A margin that is to cover 90 % of new cases covers "
        f"{one['coverage']:.1%} of left-out radiologists' nodules, with {one['margin']:.1f} mm; "
        "copies and rougher readers than those of the calibration are announced "
        "([how sure](truth/bands.md))."
    )


def _speed() -> Iterator[str]:
    results = kept("speed/benchmark.json")
    ratios = {
        row["reference"]: row["ratio"]
        for row in reversed(results["comparisons"])
        if row["reference"].startswith("sitk.") and "SimpleITK images" in row["ours"]
    }
    said = ", ".join(f"{ratio:.0f} times {name}" for name, ratio in ratios.items())
    yield (
        f"**Speed.** Five raters' SimpleITK images of 256x256x128 voxels: {said}, with the same "
        "answer ([how fast](truth/speed.md))."
    )
    slower = sorted(
        (row for row in results["peers"] if not row["met"]), key=lambda row: -row["ratio"]
    )
    listed = "; ".join(f"{row['what']} ({row['ratio']:.1f} {row['unit']})" for row in slower[:3])
    yield (
        f"**Where we are slower** than the plain line or the limit we set ourselves: {listed} "
        "([all of them](truth/speed.md))."
        if slower
        else "**Nothing measured is slower** than the peer or plain line beside it."
    )
