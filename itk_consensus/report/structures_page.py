"""Named structures, each fused by itself, as one HTML page with a section for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import Any

import numpy as np

from itk_consensus.assessment.agreement.result import AgreementResult
from itk_consensus.assessment.findings import Finding
from itk_consensus.assessment.verdict import WORDS, Verdict
from itk_consensus.fusing.fusion_result import FusionResult, MadeBy
from itk_consensus.report.agreement_tables import volume_to_expect
from itk_consensus.report.dispute_figures import Look, dispute_figures, legend, switch_style
from itk_consensus.report.first_screen import first_screen, sensible
from itk_consensus.report.markup import Markup, data_table, document, folded, section, tag
from itk_consensus.report.page import (
    explained,
    input_table,
    parameter_table,
    raters,
    underlay_of,
    version_table,
)
from itk_consensus.report.shown_case import ShownCase
from itk_consensus.report.text import counted

#: Slices of a structure where a page has many structures.
_FEW_SLICES = 3
_MANY_STRUCTURES = 4


@dataclass(frozen=True)
class StructurePart:
    """What a page says of one structure."""

    name: str
    verdict: Verdict
    mean_dice: float  #: Between readers; NaN if nobody can tell
    glance: list[Any]  #: A row of the first table: verdict, why, volume
    overview: list[Any]  #: A row of the table of numbers
    markup: Markup

    @property
    def gravity(self) -> tuple[int, float]:
        """Worst first: by verdict, then by agreement."""
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
    """The part of a structure whose fusion is a result.

    Parameters
    ----------
    readers : mapping of int to str
        Those of the page's readers who drew it, by their numbers.
    image : image, optional
        What they looked at.
    number : int
        Of the structure, from 0 on; the table of all structures links to it.
    known : sequence of Finding
        What the plan tells about its readers.
    """
    named = result.named(list(readers.values()))
    case = ShownCase(named, structure_names={1: name}, places=tuple(readers), known=tuple(known))
    underlay = underlay_of(result, image)
    parts = [
        first_screen(case, underlay, look, with_viewer=False),
        folded(
            f"All findings, slices and tables of {name}",
            *explained(case),
            dispute_figures(case, underlay, look),
            *raters(case),
        ),
    ]
    anchor = f"structure-{number}"
    verdict, agreement = Verdict.of(case.findings), case.agreement
    link = tag("a", name, href=f"#{anchor}")
    why = " ".join(one.what for one in verdict.decided_by) or verdict.why
    volume = sensible(agreement.labels[0].volumes[-1]) if agreement.labels else "–"
    dice = agreement.mean_dice()
    text = f"{dice:.2f}" if dice == dice else "–"
    word = tag("td", tag("b", verdict.word, class_=f"word {verdict.word.replace(' ', '-')}"))
    cells = [tag("td", volume), tag("td", text)]
    glance = [link, word, tag("td", why, class_="text"), *cells]
    row = [tag("a", name, href=f"#{anchor}"), len(readers), *_figures(agreement)]
    markup = section(name, *parts, id_=anchor)
    return StructurePart(name, verdict, dice, glance, row, markup)


def look_for(structures: int, look: Look) -> Look:
    """Fewer slices of each where there are many structures."""
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
    """The whole page.

    Parameters
    ----------
    hashes : sequence of (str, str)
        SHA-256 of each input.
    said : sequence of str
        What is to be known of the structures before anything else.
    identity : mapping of str to str
        Of the patient, where it was asked for.
    """
    ordered = sorted(parts, key=lambda part: part.gravity)
    words = [part.verdict.word for part in parts]
    counts = [f"{words.count(word)} {word}" for word in reversed(WORDS) if word in words]
    unit = "ml"
    glance = data_table(
        f"{', '.join(counts).capitalize()}; the worst first. Dice: mean between readers.",
        ["structure", "verdict", "why", f"consensus {unit}", "Dice"],
        [part.glance for part in ordered],
        class_="glances",
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
    notes = tag("ul", *(tag("li", text, class_="note") for text in said), class_="findings")
    facts = {**identity, "structures": len(parts), "readers": len(readers),
             "method": made_by.method}  # fmt: skip
    lead = tag("ul", *(tag("li", tag("b", v), k) for k, v in facts.items()), class_="facts")
    first = section("Verdicts", glance, *([notes] if said else []), legend(readers),
                    id_="structures")  # fmt: skip
    details = tag("details", tag("summary", "Parameters and versions"), parameter_table(made_by),
                  version_table())  # fmt: skip
    made = tag("p", f"Made on {datetime.now(timezone.utc):%Y-%m-%d %H:%M} UTC.", class_="quiet")
    last = folded("All numbers, and how it was made", overview, lead,
                  input_table(hashes, "their files"), details, made)  # fmt: skip
    title = f"Consensus of {counted(len(parts), 'structure')} by {counted(len(readers), 'reader')}"
    markup = [part.markup for part in ordered]
    return document(title, None, first, *markup, last, extra_style=switch_style(len(readers)))


def _figures(agreement: AgreementResult) -> list[Any]:
    """Volumes and agreement of the structure; dashes if nobody drew anything."""
    if not agreement.labels:
        return [float("nan")] * 7
    (one,) = agreement.labels[:1]
    volumes = one.volumes[: one.raters]
    spread = f"{volumes.min():.4g}\u2013{volumes.max():.4g}"
    between = {name: one.between_raters(matrix) for name, matrix in one.matrices.items()}
    return [
        float(one.volumes[-1]),
        spread,
        volume_to_expect(one),
        _mean(between["dice"]),
        float(between["dice"].min()) if between["dice"].size else float("nan"),
        _mean(between["hausdorff95_mm"]),
        _mean(between["surface_dice"]),
    ]


def _mean(values: Any) -> float:
    defined = values[np.isfinite(values)]
    return float(defined.mean()) if defined.size else float("nan")
