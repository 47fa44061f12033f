"""Build one wheel, and test it in a new environment per kind of install.

python tests/installs.py [KIND...] [--wheel FILE]      (make installs, make installs ALL=1)

In each environment, pip installs only the wheel, with one extra or none (base); the documented
features of this install are then tested (`install_promises.py`).
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from install_promises import EXTRAS

ROOT = Path(__file__).resolve().parents[1]
BASE = "base"
KINDS = (BASE, *EXTRAS)

#: Kinds of installs that are always tested: those in the README, and DICOM.
OFTEN = (BASE, "plot", "dicom")

#: Files of a checkout that are not sources.
_NO_SOURCES = (".*", "build", "dist", "*.egg-info", "*.so", "*-output", "_build", "__pycache__")


def call(*command: str | Path) -> None:
    """Run a program, which reports its own errors."""
    # Python's environment variables must not make other packages available.
    environment = {name: value for name, value in os.environ.items() if "PYTHON" not in name}
    words = [str(word) for word in command]
    if subprocess.run(words, check=False, env=environment).returncode:
        sys.exit(f"failed: {' '.join(map(str, command))}")


def pip(python: Path | str, *words: str | Path) -> None:
    """Run the current Python's pip on another environment."""
    call(sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python, *words)


def build_wheel(folder: Path) -> Path:
    """Build a wheel from a copy of this checkout, so that no old files enter it and none are
    left behind.
    """
    shutil.copytree(ROOT, folder / "sources", ignore=shutil.ignore_patterns(*_NO_SOURCES))
    made = folder / "wheel"
    pip(sys.executable, "wheel", "--quiet", "--no-deps", "-w", made, folder / "sources")
    return next(made.glob("*.whl"))


def try_install(kind: str, wheel: Path, folder: Path) -> None:
    """Install one kind and test it where no file of this checkout takes precedence over the
    wheel's.
    """
    python = folder / kind / "bin" / "python"
    call(sys.executable, "-m", "venv", "--without-pip", folder / kind)
    what = str(wheel) if kind == BASE else f"{wheel}[{kind}]"
    pip(python, "install", "--quiet", "--constraint", ROOT / "constraints.txt", what)
    extras = [] if kind == BASE else [kind]
    call(python, ROOT / "tests" / "install_promises.py", *extras)
    shutil.rmtree(folder / kind)


def main() -> None:
    """Build the wheel, unless it is given, and test the requested kinds."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"of {', '.join(KINDS)}")
    parser.add_argument("--all", action="store_true", help="every kind")
    parser.add_argument("--wheel", type=Path, help="a wheel that is built already")
    arguments = parser.parse_args()
    kinds = KINDS if arguments.all else arguments.kinds or OFTEN
    unknown = set(kinds) - set(KINDS)
    if unknown:
        parser.error(f"unknown kinds: {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory() as made:
        wheel = arguments.wheel or build_wheel(Path(made))
        for kind in kinds:
            began = time.monotonic()
            try_install(kind, wheel.resolve(), Path(made))
            print(f"{kind}: {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
