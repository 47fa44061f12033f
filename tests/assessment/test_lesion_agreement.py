from __future__ import annotations

import numpy as np
import pytest
import SimpleITK as sitk

import itk_consensus as ic
from examples.simulation import LESION_SETTINGS
from itk_consensus.assessment.agreement.lesions import agreement_by_size, pair_objects
from itk_consensus.core.errors import InputError, ParameterError
from itk_consensus.methods.lesions.objects import number_objects

#: Output of panoptica 2.1.7 for the first two readers of seed 3: setting, minimum overlap, both,
#: only first, only second, F1, mean IoU, panoptic quality, mean Dice. It requires an older NumPy
#: and cannot be run here; it was given the same instance maps.
PANOPTICA = [
    (
        "missed and false",
        0.5,
        8,
        5,
        3,
        0.6666666666666666,
        0.8467356650514611,
        0.5644904433676408,
        0.9129053214153645,
    ),
    (
        "missed and false",
        0.25,
        8,
        5,
        3,
        0.6666666666666666,
        0.8467356650514611,
        0.5644904433676408,
        0.9129053214153645,
    ),
    (
        "touching and joined",
        0.5,
        9,
        9,
        8,
        0.5142857142857142,
        0.894609368584313,
        0.4600848181290752,
        0.9430230440819886,
    ),
    (
        "touching and joined",
        0.25,
        13,
        5,
        4,
        0.7428571428571429,
        0.753770696889224,
        0.5599439462605664,
        0.839910669623499,
    ),
    (
        "split",
        0.5,
        7,
        4,
        4,
        0.6363636363636364,
        0.8614582855239913,
        0.5482007271516308,
        0.919119660100427,
    ),
    (
        "split",
        0.25,
        9,
        2,
        2,
        0.8181818181818182,
        0.752329256605206,
        0.6155421190406232,
        0.8349444086788036,
    ),
    ("thick slices", 0.5, 6, 1, 2, 0.8, 0.8276513140039307, 0.6621210512031446, 0.9027558417570029),
    (
        "thick slices",
        0.25,
        6,
        1,
        2,
        0.8,
        0.8276513140039307,
        0.6621210512031446,
        0.9027558417570029,
    ),
]


@pytest.mark.parametrize(("name", "least", *"abcdefg"), PANOPTICA)
def test_measures_are_those_of_panoptica(name, least, a, b, c, d, e, f, g):
    case = LESION_SETTINGS[name](3)
    maps = [number_objects(rater, "components").places for rater in case.raters[:2]]
    row = agreement_by_size(("", ""), pair_objects(*maps, least), case.spacing)[0]
    assert (row.both, row.only_first, row.only_second) == (a, b, c)
    np.testing.assert_allclose(
        [row.f1, row.segmentation_quality, row.panoptic_quality, row.dice], [d, e, f, g]
    )


def test_pairs_from_one_half_on_are_those_of_brute_force():
    case = LESION_SETTINGS["touching and joined"](8)
    one, other = (number_objects(rater, "components").places for rater in case.raters[:2])
    found = pair_objects(one, other)
    wanted = {}
    for a in range(1, one.max() + 1):
        for b in range(1, other.max() + 1):
            shared = np.count_nonzero((one == a) & (other == b))
            iou = shared / np.count_nonzero((one == a) | (other == b))
            if iou >= 0.5:
                wanted[a - 1, b - 1] = iou
    assert dict(
        zip(
            zip(found.one.tolist(), found.other.tolist(), strict=True),
            found.iou.tolist(),
            strict=True,
        )
    ) == pytest.approx(wanted)


def test_classes_of_size_add_up_to_all():
    case = LESION_SETTINGS["missed and false"](9)
    result = ic.lesion_agreement(list(case.raters), names=list("abcde"))
    rows = [row for row in result.rows if (row.first, row.second) == ("a", "c")]
    assert [row.size for row in rows] == ["all", "up to 5 mm", "5 to 10 mm", "over 10 mm"]
    for field in ("both", "only_first", "only_second"):
        whole, *parts = (getattr(row, field) for row in rows)
        assert whole == sum(parts)


def test_a_reader_agrees_with_itself_and_volumes_differ_by_how_much_more_is_drawn():
    case = LESION_SETTINGS["touching"](2)
    image = sitk.GetImageFromArray(case.truth)
    small = np.zeros((20, 20), np.uint8)
    small[5:10, 5:10] = 1
    large = small.copy()
    large[10, 5:10] = 1
    row = ic.lesion_agreement([image, image]).rows[0]
    assert (row.f1, row.panoptic_quality, row.dice, row.volume_difference) == (1, 1, 1, 0)
    assert ic.lesion_agreement([large, small]).rows[0].volume_difference == pytest.approx(0.2)


def test_a_consensus_is_compared_with_every_reader():
    case = LESION_SETTINGS["found .7"](2)
    result = ic.lesion_agreement(list(case.raters), ic.InstanceConsensusFilter())
    to_consensus = [r for r in result.rows if r.second == "reference" and r.size == "all"]
    assert len(to_consensus) == len(case.raters)
    between = [r.f1 for r in result.rows if r.second != "reference" and r.size == "all"]
    assert np.mean([r.f1 for r in to_consensus]) > np.mean(between)
    assert result.to_csv().startswith("first,second,size,both")
    assert len(result.to_pandas()) == len(result.rows)


def test_nothing_to_find_has_no_f1():
    row = ic.lesion_agreement([np.zeros((4, 4), np.uint8)] * 2).rows[0]
    assert np.isnan(row.f1)
    assert row.both == row.only_first == row.only_second == 0


@pytest.mark.parametrize(
    ("parameter", "value"),
    [("inputObjects", "voxels"), ("leastOverlap", 0.0), ("sizeLimits", (5, 3))],
)
def test_wrong_parameters_are_named(parameter, value):
    with pytest.raises(ParameterError, match=f"lesion_agreement: {parameter} must be"):
        ic.lesion_agreement([np.zeros((4, 4), np.uint8)] * 2, **{parameter: value})


@pytest.mark.parametrize("value", [0.5, np.nan])
def test_what_is_no_label_is_no_lesion(value: float) -> None:
    drawn = np.zeros((6, 7, 8))
    drawn[2:4, 3:5] = value
    with pytest.raises(InputError, match="lesion_agreement: input 0 must hold whole-number labels"):
        ic.lesion_agreement([drawn, drawn != 0])
