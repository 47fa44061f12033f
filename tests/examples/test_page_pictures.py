"""The pictures in docs/ show the pages as they are."""

from __future__ import annotations

import pytest

from examples.benchmarks.pictures.remake import DOCS, TEMPLATES, kept_hashes, template_hash


def test_every_picture_in_docs_is_one_that_the_script_remakes() -> None:
    assert {path.name for path in DOCS.glob("*.png")} == set(TEMPLATES)


@pytest.mark.slow  # not slow: a change of a template need not remake pictures before it lands
@pytest.mark.parametrize("picture", TEMPLATES)
def test_no_template_changed_after_its_picture(picture: str) -> None:
    stale = "python -m examples.benchmarks.pictures.remake " + picture
    assert kept_hashes().get(picture) == template_hash(picture), stale
