"""The plot function for notebooks: readers and consensus in three planes, drawn by matplotlib."""

from __future__ import annotations

import numpy as np
import pytest

import itk_consensus as ic
from itk_consensus.core.errors import InputError, MissingDependencyError
from itk_consensus.report import plot as plot_module


def test_three_planes_with_every_reader_by_name_and_the_consensus() -> None:
    pytest.importorskip("matplotlib")
    images = ic.sample_case()
    names = ["ann", "bob", "cem", "dan"]
    figure = ic.plot(images, ic.Consensus(images), image=images[0], names=names)
    assert [panel.get_title().split()[0] for panel in figure.axes] == [
        "axial",
        "coronal",
        "sagittal",
    ]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [*names, "consensus"]
    assert all(panel.images for panel in figure.axes)
    share = np.mean(
        [ic.images.convert.load([one], owner="test").arrays[0] for one in images], axis=0
    )
    dissent = np.minimum(share, 1 - share).sum(axis=(1, 2))
    assert figure.axes[0].get_title() == f"axial slice {dissent.argmax()}"


def test_a_filter_and_flat_arrays_are_drawn_too() -> None:
    pytest.importorskip("matplotlib")
    masks = [np.pad(np.ones((8, 8 + n), np.uint8), 6) for n in (0, 0, 0)]
    masks[1][5, 6:14] = 1
    filter_ = ic.MajorityVoteFilter()
    filter_.Execute(masks)
    figure = ic.plot(masks, filter_)
    assert len(figure.axes) == 1
    with pytest.raises(InputError, match="grid"):
        ic.plot(masks, filter_, image=np.zeros((3, 3)))


def test_without_matplotlib_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise MissingDependencyError("pictures need matplotlib: pip install 'itk-consensus[plot]'")

    monkeypatch.setattr(plot_module, "figure_class", missing)
    with pytest.raises(MissingDependencyError, match="plot"):
        ic.plot([], None)
