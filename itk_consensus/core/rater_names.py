"""Insert the raters' names into sentences that refer to raters by number."""

from __future__ import annotations

import re
from collections.abc import Sequence


def name_raters(text: str, names: Sequence[str]) -> str:
    """Replace "Rater 1" or "raters 0, 2 and 3" in a sentence by the raters' names."""

    def named(found: re.Match[str]) -> str:
        numbers = [int(number) for number in re.findall(r"\d+", found[0])]
        if any(number >= len(names) for number in numbers):
            return found[0]
        every = [names[number] for number in numbers]
        text = " and ".join([", ".join(every[:-1]), every[-1]] if len(every) > 1 else every)
        # Names are never capitalised, but the default name "rater 3" is, at the start of a
        # sentence.
        begins = found[0][0].isupper() and re.match(r"rater \d", text)
        return text.capitalize() if begins else text

    return re.sub(r"\b[Rr]aters? \d+(, \d+)*( and \d+)?", named, text)


def default_rater_names(raters: int) -> tuple[str, ...]:
    """Return default names for raters without names: "rater 0" and so on."""
    return tuple(f"rater {index}" for index in range(raters))
