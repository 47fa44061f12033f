"""What a kept result says of its run: the commit, the command, the date and the machine."""

from __future__ import annotations

import datetime
import platform
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

FOLDER = Path(__file__).resolve().parent

#: Of results that were kept before their run was.
UNKNOWN_RUN = {"commit": "unknown run"}


def run_facts() -> dict[str, str]:
    """Facts of the run that calls this."""
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
        # Where things lie on this machine is nobody's business.
        "command": " ".join(Path(word).name if "/" in word else word for word in sys.argv),
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "machine": f"{platform.machine()}, Python {platform.python_version()}, "
        + ", ".join(f"{name} {version(name)}" for name in packages),
    }
