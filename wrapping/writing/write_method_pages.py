"""Generate the parts of a method's page that follow from its filter: usage, parameters, outputs.

``docs/methods/<page>.md`` is written by hand (what the method assumes, its model, which parameters
matter, when it fails, what to cite). The generated sections are written between its markers and
committed, so that pages are complete in a checkout.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from itk_consensus.core.descriptions import introduction_of
from itk_consensus.core.parameters import Parameter, measurements_of, parameters_of
from itk_consensus.core.process_object import ProcessObject
from itk_consensus.fusing.label_fusion import LabelFusionFilter
from itk_consensus.methods.procedural import function_name
from itk_consensus.methods.registry import FUSERS, OTHER_FILTERS

FILTERS = (*FUSERS, *OTHER_FILTERS)


def page_name(filter_: type[ProcessObject]) -> str:
    """Return the name of a filter's page: its command-line name or, without one, its module's
    name.
    """
    method = getattr(filter_, "method", "")
    return method or filter_.__module__.rpartition(".")[2].removesuffix("_filter").replace("_", "-")


def method_sections() -> dict[str, dict[str, str]]:
    """Return the generated sections of all pages in docs/methods, by page and section."""
    pages = {
        f"methods/{page_name(filter_)}": {
            "method": _introduction(filter_),
            "parameters": _parameters(filter_),
        }
        for filter_ in FILTERS
    }
    pages["methods/every-fuser"] = {"parameters": _table(parameters_of(LabelFusionFilter))}
    pages["methods/index"] = {"methods": _list_of_methods(), "pages": _contents()}
    return pages


def _introduction(filter_: type[ProcessObject]) -> str:
    """Return the filter's summary, how to call it, and the introduction of its docstring."""
    parts = [str(getattr(filter_, "summary", "")), _use(filter_)]
    parts.append(_as_markdown(str(introduction_of(filter_))))
    return "\n\n".join(part.strip() for part in parts if part)


def _use(filter_: type[ProcessObject]) -> str:
    if filter_ not in FUSERS:
        return ""
    fuser = filter_
    return (
        f"`ic.{function_name(fuser)}(images)` · `ic.{fuser.__name__}()` · "  # type: ignore[arg-type]
        f"`itk-consensus fuse --method {page_name(fuser)}`"
    )


def _as_markdown(docstring: str) -> str:
    """Convert a docstring to Markdown, with examples as code blocks without prompts."""
    text = docstring.replace("``", "`")
    return re.sub(r"(?:^(?:>>>|\.\.\.) .*\n?)+", _as_code_block, text, flags=re.MULTILINE)


def _as_code_block(example: re.Match[str]) -> str:
    lines = (line[4:] for line in example[0].splitlines())
    return "\n".join(["```python", *lines, "```", ""])


def _parameters(filter_: type[ProcessObject]) -> str:
    """Return tables of the filter's own parameters and of its measurements."""
    common = {parameter.name for parameter in parameters_of(LabelFusionFilter)}
    own = [one for one in parameters_of(filter_) if one.name not in common]
    parts = [_table(own) if own else "None of its own."]
    if issubclass(filter_, LabelFusionFilter):
        parts.append("And [those of every fuser](every-fuser.md).")
    measured = [f"| Get{one.name}() | {one.doc} |" for one in measurements_of(filter_)]
    if measured:
        parts.append("\n".join(["| known after Execute | gives |", "|---|---|", *measured]))
    return "\n\n".join(parts)


def _table(parameters: Iterable[Parameter[object]]) -> str:
    rows = [_row(parameter) for parameter in parameters]
    return "\n".join(["| parameter | value | default | meaning |", "|---|---|---|---|", *rows])


def _row(parameter: Parameter[object]) -> str:
    wanted = parameter.kind.wanted.replace("|", "\\|")
    return f"| {parameter.name} | {wanted} | {parameter.default_text} | {parameter.doc} |"


def _list_of_methods() -> str:
    rows = [f"| [{one.__name__}]({page_name(one)}.md) | {_line(one)} |" for one in FILTERS]
    return "\n".join(["| filter | what it assumes, when to use it |", "|---|---|", *rows])


def _line(filter_: type[ProcessObject]) -> str:
    return str(getattr(filter_, "summary", "") or str(introduction_of(filter_)).splitlines()[0])


def _contents() -> str:
    """Return the toctree of the pages, in the order of the list of methods."""
    pages = [*map(page_name, FILTERS), "every-fuser"]
    return "\n".join(["```{toctree}", ":hidden:", "", *pages, "```"])
