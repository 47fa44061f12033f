"""Flags as 3D Slicer writes them: without dashes, and each input under a flag of its own."""

from __future__ import annotations

import re

#: What the module description calls its inputs; a number follows.
RATER = "rater_"
_FLAG = re.compile(r"--[a-z]+(_[a-z0-9]+)+")


def in_our_spelling(words: list[str]) -> list[str]:
    """A command line with --tie_rule as --tie-rule and ``--rater_3 FILE`` as an input.

    Whatever follows a lone ``--`` is left as it is.
    """
    end = words.index("--") if "--" in words else len(words)
    raters, others = [], []
    rest = iter(words[:end])
    for word in rest:
        flag, equals, value = word.partition("=")
        if not _FLAG.fullmatch(flag):
            others.append(word)
        elif re.fullmatch(rf"--{RATER}\d+", flag):
            raters.append(value if equals else next(rest, word))
        else:
            others.append(flag.replace("_", "-") + equals + value)
    return [*others[:1], *raters, *others[1:], *words[end:]]
