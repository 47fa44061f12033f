"""HTML tables of lesions: the raters who marked each lesion, and each rater's performance."""

from __future__ import annotations

from collections.abc import Sequence

from itk_consensus.methods.lesions.table import LesionTable, ReaderDetection
from itk_consensus.report.agreement_tables import rater_mark
from itk_consensus.report.markup import Markup, data_table

#: Maximum number of objects listed on a page; the JSON report contains all of them.
_ROWS = 50


def object_table(table: LesionTable) -> Markup:
    """Return a table of objects: the probability that each is real, and who marked it."""
    rows = [
        [
            f"lesion {one.number}",
            "kept" if one.kept else "not kept",
            one.there,
            _marks(one.finders),
            sum(one.volumes) / len(one.finders),
            one.overlap,
            ",\u00a0".join(f"{at:.1f}" for at in one.position),
            _marks(one.split),
            _marks(one.joined),
        ]
        for one in table.lesions[:_ROWS]
    ]
    more = f" The first {_ROWS} of {len(table)}." if len(table) > _ROWS else ""
    header = ["lesion", "", "there", "found by", f"mean {table.volume_unit}", "mean Dice"]
    header += ["position in mm", "split by", "joined by"]
    return data_table(
        "Each object, the probability that it is there, and who marked it, by raters' letters."
        + more,
        header,
        rows,
    )


def detection_table(detections: Sequence[ReaderDetection], names: Sequence[str]) -> Markup:
    """Return a table of each rater's detection performance, with 95 % intervals."""
    rows = [
        [
            f"{rater_mark(index)}  {name}",
            one.found,
            one.lone,
            str(one.sensitivity),
            str(one.false_finds),
        ]
        for index, (name, one) in enumerate(zip(names, detections, strict=True))
    ]
    header = ["rater", "marked", "alone", "sensitivity", "false finds per case"]
    return data_table("How each rater finds, with 95 % intervals.", header, rows)


def _marks(readers: Sequence[int]) -> str:
    return " ".join(map(rater_mark, readers)) or "–"
