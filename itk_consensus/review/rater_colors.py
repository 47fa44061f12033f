"""How raters' lines, labels and disputes look, on pages and on the screen of a review."""

from __future__ import annotations

#: Visible on near-black and distinguishable by colour-blind readers; without the band's yellow.
CONTOUR_COLORS = ("#56B4E9", "#E69F00", "#1FC795", "#F49AC8", "#FF6F43", "#B9A5FF")
#: What is disputed; no rater and no label has a colour like it.
DISPUTE_COLOR = "#F0E342"
#: Of labels, chosen one after the other as far as possible from the dispute's and all before, in
#: OKLab on near-black: the closest two are .11 apart.
LABEL_COLORS = (
    *("#FFFFFF", "#8822FF", "#EE1100", "#338800", "#00BBFF", "#FF77EE", "#886688", "#DD9977"),
    *("#00DD00", "#00FFDD", "#CC00AA", "#0077EE", "#66BB88", "#CCBBFF", "#AA6600", "#9988FF"),
    *("#118888", "#EE00FF", "#FFCCAA", "#DD6699", "#99FF00", "#AA9900", "#8899AA", "#AADDDD"),
    *("#AACC33", "#AA55DD", "#FF6600", "#CCFFBB", "#BB4466", "#FFAA00"),
)
#: How lines of the second six raters, the third and so on are broken, in pixels.
_DASHES = ("none", "7 4", "2 4", "10 3 2 3")


def rater_color(index: int) -> str:
    """Return the colour of a rater's contour."""
    return CONTOUR_COLORS[index % len(CONTOUR_COLORS)]


def rater_dashes(index: int) -> str:
    """How a rater's contour is broken, as SVG has it: those of the first six are not."""
    return _DASHES[index // len(CONTOUR_COLORS) % len(_DASHES)]


def label_color(index: int) -> str:
    """Return the colour of a label, by its place among the labels of all structures."""
    return LABEL_COLORS[index % len(LABEL_COLORS)]
