"""Write the generated parts of the stub, the README and the documentation pages.

``make docs`` (python wrapping/writing/write_tables.py) rewrites them from the filters and from
stored results; ``--check``, which `make lint` uses, only reports whether they are current.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from write_example_pages import example_sections
from write_method_pages import method_sections
from write_stub import stub_text

ROOT = Path(__file__).resolve().parents[2]
STUB = ROOT / "itk_consensus" / "__init__.pyi"
README = ROOT / "README.md"
DOCS = ROOT / "docs"

sys.path.insert(0, str(ROOT))
from examples.benchmarks.readme_section import between_markers  # noqa: E402  (needs the path above)
from examples.benchmarks.written_figures import FIGURES  # noqa: E402


def main(arguments: list[str] | None = None) -> int:
    """Write the files or, with --check, compare them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only report whether they are current")
    check = parser.parse_args(arguments).check
    sections = {
        README if name == "README" else DOCS / f"{name}.md": figures()
        for name, figures in FIGURES.items()
    }
    for name, texts in (method_sections() | example_sections()).items():
        sections[DOCS / f"{name}.md"] = sections.get(DOCS / f"{name}.md", {}) | texts
    wanted = {STUB: stub_text()}
    for path, contents in sections.items():
        wanted[path] = path.read_text(encoding="utf-8")
        for name, content in contents.items():
            wanted[path] = between_markers(wanted[path], name, content)
    stale = [path for path, text in wanted.items() if _text_of(path) != text]
    for path in stale:
        if check:
            print(f"{path.name} is not current: run make docs", file=sys.stderr)
        else:
            path.write_text(wanted[path], encoding="utf-8")
    return 1 if check and stale else 0


def _text_of(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


if __name__ == "__main__":
    sys.exit(main())
