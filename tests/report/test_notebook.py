"""Display in notebooks: HTML of filters and results, data frames, progress."""

from __future__ import annotations

import io
import re
import sys
from typing import Any

import numpy as np
import pytest
import SimpleITK as sitk

import itk_consensus as ic
from itk_consensus.core.errors import ParameterError
from itk_consensus.report.progress import TextBar, bar_on, show_progress
from tests.report.test_page import Elements


@pytest.fixture(scope="module")
def consensus() -> ic.ConsensusFilter:
    filter_ = ic.ConsensusFilter()
    filter_.Execute(ic.sample_case())
    return filter_


def html(thing: Any) -> str:
    """Return the HTML for a notebook, after checking that it is complete, self-contained and
    without ids.
    """
    text = thing._repr_html_()
    found = Elements(text).found
    for _, attributes in found:
        assert "id" not in attributes  # ids would be duplicated if two cells showed the same
        for name in ("href", "src"):
            assert (attributes.get(name) or "data:").startswith("data:")
    assert found[0][1]["class"] == "itk-consensus"
    return str(text)


def test_a_filter_shows_facts_findings_slices_and_raters(consensus: ic.ConsensusFilter) -> None:
    text = html(consensus)
    for words in ("Who deviates", "far from the others", "<svg", "rater 3"):
        assert words in text


def test_a_filter_that_has_not_run_is_shown_as_its_text() -> None:
    assert ic.ConsensusFilter()._repr_html_() is None
    assert ic.AgreementFilter()._repr_html_() is None


def test_results_have_a_display(consensus: ic.ConsensusFilter) -> None:
    images = ic.sample_case()
    agreement = ic.agreement(images)
    assert "far from the others" in html(consensus.GetDiagnostics())
    assert "Pairwise Dice" in html(agreement)
    assert "surface_dice" in html(agreement.pairs())
    left = [ic.Structure("GTVp", images[0]), ic.Structure("<node>", images[0])]
    matched = ic.match_structures({"anna": left, "ben": [ic.Structure("gtv p", images[1])]})
    assert "Only one reader has &lt;node&gt;." in html(matched)


def test_a_guarantee_is_a_text_with_a_display() -> None:
    cases = ic.sample_cohort(9, seed=1)
    votes = [ic.MajorityVoteFilter() for _ in cases]
    for vote, case in zip(votes, cases, strict=True):
        vote.Execute(case.raters)
    band = ic.ConformalBandFilter(Alpha=0.2)
    band.Calibrate(
        [vote.GetProbabilityImage(1) for vote in votes],
        [case.truth for case in cases],
        [case.raters for case in cases],
    )
    promise = band.GetGuarantee()
    assert isinstance(promise, str)
    assert promise.split()[0] in html(promise)
    assert promise[:40] in html(band)


def test_show_takes_the_image_and_names(consensus: ic.ConsensusFilter) -> None:
    image = sitk.Cast(ic.sample_case()[0], sitk.sitkInt16) * 800 - 800
    shown = ic.show(
        consensus, image, ["Ann", "Bob", "Cem", "Dan"], window="lung", label_names={1: "nodule"}
    )
    text = html(shown)
    for words in ("Ann", "Grey values: lung", "nodule"):
        assert words in text
    assert "ConsensusFilter" in repr(shown)
    assert "Pairwise Dice" in html(ic.show(ic.agreement(ic.sample_case())))
    with pytest.raises(ParameterError, match=r"needs a fuser after Execute.*got int"):
        ic.show(3)


def test_the_style_of_a_display_reaches_nothing_beside_it(consensus: ic.ConsensusFilter) -> None:
    (style,) = re.findall(r"<style>(.*?)</style>", html(consensus), re.S)
    assert style.startswith(".itk-consensus {")
    depth, ends = 0, []
    for number, letter in enumerate(style):
        depth += (letter == "{") - (letter == "}")
        if letter == "}" and depth == 0:
            ends.append(number)
    assert ends == [len(style) - 1]  # one block contains all styles
    assert not re.search(r"\bbody\b", style)
    assert ":root" not in style


def test_summary_and_pairs_are_lists_and_frames() -> None:
    pandas = pytest.importorskip("pandas")
    agreement = ic.agreement(ic.sample_case())
    pairs = agreement.pairs()
    assert isinstance(pairs, list)
    assert len(pairs) == len(agreement.pairs()) == 6
    frame = pairs.to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["dice"].tolist() == [row["dice"] for row in pairs]
    assert len(agreement.summary().to_frame()) == 1
    assert agreement.of_raters().to_frame()["rater"].tolist() == [f"rater {n}" for n in range(4)]


def test_progress_is_tqdms_where_it_is_installed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("tqdm")
    filter_ = ic.STAPLEImageFilter()
    show_progress(filter_)
    filter_.Execute([np.eye(40, dtype=np.uint8)] * 3)
    assert "STAPLEImageFilter" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    assert isinstance(bar_on(sys.stderr), TextBar)


def test_without_tqdm_the_bar_is_a_line() -> None:
    stream = io.StringIO()
    bar = bar_on(stream)
    bar.show(0.5, "half")
    assert stream.getvalue() == "\r[############            ]  50%  half"
    bar.clear()
    assert stream.getvalue().endswith(" \r")
