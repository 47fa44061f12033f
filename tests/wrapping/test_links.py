"""All links of the Markdown pages and of the built site are valid."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "docs" / "_build" / "html"

_FENCED = re.compile(r"^(```|~~~|:::).*?^\1", re.MULTILINE | re.DOTALL)
_NO_LINK = re.compile(r"`[^`\n]*`|<!--.*?-->", re.DOTALL)


def markdown_files() -> list[Path]:
    """Return the pages of the checkout, except those ignored by git."""
    listed = subprocess.run(
        ["git", "ls-files", "*.md"], capture_output=True, text=True, check=False, cwd=ROOT
    ).stdout.split()
    return [ROOT / name for name in listed if (ROOT / name).exists()]


def links_of(page: Path) -> list[str]:
    """Return the targets of a page's links and images."""
    text = _NO_LINK.sub("", _FENCED.sub("", page.read_text(encoding="utf-8")))
    return re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'(?:src|href)="([^"]+)"', text)


@cache
def anchors_of(page: Path) -> frozenset[str]:
    """Return the anchors that GitHub creates for a page's headings."""
    headings = re.findall(
        r"^#{1,6} (.+)$", _FENCED.sub("", page.read_text(encoding="utf-8")), re.MULTILINE
    )
    return frozenset(map(_anchor, headings))


def _anchor(heading: str) -> str:
    words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", words).replace(" ", "-")


def broken(page: Path, links: Iterable[str]) -> Iterator[str]:
    """Return relative links to files that are not in git, or to headings that do not exist."""
    known = _committed()
    for link in links:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
        if target not in known:
            yield f"{page.relative_to(ROOT)}: {link} (no such file)"
        elif target.suffix == ".md" and parts.fragment not in {"", *anchors_of(target)}:
            yield f"{page.relative_to(ROOT)}: {link} (no such heading)"


@cache
def _committed() -> frozenset[Path]:
    """Return the files of the checkout, and the folders that contain them."""
    names = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    ).stdout.splitlines()
    files = {ROOT / name for name in names}
    return frozenset(files | {folder for file in files for folder in file.parents})


def test_no_link_of_a_markdown_page_leads_nowhere() -> None:
    pages = markdown_files()
    if not pages:
        pytest.skip("this is no git checkout")
    assert len(pages) > 50
    assert [fault for page in pages for fault in broken(page, links_of(page))] == []


def test_a_broken_link_and_a_missing_heading_are_found() -> None:
    page = ROOT / "README.md"
    if page not in _committed():
        pytest.skip("this is no git checkout")
    links = ["docs/nowhere.md", "docs/start.md#nowhere", "#install", "docs/start.md", "examples"]
    assert [fault.split()[1] for fault in broken(page, links)] == links[:2]


class _Page(HTMLParser):
    """The links and the anchors of a page of the site."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            elif name in ("id", "name") and value:
                self.anchors.add(value)


def broken_in_site(site: Path) -> list[str]:
    """Return links of the built pages to files or anchors that do not exist."""
    pages = {path: _Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    faults = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            anchor = unquote(parts.fragment)
            if not target.exists() or (
                anchor and target in pages and anchor not in pages[target].anchors
            ):
                faults.append(f"{path.relative_to(site)}: {link}")
    return faults


@pytest.mark.skipif(not SITE.is_dir(), reason="the site is built by make docs")
def test_no_link_of_the_built_site_leads_nowhere() -> None:
    assert broken_in_site(SITE) == []


def test_a_broken_link_of_a_site_is_found(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(
        '<h1 id="top"></h1><a href="#top"></a><a href="#end"></a><a href="b.html"></a>'
    )
    assert broken_in_site(tmp_path) == ["index.html: #end", "index.html: b.html"]
