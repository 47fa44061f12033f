"""Named structures, each fused by itself, as one HTML page with a section for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import Any

import numpy as np

from itk_consensus.assessment.agreement.result import AgreementResult
from itk_consensus.assessment.verdict import Verdict
from itk_consensus.fusing.fusion_result import FusionResult, MadeBy
from itk_consensus.report.agreement_tables import volume_to_expect
from itk_consensus.report.dispute_figures import Look, dispute_figures, legend, switch_style
from itk_consensus.report.markup import Markup, data_table, document, section, tag
from itk_consensus.report.page import (
    input_table,
    parameter_table,
    raters,
    underlay_of,
    verdict,
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
    overview: list[Any]  #: A row of the table of all structures
    markup: Markup


def structure_part(
    result: FusionResult[Any],
    name: str,
    readers: Mapping[int, str],
    image: Any,
    look: Look,
    number: int,
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
    """
    named = result.named(list(readers.values()))
    case = ShownCase(named, structure_names={1: name}, places=tuple(readers))
    parts = [
        *verdict(case),
        dispute_figures(case, underlay_of(result, image), look),
        *raters(case),
    ]
    anchor = f"structure-{number}"
    word = Verdict.of(case.findings).word
    row = [tag("a", name, href=f"#{anchor}"), word, len(readers), *_figures(case.agreement)]
    return StructurePart(name, row, section(name, *parts, id_=anchor))


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
    unit = "ml"
    header = ["structure", "verdict", "readers", f"consensus {unit}", f"readers {unit}",
              f"another reader's {unit}", "mean Dice", "lowest Dice", "Hausdorff 95 % mm",
              "surface Dice"]  # fmt: skip
    overview = data_table(
        "Means over pairs of readers; Dice 1 is full agreement. Another reader's volume is "
        "expected with its interval of 90 %.",
        header,
        [p.overview for p in parts],
    )
    notes = tag("ul", *(tag("li", text, class_="note") for text in said), class_="findings")
    facts = {**identity, "structures": len(parts), "readers": len(readers),
             "method": made_by.method}  # fmt: skip
    lead = tag("ul", *(tag("li", tag("b", v), k) for k, v in facts.items()), class_="facts")
    first = section("Structures", *([notes] if said else []), overview, legend(readers),
                    id_="structures")  # fmt: skip
    details = tag("details", tag("summary", "Parameters and versions"), parameter_table(made_by),
                  version_table())  # fmt: skip
    made = tag("p", f"Made on {datetime.now(timezone.utc):%Y-%m-%d %H:%M} UTC.", class_="quiet")
    last = section("How it was made", input_table(hashes, "their files"), details, made,
                   id_="provenance")  # fmt: skip
    title = f"Consensus of {counted(len(parts), 'structure')}"
    markup = [part.markup for part in parts]
    return document(title, lead, first, *markup, last, extra_style=switch_style(len(readers)))


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
