"""HTML tables of agreement: a heat map of rater pairs, a table of raters, and a table of labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from itk_consensus.assessment.agreement.result import AgreementResult, LabelAgreement
from itk_consensus.core.array_types import Floats
from itk_consensus.report.dispute_figures import line_sample
from itk_consensus.report.markup import Markup, data_table, join_markup, tag
from itk_consensus.report.shown_case import ShownCase
from itk_consensus.review.rater_colors import rater_color, rater_dashes

#: Ends of the colour scale, from pale to dark blue; cells with a Dice of `_LOWEST_SHADE` or below
#: are palest.
_HEAT = ((247, 251, 255), (8, 48, 107))
_LOWEST_SHADE = 0.5
#: Prefixes of the names of displayed columns; more columns would not fit on a page.
_LABEL_COLUMNS = (
    "volume_variation",
    "mean_dice",
    "mean_hausdorff95",
    "mean_surface_dice",
    "kappa",
    "alpha_union",
)
#: Luminance at which black and white have equal contrast: sqrt(1.05 * 0.05) - 0.05.
_EQUAL_CONTRAST = 0.179
_CONSENSUS_MARK = "✓"
#: Value of cells that do not apply; displayed as a dash.
_NOTHING = float("nan")


def heat_map(case: ShownCase) -> Markup:
    """Return a heat map of the pairwise Dice, averaged over labels, as a coloured table."""
    return agreement_heat_map(case.agreement, f"Pairwise Dice, {_subject(case)}")


def agreement_heat_map(agreement: AgreementResult, title: str) -> Markup:
    """Return a heat map of the pairwise Dice of an agreement result, without a case."""
    matrix = mean_matrix(agreement)
    caption = f"{title} (darker = better, white ≤ {_LOWEST_SHADE:g})"
    header = [tag("abbr", mark, title=name) for mark, name in _letters_and_names(agreement)]
    rows = [
        [f"{mark}  {name}", *map(heat_cell, row)]
        for (mark, name), row in zip(_letters_and_names(agreement), matrix, strict=True)
    ]
    return tag("div", data_table(caption, ["rater", *header], rows), class_="heat")


def mean_matrix(agreement: AgreementResult) -> Floats:
    """Return the (J, J) Dice averaged over labels; all 1 if there is no label."""
    number = len(agreement.raters)
    if not agreement.labels:
        return np.ones((number, number))
    return np.asarray(np.mean([one.dice for one in agreement.labels], axis=0))


def rater_mark(index: int) -> str:
    """Return the short name of a rater: A, B, ... Z, AA, AB, ..."""
    letters = ""
    while index >= 0:
        index, letter = index // 26 - 1, index % 26
        letters = chr(ord("A") + letter) + letters
    return letters


def rater_table(case: ShownCase, measured: dict[str, Sequence[Any]]) -> Markup:
    """Return the table of raters and the consensus: agreement and the filter's measurements."""
    agreement = case.agreement
    unit = agreement.length_unit
    rows = list(agreement.of_raters())
    columns = [name for name in rows[0] if name != "rater" and not name.startswith("mean_haus")]
    columns = [name for name in columns if "jaccard" not in name and "hausdorff_" not in name]
    header = ["rater", *map(column_title, columns), *map(_words, measured)]
    body = []
    for index, row in enumerate(rows):
        body.append(
            [
                rater_name(case, index),
                *(row[c] for c in columns),
                *(values[index] for values in measured.values()),
            ]
        )
    if agreement.reference is not None:
        own = _consensus_row(agreement)
        name = tag("b", f"{_CONSENSUS_MARK}  {agreement.reference}")
        body.append([name, *(own.get(c, _NOTHING) for c in columns), *[_NOTHING] * len(measured)])
    return data_table(
        f"Each rater against the others and the consensus, {_subject(case)}; distances in {unit}, "
        f"surface Dice at {agreement.tolerance:g} {unit}. The consensus's own row: means over "
        "raters.",
        header,
        body,
    )


def rater_name(case: ShownCase, index: int) -> Markup:
    """Return a rater's line sample, letter and name."""
    return join_markup([_sample(case.place(index)), f"{rater_mark(index)}  {case.names[index]}"])


def _subject(case: ShownCase) -> str:
    """Return the subject of captions: the structure, or how many structures are averaged."""
    labels = case.agreement.labels
    if len(labels) == 1:
        return case.structure(labels[0].label)
    return f"mean of {len(labels)} structures"


def _sample(index: int) -> Markup:
    return line_sample(rater_color(index), 3, rater_dashes(index))


def _consensus_row(agreement: AgreementResult) -> dict[str, float]:
    """Return the row of the consensus: its volume, and mean agreement over raters and labels."""
    row: dict[str, float] = {}
    if len(agreement.labels) == 1:
        row[f"volume_{agreement.volume_unit}"] = float(agreement.labels[0].volumes[-1])
    for measure in agreement.labels[0].matrices if agreement.labels else ():
        values = np.array([one.to_reference(one.matrices[measure]) for one in agreement.labels])
        defined = values[~np.isnan(values)]
        row[f"mean_{measure}"] = float(defined.mean()) if defined.size else float("nan")
    return row


def label_table(case: ShownCase) -> Markup:
    """Return a table with one row per label: volumes and mean agreement."""
    agreement = case.agreement
    rows = list(agreement.summary())
    columns = [name for name in rows[0] if name.startswith(_LABEL_COLUMNS)]
    caption = (
        "Agreement about each structure, means over pairs of raters. Kappa and alpha over the grid "
        "are inflated by background, over the union (voxels that any rater marked) deflated. "
        "Another rater's volume is expected with its interval of 90 %."
    )
    body = []
    for row, one in zip(rows, agreement.labels, strict=True):
        volumes = one.volumes[: one.raters]
        spread = f"{_format_volume(volumes.min())}\u2013{_format_volume(volumes.max())}"
        named = [
            case.structure(one.label),
            float(one.volumes[-1]),
            spread,
            expected_volume_text(one),
        ]
        body.append([*named, *(row[name] for name in columns)])
    unit = agreement.volume_unit
    of_volumes = [f"{whose} {unit}" for whose in ("consensus", "raters", "another rater's")]
    return data_table(caption, ["structure", *of_volumes, *map(column_title, columns)], body)


def expected_volume_text(one: LabelAgreement) -> str | float:
    """Return the expected volume of another rater's segmentation, with its interval, as
    text: 12.1 (9.8–14.9).
    """
    if one.expected_volume is None:
        return _NOTHING
    estimate, low, high = map(_format_volume, one.expected_volume)
    return f"{estimate} ({low}\u2013{high})"


def _format_volume(volume: float) -> str:
    """Format a volume with three significant digits, or as an integer if it is at least 100."""
    return f"{volume:.0f}" if volume >= 100 else f"{volume:#.3g}"


def column_title(name: str) -> str:
    """Return a column title: mean_hausdorff95_mm_to_reference -> mean Hausdorff 95 % to
    consensus.
    """
    replaced = {
        **{f"hausdorff95_{unit}": "Hausdorff 95 %" for unit in ("mm", "voxels")},
        **{f"surface_distance_{unit}": "surface distance" for unit in ("mm", "voxels")},
        "surface_dice": "surface Dice",
        "dice": "Dice",
        "to_reference": "to consensus",
        "volume_variation": "variation of volume",
    }
    for word, text in replaced.items():
        name = name.replace(word, text)
    return name.replace("_", " ")


def _letters_and_names(agreement: AgreementResult) -> list[tuple[str, str]]:
    """Return the letter and name of each row and column."""
    marks = [rater_mark(index) for index in range(len(agreement.raters))]
    if agreement.reference is not None:
        marks[-1] = _CONSENSUS_MARK
    return list(zip(marks, agreement.raters, strict=True))


def _words(name: str) -> str:
    """Split a camel-case name: PositivePredictiveValue -> positive predictive value."""
    return "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in name).strip()


def heat_cell(value: float) -> Markup:
    """Return a coloured heat-map cell; its text is black or white, whichever contrasts more."""
    if value != value:
        return tag("td", "–")
    share = float(np.clip((value - _LOWEST_SHADE) / (1 - _LOWEST_SHADE), 0, 1))
    color = [round(a + share * (b - a)) for a, b in zip(*_HEAT, strict=True)]
    ink = "#ffffff" if _luminance(color) < _EQUAL_CONTRAST else "#000000"
    style = f"background:rgb({color[0]},{color[1]},{color[2]});color:{ink}"
    return tag("td", f"{value:.2f}", style=style)


def _luminance(color: Sequence[int]) -> float:
    """Return the relative luminance as defined by WCAG 2."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in _unit(color)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _unit(color: Sequence[int]) -> list[float]:
    return [component / 255 for component in color]
