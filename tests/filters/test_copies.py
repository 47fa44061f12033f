"""Copies of a filter are equivalent to it, however they are made and whatever its parameters
hold.
"""

from __future__ import annotations

import copy
import io
import pickle
from typing import Any

import contract
import joblib
import numpy as np
import pytest
from contract import FAMILIES, GUESTS, Fuser

from itk_consensus import MajorityVoteFilter
from itk_consensus.methods.registry import FUSERS

SHAPE = (8, 9, 10)


def by_joblib(filter_: Any) -> Any:
    file = io.BytesIO()
    joblib.dump(filter_, file)
    file.seek(0)
    return joblib.load(file)


WAYS = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda filter_: pickle.loads(pickle.dumps(filter_)),
    "joblib": by_joblib,
}
every_way = pytest.mark.parametrize("way", WAYS)


def masks(seed: int = 1) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    mask, *of_raters = ((rng.random(SHAPE) < share).astype(np.uint8) for share in (0.8, 0.6, 0.7))
    return {"MaskImage": mask, "RaterMasks": [of_raters[0], None, of_raters[1], None]}


@every_way
@pytest.mark.parametrize("fuser", FUSERS, ids=lambda fuser: fuser.__name__)
def test_a_copy_has_the_masks_of_the_filter_and_answers_alike(fuser: Fuser, way: str) -> None:
    images, filter_ = contract.raters(SHAPE), fuser(**masks())
    twin = WAYS[way](filter_)
    assert twin is not filter_
    answer = filter_.Execute(images)
    assert not np.array_equal(answer, fuser().Execute(images)), "masks must matter here"
    np.testing.assert_array_equal(twin.Execute(images), answer)


@every_way
@pytest.mark.parametrize("family", [*FAMILIES, *GUESTS])
def test_masks_of_every_library_survive_copies(family: str, way: str) -> None:
    make = contract.make_guest if family in GUESTS else contract.make
    to_array = contract.guest_array if family in GUESTS else contract.to_array
    images = [make(array, family) for array in contract.raters(SHAPE)]
    given = masks()
    mask = make(given["MaskImage"], family)
    of_raters = [None if one is None else make(one, family) for one in given["RaterMasks"]]
    filter_ = MajorityVoteFilter(MaskImage=mask, RaterMasks=of_raters)
    answer = WAYS[way](filter_).Execute(images)
    np.testing.assert_array_equal(to_array(answer), to_array(filter_.Execute(images)))


@every_way
def test_setting_a_copy_leaves_the_filter_alone(way: str) -> None:
    filter_ = MajorityVoteFilter(**masks())
    twin = WAYS[way](filter_)
    twin.SetMaskImage(None)
    twin.SetTieRule("lowest")
    assert filter_.GetMaskImage() is not None
    assert filter_.GetTieRule() == "undecided"


class Unpicklable:
    """An image that cannot be pickled, e.g. one in the memory of a device."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.ones(SHAPE, np.uint8)

    def __reduce__(self) -> Any:
        raise TypeError("cannot be pickled")


def test_a_mask_that_cannot_be_pickled_is_not_left_behind_silently() -> None:
    filter_ = MajorityVoteFilter(MaskImage=Unpicklable())
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(filter_)
