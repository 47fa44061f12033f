"""What is written about the filters, made from their tables: the stub file and README's tables.

``make docs`` (python wrapping/write_tables.py) rewrites both; ``--check`` only says whether they
are current, as `make lint` does.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from write_stub import stub_text

from itk_consensus.filters.label_fusion import LabelFusionFilter
from itk_consensus.filters.parameters import Parameter, parameters_of
from itk_consensus.filters.procedural import function_name
from itk_consensus.filters.process_object import ProcessObject
from itk_consensus.filters.registry import FUSERS, OTHER_FILTERS

ROOT = Path(__file__).resolve().parents[1]
STUB = ROOT / "itk_consensus" / "__init__.pyi"
README = ROOT / "README.md"

sys.path.insert(0, str(ROOT / "examples" / "benchmarks"))
from readme_section import between_markers  # noqa: E402  (found only now)


def parameter_table(filter_: type[ProcessObject]) -> str:
    """Markdown table of the parameters a filter has beyond every filter's."""
    common = {parameter.name for parameter in parameters_of(LabelFusionFilter)}
    rows = [_row(p) for p in parameters_of(filter_) if p.name not in common]
    return "\n".join(["| parameter | value | default | |", "|---|---|---|---|", *rows])


def _row(parameter: Parameter[object]) -> str:
    wanted = parameter.kind.wanted.replace("|", "\\|")
    return f"| {parameter.name} | {wanted} | {parameter.default_text} | {parameter.doc} |"


def readme_tables() -> str:
    """The README's part on methods and parameters."""
    methods = [
        "| filter | function | CLI | what it assumes, when to use it |",
        "|---|---|---|---|",
        *(
            f"| {fuser.__name__} | `{function_name(fuser)}` | `{fuser.method}` | {fuser.summary} |"
            for fuser in FUSERS
        ),
    ]
    sections = [
        f"<details><summary>{cls.__name__}</summary>\n\n{parameter_table(cls)}\n\n</details>"
        for cls in (*FUSERS, *OTHER_FILTERS)
    ]
    everyone = ["| parameter | value | default | |", "|---|---|---|---|"]
    everyone += [_row(parameter) for parameter in parameters_of(LabelFusionFilter)]
    shared = "<details><summary>every filter</summary>\n\n" + "\n".join(everyone) + "\n\n</details>"
    return "\n".join(methods) + "\n\n" + "\n".join([*sections, shared])


def main(arguments: list[str] | None = None) -> int:
    """Write the files, or with --check compare them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say whether they are current")
    check = parser.parse_args(arguments).check
    readme = between_markers(README.read_text(), "filters", readme_tables())
    wanted = {STUB: stub_text(), README: readme}
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text() != text]
    for path in stale:
        if check:
            print(f"{path.name} is not current: run make docs", file=sys.stderr)
        else:
            path.write_text(wanted[path])
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
