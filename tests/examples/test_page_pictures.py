"""The pictures in docs/ correspond to the current pages."""

from __future__ import annotations

import pytest

from examples.benchmarks.pictures.remake import DOCS, TEMPLATES, kept_hashes, template_hash


def test_every_picture_in_docs_is_one_that_the_script_remakes() -> None:
    assert {path.name for path in DOCS.glob("*.png")} == set(TEMPLATES)


# only in the full suite: pictures need not be remade before a change of a template is merged
@pytest.mark.slow
@pytest.mark.parametrize("picture", TEMPLATES)
def test_no_template_changed_after_its_picture(picture: str) -> None:
    stale = "python -m examples.benchmarks.pictures.remake " + picture
    assert kept_hashes().get(picture) == template_hash(picture), stale
