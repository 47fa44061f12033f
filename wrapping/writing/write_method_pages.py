"""One documentation page per filter: the registry, its docstring, its table and what we know of it.

``docs/models/<page>.md`` holds what only a person can write: the model, when it fails, what to
cite. Everything else follows from the filter itself.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from write_tables import common_table, parameter_table

from itk_consensus.core.parameters import measurements_of
from itk_consensus.core.process_object import ProcessObject
from itk_consensus.fusing.label_fusion import LabelFusionFilter
from itk_consensus.methods.procedural import function_name
from itk_consensus.methods.registry import FUSERS, OTHER_FILTERS

_EVERY_FUSER = "# Every fuser\n\nEvery fuser has these parameters beside its own.\n\n{}\n"


def page_name(filter_: type[ProcessObject]) -> str:
    """Name of a filter's page: how the command line calls it, or its module."""
    method = getattr(filter_, "method", "")
    return method or filter_.__module__.rpartition(".")[2].removesuffix("_filter").replace("_", "-")


def method_page(filter_: type[ProcessObject], model: str) -> str:
    """Markdown of one page."""
    parts = [f"# {filter_.__name__}", str(getattr(filter_, "summary", "")), _use(filter_)]
    parts += [_as_markdown(str(inspect.getdoc(filter_))), model.strip()]
    parts += ["## Parameters", parameter_table(filter_)]
    if issubclass(filter_, LabelFusionFilter):
        parts += ["And [those of every fuser](every-fuser.md)."]
    measured = [f"| Get{one.name}() | {one.doc} |" for one in measurements_of(filter_)]
    if measured:
        parts += ["## Known after Execute", "\n".join(["| call | gives |", "|---|---|", *measured])]
    return "\n\n".join(part for part in parts if part) + "\n"


def _as_markdown(docstring: str) -> str:
    """A docstring for a page: its code marked as Markdown does, its examples without prompts."""
    text = docstring.replace("``", "`")
    return re.sub(r"(?:^(?:>>>|\.\.\.) .*\n?)+", _as_code_block, text, flags=re.MULTILINE)


def _as_code_block(example: re.Match[str]) -> str:
    lines = (line[4:] for line in example[0].splitlines())
    return "\n".join(["```python", *lines, "```", ""])


def _use(filter_: type[ProcessObject]) -> str:
    if filter_ not in FUSERS:
        return ""
    fuser = filter_
    return (
        f"`ic.{function_name(fuser)}(images)` · `ic.{fuser.__name__}()` · "  # type: ignore[arg-type]
        f"`itk-consensus fuse --method {page_name(fuser)}`"
    )


def index_page() -> str:
    """The list of all pages, with what each filter assumes."""
    rows = [
        f"| [{filter_.__name__}]({page_name(filter_)}.md) | {_line(filter_)} |"
        for filter_ in (*FUSERS, *OTHER_FILTERS)
    ]
    pages = [page_name(filter_) for filter_ in (*FUSERS, *OTHER_FILTERS)]
    tree = ["```{toctree}", ":hidden:", "", *pages, "every-fuser", "```"]
    table = ["| filter | what it assumes, when to use it |", "|---|---|", *rows]
    return "\n".join(["# Methods", "", *table, "", *tree, ""])


def _line(filter_: type[ProcessObject]) -> str:
    return str(getattr(filter_, "summary", "") or str(inspect.getdoc(filter_)).splitlines()[0])


def write_method_pages(models: Path, folder: Path) -> None:
    """Write every page whose text changed."""
    folder.mkdir(exist_ok=True)
    pages = {"index": index_page(), "every-fuser": _EVERY_FUSER.format(common_table())}
    for filter_ in (*FUSERS, *OTHER_FILTERS):
        name = page_name(filter_)
        model = (models / f"{name}.md").read_text(encoding="utf-8")
        pages[name] = method_page(filter_, model)
    for name, text in pages.items():
        path = folder / f"{name}.md"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
