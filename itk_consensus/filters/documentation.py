"""What is written about the filters, made from their tables: the stub file and README's tables.

``python -m itk_consensus.filters.documentation`` rewrites both; ``--check`` only says whether they
are current, as a test and `make lint` do.
"""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

import itk_consensus
from itk_consensus.filters.label_fusion import LabelFusionFilter
from itk_consensus.filters.parameters import (
    Parameter,
    measurements_of,
    parameters_of,
    snake_case,
)
from itk_consensus.filters.procedural import function_name
from itk_consensus.filters.process_object import ProcessObject
from itk_consensus.filters.registry import FUSERS, OTHER_FILTERS

PACKAGE = Path(__file__).resolve().parents[1]
STUB = PACKAGE / "__init__.pyi"
README = PACKAGE.parent / "README.md"

_HEADER = """\
# Made by `make docs` from the filters' parameter tables; do not edit.
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from numpy import float64
from numpy.typing import NDArray

from itk_consensus.algorithms.diagnostics import Diagnostics as Diagnostics
from itk_consensus.algorithms.initialization import StartSummary as StartSummary
from itk_consensus.errors import ConsensusError as ConsensusError
from itk_consensus.errors import ConsensusWarning as ConsensusWarning
from itk_consensus.errors import FileError as FileError
from itk_consensus.errors import GeometryError as GeometryError
from itk_consensus.errors import InputError as InputError
from itk_consensus.errors import MissingDependencyError as MissingDependencyError
from itk_consensus.errors import NotExecutedError as NotExecutedError
from itk_consensus.errors import ParameterError as ParameterError
from itk_consensus.errors import ProcessAborted as ProcessAborted

__version__: str

Image = Any
"""


def stub_text() -> str:
    """The whole of __init__.pyi."""
    classes: list[type] = [ProcessObject, LabelFusionFilter, *FUSERS, *OTHER_FILTERS]
    parts = [_HEADER, *("\n".join(_class_stub(cls)) for cls in classes)]
    functions = [
        _function_stub(fuser, style) for fuser in FUSERS for style in ("keyword", "snake_case")
    ]
    return "\n".join([*parts, "\n".join(functions)])


def _class_stub(cls: type) -> Iterator[str]:
    bases = [base for base in cls.__mro__[1:] if hasattr(itk_consensus, base.__name__)]
    parent = f"({bases[0].__name__})" if bases else ""
    yield f"class {cls.__name__}{parent}:"
    yield "    def __init__(self, **parameters: Any) -> None: ..."
    inherited = set(dir(bases[0])) if bases else set()
    own_parameters = [p for p in parameters_of(cls) if f"Set{p.name}" not in inherited]
    for parameter in own_parameters:
        annotation = parameter.kind.annotation
        yield f"    def Set{parameter.name}(self, value: {annotation}) -> None: ..."
        yield f"    def Get{parameter.name}(self) -> {annotation}: ..."
    own_measurements = [m for m in measurements_of(cls) if f"Get{m.name}" not in inherited]
    for measurement in own_measurements:
        yield f"    def Get{measurement.name}(self) -> {measurement.annotation}: ..."
    derived = {f"{verb}{p.name}" for p in own_parameters for verb in ("Set", "Get")}
    derived |= {f"Get{m.name}" for m in own_measurements}
    for name, member in sorted(_written_methods(cls)):
        if name not in derived and name not in inherited:
            yield from _method_stub(name, member)
    yield ""


def _written_methods(cls: type) -> Iterator[tuple[str, object]]:
    for base in cls.__mro__:
        for name, member in vars(base).items():
            if name[0].isupper() and (callable(member) or isinstance(member, staticmethod)):
                yield name, member


def _method_stub(name: str, member: object) -> Iterator[str]:
    if isinstance(member, staticmethod):
        yield "    @staticmethod"
        member = member.__func__
    signature = str(inspect.signature(member)).replace("'", "")  # type: ignore[arg-type]
    signature = signature.replace("np.float64", "float64")
    yield f"    def {name}{signature}: ..."


def _function_stub(fuser: type[LabelFusionFilter], style: str) -> str:
    name = function_name(fuser) if style == "keyword" else snake_case(fuser.__name__)
    keywords = ", ".join(
        f"{getattr(parameter, style)}: {parameter.kind.annotation} = ..."
        for parameter in parameters_of(fuser)
    )
    return f"def {name}(*images: Any, {keywords}) -> Image: ..."


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


def between_markers(text: str, name: str, content: str) -> str:
    """Replace what stands between <!-- name:begin --> and <!-- name:end -->."""
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    head, found, rest = text.partition(begin)
    _, closed, tail = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"no {begin} ... {end} to write between")
    return f"{head}{begin}\n{content}\n{end}{tail}"


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
