"""What is written about filters and results, made from tables and files: stub, README, truth page.

``make docs`` (python wrapping/writing/write_tables.py) rewrites them; ``--check`` only says whether
they are current, as `make lint` does.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from write_stub import stub_text

from itk_consensus.core.parameters import Parameter, parameters_of
from itk_consensus.core.process_object import ProcessObject
from itk_consensus.fusing.label_fusion import LabelFusionFilter

ROOT = Path(__file__).resolve().parents[2]
STUB = ROOT / "itk_consensus" / "__init__.pyi"
README = ROOT / "README.md"
TRUTH = ROOT / "docs" / "truth.md"
HOW_TO = ROOT / "docs" / "howto"

sys.path.insert(0, str(ROOT))
from examples.benchmarks.readme_section import between_markers  # noqa: E402  (found only now)
from examples.benchmarks.written_figures import FIGURES  # noqa: E402


def parameter_table(filter_: type[ProcessObject]) -> str:
    """Markdown table of the parameters a filter has beyond every filter's, if it has any."""
    common = {parameter.name for parameter in parameters_of(LabelFusionFilter)}
    rows = [_row(p) for p in parameters_of(filter_) if p.name not in common]
    if not rows:
        return "None of its own."
    return "\n".join(["| parameter | value | default | meaning |", "|---|---|---|---|", *rows])


def _row(parameter: Parameter[object]) -> str:
    wanted = parameter.kind.wanted.replace("|", "\\|")
    return f"| {parameter.name} | {wanted} | {parameter.default_text} | {parameter.doc} |"


def common_table() -> str:
    """Markdown table of the parameters that every fuser has."""
    rows = [_row(parameter) for parameter in parameters_of(LabelFusionFilter)]
    return "\n".join(["| parameter | value | default | meaning |", "|---|---|---|---|", *rows])


def main(arguments: list[str] | None = None) -> int:
    """Write the files, or with --check compare them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say whether they are current")
    check = parser.parse_args(arguments).check
    sections = {
        README: FIGURES["README"](),
        TRUTH: FIGURES["truth"](),
        ROOT / "docs" / "migration.md": FIGURES["migration"](),
        HOW_TO / "out-of-core.md": FIGURES["out-of-core"](),
        HOW_TO / "dicom.md": FIGURES["dicom"](),
        HOW_TO / "findings.md": FIGURES["findings"](),
        HOW_TO / "learned.md": FIGURES["learned"](),
        ROOT / "docs" / "conformance.md": FIGURES["conformance"](),
        ROOT / "docs" / "paper" / "paper.md": FIGURES["paper"](),
        ROOT / "docs" / "theory.md": FIGURES["theory"](),
    }
    wanted = {STUB: stub_text()}
    for path, contents in sections.items():
        wanted[path] = path.read_text(encoding="utf-8")
        for name, content in contents.items():
            wanted[path] = between_markers(wanted[path], name, content)
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text() != text]
    for path in stale:
        if check:
            print(f"{path.name} is not current: run make docs", file=sys.stderr)
        else:
            path.write_text(wanted[path])
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
