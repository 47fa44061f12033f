"""The first screen of a case: the verdict, who deviates, and a picture of the place to look at."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.assessment.agreement.reader_bias import PADDING, ConsensusSurface
from itk_consensus.assessment.findings import Finding
from itk_consensus.assessment.places import Place
from itk_consensus.assessment.verdict import Verdict
from itk_consensus.core.array_types import Floats
from itk_consensus.report.agreement_tables import rater_name
from itk_consensus.report.dispute_figures import Look, place_figures
from itk_consensus.report.markup import Markup, data_table, joined, tag
from itk_consensus.report.shown_case import ShownCase
from itk_consensus.space.boxes import bounding_box

#: What a verdict says to somebody who has not read it before.
SAID = {"use": "Use", "look": "Look before use", "do not use": "Do not use"}

#: So many notes stand in the open.
_MOST_NOTES = 2

#: Of more raters only those who deviate most are listed first; the table of all is further down.
_MOST_RATERS = 8
#: Of fewer readers nothing is said of most of them, which are this share.
_FEWEST_FOR_MARGIN, _MOST_OF_READERS = 3, 0.75
#: Drawn wider or tighter by less is the same, in mm.
_SAME_MM = 0.25


def first_screen(
    case: ShownCase, underlay: NDArray[Any] | None, look: Look, *, with_viewer: bool = True
) -> Markup:
    """The verdict of a case, with what it takes to check it; a link opens a viewer at the place."""
    found = case.findings.named(labels=case.structure_names)
    verdict = Verdict.of(found)
    label = _label_of(case, verdict)
    place = place_of(case)
    pictures = place_figures(case, underlay, look, place)
    title = "Where to look" if verdict.grade else "Where readers differ most"
    link = _link(place) if place and with_viewer else place
    where = tag("p", tag("b", f"{title}: ", link) if link else tag("b", title))
    notes = [one for one in found.causes if one.severity == "note"][:_MOST_NOTES]
    return tag(
        "div",
        verdict_markup(verdict),
        *(tag("p", one.sentence, class_="quiet") for one in notes),
        tag(
            "div",
            tag("div", where, pictures, class_="place"),
            tag("div", who_deviates(case, label), class_="who"),
            class_="glance",
        ),
        class_="first",
    )


def verdict_markup(verdict: Verdict) -> Markup:
    """The word, and the one or two findings that decided it."""
    kind = verdict.word.replace(" ", "-")
    word = tag("p", SAID[verdict.word], class_=f"verdict {kind}")
    if not verdict.decided_by:
        return tag("div", word, tag("p", verdict.why))
    reasons = [tag("p", tag("b", one.what), " ", one.do) for one in verdict.decided_by]
    return tag("div", word, *reasons, class_="deciding")


def place_of(case: ShownCase) -> Place | None:
    """Where to look: the place of what decided, else of the gravest finding that has one."""
    found = case.findings
    verdict = Verdict.of(found)
    every: list[Finding] = [*verdict.decided_by, *found.noted]
    return next((one.where for one in every if one.where is not None), None)


def _link(place: Place) -> Markup:
    return tag("a", str(place), href=f"#{place.target}")


def _label_of(case: ShownCase, verdict: Verdict) -> int | None:
    """The label that a verdict is about; of several the largest."""
    named = next((one.label for one in verdict.decided_by if one.label is not None), None)
    if named is not None:
        return named
    drawn = [label for label in case.labels if label]
    sizes = {label: np.count_nonzero(case.consensus == label) for label in drawn}
    return max(drawn, key=lambda label: sizes[label], default=None)


def who_deviates(case: ShownCase, label: int | None) -> Markup:
    """Raters, the farthest from the consensus first: how far, which way, and how much."""
    one = next((one for one in case.agreement.labels if one.label == label), None)
    if one is None:
        return tag("p", "Nobody drew anything.", class_="quiet")
    own, unit = one.to_reference(one.dice), case.agreement.volume_unit
    far = None if one.hausdorff95 is None else one.to_reference(one.hausdorff95)
    ways = _ways(case, one.label)
    order = np.argsort(own, kind="stable")[:_MOST_RATERS].tolist()
    header = ["reader", "Dice"]
    header += [f"95 % within, {one.length_unit}"] if far is not None else []
    rows = []
    for rater in order:
        cells: list[Any] = [rater_name(case, rater), tag("td", f"{own[rater]:.2f}")]
        if far is not None:
            within = f"{far[rater]:.1f}" if np.isfinite(far[rater]) else "–"
            cells.append(tag("td", within))
        volume = tag("td", sensible(one.volumes[rater]))
        rows.append([*cells, tag("td", ways[rater], class_="name"), volume])
    total = tag("b", f"consensus: {sensible(one.volumes[-1])} {unit}")
    caption = f"Who deviates from the consensus, {case.structure(one.label)}; the farthest first."
    table = data_table(caption, [*header, "draws", unit], rows)
    margin = None if far is None else case_margin(far, one.length_unit)
    more = len(own) - len(order)
    rest = tag("p", f"{more} more, who are closer, are in the table below.", class_="quiet")
    said = tag("p", margin) if margin else None
    return joined([table, tag("p", total), said, rest if more > 0 else None])


def case_margin(far: Floats, unit: str) -> str:
    """How far readers reach from the consensus, in the words of a plan: a margin for this case.

    Parameters
    ----------
    far : (J,) ndarray
        95 % of the distances between each reader's outline and the consensus are below it;
        infinite or NaN where a reader drew nothing, which counts as no reader.
    """
    known = np.sort(far[np.isfinite(far)])
    if len(known) < _FEWEST_FOR_MARGIN:
        return ""
    most = int(np.ceil(_MOST_OF_READERS * len(known)))
    near, all_of_them = (np.ceil(2 * value) / 2 for value in (known[most - 1], known[-1]))
    text = f"{most} of {len(known)} readers lie within {near:g} {unit} of the consensus"
    more = f", all within {all_of_them:g} {unit}" if most < len(known) else ""
    return f"Margin for this case: {text}{more} (95 % of their outlines)."


def _ways(case: ShownCase, label: int) -> list[str]:
    """Whether each rater draws wider or tighter than the consensus, on average in mm."""
    consensus = case.consensus == label
    masks = [labels == label for labels in case.maps]
    box = bounding_box(np.any([consensus, *masks], axis=0))
    if box is None:
        return ["nothing"] * len(masks)
    axes, unit = consensus.ndim, case.agreement.length_unit
    is_known = consensus.any() and axes <= 3
    padded = np.pad(consensus[box], PADDING)
    surface = ConsensusSurface(padded, case.spacing, np.eye(axes)) if is_known else None
    return [_way(mask[box], consensus[box], surface, unit) for mask in masks]


def _way(
    mask: NDArray[np.bool_],
    consensus: NDArray[np.bool_],
    surface: ConsensusSurface | None,
    unit: str,
) -> str:
    if not mask.any():
        return "nothing"
    if not (mask & consensus).any():
        return "elsewhere"
    if surface is None:
        return "–"
    mean = surface.mean(np.pad(mask, PADDING))
    if abs(mean) < _SAME_MM:
        return "as wide"
    return f"{abs(mean):.1f} {unit} {'wider' if mean > 0 else 'tighter'}"


def sensible(value: float) -> str:
    """A number with the digits that mean something: 25.7, 4.03, 138."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"
