"""HTML page of several structures, each fused separately and with its own section."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import Any

import numpy as np

from itk_consensus.assessment.agreement.result import AgreementResult
from itk_consensus.assessment.findings import Finding
from itk_consensus.assessment.places import Place
from itk_consensus.assessment.sentences import in_short
from itk_consensus.assessment.verdict import WORDS, Verdict
from itk_consensus.fusing.fusion_result import FusionResult, MadeBy
from itk_consensus.report.agreement_tables import expected_volume_text
from itk_consensus.report.dispute_figures import Look, dispute_figures, legend, switch_style
from itk_consensus.report.first_screen import first_screen, place_of, short_text, three_digits
from itk_consensus.report.markup import (
    Markup,
    collapsible,
    data_table,
    document,
    join_markup,
    section,
    tag,
)
from itk_consensus.report.page import (
    explanation_and_findings,
    input_table,
    parameter_table,
    rater_tables,
    underlay_of,
    version_table,
)
from itk_consensus.report.shown_case import ShownCase
from itk_consensus.report.text import pluralize

#: Slices per structure on a page with more than `_MANY_STRUCTURES` structures.
_FEW_SLICES = 3
_MANY_STRUCTURES = 4

#: Maximum number of boxes with problems above the table of structures, which lists all of them.
_MOST_PROBLEMS = 6

#: Minimum cosine of the angle between two displacements for them to have the same direction.
_SAME_DIRECTION = 0.8


@dataclass(frozen=True)
class StructurePart:
    """The content of a page about one structure."""

    name: str
    verdict: Verdict
    mean_dice: float  #: Mean Dice between readers; NaN if undefined
    link: Markup  #: The structure's name, linked to its section
    doubts: tuple[Finding, ...]  #: Findings that raise a concern, as opposed to notes
    glance: list[Any]  #: Row of the first table: verdict, reason, place, volume, Dice
    overview: list[Any]  #: Row of the table of measurements
    markup: Markup

    @property
    def gravity(self) -> tuple[int, float]:
        """Sort key: verdict, then agreement; the worst structures come first."""
        dice = self.mean_dice
        return -self.verdict.grade, dice if dice == dice else 2.0


def structure_part(
    result: FusionResult[Any],
    name: str,
    readers: Mapping[int, str],
    image: Any,
    look: Look,
    number: int,
    known: Sequence[Finding] = (),
) -> StructurePart:
    """Make the page content for one structure from its fusion.

    Parameters
    ----------
    readers : mapping of int to str
        Names of the readers who drew it, keyed by their indices on the page.
    image : image, optional
        The image that the readers segmented.
    number : int
        Index of the structure, for links from the table of all structures.
    known : sequence of Finding
        Findings on its readers that were derived from all structures together.
    """
    named = result.with_rater_names(list(readers.values()))
    case = ShownCase(named, structure_names={1: name}, places=tuple(readers), known=tuple(known))
    underlay = underlay_of(result, image)
    parts = [
        first_screen(case, underlay, look, with_viewer=False, pictures_id=f"place-{number}"),
        collapsible(
            f"All findings, slices and tables of {name}",
            *explanation_and_findings(case),
            dispute_figures(case, underlay, look),
            *rater_tables(case),
        ),
    ]
    anchor = f"structure-{number}"
    verdict, agreement = Verdict.of(case.findings), case.agreement
    link = tag("a", name, href=f"#{anchor}")
    why = " ".join(one.what for one in verdict.decided_by) or verdict.why
    volume = three_digits(agreement.labels[0].volumes[-1]) if agreement.labels else "–"
    dice = agreement.mean_dice()
    text = f"{dice:.2f}" if dice == dice else "–"
    word = tag("td", tag("b", verdict.word, class_=f"word {verdict.word.replace(' ', '-')}"))
    cells = [tag("td", volume), tag("td", text)]
    where = _link_to_pictures(place_of(case) if verdict.grade else None, number)
    glance = [link, word, tag("td", why, class_="text"), where, *cells]
    row = [link, len(readers), *_figures(agreement)]
    markup = section(name, *parts, id_=anchor)
    doubts = tuple(one for one in case.findings.causes if one.concern)
    return StructurePart(name, verdict, dice, link, doubts, glance, row, markup)


def _link_to_pictures(place: Place | None, number: int) -> Markup:
    """Return a link to the pictures of a place; a dash if the structure has none."""
    if place is None:
        return tag("td", "–", class_="name nothing")
    return tag("td", tag("a", short_text(place), href=f"#place-{number}"), class_="name")


def look_for(structures: int, look: Look) -> Look:
    """Return `look` with fewer slices per structure if there are many structures."""
    if structures <= _MANY_STRUCTURES:
        return look
    return replace(look, most_slices=_FEW_SLICES)


def structures_page(
    parts: Sequence[StructurePart],
    readers: Sequence[str],
    made_by: MadeBy,
    hashes: Sequence[tuple[str, str]],
    said: Sequence[str],
    identity: Mapping[str, str],
) -> str:
    """Return the HTML of the whole page.

    Parameters
    ----------
    hashes : sequence of (str, str)
        Name and SHA-256 of each input.
    said : sequence of str
        Notes on all structures, shown at the top.
    identity : mapping of str to str
        Identity of the patient, if it is to be shown.
    """
    ordered = sorted(parts, key=lambda part: part.gravity)
    unit = "ml"
    glance = data_table(
        "By verdict, then by disagreement. Dice: mean between readers.",
        ["structure", "verdict", "why", "where", f"consensus {unit}", "Dice"],
        [part.glance for part in ordered],
        class_="glances cards",
        labels=["", "", "look at", f"consensus {unit}", "Dice between readers"],
    )
    header = ["structure", "readers", f"consensus {unit}", f"readers {unit}",
              f"another reader's {unit}", "mean Dice", "lowest Dice", "Hausdorff 95 % mm",
              "surface Dice"]  # fmt: skip
    overview = data_table(
        "Means over pairs of readers; Dice 1 is full agreement. Another reader's volume is "
        "expected with its interval of 90 %.",
        header,
        [part.overview for part in ordered],
    )
    notes = tag("ul", *(tag("li", text) for text in said), class_="findings")
    facts = {**identity, "structures": len(parts), "readers": len(readers),
             "method": made_by.method}  # fmt: skip
    lead = tag("ul", *(tag("li", tag("b", v), k) for k, v in facts.items()), class_="facts")
    boxes = problems(ordered)
    first = section("Structures", boxes, glance, *([notes] if said else []), legend(readers),
                    id_="structures")  # fmt: skip
    details = tag("details", tag("summary", "Parameters and versions"), parameter_table(made_by),
                  version_table())  # fmt: skip
    made = tag("p", f"Made on {datetime.now(timezone.utc):%Y-%m-%d %H:%M} UTC.", class_="quiet")
    last = collapsible("All numbers, and how it was made", overview, lead,
                  input_table(hashes, "their files"), details, made)  # fmt: skip
    title = (
        f"Consensus of {pluralize(len(parts), 'structure')} by {pluralize(len(readers), 'reader')}"
    )
    markup = [part.markup for part in ordered]
    style = switch_style(len(readers))
    return document(title, verdict_line(ordered), first, *markup, last, extra_style=style)


def verdict_line(parts: Sequence[StructurePart]) -> Markup:
    """List the structures by verdict, in one line: "Use: Aorta. Look: Heart and GTVp."."""
    said = []
    for word in WORDS:
        links = [part.link for part in parts if part.verdict.word == word]
        if links:
            named = tag("b", f"{word.capitalize()}: ", class_=f"word {word.replace(' ', '-')}")
            said.append(tag("span", named, _listed(links), ". "))
    return tag("p", *said, class_="verdicts")


def problems(parts: Sequence[StructurePart]) -> Markup | None:
    """Return boxes for what readers did according to one rule, the worst first, and one for
    the rest.
    """
    groups: dict[tuple[tuple[str, ...], str], list[tuple[StructurePart, Finding]]] = {}
    for part in parts:
        for one in part.doubts:
            if one.who and in_short(one):
                groups.setdefault((one.names, one.rule), []).append((part, one))
    boxes, named = [], set()
    for found in list(groups.values())[:_MOST_PROBLEMS]:
        _, first = found[0]
        links = _listed([part.link for part, _ in found])
        named |= {part.name for part, _ in found}
        said = [links, ": ", first.what]
        if len(first.who) == 1:
            said = [f"{first.names[0]} {in_short(first)} in ", links, "."]
        advice = first.do if all(one.do == first.do for _, one in found) else ""
        if "error" in first.facts and not _point_alike([one.facts["error"] for _, one in found]):
            advice = "Not in one direction, so no header explains it: look at the outlines."
        elif len({one.facts.get("off") for _, one in found}) > 1:
            # A wrong header moves all structures in the same way.
            advice = (
                "If all lie off alike, compare origin and spacing in its header with the others'; "
                "if not, look at each outline."
            )
        small = tag("span", advice, class_="quiet")
        boxes.append(tag("li", tag("b", *said), " ", small, class_="look"))
    rest = [part.link for part in parts if part.verdict.grade and part.name not in named]
    if boxes and rest:
        also = tag("b", "Look also at ", _listed(rest), ".")
        boxes.append(tag("li", also, tag("span", " The table says why.", class_="quiet"),
                         class_="look"))  # fmt: skip
    return tag("ul", *boxes, class_="findings") if boxes else None


def _point_alike(errors: Sequence[Sequence[float]]) -> bool:
    """Return whether displacements have the same direction, as those due to a wrong header do."""
    ways = np.asarray(errors, float)
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    return bool((ways @ ways.T).min() >= _SAME_DIRECTION)


def _listed(links: Sequence[Markup]) -> Markup:
    """Join links as in a sentence: a, b and c."""
    between = [", "] * (len(links) - 2) + [" and "] * (len(links) > 1) + [""]
    return join_markup(part for pair in zip(links, between, strict=True) for part in pair)


def _figures(agreement: AgreementResult) -> list[Any]:
    """Return volumes and agreement of a structure for the table; NaN if it is empty."""
    if not agreement.labels:
        return [float("nan")] * 7
    (one,) = agreement.labels[:1]
    volumes = one.volumes[: one.raters]
    spread = f"{volumes.min():.4g}\u2013{volumes.max():.4g}"
    between = {name: one.between_raters(matrix) for name, matrix in one.matrices.items()}
    return [
        float(one.volumes[-1]),
        spread,
        expected_volume_text(one),
        _mean(between["dice"]),
        float(between["dice"].min()) if between["dice"].size else float("nan"),
        _mean(between["hausdorff95_mm"]),
        _mean(between["surface_dice"]),
    ]


def _mean(values: Any) -> float:
    defined = values[np.isfinite(values)]
    return float(defined.mean()) if defined.size else float("nan")
