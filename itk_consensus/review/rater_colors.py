"""Colours and line styles of raters, labels and disputes, on pages and in the application."""

from __future__ import annotations

#: Visible on near-black and distinguishable by colour-blind readers; does not include the yellow of
#: disputes.
CONTOUR_COLORS = ("#56B4E9", "#E69F00", "#1FC795", "#F49AC8", "#FF6F43", "#B9A5FF")
#: Colour of disputes; no rater and no label has a similar colour.
DISPUTE_COLOR = "#F0E342"
#: Label colours; each is as far as possible from the dispute colour and from all previous ones, in
#: OKLab on near-black; the minimum distance is 0.11.
LABEL_COLORS = (
    *("#FFFFFF", "#8822FF", "#EE1100", "#338800", "#00BBFF", "#FF77EE", "#886688", "#DD9977"),
    *("#00DD00", "#00FFDD", "#CC00AA", "#0077EE", "#66BB88", "#CCBBFF", "#AA6600", "#9988FF"),
    *("#118888", "#EE00FF", "#FFCCAA", "#DD6699", "#99FF00", "#AA9900", "#8899AA", "#AADDDD"),
    *("#AACC33", "#AA55DD", "#FF6600", "#CCFFBB", "#BB4466", "#FFAA00"),
)
#: Dash patterns, in pixels, for each successive group of six raters.
_DASHES = ("none", "7 4", "2 4", "10 3 2 3")


def rater_color(index: int) -> str:
    """Return the colour of a rater's contour."""
    return CONTOUR_COLORS[index % len(CONTOUR_COLORS)]


def rater_dashes(index: int) -> str:
    """Return the SVG dash pattern of a rater's contour; the first six raters have solid lines."""
    return _DASHES[index // len(CONTOUR_COLORS) % len(_DASHES)]


def label_color(index: int) -> str:
    """Return the colour of a label, given its index among the labels of all structures."""
    return LABEL_COLORS[index % len(LABEL_COLORS)]
