"""Self-contained HTML page of one fusion, which needs no network access or other files."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

import itk_consensus
from itk_consensus.assessment.findings import Diagnostics, Finding
from itk_consensus.core.blas_threads import blas_threads
from itk_consensus.core.errors import InputError, ParameterError
from itk_consensus.core.parameters import measurements_of, parameters_of
from itk_consensus.fusing.fusion_result import FusionResult, MadeBy, makes_results, result_of
from itk_consensus.images import convert
from itk_consensus.images.content import image_hashes
from itk_consensus.images.files import distinct_names, split_image_name
from itk_consensus.images.grey_windows import as_window
from itk_consensus.report.agreement_tables import heat_map, label_table, rater_table
from itk_consensus.report.bias_tables import bias_tables
from itk_consensus.report.dispute_figures import Look, dispute_figures, legend, switch_style
from itk_consensus.report.first_screen import first_screen, place_of
from itk_consensus.report.fusion_report import OF_EACH_RATER, parameter_text, to_plain
from itk_consensus.report.lesion_tables import detection_table, object_table
from itk_consensus.report.markup import Markup, collapsible, data_table, document, section, tag
from itk_consensus.report.shown_case import ShownCase
from itk_consensus.report.text import pluralize
from itk_consensus.report.viewer import viewer
from itk_consensus.review.case import voxel_hashes
from itk_consensus.storage.files import write_text

PathLike = str | os.PathLike[str]

#: Page names that do not identify a case; the name of the folder is used instead.
_USUAL_NAMES = ("report", "page", "index")

#: Sentinel for image-valued parameters, which results do not store.
_IMAGE = object()


def report(
    made: Any,
    path: PathLike,
    image: Any = None,
    names: Sequence[str] | None = None,
    *,
    files: Sequence[PathLike] | None = None,
    outputs: Mapping[str, PathLike] | None = None,
    window: tuple[float, float] | str | None = None,
    label_names: Mapping[int, str] | None = None,
    contact_sheet: bool = False,
) -> None:
    """Write one self-contained HTML page about a fusion.

    The page shows disputed slices with each rater's contour, pairwise Dice, a table of the raters,
    the findings, and the information needed to reproduce the fusion. It works offline and can be
    printed. It contains a viewer for all slices, in which decisions about disputes can be made and
    exported as the record of a review. Of large cases, only a part is included; the page then
    states this.

    Parameters
    ----------
    made : FusionResult, or a filter after Execute
        The fusion to show.
    path : str or path
        Path of the page; replaced atomically.
    image : image, optional
        The image that the raters segmented, on their grid, drawn under the contours.
    names : sequence of str, optional
        Names of the raters; by default their file names, or rater 0, rater 1, ...
    files : sequence of str or path, optional
        Files of the raters, whose hashes are shown; by default their voxels are hashed.
    outputs : mapping of str to path, optional
        Other files that were written, by description; the page links to them.
    window : (center, width) or str, optional
        Grey-value window of the image, or the name of a CT window, such as "lung"; by default one
        that suits modality and structure.
    label_names : mapping of int to str, optional
        Names of the labels, such as ``{1: "liver"}``.
    contact_sheet : bool
        Whether to show all disputed slices as well.
    """
    if not makes_results(made):
        raise ParameterError(f"report: needs a fuser after Execute, got {type(made).__name__}")
    if names is None and files is not None:
        names = distinct_names([split_image_name(file)[0] for file in files], [*map(Path, files)])
    look = Look(None if window is None else as_window(window), contact_sheet)
    case = ShownCase(
        result_of(made).with_rater_names(names), structure_names=dict(label_names or {})
    )
    with blas_threads(1):  # for many small products, threads would mostly wait for each other
        text = page_text(case, Path(path), image, files, outputs or {}, look)
    write_text(path, text)


def page_text(
    case: ShownCase,
    page: Path,
    image: Any,
    files: Sequence[PathLike] | None,
    outputs: Mapping[str, PathLike],
    look: Look,
) -> str:
    """Return the HTML of the whole page; links are relative to `page`, its path."""
    if files is not None and len(files) != len(case.names):
        raise InputError(f"report: files must be {len(case.names)}, got {len(files)}")
    underlay = underlay_of(case.result, image)
    if files is None:
        hashes = list(zip(case.names, voxel_hashes(case.result, case.maps), strict=True))
    else:
        hashes = file_hashes([str(file) for file in files], files)
    paths = None if files is None else [Path(file) for file in files]
    what = "their voxels as 64-bit integers" if files is None else "their files"
    if underlay is not None:
        hashes.append(("image", image_hash(underlay)))
        what += ", of the image its voxels"
    result, place = case.result, place_of(case)
    details = [
        section("All findings", *explanation_and_findings(case), id_="findings"),
        section("Slices", dispute_figures(case, underlay, look), id_="slices"),
        section("Readers", *rater_tables(case), id_="raters"),
    ]
    if result.has_measurement("Objects") and len(objects := result["Objects"]):
        found = detection_table(result["Detection"], case.names)
        details.append(section("Lesions", object_table(objects), found, id_="lesions"))
    if case.agreement.labels:
        details.append(section("Labels", label_table(case), id_="labels"))
    made = section(
        "How it was made",
        facts(case),
        input_table(hashes, what),
        tag(
            "details",
            tag("summary", "Parameters and versions"),
            parameter_table(result.made_by),
            version_table(),
        ),
        tag("p", f"Made on {datetime.now(timezone.utc):%Y-%m-%d %H:%M} UTC.", class_="quiet"),
        id_="provenance",
    )
    parts = [
        first_screen(case, underlay, look),
        section(
            "Go through it",
            legend(case.names),
            *viewer(case, paths, page, underlay, look.window, place),
            id_="dispute",
        ),
        collapsible("All findings, slices and tables", *details, made),
    ]
    if outputs:
        parts.append(section("Files", output_links(outputs, page), id_="files"))
    of = f"consensus of {pluralize(len(case.names), 'reader')}"
    title = f"{case_name(page)}: {of}"
    return document(title, None, *parts, extra_style=switch_style(len(case.names)))


def case_name(page: Path) -> str:
    """Return the case name: that of the page, or of its folder if the page's name is generic."""
    folder = page.resolve().parent.name
    return folder if page.stem in _USUAL_NAMES and folder else page.stem


def facts(case: ShownCase) -> Markup:
    """Return the list of the most important values of a case."""
    agreement = case.agreement
    numbers = {
        "method": case.result.made_by.method or case.result.made_by.filter,
        "raters": len(case.names),
        "labels": len(agreement.labels),
        "mean Dice between raters": _number(agreement.mean_dice()),
    }
    found = case.findings
    if found.agreement is not None:
        numbers["agreement"] = found.agreement
    items = [tag("li", tag("b", value), name) for name, value in numbers.items()]
    return tag("ul", *items, class_="facts")


def explanation_and_findings(case: ShownCase) -> list[Markup]:
    """Return the method's explanation of its result, and all findings."""
    found = case.findings.named(labels=case.structure_names)
    result, parts = case.result, list[Markup]()
    if result.has_measurement("Explanation"):
        parts.append(tag("p", case.in_words(result["Explanation"])))
    return [*parts, findings_list(found)]


def findings_list(found: Diagnostics) -> Markup:
    """List the findings, the most severe first, each with its consequences; then the passed
    checks.
    """
    parts = []
    if found.noted:
        items = [_item(one, found.consequences(one)) for one in found.causes]
        parts.append(tag("ul", *items, class_="findings"))
    passed = [_item(finding) for finding in found.findings if finding.passed]
    summary = tag("summary", f"{pluralize(len(passed), 'check')} passed")
    details = tag("details", summary, tag("ul", *passed, class_="findings"))
    return tag("div", *parts, details)


def _item(finding: Finding, consequences: Sequence[Finding] = ()) -> Markup:
    severity = finding.severity or "fine"
    badge = tag("span", f"{severity.capitalize()}.", class_="badge")
    below = tag("ul", *(tag("li", one.what) for one in consequences)) if consequences else None
    return tag("li", badge, " ", finding.sentence, below, class_=severity.replace(" ", "-"))


def rater_tables(case: ShownCase) -> list[Markup]:
    """Return the tables of raters, pairs of raters, and bias."""
    measured = {
        m.name: value
        for m in measurements_of(case.result.made_by.kind)
        if m.name in OF_EACH_RATER and len(value := m.value_in(case.result)) == len(case.names)
    }
    return [rater_table(case, measured), heat_map(case), *bias_tables(case)]


def underlay_of(result: FusionResult[Any], image: Any) -> Any:
    """Load the voxels of an image, which must be on the raters' grid; None if there is no image."""
    if image is None:
        return None
    return convert.load_one(image, result.like, owner="report", parameter="image")


def _number(value: float) -> str:
    return f"{value:.3f}" if value == value else "–"


# -- provenance: hashes, parameters, versions and links ---------------------------------------


_LIBRARIES = ("numpy", "scipy", "SimpleITK")


def image_hash(image: NDArray[Any]) -> str:
    """Return the SHA-256 of an image's voxels in C order, in the image's own type."""
    return hashlib.sha256(np.ascontiguousarray(image).tobytes()).hexdigest()


def file_hashes(
    names: Sequence[str], files: Sequence[str | os.PathLike[str]]
) -> list[tuple[str, str]]:
    """Return names and hashes of each rater's files; some formats use several files."""
    rows = []
    for name, path in zip(names, files, strict=True):
        hashes = image_hashes(path)
        several = len(hashes) > 1
        rows += [(f"{name} ({file.name})" if several else name, h) for file, h in hashes.items()]
    return rows


def input_table(hashes: Sequence[tuple[str, str]], what: str) -> Markup:
    """Return the table of inputs with their hashes."""
    rows = [[name, tag("code", digest)] for name, digest in hashes]
    return data_table(f"Inputs, and SHA-256 of {what}.", ["input", "SHA-256"], rows)


def parameter_table(made_by: MadeBy) -> Markup:
    """Return the table of all parameters of the filter."""
    rows = []
    for parameter in parameters_of(made_by.kind):
        value = made_by.parameters.get(parameter.name, _IMAGE)
        text = "(image)" if value is _IMAGE else parameter_text(parameter, to_plain(value))
        rows.append([parameter.name, text])
    return data_table(f"Parameters of {made_by.filter}.", ["parameter", "value"], rows)


def versions() -> dict[str, str]:
    """Return the versions of the package, Python and the main libraries."""
    found = {"itk-consensus": itk_consensus.__version__, "Python": platform.python_version()}
    for library in _LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:  # importable, but without package metadata
            continue
    return found


def version_table() -> Markup:
    """Return `versions` as a table."""
    return data_table("Versions.", ["software", "version"], list(versions().items()))


def output_links(outputs: Mapping[str, str | os.PathLike[str]], page: Path) -> Markup:
    """Return a list of links to the written files, relative to the page."""
    links = []
    for what, path in outputs.items():
        relative = os.path.relpath(Path(path).resolve(), page.resolve().parent)
        target = Path(relative).as_posix()
        links.append(tag("li", tag("a", str(target), href=quote(target)), f" – {what}"))
    return tag("ul", *links)
