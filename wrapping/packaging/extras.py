"""Print the requirements of the package and of extras, to install them without the package."""

from __future__ import annotations

import re
import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    from setuptools.compat.py310 import tomllib

PROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"


def requirements(*extras: str, oldest: bool = False) -> list[str]:
    """Return the requirements of the package and the given extras, or only their lower bounds."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    asked = [*project["dependencies"]]
    for extra in extras:
        asked += project["optional-dependencies"][extra]
    return [re.sub(">=", "==", line) for line in asked] if oldest else asked


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--oldest"]
    # Quoted for xargs, since a marker contains quotes.
    print(*(f'"{line}"' for line in requirements(*words, oldest="--oldest" in sys.argv)), sep="\n")
