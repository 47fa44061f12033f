"""List all texts of errors and warnings, each with its file and line, for proofreading.

``python wrapping/writing/list_messages.py`` prints them; with ``--silent-about-where``, only those
whose call specifies neither filter, file nor input, so that a caller must add it.
"""

from __future__ import annotations

import argparse
import ast
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from itk_consensus.core import errors

PACKAGE = Path(inspect.getfile(errors)).resolve().parents[1]

#: Methods that raise or return an error or warning, and the index of the argument with its text.
_METHODS = {"_warn": 0, "_parameter_error": 1}
#: Keywords that specify where the error occurred.
_WHERE = {"owner", "path", "input_index", "parameter"}


class Message(NamedTuple):
    """One text, with computed parts in braces."""

    file: str
    line: int
    kind: str
    text: str
    says_where: bool

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.kind}: {self.text}"


def error_classes() -> set[str]:
    """Return the names of all classes of errors and warnings, wherever they are defined."""
    found = {name for name, one in vars(errors).items() if inspect.isclass(one)}
    found = {name for name in found if issubclass(getattr(errors, name), Exception)}
    while True:
        derived = {
            node.name
            for path in sources()
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.ClassDef)
            and any(isinstance(base, ast.Name) and base.id in found for base in node.bases)
        }
        if derived <= found:
            return found
        found |= derived


def sources() -> list[Path]:
    """Return the modules of the package."""
    return sorted(PACKAGE.rglob("*.py"))


def messages() -> Iterator[Message]:
    """Yield every text, sorted by file and line."""
    kinds = error_classes()
    for path in sources():
        calls = [
            node
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Call) and _kind(node, kinds)
        ]
        for call in sorted(calls, key=lambda node: (node.lineno, node.col_offset)):
            kind = _kind(call, kinds)
            given = {one.arg for one in call.keywords}
            where = bool(given & _WHERE) or None in given or kind in _METHODS
            place = _METHODS.get(kind, 0)
            text = _template(call.args[place]) if len(call.args) > place else ""
            file = str(path.relative_to(PACKAGE.parent))
            yield Message(file, call.lineno, kind, text, where)


def _kind(call: ast.Call, kinds: set[str]) -> str:
    if isinstance(call.func, ast.Name) and call.func.id in kinds:
        return call.func.id
    is_ours = isinstance(call.func, ast.Attribute) and call.func.attr in _METHODS
    return call.func.attr if is_ours and isinstance(call.func, ast.Attribute) else ""


def _template(text: ast.expr) -> str:
    """Return the text of a message as written in the code, with computed parts in braces."""
    if isinstance(text, ast.Constant):
        return str(text.value)
    if isinstance(text, ast.JoinedStr):
        return "".join(
            _template(part.value).join("{}")
            if isinstance(part, ast.FormattedValue)
            else _template(part)
            for part in text.values
        )
    if isinstance(text, ast.BinOp) and isinstance(text.op, ast.Add):
        return _template(text.left) + _template(text.right)
    if isinstance(text, ast.IfExp):
        return f"{_template(text.body)} | {_template(text.orelse)}"
    return ast.unparse(text)


def main() -> None:
    """Print the list."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--silent-about-where", action="store_true")
    only_silent = parser.parse_args().silent_about_where
    for message in messages():
        if not (only_silent and message.says_where):
            print(message)


if __name__ == "__main__":
    main()
