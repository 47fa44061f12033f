"""The first screen of a case: the verdict, deviating raters, and a picture to check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.assessment.agreement.reader_bias import PADDING, ConsensusSurface
from itk_consensus.assessment.agreement.result import LabelAgreement
from itk_consensus.assessment.case_margin import STEP, CaseMargin, wrong_files
from itk_consensus.assessment.directions import main_direction
from itk_consensus.assessment.findings import Finding
from itk_consensus.assessment.places import Place, largest_place
from itk_consensus.assessment.sentences import MOST_NAMED, join_items
from itk_consensus.assessment.verdict import Verdict
from itk_consensus.report.agreement_tables import rater_name
from itk_consensus.report.dispute_figures import Look, place_figures
from itk_consensus.report.markup import Markup, data_table, join_markup, tag
from itk_consensus.report.shown_case import ShownCase
from itk_consensus.space.boxes import written_unit
from itk_consensus.space.pieces import label_pieces

#: Text of each verdict as shown on pages.
SAID = {"use": "Use", "look": "Look before use", "do not use": "Do not use"}

#: Number of notes shown below the verdict.
_MOST_NOTES = 2

#: Number of raters in the first table, the most deviating first; a later table lists all.
_MOST_RATERS = 8
#: Absolute mean bias in mm below which a rater's contour counts as neither wider nor tighter.
_SAME_MM = 0.25


def first_screen(
    case: ShownCase,
    underlay: NDArray[Any] | None,
    look: Look,
    *,
    with_viewer: bool = True,
    pictures_id: str | None = None,
) -> Markup:
    """Return the verdict of a case and the data needed to check it, with a link to the viewer.

    Parameters
    ----------
    pictures_id : str, optional
        Id of the element that contains the pictures of the place; used as a link target.
    """
    found = case.findings.named(labels=case.structure_names)
    verdict = Verdict.of(found)
    label = _label_of(case, verdict)
    place = place_of(case)
    figures, how_to_read = place_figures(case, underlay, look, place)
    where = tag("p", tag("b", "Where to look" if verdict.grade else "Where readers differ most"))
    if place is not None:
        where = _where(case, place, verdict, with_viewer=with_viewer)
    notes = [one for one in found.causes if one.severity == "note" and one != verdict.agreed]
    return tag(
        "div",
        verdict_markup(verdict),
        *(tag("p", one.sentence, class_="quiet") for one in notes[:_MOST_NOTES]),
        tag(
            "div",
            tag("div", where, figures, class_="place", id=pictures_id),
            tag("div", deviation_table(case, label), class_="who"),
            class_="glance",
        ),
        how_to_read,
        class_="first",
    )


def verdict_markup(verdict: Verdict) -> Markup:
    """Return the verdict and the one or two findings that determined it."""
    kind = verdict.word.replace(" ", "-")
    word = tag("p", SAID[verdict.word], class_=f"verdict {kind}")
    if not verdict.decided_by:
        return tag("div", word, tag("p", verdict.why))
    reasons = [tag("p", tag("b", one.what), " ", one.do) for one in verdict.decided_by]
    return tag("div", word, *reasons, class_="deciding")


def _where(case: ShownCase, place: Place, verdict: Verdict, *, with_viewer: bool) -> Markup:
    """Return who drew at a place and whether the consensus includes it, with a link to its
    slice.
    """
    label, text = _asked_label(verdict), short_text(place)
    link = tag("a", text, href=f"#{place.target}") if with_viewer else text
    title, there = "Where to look", who_drew_at(case, place, label)
    farthest = None if _found_place(case) else farthest_deviation(case)
    if farthest is not None:
        title, label = "Where readers differ most", farthest.label
        there = ", ".join(filter(None, [who_drew_at(case, place, label), str(farthest)]))
    if not there:
        return tag("p", tag("b", f"{title}: ", link))
    value = int(case.consensus[place.index])
    has = value == label if label is not None else value != 0
    kept = "it is in the consensus" if has else "it is not in the consensus"
    return tag("p", tag("b", f"{title}: {there}; {kept}: ", link))


def short_text(place: Place) -> str:
    """Return the slice of a place or, for 2D images, its position."""
    return str(place) if place.slice is None else f"slice {place.slice}"


def place_of(case: ShownCase) -> Place | None:
    """Return the place of a finding that determined the verdict, or else of the most severe finding
    with a place.

    If no finding has a place, it is the place where a reader deviates farthest from the consensus.
    """
    farthest = None if (found := _found_place(case)) else farthest_deviation(case)
    return farthest.place if farthest is not None else found


def _found_place(case: ShownCase) -> Place | None:
    found = case.findings
    every: list[Finding] = [*Verdict.of(found).decided_by, *found.noted]
    return next((one.where for one in every if one.where is not None), None)


@dataclass(frozen=True)
class Deviation:
    """The place at which a reader's outline is farthest from the consensus."""

    label: int
    place: Place  #: Centre of the region that the reader added there or left out
    far: float  #: Largest distance, in `unit`
    unit: str
    direction: str  #: Direction, e.g. "towards the feet"; "" if directions are not known

    def __str__(self) -> str:
        """Return the distance and direction: "up to 13.5 mm towards the feet"."""
        far = f"up to {np.ceil(self.far / STEP) * STEP:g} {self.unit}"
        return " ".join(filter(None, [far, self.direction]))


def farthest_deviation(case: ShownCase) -> Deviation | None:
    """Find the largest deviation from the consensus; None if there is no consensus or no
    deviation.
    """
    label = _label_of(case, Verdict.of(case.findings))
    return case.memo.get_or_make(("farthest", label), lambda: _farthest(case, label))


def _farthest(case: ShownCase, label: int | None) -> Deviation | None:
    surface = None if label is None else case.surface(label)
    box = None if label is None else case.box(label)
    if label is None or surface is None or box is None:
        return None
    inner = (slice(PADDING, -PADDING),) * surface.mask.ndim
    masks = [labels[box] == label for labels in case.maps]
    signed = [surface.on_surface(np.pad(one, PADDING))[inner] for one in masks if one.any()]
    distances = max(signed, key=lambda one: np.abs(one).max(), default=None)
    if distances is None or not distances.any():
        return None
    end = np.unravel_index(int(np.abs(distances).argmax()), distances.shape)
    far = float(distances[end])
    # Voxels that are at least half as far out and connected to the farthest point.
    pieces = label_pieces(np.sign(far) * distances >= abs(far) / 2)
    geometry = case.result.like.geometry
    piece = pieces.places == pieces.places[end]
    place = largest_place(piece, box, geometry, case.spacing)
    if place is None:
        return None
    own = np.argwhere(surface.mask[inner])
    steps = (np.array(end) - own) * np.array(case.spacing)
    nearest = steps[np.square(steps).sum(axis=1).argmin()]
    direction = ""
    if far > 0 and case.orientation is not None:
        direction = main_direction(nearest[::-1].tolist(), geometry.direction)
    return Deviation(label, place, abs(far), case.agreement.length_unit, direction)


def who_drew_at(case: ShownCase, place: Place, label: int | None = None) -> str:
    """Describe which readers marked a label, or any label, at a place: "only dora drew here".

    Returns an empty string if all readers marked it, or none did.
    """
    said = [int(labels[place.index]) for labels in case.maps]
    asked = [name for name, value in zip(case.names, said, strict=True) if value != case.missing]
    drew = [
        name
        for name, value in zip(case.names, said, strict=True)
        if value != case.missing and (value == label if label is not None else value != 0)
    ]
    others = [name for name in asked if name not in drew]
    if not drew or not others:
        return ""
    if len(drew) == 1:
        return f"only {drew[0]} drew here"
    if len(others) == 1:
        return f"all but {others[0]} drew here"
    if len(asked) > 2 * MOST_NAMED:
        return f"{len(drew)} of {len(asked)} readers drew here"
    return f"{join_items(drew)} drew here, {join_items(others)} did not"


def _asked_label(verdict: Verdict) -> int | None:
    """Return the label concerned by the findings that determined a verdict, if there is one."""
    return next((one.label for one in verdict.decided_by if one.label is not None), None)


def _label_of(case: ShownCase, verdict: Verdict) -> int | None:
    """Return the label that a verdict concerns; if there are several, the largest."""
    named = _asked_label(verdict)
    if named is not None:
        return named
    drawn = [label for label in case.labels if label]
    sizes = {label: np.count_nonzero(case.consensus == label) for label in drawn}
    return max(drawn, key=lambda label: sizes[label], default=None)


def deviation_table(case: ShownCase, label: int | None) -> Markup:
    """Return a table of raters sorted by distance from the consensus."""
    one = next((one for one in case.agreement.labels if one.label == label), None)
    if one is None:
        return tag("p", "Nobody drew anything.", class_="quiet")
    own, unit = one.to_reference(one.dice), case.agreement.volume_unit
    far = None if one.hausdorff95 is None else one.to_reference(one.hausdorff95)
    if far is not None:  # rounded in the same way as the margin below the table
        far = np.ceil(far / STEP) * STEP
    surface = case.surface(one.label)
    ways = _bias_texts(case, one.label, surface)
    order = np.argsort(own, kind="stable")[:_MOST_RATERS].tolist()
    header = ["reader", "Dice"]
    header += [f"95 % of the outline within, {one.length_unit}"] if far is not None else []
    rows = []
    for rater in order:
        cells: list[Any] = [rater_name(case, rater), tag("td", f"{own[rater]:.2f}")]
        if far is not None:
            within = f"{far[rater]:g}" if np.isfinite(far[rater]) else "–"
            cells.append(tag("td", within))
        volume = tag("td", three_digits(one.volumes[rater]))
        rows.append([*cells, tag("td", ways[rater], class_="name"), volume])
    total = tag("b", f"consensus: {three_digits(one.volumes[-1])} {written_unit(unit)}")
    caption = f"Who deviates from the consensus, {case.structure(one.label)}; the farthest first."
    table = data_table(caption, [*header, "on average", written_unit(unit)], rows)
    margin = "" if far is None else str(_margin(case, one, surface))
    more = len(own) - len(order)
    rest = tag("p", f"{more} more, who are closer, are in the table below.", class_="quiet")
    said = tag("p", margin) if margin else None
    return join_markup([table, tag("p", total), said, rest if more > 0 else None])


def _margin(case: ShownCase, one: LabelAgreement, surface: ConsensusSurface | None) -> CaseMargin:
    """Return the margin for a label, computed without readers whose files are wrong."""
    assert one.hausdorff95 is not None
    wrong = wrong_files(case.findings.findings, _only_label(case, one.label))
    kept = [rater for rater in range(len(case.names)) if rater not in wrong]
    names = tuple(case.names[rater] for rater in sorted(wrong))
    far = one.to_reference(one.hausdorff95)[kept]
    # Plain arrays have no orientation and therefore no anatomical directions.
    if surface is None or case.orientation is None:
        return CaseMargin(far, left_out=names, unit=one.length_unit)
    box = case.box(one.label)
    masks = (np.pad(case.maps[rater][box] == one.label, PADDING) for rater in kept)
    reach = [surface.reach(mask) if mask.any() else {} for mask in masks]
    sides = {side for row in reach for side in row}
    directions = {
        side: np.array([row.get(side, np.nan) for row in reach]) for side in sorted(sides)
    }
    return CaseMargin(far, directions, names, one.length_unit)


def _only_label(case: ShownCase, label: int) -> int | None:
    """Return the label for `Finding.label`: None if there is only one label."""
    return label if sum(one != 0 for one in case.labels) > 1 else None


def _bias_texts(case: ShownCase, label: int, surface: ConsensusSurface | None) -> list[str]:
    """Return the mean bias of each rater as text: "1.2 mm wider", "as wide", "nothing"."""
    box, unit = case.box(label), case.agreement.length_unit
    consensus = case.consensus[box] == label
    masks = (labels[box] == label for labels in case.maps)
    return [_bias_text(mask, consensus, surface, unit) for mask in masks]


def _bias_text(
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


def three_digits(value: float) -> str:
    """Format a number with three significant digits: 25.7, 4.03, 138."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"
