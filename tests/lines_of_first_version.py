"""How many lines the package has for what its first version could do already.

python -m tests.lines_of_first_version [--left-out]

Lines are those of `wc -l`, so the first version has 19,207. Two trees of the history know its
capabilities and hardly any other: the first version, and the tree in which it had been rebuilt and
nothing else had been merged yet. A module of today counts if one of them has it, if git calls it a
rename, or if it holds a top-level definition of theirs: of the same name, and at least half of the
lines below it the same. Of these modules three sums are printed:

- all lines, what later features added to these modules included;
- without functions, classes and methods whose name neither tree has and which no line that counts
  mentions: only later features can need them. When in doubt a line counts;
- without any whose name neither tree has and of whose lines fewer than half are theirs: what later
  work brought, be it a feature or a faster way to an old answer.

What was rewritten under a new name is in the first two sums and not in the third, and in none of
them if its module is new as well; what later features added to old definitions is in all three.
"""

from __future__ import annotations

import ast
import io
import subprocess
import sys
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PACKAGE = "itk_consensus"
FIRST_VERSION = "2cc7d7301c2de4036271da2a2b8761577776ced3"
REBUILT = "d993d12211ca14658039d9a07da5399a9672ee65"


class Definition(NamedTuple):
    """A function, class or method, and where it stands."""

    name: str
    within: str  # the class of a method
    first: int
    last: int
    lines: tuple[str, ...]


def _git(*arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True).stdout


def _tree(revision: str) -> dict[str, str]:
    """Modules of the package at a revision: path -> text."""
    with tarfile.open(fileobj=io.BytesIO(_git("archive", revision, PACKAGE))) as archive:
        files = [member for member in archive if member.name.endswith(".py")]
        return {file.name: archive.extractfile(file).read().decode() for file in files}


def _today() -> dict[str, str]:
    paths = sorted((ROOT / PACKAGE).rglob("*.py"))
    return {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in paths}


def _renamed_since(revision: str) -> set[str]:
    changes = _git("diff", "-M", "--name-status", "--diff-filter=R", revision, "--", PACKAGE)
    return {line.split("\t")[2] for line in changes.decode().splitlines()}


def definitions(text: str) -> Iterator[Definition]:
    """Top-level definitions and methods of a module."""
    for node in ast.parse(text).body:
        yield from _defined(node, "", text)
        if isinstance(node, ast.ClassDef):
            for member in node.body:
                yield from _defined(member, node.name, text)


def _defined(node: ast.stmt, within: str, text: str) -> Iterator[Definition]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        lines = _words(text, first, node.end_lineno)
        yield Definition(node.name, within, first, node.end_lineno, lines)


def _words(text: str, first: int, last: int) -> tuple[str, ...]:
    stripped = (line.strip() for line in text.splitlines()[first - 1 : last])
    return tuple(line for line in stripped if line)


def _stems_from(lines: tuple[str, ...], known: set[str]) -> bool:
    return bool(lines) and 2 * sum(line in known for line in lines) >= len(lines)


def modules_that_count(today: dict[str, str], before: list[dict[str, str]]) -> dict[str, str]:
    """Modules that one of the trees has, that were renamed, or that hold something moved."""
    old: dict[str, list[set[str]]] = {}
    for text in (text for tree in before for text in tree.values()):
        for known in definitions(text):
            if not known.within:
                old.setdefault(known.name, []).append(set(known.lines))
    paths = {path for tree in before for path in tree}
    paths |= _renamed_since(FIRST_VERSION) | _renamed_since(REBUILT)

    def holds_something_moved(text: str) -> bool:
        tops = (definition for definition in definitions(text) if not definition.within)
        pairs = ((top, known) for top in tops for known in old.get(top.name, []))
        return any(_stems_from(top.lines[1:], known) for top, known in pairs)

    counts = (path for path, text in today.items() if path in paths or holds_something_moved(text))
    return {path: today[path] for path in counts}


Places = set[tuple[str, Definition]]


def brought_later(modules: dict[str, str], before: list[dict[str, str]]) -> Places:
    """Definitions whose name neither tree has."""
    texts = [text for tree in before for text in tree.values()]
    names = {definition.name for text in texts for definition in definitions(text)}
    return {
        (path, definition)
        for path, text in modules.items()
        for definition in definitions(text)
        if definition.name not in names
    }


def mentioned_nowhere_else(modules: dict[str, str], places: Places) -> Places:
    """The largest part of some definitions that no line outside of it mentions."""
    mentions = {path: list(_mentions(text)) for path, text in modules.items()}
    while True:
        inside = _lines_of(places)
        needed = {
            name
            for path, found in mentions.items()
            for name, line in found
            if (path, line) not in inside
        }
        left = {place for place in places if place[1].name not in needed}
        if left == places:
            return left
        places = left


def _mentions(text: str) -> Iterator[tuple[str, int]]:
    """Names, attributes and strings of a module, which may be names, with their lines."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name):
            yield node.id, node.lineno
        elif isinstance(node, ast.Attribute):
            yield node.attr, node.lineno
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value, node.lineno


def _lines_of(places: Places) -> set[tuple[str, int]]:
    return {(path, line) for path, d in places for line in range(d.first, d.last + 1)}


def _count(texts: Iterable[str]) -> int:
    return sum(text.count("\n") for text in texts)


def main() -> None:
    """Print the lines of both trees, of today, and what counts of today's."""
    try:
        before = [_tree(FIRST_VERSION), _tree(REBUILT)]
    except (OSError, subprocess.CalledProcessError):
        sys.exit("The first version is in the history of the repository, which is not here.")
    today = _today()
    modules = modules_that_count(today, before)
    later = brought_later(modules, before)
    unneeded = mentioned_nowhere_else(modules, later)
    texts = [text for tree in before for text in tree.values()]
    known = {line.strip() for text in texts for line in text.splitlines()}
    new = {place for place in later if not _stems_from(place[1].lines, known)}
    for tree, when in zip((*before, today), ("at first", "rebuilt", "today"), strict=True):
        print(f"{_count(tree.values()):6} lines {when}, in {len(tree)} modules")
    whole = _count(modules.values())
    print(f"{whole:6} in the {len(modules)} modules that count")
    print(f"{whole - len(_lines_of(unneeded)):6} without what only later features can need")
    print(f"{whole - len(_lines_of(new)):6} without what was brought later")
    if "--left-out" in sys.argv[1:]:
        print("".join(f"module {path}\n" for path in today if path not in modules), end="")
        for path, definition in sorted(new | unneeded):
            why = "later feature" if (path, definition) in unneeded else "brought later"
            print(f"{why}: {path}:{definition.first}-{definition.last} {definition.name}")


if __name__ == "__main__":
    main()
