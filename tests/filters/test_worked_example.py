"""The example filter in CONTRIBUTING.md works, and is as short as stated there."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from contract import Fuser, raters

from itk_consensus import MajorityVoteFilter
from itk_consensus.core.errors import ParameterError
from itk_consensus.methods.procedural import itk_form, simpleitk_form

CONTRIBUTING = Path(__file__).resolve().parents[2] / "CONTRIBUTING.md"


def example() -> list[str]:
    _, _, rest = CONTRIBUTING.read_text(encoding="utf-8").partition("### A complete new filter\n")
    return re.findall(r"^```python\n(.*?)^```", rest, flags=re.M | re.S)


@pytest.fixture
def fuser(monkeypatch: pytest.MonkeyPatch) -> Fuser:
    """Return the example's filter; each code block becomes the module named in its first line."""
    for block in example():
        path = block.splitlines()[0].removeprefix("# ").removesuffix(".py")
        module = ModuleType(path.replace("/", "."))
        monkeypatch.setitem(sys.modules, module.__name__, module)
        exec(compile(block, str(CONTRIBUTING), "exec"), vars(module))
    (found,) = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and value.__module__ == module.__name__
    ]
    return found


def weights(images: list[np.ndarray], power: float) -> np.ndarray:
    return np.mean([[np.mean(a == b) for a in images] for b in images], axis=1) ** power


def test_a_new_filter_is_one_short_file() -> None:
    (block,) = example()
    assert len(block.splitlines()) < 32


@pytest.mark.parametrize("power", [0.0, 2.0, 40.0])
def test_its_answer_is_the_vote_with_the_agreements_as_weights(fuser: Fuser, power: float) -> None:
    images = raters((7, 8, 9), number=5)
    filter_, vote = fuser(Power=power), MajorityVoteFilter(RaterWeights=weights(images, power))
    np.testing.assert_array_equal(filter_.Execute(images), vote.Execute(images))
    for label in (0, 1):
        np.testing.assert_allclose(
            filter_.GetProbabilityImage(label), vote.GetProbabilityImage(label), atol=1e-12
        )


def test_everything_else_comes_with_the_base_class(fuser: Fuser) -> None:
    images = raters(number=2)
    filter_ = fuser()
    fused = filter_.Execute(images)
    assert str(filter_.GetDiagnostics())
    np.testing.assert_array_equal(simpleitk_form(fuser)(images, tieRule="undecided"), fused)
    np.testing.assert_array_equal(itk_form(fuser)(*images, power=2.0), fused)
    with pytest.raises(ParameterError, match="Power must be a number >= 0, got -1"):
        fuser(Power=-1)
    with pytest.raises(ParameterError, match="LabelForUndecidedPixels must fit"):
        fuser(LabelForUndecidedPixels=300).Execute(images)
    gappy = fuser(MaskImage=np.eye(9, 11, dtype=np.uint8)).Execute([None, *images])
    assert not gappy[np.eye(9, 11) == 0].any()
