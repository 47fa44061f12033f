"""HTML for notebooks: parts of a page, in a box with its own style."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from math import prod
from typing import Any

from itk_consensus.assessment.agreement.result import AgreementResult
from itk_consensus.assessment.findings import Diagnostics
from itk_consensus.calibration.conformal_band_filter import ConformalBandFilter
from itk_consensus.core.display import Displayed, Rows, Sentence
from itk_consensus.core.errors import NotExecutedError, ParameterError
from itk_consensus.deep.deep_consensus_filter import DeepConsensusFilter
from itk_consensus.fusing.fusion_result import FusionResult, makes_results, result_of
from itk_consensus.fusing.label_fusion import LabelFusionFilter
from itk_consensus.images.grey_windows import as_window
from itk_consensus.images.structure_matching import MatchedStructures
from itk_consensus.report.agreement_tables import agreement_heat_map
from itk_consensus.report.dispute_figures import Look
from itk_consensus.report.first_screen import first_screen
from itk_consensus.report.markup import Markup, collapsible, data_table, tag
from itk_consensus.report.page import (
    explanation_and_findings,
    findings_list,
    rater_tables,
    underlay_of,
)
from itk_consensus.report.shown_case import ShownCase

#: Number of voxels times raters above which a filter is displayed without figures by default.
_MOST_VOTES = 100_000_000
_MOST_ROWS = 200


class Shown(Displayed):
    """An object with HTML for notebooks and text for consoles, returned by `show`."""

    __slots__ = ("_html", "_text")

    def __init__(self, html: str, text: str) -> None:
        self._html, self._text = html, text

    def _repr_html_(self) -> str:
        return self._html

    def __repr__(self) -> str:
        return self._text


def show(
    thing: Any,
    image: Any = None,
    names: Sequence[str] | None = None,
    *,
    window: tuple[float, float] | str | None = None,
    label_names: Mapping[int, str] | None = None,
    contact_sheet: bool = False,
) -> Shown:
    """Show a fusion in a notebook, with the contents of its page: findings, slices, raters.

    Parameters
    ----------
    thing : FusionResult, or a filter after Execute
        The object to show. Agreement, diagnostics and matched structures are shown as tables or
        lists.
    image : image, optional
        The image that the raters segmented, on their grid, drawn under the contours.
    names : sequence of str, optional
        Names of the raters.
    window : (center, width) or str, optional
        Grey-value window of the image, or the name of a CT window.
    label_names : mapping of int to str, optional
        Names of the labels.
    contact_sheet : bool
        Whether to show all disputed slices as well.
    """
    if makes_results(thing):
        named = result_of(thing).with_rater_names(names)
        case = ShownCase(named, structure_names=dict(label_names or {}))
        look = Look(None if window is None else as_window(window), contact_sheet)
        return Shown(_wrap_in_box(*_fusion(case, image, look)), str(thing))
    html = html_of(thing)
    if html is None:
        raise ParameterError(
            "show: needs a fuser after Execute, an agreement, diagnostics or matched structures, "
            f"got {type(thing).__name__}"
        )
    return Shown(html, str(thing))


def html_of(thing: Any) -> str | None:
    """Return the HTML of an object for notebooks; None if only its text should be shown."""
    for kind, parts in _PARTS.items():
        if isinstance(thing, kind):
            try:
                made = parts(thing)
            except NotExecutedError:
                return None
            return None if made is None else _wrap_in_box(*made)
    return None


def _of_filter(filter_: LabelFusionFilter | DeepConsensusFilter) -> list[Markup] | None:
    return _of_result(result_of(filter_), getattr(filter_, "Image", None))


def _of_result(result: FusionResult[Any], image: Any = None) -> list[Markup] | None:
    case = ShownCase(result, surfaces=False)
    if prod(result.like.geometry.shape) * len(case.names) > _MOST_VOTES:
        return [tag("h3", result.made_by.filter), findings_list(case.findings)]
    return _fusion(case, image, Look(most_slices=3))


def _fusion(case: ShownCase, image: Any, look: Look) -> list[Markup]:
    return [
        first_screen(case, underlay_of(case.result, image), look, with_viewer=False),
        collapsible(
            "All findings and tables", *explanation_and_findings(case), *rater_tables(case)
        ),
    ]


def _of_diagnostics(diagnostics: Diagnostics) -> list[Markup]:
    return [findings_list(diagnostics)]


def _of_agreement(agreement: AgreementResult) -> list[Markup]:
    summary = agreement.summary()
    if not summary:
        return [tag("p", agreement.table())]
    measures = [name for name in summary[0] if name != "label"]
    body = [[name.replace("_", " "), *(row[name] for row in summary)] for name in measures]
    header = ["measure", *(f"label {row['label']}" for row in summary)]
    return [
        data_table("Agreement about each label; means are over pairs of raters.", header, body),
        agreement_heat_map(agreement, "Pairwise Dice"),
    ]


def _of_matches(matched: MatchedStructures) -> list[Markup]:
    rows = [
        [name, *("–" if one is None else one.name for one in row)]
        for name, row in matched.table.items()
    ]
    said = [f"Only one reader has {name}." for name in matched.unmatched]
    said += [f"Taken for one: {', '.join(n)}." for n in matched.differently_spelled.values()]
    said += [f"Accepted: {one}." for one in matched.accepted]
    said += [f"Proposed: {one}." for one in matched.proposals]
    notes = tag("ul", *(tag("li", text, class_="note") for text in said), class_="findings")
    table = data_table("Who has what.", ["structure", *matched.readers], rows)
    return [table, notes] if said else [table]


def _of_rows(rows: Rows) -> list[Markup] | None:
    if not rows:
        return None
    header = list(rows[0])
    caption = f"The first {_MOST_ROWS} of {len(rows)} rows." if len(rows) > _MOST_ROWS else "Rows."
    return [data_table(caption, header, [[r.get(n) for n in header] for r in rows[:_MOST_ROWS]])]


def _of_band(band: ConformalBandFilter) -> list[Markup]:
    return [tag("h3", band.GetName()), tag("p", band.GetGuarantee())]


def _of_sentence(text: Sentence) -> list[Markup]:
    return [tag("ul", tag("li", text, class_="note"), class_="findings")]


_PARTS: dict[type, Callable[[Any], list[Markup] | None]] = {
    FusionResult: _of_result,
    LabelFusionFilter: _of_filter,
    DeepConsensusFilter: _of_filter,
    ConformalBandFilter: _of_band,
    Diagnostics: _of_diagnostics,
    AgreementResult: _of_agreement,
    MatchedStructures: _of_matches,
    Rows: _of_rows,
    Sentence: _of_sentence,
}


def _wrap_in_box(*parts: Markup) -> str:
    """Wrap parts of a page in a box with scoped styles, which do not affect the notebook."""
    style = (files("itk_consensus.report") / "parts.css").read_text(encoding="utf-8")
    own = "background: var(--paper); color: var(--ink); padding: .6rem; font: .9rem/1.5 system-ui;"
    scoped = f".itk-consensus {{ {own} {style.replace(':root', '&')} }}"
    return tag("div", tag("style", Markup(scoped)), *parts, class_="itk-consensus")
