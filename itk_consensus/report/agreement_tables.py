"""Agreement as a page shows it: a heat map of pairs, a table of raters, a table of labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from itk_consensus.agreement.result import AgreementResult
from itk_consensus.array_types import Floats
from itk_consensus.report.dispute_figures import rater_color
from itk_consensus.report.markup import Markup, data_table, joined, tag

#: Pale to dark blue; a Dice at the lower end or below is white.
_HEAT = ((247, 251, 255), (8, 48, 107))
_LOWEST_SHADE = 0.5
_CONSENSUS_MARK = "C"


def heat_map(agreement: AgreementResult) -> Markup:
    """Pairwise Dice, averaged over labels, as a table of coloured cells."""
    matrix = mean_matrix(agreement)
    marks = rater_marks(agreement)
    labels = len(agreement.labels)
    over = f", mean of {labels} labels" if labels > 1 else ""
    caption = f"Dice of every two{over}; darker is better, white is {_LOWEST_SHADE:g} or less."
    head = tag(
        "tr",
        tag("th", "rater", scope="col"),
        *(tag("th", tag("abbr", m, title=n), scope="col") for m, n in _pairs(agreement, marks)),
    )
    body = [
        tag(
            "tr",
            tag("th", f"{mark}  {name}", scope="row"),
            *(_shaded(matrix[i, j]) for j in range(len(marks))),
        )
        for i, (mark, name) in enumerate(_pairs(agreement, marks))
    ]
    table = tag(
        "table", tag("caption", caption), tag("thead", head), tag("tbody", *body), class_="heat"
    )
    region = {"role": "region", "aria_label": "Pairwise Dice", "tabindex": "0"}
    return tag("div", table, class_="scroll", **region)


def mean_matrix(agreement: AgreementResult) -> Floats:
    """(J, J) Dice averaged over labels; all 1 if nobody used any."""
    number = len(agreement.raters)
    if not agreement.labels:
        return np.ones((number, number))
    return np.asarray(np.mean([one.dice for one in agreement.labels], axis=0))


def rater_marks(agreement: AgreementResult) -> list[str]:
    """A number for each rater, a letter for the consensus."""
    number = len(agreement.raters) - (agreement.reference is not None)
    return [*(str(index + 1) for index in range(number)), _CONSENSUS_MARK][: len(agreement.raters)]


def rater_table(agreement: AgreementResult, measured: dict[str, Sequence[Any]]) -> Markup:
    """What is known of each rater, measurements of the filter included."""
    rows = list(agreement.of_raters())
    columns = [name for name in rows[0] if name != "rater" and not name.startswith("mean_haus")]
    columns = [name for name in columns if "jaccard" not in name and "hausdorff_mm" not in name]
    header = ["rater", *map(column_title, columns), *map(_words, measured)]
    body = []
    for index, row in enumerate(rows):
        swatch = tag("span", class_="swatch", style=f"background:{rater_color(index)}")
        name = joined([swatch, f"{index + 1}  {row['rater']}"])
        body.append(
            [name, *(row[c] for c in columns), *(values[index] for values in measured.values())]
        )
    unit = "means over labels" if len(agreement.labels) > 1 else "one label"
    return data_table(
        f"Each rater against the others and the consensus ({unit}); distances in mm, "
        f"surface Dice at {agreement.tolerance:g} mm.",
        header,
        body,
    )


def label_table(agreement: AgreementResult) -> Markup:
    """The summary, a row for each label."""
    rows = list(agreement.summary())
    left_out = ("jaccard", "hausdorff_mm", "specific")
    columns = [name for name in rows[0] if not any(word in name for word in left_out)]
    caption = (
        "Agreement about each label, means over pairs of raters. Kappa and alpha over the grid are "
        "inflated by background, over the union (voxels somebody marked) deflated."
    )
    body = [[f"label {row['label']}", *(row[name] for name in columns[1:])] for row in rows]
    return data_table(caption, ["label", *map(column_title, columns[1:])], body)


def column_title(name: str) -> str:
    """mean_hausdorff95_mm_to_reference -> mean Hausdorff 95 % to consensus."""
    replaced = {
        "hausdorff95_mm": "Hausdorff 95 %",
        "surface_distance_mm": "surface distance",
        "surface_dice": "surface Dice",
        "dice": "Dice",
        "to_reference": "to consensus",
        "volume_variation": "variation of volume",
    }
    for word, text in replaced.items():
        name = name.replace(word, text)
    return name.replace("_", " ")


def _pairs(agreement: AgreementResult, marks: list[str]) -> list[tuple[str, str]]:
    return list(zip(marks, agreement.raters, strict=True))


def _words(name: str) -> str:
    """PositivePredictiveValue -> positive predictive value."""
    return "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in name).strip()


def _shaded(value: float) -> Markup:
    share = float(np.clip((value - _LOWEST_SHADE) / (1 - _LOWEST_SHADE), 0, 1))
    color = [round(a + share * (b - a)) for a, b in zip(*_HEAT, strict=True)]
    ink = "#ffffff" if share > 0.55 else "#101317"
    style = f"background:rgb({color[0]},{color[1]},{color[2]});color:{ink}"
    return tag("td", f"{value:.2f}", style=style)
