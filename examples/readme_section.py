"""Results kept in a README, between a pair of markers."""

from __future__ import annotations

from pathlib import Path

from itk_consensus.filters.documentation import between_markers


def replace_section(readme: Path, name: str, content: str) -> None:
    """Replace what stands between <!-- name:begin --> and <!-- name:end -->."""
    try:
        text = between_markers(readme.read_text(encoding="utf-8"), name, content)
    except ValueError as error:
        raise SystemExit(f"{readme} {error}") from error
    readme.write_text(text, encoding="utf-8")
