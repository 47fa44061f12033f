"""The interactive viewer of a page: voxels and disputes for `viewer.js`, within a size limit."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.assessment.places import Place
from itk_consensus.core.array_types import Mask, length_unit
from itk_consensus.images.files import distinct_names, split_image_name
from itk_consensus.images.grey_windows import GreyWindow, windows_for
from itk_consensus.report.drawing import grey
from itk_consensus.report.markup import Markup, tag
from itk_consensus.report.orientation import Orientation
from itk_consensus.report.shown_case import ShownCase
from itk_consensus.review.case import ReviewCase, case_of_result
from itk_consensus.review.disputes import Dispute, RatedMap, marked_voxels
from itk_consensus.review.rater_colors import rater_color, rater_dashes
from itk_consensus.review.record import ReviewRecord, default_record_path
from itk_consensus.space.boxes import Box, bounding_box, grow_box, intersection

#: Maximum size of the viewer's data on a page, in bytes; larger cases are cropped, which the page
#: states.
MOST_BYTES = 2_000_000
#: Maximum number of disputes in the review record embedded in the page.
_MOST_DISPUTES = 1000
#: Larger crops are not tried, since they are unlikely to fit and compression is slow.
_MOST_VOXELS = 40_000_000
#: Maximum number of rows in the table of disputes; the record contains the others as undecided.
_MOST_ROWS = 200
#: Margins around marked voxels with and without an image.
_MARGIN_MM, _EMPTY_MARGIN_MM = 8.0, 2.0
#: Distances around a place to which a large case is cropped, tried in this order.
_REACHES_MM = (80.0, 50.0, 30.0, 20.0, 12.0)


def viewer(
    reviewed: ShownCase,
    paths: Sequence[Path] | None,
    page: Path,
    image: NDArray[Any] | None,
    window: GreyWindow | None = None,
    place: Place | None = None,
) -> list[Markup]:
    """Return the slice viewer and the table of disputes; the viewer opens at `place` if it is
    given.

    Large cases are cropped around the place; the markup states which part was omitted.
    """
    shape = reviewed.result.like.geometry.shape
    if len(shape) > 3:
        return [_note("Slices of a series of volumes cannot be gone through on a page.")]
    if len(reviewed.labels) > 250:
        return [_note("There are too many labels to go through them on a page.")]
    if not reviewed.dissent.any():
        return []
    record = default_record_path(page)
    case = case_of_result(reviewed.result, paths, record, most=_MOST_DISPUTES)
    if not case.disputes:
        return []
    cube = (1, 1, 1, *shape)[-3:]
    marked = marked_voxels(case.rated[0]).reshape(cube)
    limits = None
    if image is not None:
        limits = (window or windows_for(image.reshape(cube), marked)[0]).limits
    at = (0, 0, 0, *(place.index if place else case.disputes[0].index))[-3:]
    spacing = (1.0, 1.0, 1.0, *reviewed.spacing)[-3:]
    disputed = reviewed.dissent.reshape(cube) > 0
    written = {**ReviewRecord.opening(), **case.writer(case.begun()).record().to_plain()}
    margin = _EMPTY_MARGIN_MM if image is None else _MARGIN_MM
    whole = _padded_box(marked, spacing, margin)
    part = _padded_box(disputed, spacing, margin)
    for box in (whole, part, *_decreasing_boxes(whole, at, spacing)):
        if prod(side.stop - side.start for side in box) * (len(reviewed.maps) + 2) > _MOST_VOXELS:
            continue
        voxels = _Voxels(case, box, reviewed.orientation, image, limits)
        content = voxels.content(record.name, at, written, with_image=image is not None)
        if len(content) <= MOST_BYTES:
            return _markup(case, reviewed, content, is_part=box != whole)
    return [
        _note(
            f"Going through slices needs more than the {MOST_BYTES / 1e6:g} MB that a page may "
            "take; itk-consensus review shows them."
        )
    ]


def _decreasing_boxes(whole: Box, at: Sequence[int], spacing: Sequence[float]) -> Iterator[Box]:
    """Yield boxes of decreasing size around a voxel, within the box `whole`."""
    for reach in _REACHES_MM:
        steps = [round(reach / step) for step in spacing]
        around = tuple(slice(a - n, a + n + 1) for a, n in zip(at, steps, strict=True))
        part = intersection(whole, around)
        if all(side.stop > side.start for side in part):
            yield part


def _padded_box(marked: Mask, spacing: Sequence[float], margin: float) -> Box:
    """Return the bounding box of all marked voxels with a margin; the whole volume if none
    is marked.
    """
    box = bounding_box(marked) or tuple(slice(0, side) for side in marked.shape)
    return grow_box(box, [round(margin / step) for step in spacing], marked.shape)


class _Voxels:
    """A crop of a case, serialised as JSON for the viewer."""

    def __init__(
        self,
        case: ReviewCase,
        box: Box,
        orientation: Orientation | None,
        image: NDArray[Any] | None,
        limits: tuple[float, float] | None,
    ) -> None:
        (self.rated,) = case.rated
        self.case, self._box, self._orientation = case, box, orientation
        self._shape = (1, 1, 1, *self.rated.consensus.shape)[-3:]
        self.spacing = (1.0, 1.0, 1.0, *case.geometry.array_spacing)[-3:]
        self._image = None if image is None else self._as_volume(image)[self._box]
        self._limits = limits or (0.0, 1.0)

    def _as_volume(self, array: NDArray[Any]) -> NDArray[Any]:
        return array.reshape(self._shape)

    def content(
        self, name: str, at: Sequence[int], record: Mapping[str, Any], *, with_image: bool
    ) -> str:
        """Return the JSON for `viewer.js`; the viewer opens at the voxel `at`."""
        box = self._box
        shape = [side.stop - side.start for side in box]
        hung = self._orientation
        numbers = np.zeros(self._shape, np.uint16)
        for dispute in self.case.disputes:
            numbers.reshape(-1)[dispute.places] = dispute.number
        content = {
            "name": name,
            "place": ",".join(map(str, at)),
            "shape": shape,
            "whole": self._shape,
            "corner": [side.start for side in box],
            "spacing": self.spacing,
            "mirrored": [hung is not None and hung.is_mirrored(axis) for axis in range(3)],
            "towards": None if hung is None else hung.towards,
            "voxel_ml": prod(self.case.geometry.spacing) / 1000,
            "labels": _encoded_labels(self.rated),
            "missing": _encoded_labels(self.rated).index(self.rated.missing),
            "colors": [rater_color(number) for number in range(len(self.rated.maps))],
            "dashes": [
                _dash_lengths(rater_dashes(number)) for number in range(len(self.rated.maps))
            ],
            "image": _compress(self._grey_levels()) if with_image else "",
            "consensus": _compress(self._encode(self.rated.consensus)),
            "raters": [_compress(self._encode(labels)) for labels in self.rated.maps],
            "disputed": _compress(numbers[box].astype("<u2")),
            "record": record,
        }
        text = json.dumps(content, ensure_ascii=False, allow_nan=False)
        return text.replace("<", "\\u003c")  # the text must not end the script element

    def _encode(self, labels: NDArray[Any]) -> NDArray[np.uint8]:
        part = self._as_volume(labels)[self._box]
        known = _encoded_labels(self.rated)
        # A look-up table is equally fast for any number of labels.
        if part.dtype.kind == "u" and part.itemsize <= 2:
            table = np.zeros(np.iinfo(part.dtype).max + 1, np.uint8)
            table[known] = np.arange(len(known))
            return np.asarray(table[part])
        coded = np.zeros(part.shape, np.uint8)
        for code, value in enumerate(known):
            if code:
                coded[part == value] = code
        return coded

    def _grey_levels(self) -> NDArray[np.uint8]:
        assert self._image is not None
        # Reducing to 64 grey levels is not visible and halves the compressed size.
        return grey(self._image, *self._limits) & np.uint8(0xFC)


def _encoded_labels(rated: RatedMap) -> list[int]:
    """Return the label value for each byte of the page's encoding; background is 0."""
    undecided = () if rated.undecided is None else (rated.undecided,)
    return [0, *sorted({*rated.labels, *undecided} - {0}), rated.missing]


def _dash_lengths(dashes: str) -> list[int]:
    """Convert an SVG dash pattern to canvas format."""
    return [] if dashes == "none" else [int(length) for length in dashes.split()]


def _compress(array: NDArray[Any]) -> str:
    return base64.b64encode(zlib.compress(np.ascontiguousarray(array).tobytes(), 6)).decode()


def _markup(case: ReviewCase, reviewed: ShownCase, content: str, *, is_part: bool) -> list[Markup]:
    (rated,) = case.rated
    script = (files("itk_consensus.report") / "viewer.js").read_text(encoding="utf-8")
    note = (
        f"All slices would take more than the {MOST_BYTES / 1e6:g} MB of a page: this is the part "
        "around what is disputed; itk-consensus review shows all."
    )
    more = len(case.disputes) - _MOST_ROWS
    rest = f"{more} smaller ones are not listed here and stay as the consensus has them."
    flat = (1, 1, *rated.consensus.shape)[-3] == 1
    parts = [
        tag(
            "p",
            "Slider, wheel or arrow keys go through the slices; n and p through the disputes; drag "
            "to move, + and - to zoom. Decisions are exported as the record of a review, which "
            "itk-consensus adjudicate applies.",
            class_="quiet on-screen",
        ),
        tag("p", note, class_="quiet") if is_part else None,
        tag("p", id="viewer-message", role="status"),
        tag(
            "div",
            tag(
                "div",
                tag("label", "Reviewer ", tag("input", id="viewer-who", type="text")),
                tag("button", "Export decisions", id="viewer-export", type="button"),
                tag("span", id="viewer-undecided", class_="quiet"),
                class_="controls on-screen",
            ),
            tag("canvas", id="viewer-canvas", tabindex="0", aria_label="Slice of the case"),
            _controls(rated, reviewed, flat=flat),
            _table(case, case.disputes[:_MOST_ROWS], reviewed),
            tag("p", rest, class_="quiet") if more > 0 else None,
            id="viewer",
            hidden=True,
        ),
        tag("script", Markup(content), type="application/json", id="viewer-data"),
        tag("script", Markup(script)),
    ]
    return [part for part in parts if part is not None]


def _controls(rated: RatedMap, reviewed: ShownCase, *, flat: bool) -> Markup:
    planes = [
        tag(
            "label",
            tag("input", type="radio", name="plane", id=f"viewer-{name}", checked=name == "axial"),
            f" {name}",
        )
        for name in ("axial", "coronal", "sagittal")
        if name == "axial" or not flat
    ]
    labels = [label for label in rated.labels if label]
    chosen = None
    if len(labels) > 1:
        options = [tag("option", "all structures", value="0")]
        codes = _encoded_labels(rated)
        options += [
            tag("option", reviewed.structure(one), value=codes.index(one)) for one in labels
        ]
        chosen = tag("label", "Structure ", tag("select", *options, id="viewer-label"))
    return tag(
        "div",
        tag("input", type="range", id="viewer-slice", min="0", step="1", aria_label="Slice"),
        *planes,
        chosen,
        tag("button", "+", id="viewer-closer", type="button", aria_label="Closer"),
        tag("button", "–", id="viewer-farther", type="button", aria_label="Farther"),
        tag("span", id="viewer-place", class_="quiet"),
        class_="controls",
    )


def _table(case: ReviewCase, disputes: Sequence[Dispute], reviewed: ShownCase) -> Markup:
    is_known = length_unit(case.geometry.array_spacing) == "mm"
    size = prod(case.geometry.spacing) / 1000 if is_known else 1.0
    titles = ("no.", "ml" if is_known else "voxels", "marked by", "p", "decision")
    head = tag("tr", *(tag("th", title, scope="col") for title in titles))
    body = [
        tag(
            "tr",
            tag(
                "th",
                tag("button", f"{one.number}", type="button", aria_label=f"Show {one.number}"),
                scope="row",
            ),
            tag("td", f"{one.voxels * size:.3g}", data_unit=titles[1]),
            tag("td", ", ".join(_markers(one, case.names)) or "nobody", class_="text"),
            tag("td", ", ".join(f"{p:.2f}" for p in one.probability.values()), class_="chance"),
            tag("td", _choices(one, reviewed), class_="choice"),
            data_number=one.number,
        )
        for one in disputes
    ]
    table = tag("table", tag("thead", head), tag("tbody", *body))
    return tag("div", table, class_="scroll disputes", tabindex="0", role="region",
               aria_label="Disputes, the largest first")  # fmt: skip


def _choices(dispute: Dispute, reviewed: ShownCase) -> Markup:
    labels = [label for label in reviewed.labels if label]
    binary = len(labels) == 1
    now = "in" if dispute.consensus and binary else reviewed.structure(dispute.consensus)
    options = [
        ("", f"undecided: {now if dispute.consensus else 'out'}"),
        ("consensus", "as the consensus"),
        *(
            (f"label:{label}", "in" if binary else reviewed.structure(label))
            for label in labels
            if binary or label in dispute.labels
        ),
        ("label:0", "out"),
        *((f"rater:{j}", f"as {name}") for j, name in enumerate(_short_names(reviewed.names))),
    ]
    return tag(
        "select",
        *(tag("option", text, value=value) for value, text in options),
        aria_label=f"Decision about dispute {dispute.number}",
    )


def _markers(dispute: Dispute, names: Sequence[str]) -> list[str]:
    return [
        name if share > 0.995 else f"{name} {100 * share:.0f} %"
        for name, share in zip(_short_names(names), dispute.marked_by(), strict=True)
        if share > 0.005
    ]


def _short_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the file names without extensions and without the folders that all have in common."""
    short = [split_image_name(name)[0] or name for name in names]
    return distinct_names(short, [Path(name) for name in names])


def _note(text: str) -> Markup:
    return tag("p", text, class_="quiet")
