"""Facts about the run that produced a stored result: commit, command, date and machine."""

from __future__ import annotations

import datetime
import platform
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

FOLDER = Path(__file__).resolve().parent

#: For results stored before runs were recorded.
UNKNOWN_RUN = {"commit": "unknown run"}


def run_facts() -> dict[str, str]:
    """Return facts about the current run."""
    found = subprocess.run(
        ["git", "describe", "--always", "--dirty"],
        cwd=FOLDER,
        capture_output=True,
        text=True,
        check=False,
    )
    packages = ("numpy", "scipy", "SimpleITK")
    return {
        "commit": found.stdout.strip() or "unknown",
        # Paths on this machine are not stored.
        "command": " ".join(Path(word).name if "/" in word else word for word in sys.argv),
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "machine": f"{platform.machine()}, Python {platform.python_version()}, "
        + ", ".join(f"{name} {version(name)}" for name in packages),
    }
