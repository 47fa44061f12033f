"""The conda recipe agrees with pyproject.toml."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

import itk_consensus

ROOT = Path(__file__).resolve().parents[2]
RECIPE = ROOT / "wrapping" / "packaging" / "conda" / "recipe.yaml"

sys.path.insert(0, str(ROOT / "wrapping" / "packaging"))


@pytest.mark.skipif(not RECIPE.exists(), reason="the recipe is part of a checkout only")
def test_the_conda_recipe_renders_and_asks_for_what_the_package_asks_for() -> None:
    rattler_build = pytest.importorskip("rattler_build", reason="needs py-rattler-build")
    from extras import requirements

    recipe = rattler_build.Stage0Recipe.from_file(RECIPE)
    variants = {"python": ["3.12.*"], "c_stdlib": ["sysroot"], "cxx_compiler": ["gxx"]}
    (rendered,) = recipe.render(rattler_build.VariantConfig(variants))
    found = rendered.recipe.to_dict()
    assert found["package"]["version"] == itk_consensus.__version__
    asked = {_plain(line) for line in map(str, found["requirements"]["run"])} - {"python"}
    # Requirements of older Pythons only are not part of the rendered recipe.
    assert asked == {_plain(line) for line in requirements() if ";" not in line}


def _plain(requirement: str) -> str:
    return re.sub(r"[ _]", "", requirement).lower()
