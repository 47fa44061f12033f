"""One fusion as one HTML page for a meeting: it needs no network and no other file."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from itk_consensus.diagnostics.findings import Finding
from itk_consensus.errors import InputError, ParameterError
from itk_consensus.filters.label_fusion import LabelFusionFilter
from itk_consensus.filters.parameters import measurements_of
from itk_consensus.images import convert
from itk_consensus.images.content import voxel_hash
from itk_consensus.images.files import write_text
from itk_consensus.report.agreement_tables import heat_map, label_table, rater_table
from itk_consensus.report.dispute_figures import dispute_figures, switch_style
from itk_consensus.report.fusion_report import OF_EACH_RATER
from itk_consensus.report.markup import Markup, document, section, tag
from itk_consensus.report.provenance import (
    file_hashes,
    image_hash,
    input_table,
    output_links,
    parameter_table,
    version_table,
)
from itk_consensus.report.reviewed_case import ReviewedCase
from itk_consensus.report.viewer import viewer

PathLike = str | os.PathLike[str]


def report(
    filter_: LabelFusionFilter,
    path: PathLike,
    image: Any = None,
    names: Sequence[str] | None = None,
    *,
    files: Sequence[PathLike] | None = None,
    outputs: Mapping[str, PathLike] | None = None,
) -> None:
    """Write one self-contained HTML page about a filter's last Execute.

    It shows slices through the dispute with each rater's contour, pairwise Dice, a table of the
    raters, the diagnostics, and what it takes to repeat the fusion. It opens offline and prints.
    Small cases can be gone through slice by slice, and decisions about disputes exported as the
    record of a review; larger ones keep to a size limit, and the page says so.

    Parameters
    ----------
    filter_ : LabelFusionFilter
        After Execute.
    path : str or path
        The page; replaced in one step.
    image : image, optional
        What the raters looked at, on their grid, to be drawn below the contours.
    names : sequence of str, optional
        What each rater is called; by default their files, or rater 0, rater 1, ...
    files : sequence of str or path, optional
        Where each rater was read, to be hashed; without it voxels are.
    outputs : mapping of str to path, optional
        What else was written, by what it is; the page links to it.
    """
    if not isinstance(filter_, LabelFusionFilter):
        raise ParameterError(f"report: needs a fuser after Execute, got {type(filter_).__name__}")
    if names is None and files is not None:
        names = [str(file) for file in files]
    case = ReviewedCase.of(filter_, names)
    write_text(path, page_text(filter_, case, Path(path), image, files, outputs or {}))


def page_text(
    filter_: LabelFusionFilter,
    case: ReviewedCase,
    page: Path,
    image: Any,
    files: Sequence[PathLike] | None,
    outputs: Mapping[str, PathLike],
) -> str:
    """The whole page; `page` says where it will lie, so that links find their files."""
    if files is not None and len(files) != len(case.names):
        raise InputError(f"report: files must be {len(case.names)}, got {len(files)}")
    underlay = _underlay(filter_, image)
    if files is None:
        hashes = [(n, voxel_hash(m)) for n, m in zip(case.names, case.maps, strict=True)]
    else:
        hashes = file_hashes(case.names, files)
    paths = None if files is None else [Path(file) for file in files]
    what = "their voxels as 64-bit integers" if files is None else "their files"
    if underlay is not None:
        hashes.append(("image", image_hash(underlay)))
        what += ", of the image its voxels"
    parts = [
        section("Should it be believed?", *_verdict(filter_, case), id_="verdict"),
        section(
            "Where they differ",
            dispute_figures(case, underlay),
            *viewer(filter_, case.names, paths, page, underlay),
            id_="dispute",
        ),
        section("Raters", *_raters(filter_, case), id_="raters"),
    ]
    if case.agreement.labels:
        parts.append(section("Labels", label_table(case.agreement), id_="labels"))
    parts.append(
        section(
            "How it was made",
            input_table(hashes, what),
            tag(
                "details",
                tag("summary", "Parameters and versions"),
                parameter_table(filter_),
                version_table(),
            ),
            tag("p", f"Made on {datetime.now(timezone.utc):%Y-%m-%d %H:%M} UTC.", class_="quiet"),
            id_="provenance",
        )
    )
    if outputs:
        parts.append(section("Files", output_links(outputs, page), id_="files"))
    title = f"Consensus of {len(case.names)} rater{'s' * (len(case.names) != 1)}"
    return document(title, _lead(filter_, case), *parts, extra_style=switch_style(len(case.names)))


def naming_raters(text: str, names: Sequence[str]) -> str:
    """Let a sentence speak of files instead of numbers: Rater 1, raters 0 and 3."""

    def named(found: re.Match[str]) -> str:
        numbers = [int(number) for number in re.findall(r"\d+", found[0])]
        if any(number >= len(names) for number in numbers):
            return found[0]
        return " and ".join(names[number] for number in numbers)

    return re.sub(r"\b[Rr]aters? \d+( and \d+)?", named, text)


def _lead(filter_: LabelFusionFilter, case: ReviewedCase) -> Markup:
    agreement = case.agreement
    facts = {
        "method": filter_.method,
        "raters": len(case.names),
        "labels": len(agreement.labels),
        "mean Dice between raters": _number(agreement.mean_dice()),
        "concerns": len(filter_.GetDiagnostics().concerns),
    }
    items = [tag("li", tag("b", value), name) for name, value in facts.items()]
    return tag("ul", *items, class_="facts")


def _verdict(filter_: LabelFusionFilter, case: ReviewedCase) -> list[Markup]:
    findings = filter_.GetDiagnostics().findings
    explained = getattr(filter_, "Explanation", None)
    parts = [] if explained is None else [tag("p", naming_raters(explained, case.names))]
    said = sorted((one for one in findings if one.severity), key=lambda one: -one.grade)
    if not any(one.concern for one in said):
        parts.append(tag("p", "No check gives reason for doubt."))
    parts.append(tag("ul", *(_item(one, case.names) for one in said), class_="findings"))
    passed = [_item(finding, case.names) for finding in findings if not finding.severity]
    summary = tag("summary", f"{len(passed)} checks in order")
    return [*parts, tag("details", summary, tag("ul", *passed, class_="findings"))]


def _item(finding: Finding, names: Sequence[str]) -> Markup:
    severity = finding.severity or "fine"
    text = naming_raters(f"{finding.message} {finding.advice}".strip(), names)
    badge = tag("span", f"{severity.capitalize()}: {finding.rule}.", class_="badge")
    return tag("li", badge, " ", text, class_=severity.replace(" ", "-"))


def _raters(filter_: LabelFusionFilter, case: ReviewedCase) -> list[Markup]:
    measured = {
        m.name: value
        for m in measurements_of(type(filter_))
        if m.name in OF_EACH_RATER and len(value := m.__get__(filter_)) == len(case.names)
    }
    return [heat_map(case.agreement), rater_table(case.agreement, measured)]


def _underlay(filter_: LabelFusionFilter, image: Any) -> Any:
    if image is None:
        return None
    like = filter_.fused.like
    return convert.load_one(image, like, owner="report", parameter="image")


def _number(value: float) -> str:
    return f"{value:.3f}" if value == value else "–"
