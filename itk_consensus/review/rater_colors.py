"""How raters' lines look, on pages and on the screen of a review."""

from __future__ import annotations

#: Visible on near-black and distinguishable by colour-blind readers; without the band's yellow.
CONTOUR_COLORS = ("#56B4E9", "#E69F00", "#1FC795", "#F49AC8", "#FF6F43", "#B9A5FF")
#: How lines of the second six raters, the third and so on are broken, in pixels.
_DASHES = ("none", "7 4", "2 4", "10 3 2 3")


def rater_color(index: int) -> str:
    """The colour of a rater's contour."""
    return CONTOUR_COLORS[index % len(CONTOUR_COLORS)]


def rater_dashes(index: int) -> str:
    """How a rater's contour is broken, as SVG has it: those of the first six are not."""
    return _DASHES[index // len(CONTOUR_COLORS) % len(_DASHES)]
