"""Stored values are read back unchanged, regardless of what happens to other copies."""

from __future__ import annotations

import numpy as np
import pytest

from itk_consensus.space.blocks import Packed, Shelf


@pytest.mark.parametrize("sizes", [(5, 3), (5, 0), (0, 5), (0, 0), (4097, 0, 1)])
def test_stored_arrays_come_back_also_empty_ones(sizes: tuple[int, ...]) -> None:
    """Previously, an empty array at the end was read from beyond the end of the file."""
    shelf = Shelf()
    values = [np.arange(size, dtype=np.float32) for size in sizes]
    places = [shelf.put((values, number)) for number in range(3)]
    for number, place in enumerate(places):
        found, own = place.value()
        assert own == number
        for one, other in zip(found, values, strict=True):
            np.testing.assert_array_equal(one, other)
            assert one.flags.aligned


def test_a_stored_array_that_is_written_to_is_a_copy() -> None:
    place = Shelf().put(np.zeros((3, 4)))
    place.value()[:] = 7
    assert not place.value().any()


def test_a_stored_array_that_is_not_contiguous_comes_back() -> None:
    whole = np.arange(24).reshape(4, 6)
    np.testing.assert_array_equal(Shelf().put(whole[:, ::2]).value(), whole[:, ::2])


def test_a_stored_part_becomes_its_array() -> None:
    array = np.arange(24, dtype=np.int16).reshape(4, 6)
    place = Shelf().put(Packed.of(array))._replace(dtype=array.dtype)
    np.testing.assert_array_equal(place.part((slice(1, 3), slice(2, 5))), array[1:3, 2:5])
