"""Test suite that every registered fuser must pass."""

from __future__ import annotations

import copy
import gc
import inspect
import pickle
import warnings
import weakref
from typing import Any

import contract
import numpy as np
import pytest
import SimpleITK as sitk
from contract import (
    CASE_NAMES,
    CASES,
    FAMILIES,
    SHAPES,
    Fuser,
    assert_nothing_is_known,
    geometry,
    header,
    make,
    raters,
    to_array,
    without_chance,
)
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.ndimage import gaussian_filter
from scipy.stats import entropy

import itk_consensus
from itk_consensus.core.errors import (
    ConsensusError,
    ConsensusWarning,
    GeometryError,
    InputError,
    ParameterError,
    ProcessAborted,
)
from itk_consensus.core.parameters import Parameter, measurements_of, parameters_of
from itk_consensus.fusing.iteration import MOST_WITHOUT_TOLERANCE
from itk_consensus.methods.registry import FUSERS

every_fuser = pytest.mark.parametrize("fuser", FUSERS, ids=lambda fuser: fuser.__name__)
every_family = pytest.mark.parametrize("family", FAMILIES)
every_parameter = pytest.mark.parametrize(("fuser", "parameter"), CASES, ids=CASE_NAMES)


def all_outputs(filter_: Any) -> list[np.ndarray]:
    """Return all output images."""
    labels = filter_.GetLabels()
    return [
        to_array(filter_.GetLabelImage()),
        *(to_array(filter_.GetProbabilityImage(label)) for label in labels),
    ]


def measured(filter_: Any) -> dict[str, Any]:
    return {m.name: getattr(filter_, f"Get{m.name}")() for m in measurements_of(type(filter_))}


def assert_same(one: Any, other: Any) -> None:
    """Assert bitwise equality, with NaN equal to itself."""
    assert len(one) == len(other)
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a, b)
        assert a.dtype == b.dtype


def outcome(call: Any) -> Any:
    """Return the return value of a call, or its error."""
    try:
        return to_array(call())
    except ConsensusError as error:
        return type(error)


# -- images in, images out --------------------------------------------------------------------


@every_fuser
@every_family
@pytest.mark.parametrize("shape", SHAPES, ids=["2D", "3D", "4D"])
def test_every_output_has_the_family_and_geometry_of_the_first_input_and_its_metadata_if_asked(
    fuser: Fuser, family: str, shape: tuple[int, ...]
) -> None:
    arrays = raters(shape)
    images = [make(array, family, metadata=k == 0) for k, array in enumerate(arrays)]
    for keeps in ("all_but_identity", "everything"):
        filter_ = fuser(KeepMetaData=keeps)
        outputs = [filter_.Execute(images), filter_.GetLabelImage(), filter_.GetProbabilityImage(1)]
        for output in outputs:
            assert contract.family_of(output) == family
            assert geometry(output) == geometry(images[0])
            metadata = header(images[0]).get("metadata", {}) if keeps == "everything" else {}
            assert header(output).get("metadata", {}) == metadata


@every_fuser
@pytest.mark.parametrize("shape", SHAPES, ids=["2D", "3D", "4D"])
def test_every_family_gives_the_same_voxels(fuser: Fuser, shape: tuple[int, ...]) -> None:
    arrays = raters(shape)
    askew, plain = fuser(), fuser()
    for family, reference, space in (
        ("itk", "SimpleITK", contract.ASKEW),
        ("array", "SimpleITK", contract.UNIT),
    ):
        one = askew.Execute([make(array, family, space=space) for array in arrays])
        other = plain.Execute([make(array, reference, space=space) for array in arrays])
        np.testing.assert_array_equal(to_array(one), to_array(other))
        assert_same(all_outputs(askew), all_outputs(plain))


@every_fuser
@pytest.mark.parametrize("family", contract.GUESTS)
def test_other_libraries_get_their_own_back_with_simpleitks_voxels(
    fuser: Fuser, family: str
) -> None:
    arrays = raters((5, 7, 8))
    guests = [contract.make_guest(array, family) for array in arrays]
    headers = [contract.guest_header(guest) for guest in guests]
    ours, reference = fuser(), fuser()
    first = ours.Execute(guests)
    if family == "tensor":
        expected = reference.Execute(arrays)
    else:
        expected = reference.Execute([contract.make_host(array)[0] for array in arrays])
    for one, other in [
        (first, expected),
        (ours.GetLabelImage(), reference.GetLabelImage()),
        (ours.GetProbabilityImage(1), reference.GetProbabilityImage(1)),
    ]:
        assert contract.guest_header(one) == headers[0]
        np.testing.assert_array_equal(contract.guest_array(one), to_array(other))
    for guest, before, array in zip(guests, headers, arrays, strict=True):
        assert contract.guest_header(guest) == before
        np.testing.assert_array_equal(contract.guest_array(guest), array)


@every_fuser
@every_family
def test_inputs_are_never_changed(fuser: Fuser, family: str) -> None:
    arrays = raters()
    images = [make(array, family) for array in arrays]
    headers = [header(image) for image in images]
    filter_ = fuser()
    output = filter_.Execute(images)
    filter_.GetLabelImage()
    if family == "array":
        output[...] = 77
        assert all(image.flags.writeable for image in images)
    for image, array, before in zip(images, arrays, headers, strict=True):
        np.testing.assert_array_equal(to_array(image), array)
        assert header(image) == before


@every_fuser
def test_lists_of_inputs_are_never_changed(fuser: Fuser) -> None:
    images: list[Any] = [None, *raters()]
    kept = list(images)
    fuser().Execute(images)
    assert all(a is b for a, b in zip(images, kept, strict=True))
    assert len(images) == len(kept)


@every_fuser
@pytest.mark.parametrize("families", [("SimpleITK", "itk"), ("itk", "SimpleITK")])
def test_simpleitk_and_itk_images_mix_and_the_first_decides(
    fuser: Fuser, families: tuple[str, str]
) -> None:
    arrays = raters()
    images = [make(array, families[k % 2]) for k, array in enumerate(arrays)]
    output = fuser().Execute(images)
    assert contract.family_of(output) == families[0]
    alone = fuser().Execute([make(array, "SimpleITK") for array in arrays])
    np.testing.assert_array_equal(to_array(output), to_array(alone))


@every_fuser
@pytest.mark.parametrize("family", ["SimpleITK", "itk"])
def test_arrays_among_images_are_refused(fuser: Fuser, family: str) -> None:
    first, second = raters(number=2)
    for images in ([make(first, family), second], [first, make(second, family)]):
        with pytest.raises(InputError, match=rf"{fuser.__name__}: .*array"):
            fuser().Execute(images)


@every_fuser
def test_lists_tuples_generators_and_separate_arguments_are_one(fuser: Fuser) -> None:
    images = [make(array, "SimpleITK") for array in raters()]
    wanted = to_array(fuser().Execute(images))
    function, snake_case = contract.function_of(fuser), contract.snake_case_function_of(fuser)
    for output in (
        fuser().Execute(tuple(images)),
        fuser().Execute(image for image in images),
        fuser().Execute(*images),
        function(images),
        function(tuple(images)),
        function(image for image in images),
        function(*images),
        snake_case(*images),
        snake_case(images),
    ):
        np.testing.assert_array_equal(to_array(output), wanted)


@every_fuser
def test_more_images_than_simpleitk_takes_may_be_separate_arguments(fuser: Fuser) -> None:
    arrays = raters(number=9)
    output = contract.function_of(fuser)(*arrays)
    np.testing.assert_array_equal(output, fuser().Execute(arrays))


@every_fuser
def test_a_vector_image_is_one_rater_per_component(fuser: Fuser) -> None:
    images = [make(array, "SimpleITK") for array in raters()]
    stack = sitk.Compose(images)
    one, other = fuser(), fuser()
    np.testing.assert_array_equal(to_array(one.Execute(stack)), to_array(other.Execute(images)))
    np.testing.assert_array_equal(to_array(one.Execute([stack])), to_array(other.Execute(images)))
    assert_same(all_outputs(one), all_outputs(other))


LAYOUTS = {
    "Fortran": np.asfortranarray,
    "big-endian": lambda a: a.astype(">i4"),
    "strided": lambda a: np.repeat(a, 2, axis=1)[:, ::2],
    "bool": lambda a: a.astype(bool),
    "float32": lambda a: a.astype(np.float32),
    "float64": lambda a: a.astype(np.float64),
    "int64": lambda a: a.astype(np.int64),
}


@every_fuser
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_of_memory_gives_the_same_voxels(fuser: Fuser, layout: str) -> None:
    plain, other = fuser(), fuser()
    plain.Execute(raters())
    arrays = [LAYOUTS[layout](array) for array in raters()]
    for array in arrays:
        array.setflags(write=False)
    other.Execute(arrays)
    # Floats may be probabilities, whose sums are rounded differently from counts of votes.
    rounded = 1e-12 if fuser.takes_probabilities and layout.startswith("float") else 0
    for one, two in zip(all_outputs(plain), all_outputs(other), strict=True):
        np.testing.assert_allclose(one, two, rtol=0, atol=rounded)
        assert two.flags.c_contiguous
        assert two.dtype.isnative


@every_fuser
def test_label_maps_have_a_type_by_the_inputs_types_alone(fuser: Fuser) -> None:
    for dtype in ("uint8", "int16", "uint32", "int64", "uint64"):
        filter_ = fuser()
        filter_.Execute([array.astype(dtype) for array in raters()])
        assert filter_.GetLabelImage().dtype == dtype
        assert filter_.GetProbabilityImage(1).dtype == np.float64
    mixed = fuser()
    mixed.Execute(
        [array.astype(t) for array, t in zip(raters(), ["u1", "u2", "u1", "u1"], strict=True)]
    )
    assert mixed.GetLabelImage().dtype == np.uint16
    for dtype, wanted in (("bool", "uint8"), ("float32", "int32"), ("float64", "int32")):
        floating = fuser()
        floating.Execute([array.astype(dtype) for array in raters()])
        assert floating.GetLabelImage().dtype == wanted


@every_fuser
def test_outputs_are_separate_images_each_time(fuser: Fuser) -> None:
    filter_ = fuser()
    filter_.Execute(raters())
    first = filter_.GetLabelImage()
    kept = first.copy()
    first[...] = 99
    np.testing.assert_array_equal(filter_.GetLabelImage(), kept)


@every_fuser
def test_inputs_are_let_go_after_execute(fuser: Fuser) -> None:
    arrays = [array.copy() for array in raters()]
    watched = [weakref.ref(array) for array in arrays]
    filter_ = fuser()
    filter_.Execute(arrays)
    del arrays
    gc.collect()
    assert [reference() for reference in watched] == [None] * len(watched)
    filter_.GetLabelImage()


# -- invalid inputs ---------------------------------------------------------------------------


@every_fuser
@pytest.mark.parametrize("images", [[], (), [None], [None, None]], ids=repr)
def test_no_image_at_all_is_an_error(fuser: Fuser, images: Any) -> None:
    with pytest.raises(InputError, match=f"{fuser.__name__}: needs at least one image"):
        fuser().Execute(images)


@every_fuser
def test_calling_without_arguments_is_an_error(fuser: Fuser) -> None:
    for call in (
        fuser().Execute,
        contract.function_of(fuser),
        contract.snake_case_function_of(fuser),
    ):
        with pytest.raises(InputError, match=f"{fuser.__name__}: needs at least one image"):
            call()


@every_fuser
def test_one_bare_array_is_an_error_that_suggests_a_list(fuser: Fuser) -> None:
    stack = np.stack(raters())
    for call in (fuser().Execute, contract.function_of(fuser)):
        with pytest.raises(InputError, match=r"pass list\(a\)"):
            call(stack)


@every_fuser
@pytest.mark.parametrize("thing", ["mask.nrrd", 3, 2.5, {"a": 1}, [1, 2], object], ids=str)
def test_things_that_are_no_images_are_refused_by_index(fuser: Fuser, thing: Any) -> None:
    with pytest.raises(InputError, match=f"{fuser.__name__}: input 1 must be"):
        fuser().Execute([raters()[0], thing])


@every_fuser
@every_family
def test_different_sizes_are_refused_with_both_sizes(fuser: Fuser, family: str) -> None:
    images = [make(np.ones((9, 11), np.uint8), family), make(np.ones((9, 10), np.uint8), family)]
    array = r"\(9, 10\) instead of \(9, 11\)"
    sizes = array if family == "array" else r"\(10, 9\) instead of \(11, 9\)"
    with pytest.raises(GeometryError, match=f"{fuser.__name__}: input 1 .*{sizes}"):
        fuser().Execute(images)


@every_fuser
@pytest.mark.parametrize("field", ["Spacing", "Origin", "Direction"])
def test_another_space_is_refused_naming_what_differs_and_how_to_allow_it(
    fuser: Fuser, field: str
) -> None:
    images = [make(array, "SimpleITK") for array in raters(number=3)]
    values = np.array(getattr(images[2], f"Get{field}")())
    getattr(images[2], f"Set{field}")((values + 1e-4).tolist())
    tolerance = "DirectionTolerance" if field == "Direction" else "CoordinateTolerance"
    with pytest.raises(GeometryError, match=f"input 2 .*{field.lower()}") as caught:
        fuser().Execute(images)
    assert f"set {tolerance} to " in str(caught.value)
    fuser(**{tolerance: 1e-2}).Execute(images)


@every_fuser
def test_the_global_tolerance_is_what_filters_use_by_default(fuser: Fuser) -> None:
    images = [make(array, "SimpleITK") for array in raters(number=3)]
    images[1].SetOrigin([value + 1e-4 for value in images[1].GetOrigin()])
    usual = itk_consensus.ProcessObject.GetGlobalDefaultCoordinateTolerance()
    try:
        itk_consensus.ProcessObject.SetGlobalDefaultCoordinateTolerance(1e-2)
        fuser().Execute(images)
    finally:
        itk_consensus.ProcessObject.SetGlobalDefaultCoordinateTolerance(usual)
    with pytest.raises(GeometryError):
        fuser().Execute(images)


@every_fuser
@pytest.mark.parametrize("odd", [0.5, np.nan])
def test_values_that_are_no_labels_are_refused(fuser: Fuser, odd: float) -> None:
    if (fuser.takes_probabilities or fuser.soft_inputs) and odd == 0.5:
        pytest.skip("takes it as a probability")
    arrays = [array.astype(np.float32) for array in raters()]
    arrays[2][3, 3] = odd
    wanted = "probabilities from 0 to 1" if fuser.takes_probabilities else "whole-number"
    with pytest.raises(InputError, match=f"{fuser.__name__}: input 2 must hold .*{wanted}"):
        fuser().Execute(arrays)


soft_fuser = pytest.mark.parametrize(
    "fuser", [f for f in FUSERS if f.soft_inputs], ids=lambda fuser: fuser.__name__
)


def soft(shape: tuple[int, ...] = (9, 11)) -> list[np.ndarray]:
    """Return masks that are blurred differently for each rater."""
    return [
        gaussian_filter(array.astype(float), 0.3 + 0.2 * k).astype(np.float32)
        for k, array in enumerate(raters(shape))
    ]


@soft_fuser
def test_soft_inputs_of_every_family_give_the_same_and_are_not_changed(fuser: Fuser) -> None:
    arrays = soft((5, 7, 8))
    plain = fuser(**without_chance(fuser))
    plain.Execute(arrays)
    foreground = plain.GetProbabilityImage(1)
    assert ((foreground >= 0) & (foreground <= 1)).all()
    background = plain.GetProbabilityImage(0)
    np.testing.assert_allclose(foreground + background, 1, atol=1e-9)
    for family in ("SimpleITK", "itk"):
        images = [make(array, family, space=contract.UNIT) for array in arrays]
        other = fuser(**without_chance(fuser))
        other.Execute(images)
        assert contract.family_of(other.GetLabelImage()) == family
        np.testing.assert_array_equal(to_array(other.GetProbabilityImage(1)), foreground)
        for image, array in zip(images, arrays, strict=True):
            np.testing.assert_array_equal(to_array(image), array)
    for family in contract.GUESTS:
        guests = [contract.make_guest(array, family) for array in arrays]
        fused = fuser(**without_chance(fuser)).Execute(guests)
        assert contract.guest_header(fused) == contract.guest_header(guests[0])


@soft_fuser
def test_soft_raters_may_be_missing_weigh_nothing_and_lie_outside_a_mask(fuser: Fuser) -> None:
    arrays = soft()
    fewer, none = fuser(**without_chance(fuser)), fuser(**without_chance(fuser))
    fewer.Execute(arrays[:3])
    none.Execute([*arrays[:3], None])
    np.testing.assert_array_equal(none.GetProbabilityImage(1), fewer.GetProbabilityImage(1))
    gap = np.zeros(arrays[0].shape, bool)
    gap[2:5, 3:6] = True
    masks = [None, None, None, ~gap]
    told, masked = fuser(RaterMasks=masks), fuser()
    told.Execute(arrays)
    holes = np.ma.masked_array(np.where(gap, np.nan, arrays[3]), gap)
    masked.Execute([*arrays[:3], holes])
    np.testing.assert_array_equal(
        np.asarray(masked.GetProbabilityImage(1)), told.GetProbabilityImage(1)
    )
    inside = fuser(MaskImage=(~gap).astype(np.uint8))
    inside.Execute(arrays)
    assert not inside.GetProbabilityImage(1)[gap].any()


@soft_fuser
def test_certain_soft_inputs_are_masks(fuser: Fuser) -> None:
    """A single fraction at a disputed voxel turns all inputs into probabilities."""
    masks = raters((12, 13))
    place = tuple(np.argwhere(np.ptp(masks, axis=0) > 0)[0])
    hard, almost = fuser(**without_chance(fuser)), fuser(**without_chance(fuser))
    hard.Execute(masks)
    nearly = [mask.astype(np.float64) for mask in masks]
    nearly[0][place] = abs(nearly[0][place] - 1e-12)
    almost.Execute(nearly)
    np.testing.assert_allclose(
        almost.GetProbabilityImage(1), hard.GetProbabilityImage(1), atol=1e-5
    )


@every_fuser
@pytest.mark.parametrize("shape", [(0,), (3, 0)])
def test_images_without_voxels_are_refused(fuser: Fuser, shape: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match="no voxels"):
        fuser().Execute([np.zeros(shape, np.uint8)] * 2)


@every_fuser
def test_one_voxel_is_enough(fuser: Fuser) -> None:
    one = np.ones((1, 1), np.uint8)
    filter_ = fuser()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsensusWarning)
        filter_.Execute([one, one, one])
    assert filter_.GetLabelImage().tolist() == [[1]]


@every_fuser
def test_raters_who_annotated_nothing_at_all_are_an_error(fuser: Fuser) -> None:
    images = raters()
    nowhere = [np.zeros_like(image) for image in images]
    with pytest.raises(ConsensusError, match=fuser.__name__):
        fuser(RaterMasks=nowhere).Execute(images)


# -- parameters -------------------------------------------------------------------------------


@every_parameter
def test_every_spelling_of_a_parameter_sets_the_same_value(
    fuser: Fuser, parameter: Parameter[Any]
) -> None:
    value = contract.good_value(parameter, raters())
    by_setter = fuser()
    getattr(by_setter, f"Set{parameter.name}")(value)
    filters = [
        by_setter,
        fuser(**{parameter.name: value}),
        fuser(**{parameter.keyword: value}),
        fuser(**{parameter.snake_case: value}),
    ]
    filters.append(fuser())
    setattr(filters[-1], parameter.name, value)
    wanted = getattr(by_setter, f"Get{parameter.name}")()
    default = getattr(fuser(), f"Get{parameter.name}")()
    assert repr(wanted) != repr(default)
    for filter_ in filters:
        assert repr(getattr(filter_, f"Get{parameter.name}")()) == repr(wanted)
        assert repr(getattr(filter_, parameter.name)) == repr(wanted)


@every_parameter
@pytest.mark.filterwarnings("ignore::itk_consensus.core.errors.ConsensusWarning")
def test_keyword_setter_and_both_functions_give_the_same_output(
    fuser: Fuser, parameter: Parameter[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    images = raters()
    value = contract.good_value(parameter, images)
    by_setter = fuser()
    getattr(by_setter, f"Set{parameter.name}")(value)
    calls = [
        lambda: by_setter.Execute(images),
        lambda: fuser(**{parameter.name: value}).Execute(images),
        lambda: contract.function_of(fuser)(images, **{parameter.keyword: value}),
        lambda: contract.snake_case_function_of(fuser)(*images, **{parameter.snake_case: value}),
    ]
    wanted, *others = [outcome(call) for call in calls]
    for other in others:
        np.testing.assert_array_equal(other, wanted)


@every_fuser
@pytest.mark.filterwarnings("ignore::itk_consensus.core.errors.ConsensusWarning")
def test_parameters_by_position_follow_simpleitks_order(fuser: Fuser) -> None:
    images = raters()
    table = {parameter.name: parameter for parameter in parameters_of(fuser)}
    assert set(fuser.positional) <= set(table)
    function = contract.function_of(fuser)
    for count in range(1, len(fuser.positional) + 1):
        names = fuser.positional[:count]
        values = [contract.good_value(table[name], images) for name in names]
        by_position = outcome(lambda v=values: function(images, *v))
        named = dict(zip(names, values, strict=True))
        by_name = outcome(lambda n=named: fuser(**n).Execute(images))
        np.testing.assert_array_equal(by_position, by_name)
        separate = outcome(lambda v=values: function(*images, *v))
        np.testing.assert_array_equal(separate, by_name)


@every_fuser
def test_too_many_positional_parameters_are_refused(fuser: Fuser) -> None:
    with pytest.raises(ParameterError, match="by position"):
        contract.function_of(fuser)(raters(), *[1] * (len(fuser.positional) + 1))


@every_fuser
def test_a_parameter_given_twice_is_refused(fuser: Fuser) -> None:
    if not fuser.positional:
        pytest.skip("takes nothing by position")
    parameter = next(p for p in parameters_of(fuser) if p.name == fuser.positional[0])
    value = getattr(fuser(), parameter.name)
    with pytest.raises((ParameterError, TypeError), match=parameter.name[1:]):
        contract.function_of(fuser)(raters(), value, **{parameter.keyword: value})


@every_parameter
def test_bad_values_are_refused_in_one_form_of_words(
    fuser: Fuser, parameter: Parameter[Any]
) -> None:
    filter_ = fuser()
    before = repr(getattr(filter_, f"Get{parameter.name}")())
    values = contract.bad_values(parameter.kind)
    assert values
    for value in values:
        with pytest.raises(ParameterError) as caught:
            getattr(filter_, f"Set{parameter.name}")(value)
        message = str(caught.value)
        assert message.startswith(f"{fuser.__name__}: {parameter.name} must be ")
        assert ", got " in message
        with pytest.raises(ParameterError, match=f"{fuser.__name__}: {parameter.name} must be"):
            fuser(**{parameter.keyword: value})
    assert repr(getattr(filter_, f"Get{parameter.name}")()) == before


@every_parameter
def test_numpy_numbers_are_numbers(fuser: Fuser, parameter: Parameter[Any]) -> None:
    value = contract.good_value(parameter, raters())
    if not isinstance(value, (bool, int, float)):
        pytest.skip("not a number")
    filter_ = fuser(**{parameter.name: np.array([value])[0]})
    stored = getattr(filter_, f"Get{parameter.name}")()
    assert stored == value
    assert type(stored) is type(value)


@every_fuser
def test_an_unknown_parameter_is_refused_and_the_known_are_listed(fuser: Fuser) -> None:
    for call in (fuser, contract.function_of(fuser), contract.snake_case_function_of(fuser)):
        with pytest.raises(ParameterError, match=r"no parameter 'nonsense'.*numberOfThreads"):
            call(nonsense=1) if call is fuser else call(raters(), nonsense=1)


@every_fuser
def test_functions_describe_their_parameters(fuser: Fuser) -> None:
    for function in (contract.function_of(fuser), contract.snake_case_function_of(fuser)):
        keywords = set(inspect.signature(function).parameters) - {"images"}
        spelled = (
            {p.keyword for p in parameters_of(fuser)},
            {p.snake_case for p in parameters_of(fuser)},
        )
        assert keywords in spelled
        assert inspect.getdoc(function).startswith(inspect.getdoc(fuser)[:40])


@every_fuser
def test_a_fuser_says_what_it_is(fuser: Fuser) -> None:
    assert fuser().GetName() == fuser.__name__
    assert fuser.method
    assert fuser.summary.endswith(".")
    assert fuser.laws <= {
        "rater permutation",
        "relabelling",
        "unanimity",
        "background padding",
        "clean background padding",
    }
    assert len({other.method for other in FUSERS}) == len(FUSERS)


@every_fuser
def test_outputs_of_the_last_execute_do_not_follow_later_parameters(fuser: Fuser) -> None:
    images = raters(number=2)
    filter_ = fuser()
    filter_.Execute(images)
    labels, outputs = filter_.GetLabels(), all_outputs(filter_)
    for parameter in parameters_of(fuser):
        getattr(filter_, f"Set{parameter.name}")(contract.good_value(parameter, images))
    assert filter_.GetLabels() == labels
    assert_same(all_outputs(filter_), outputs)


# -- before, during and after Execute ---------------------------------------------------------


@every_fuser
def test_nothing_is_known_before_execute(fuser: Fuser) -> None:
    assert_nothing_is_known(fuser())


@every_fuser
def test_nothing_is_known_after_an_execute_that_failed(fuser: Fuser) -> None:
    filter_ = fuser()
    filter_.Execute(raters())
    with pytest.raises(InputError):
        filter_.Execute([])
    assert_nothing_is_known(filter_)


@every_fuser
def test_executing_again_forgets_the_first_inputs(fuser: Fuser) -> None:
    filter_, fresh = fuser(), fuser()
    filter_.Execute(raters((7, 6, 5), number=5, seed=1))
    images = [make(array, "SimpleITK") for array in raters((9, 8), number=3, seed=2)]
    np.testing.assert_array_equal(
        to_array(filter_.Execute(images)), to_array(fresh.Execute(images))
    )
    assert_same(all_outputs(filter_), all_outputs(fresh))
    assert repr(measured(filter_)) == repr(measured(fresh))


@every_fuser
def test_the_same_input_gives_the_same_bits(fuser: Fuser) -> None:
    one, other = fuser(), fuser()
    np.testing.assert_array_equal(one.Execute(raters()), other.Execute(raters()))
    assert_same(all_outputs(one), all_outputs(other))
    assert repr(measured(one)) == repr(measured(other))


@every_fuser
def test_results_do_not_depend_on_threads(fuser: Fuser) -> None:
    images = raters((3, 200, 220), number=3)  # just enough voxels for two slabs
    single = fuser(NumberOfThreads=1)
    wanted = single.Execute(images)
    for threads in (2, 7):
        filter_ = fuser(NumberOfThreads=threads)
        np.testing.assert_array_equal(filter_.Execute(images), wanted)
        assert_same(all_outputs(filter_), all_outputs(single))
        assert repr(measured(filter_)) == repr(measured(single))


@every_fuser
def test_events_come_in_order_and_progress_reaches_one(fuser: Fuser) -> None:
    filter_ = fuser()
    events: list[str] = []
    progress: list[float] = []
    names = ["Start", "Iteration", "Progress", "End", "Abort"]
    for name in names:
        event = getattr(sitk, f"sitk{name}Event")
        assert not filter_.HasCommand(event)
        filter_.AddCommand(event, lambda name=name: events.append(name))
        assert filter_.HasCommand(event)
    filter_.AddCommand(sitk.sitkProgressEvent, lambda: progress.append(filter_.GetProgress()))
    filter_.Execute(raters())
    assert events[0] == "Start"
    assert events[-1] == "End"
    assert events.count("Start") == events.count("End") == 1
    assert "Abort" not in events
    assert progress == sorted(progress)
    assert progress[-1] == 1.0
    assert all(0 <= value <= 1 for value in progress)
    assert filter_.GetProgress() == 1.0
    if contract.iterates(fuser):
        # SimpleITK counts the index of the last iteration; other filters count iterations.
        elapsed = filter_.GetElapsedIterations()
        assert events.count("Iteration") in (elapsed, elapsed + 1)
    filter_.RemoveAllCommands()
    assert not any(filter_.HasCommand(getattr(sitk, f"sitk{name}Event")) for name in names)
    known = len(events)
    filter_.Execute(raters())
    assert len(events) == known


@every_fuser
def test_simpleitks_command_objects_and_the_any_event_work(fuser: Fuser) -> None:
    class Counter(sitk.Command):
        def __init__(self) -> None:
            super().__init__()
            self.calls = 0

        def Execute(self) -> None:
            self.calls += 1

    ends, everything = Counter(), Counter()
    filter_ = fuser()
    filter_.AddCommand(sitk.sitkEndEvent, ends)
    filter_.AddCommand(sitk.sitkAnyEvent, everything)
    filter_.Execute(raters())
    assert ends.calls == 1
    assert everything.calls >= 4


@every_fuser
@pytest.mark.parametrize("event", [8, -1, 100, "Iteration", None, True, 1.5])
def test_events_that_simpleitk_does_not_have_are_refused(fuser: Fuser, event: Any) -> None:
    with pytest.raises(ParameterError, match=f"{fuser.__name__}: AddCommand's event"):
        fuser().AddCommand(event, print)


@every_fuser
def test_a_command_that_cannot_be_called_is_refused(fuser: Fuser) -> None:
    with pytest.raises(ParameterError, match=f"{fuser.__name__}: AddCommand's command"):
        fuser().AddCommand(sitk.sitkEndEvent, 3)


@every_fuser
def test_measurements_and_outputs_are_known_in_the_end_event(fuser: Fuser) -> None:
    filter_ = fuser()
    seen: list[np.ndarray] = []
    filter_.AddCommand(sitk.sitkEndEvent, lambda: seen.append(filter_.GetLabelImage()))
    filter_.Execute(raters())
    np.testing.assert_array_equal(seen[0], filter_.GetLabelImage())


@every_fuser
def test_abort_in_an_iteration_returns_the_current_estimate(fuser: Fuser) -> None:
    if not contract.iterates(fuser):
        pytest.skip("has no iterations to abort")
    filter_ = fuser()
    calls: list[str] = []
    for name in ("Iteration", "End"):
        filter_.AddCommand(getattr(sitk, f"sitk{name}Event"), lambda name=name: calls.append(name))
    filter_.AddCommand(sitk.sitkIterationEvent, filter_.Abort)
    output = filter_.Execute(raters())
    assert calls == ["Iteration", "End"]
    assert filter_.GetElapsedIterations() == 1
    assert not filter_.GetConverged()
    capped = fuser(**contract.capped(fuser, 1))
    np.testing.assert_array_equal(output, capped.Execute(raters()))
    filter_.RemoveAllCommands()
    np.testing.assert_array_equal(filter_.Execute(raters()), fuser().Execute(raters()))


@every_fuser
def test_without_any_tolerance_a_run_ends_by_itself(fuser: Fuser) -> None:
    """Boundary SIMPLE and Spatial STAPLE ran for up to four billion iterations."""
    names = {"Tolerance", "TerminationUpdateThreshold"} & {p.name for p in parameters_of(fuser)}
    if not names:
        pytest.skip("has no tolerance")
    endless = dict.fromkeys(names, 0.0) | contract.capped(fuser, 2**32 - 1)
    filter_ = fuser(**endless)
    calls: list[int] = []

    def count() -> None:
        calls.append(len(calls))
        if len(calls) > MOST_WITHOUT_TOLERANCE:
            filter_.Abort()

    filter_.AddCommand(sitk.sitkIterationEvent, count)
    filter_.Execute(raters((7, 6, 6), number=3))
    assert len(calls) <= MOST_WITHOUT_TOLERANCE


@every_fuser
@pytest.mark.parametrize("event", ["Progress", "Start"])
def test_abort_before_there_is_an_estimate_raises(fuser: Fuser, event: str) -> None:
    filter_ = fuser()
    events: list[str] = []
    for name in ("Abort", "End"):
        filter_.AddCommand(getattr(sitk, f"sitk{name}Event"), lambda name=name: events.append(name))
    filter_.AddCommand(getattr(sitk, f"sitk{event}Event"), filter_.Abort)
    with pytest.raises(ProcessAborted, match=fuser.__name__):
        filter_.Execute(raters())
    assert events == ["Abort"]
    assert_nothing_is_known(filter_)
    filter_.RemoveAllCommands()
    np.testing.assert_array_equal(filter_.Execute(raters()), fuser().Execute(raters()))


@every_fuser
def test_an_error_in_a_command_reaches_the_caller(fuser: Fuser) -> None:
    filter_ = fuser()

    def fail() -> None:
        raise ZeroDivisionError

    filter_.AddCommand(sitk.sitkProgressEvent, fail)
    with pytest.raises(ZeroDivisionError):
        filter_.Execute(raters())
    assert_nothing_is_known(filter_)


@every_fuser
@pytest.mark.parametrize("way", [lambda f: pickle.loads(pickle.dumps(f)), copy.copy, copy.deepcopy])
def test_copies_keep_parameters_images_too_and_drop_callbacks_and_results(
    fuser: Fuser, way: Any
) -> None:
    images = raters()
    filter_ = fuser()
    for parameter in parameters_of(fuser):
        getattr(filter_, f"Set{parameter.name}")(contract.good_value(parameter, images))
    plain = fuser()
    plain.Execute(images)
    plain.AddCommand(sitk.sitkEndEvent, lambda: None)
    twin = way(plain)
    assert not twin.HasCommand(sitk.sitkEndEvent)
    assert_nothing_is_known(twin)
    np.testing.assert_array_equal(twin.Execute(images), fuser().Execute(images))
    other = way(filter_)
    for parameter in parameters_of(fuser):
        value = getattr(other, f"Get{parameter.name}")()
        assert repr(value) == repr(getattr(filter_, f"Get{parameter.name}")())


@every_fuser
def test_printing_shows_parameters_then_measurements(fuser: Fuser) -> None:
    filter_ = fuser(NumberOfThreads=3)
    before = str(filter_)
    assert before.startswith(f"itk_consensus::{fuser.__name__}")
    for parameter in parameters_of(fuser):
        assert f"  {parameter.name}: " in before
    assert "NumberOfThreads: 3\n" in before
    filter_.Execute(raters())
    after = str(filter_)
    for measurement in measurements_of(fuser):
        assert f"  {measurement.name}: " not in before
        assert f"  {measurement.name}: " in after
        assert f"  {measurement.name}: (image)" not in after
    assert "Progress: 1" in after
    assert repr(fuser(NumberOfThreads=3)) == f"{fuser.__name__}(NumberOfThreads=3)"


@every_fuser
def test_debug_prints_the_filter(fuser: Fuser, capsys: pytest.CaptureFixture[str]) -> None:
    filter_ = fuser()
    filter_.Execute(raters())
    assert capsys.readouterr().out == ""
    filter_.DebugOn()
    assert filter_.GetDebug() is True
    filter_.Execute(raters())
    assert fuser.__name__ in capsys.readouterr().out
    filter_.DebugOff()
    assert filter_.GetDebug() is False


@every_fuser
def test_probabilities_are_probabilities_and_belong_to_the_label_map(fuser: Fuser) -> None:
    filter_ = fuser()
    filter_.Execute(raters())
    labels = filter_.GetLabels()
    shares = np.stack([filter_.GetProbabilityImage(label) for label in labels])
    assert ((shares >= 0) & (shares <= 1)).all()
    np.testing.assert_allclose(shares.sum(axis=0), 1, atol=1e-12)
    ordered = np.sort(shares, axis=0)
    clear = ordered[-1] - ordered[-2] > 1e-6
    winners = np.array(labels)[shares.argmax(axis=0)]
    np.testing.assert_array_equal(filter_.GetLabelImage()[clear], winners[clear])


# -- missing annotations -----------------------------------------------------------------------


@every_fuser
@pytest.mark.parametrize("family", ["SimpleITK", "array"])
def test_uncertainty_is_made_of_the_probabilities_of_all_labels(fuser: Fuser, family: str) -> None:
    arrays = raters()
    mask = np.ones_like(arrays[0])
    mask[:2] = 0
    filter_ = fuser(MaskImage=make(mask, family))
    images = [make(array, family) for array in arrays]
    filter_.Execute(images)
    shares = [to_array(filter_.GetProbabilityImage(label)) for label in filter_.GetLabels()]
    inside = np.where(mask == 1, shares, 1.0)
    for kind, expected in (
        ("entropy", entropy(inside, axis=0)),
        ("disagreement", 1 - inside.max(axis=0)),
        ("variance", (inside * (1 - inside)).sum(axis=0) / 2),
    ):
        image = filter_.GetUncertaintyImage(kind)
        assert geometry(image) == geometry(images[0])
        assert to_array(image).dtype == np.float32
        wanted = np.where(mask == 1, expected, 0)
        np.testing.assert_allclose(to_array(image), wanted, atol=1e-6)
    with pytest.raises(ParameterError, match=f"{fuser.__name__}: kind of uncertainty must be one"):
        filter_.GetUncertaintyImage("doubt")


@every_fuser
def test_absent_raters_do_not_count(fuser: Fuser) -> None:
    images = raters()
    plain, gappy = fuser(), fuser()
    plain.Execute(images)
    gappy.Execute([None, images[0], None, *images[1:], None])
    for one, other in zip(all_outputs(plain), all_outputs(gappy), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-9)


@every_fuser
@every_family
def test_outside_the_mask_the_label_is_0_and_every_probability_0(fuser: Fuser, family: str) -> None:
    arrays = raters()
    mask = np.random.default_rng(3).random(arrays[0].shape) < 0.6
    filter_ = fuser(MaskImage=make(mask.astype(np.uint8) * 7, family))
    first = to_array(filter_.Execute([make(array, family) for array in arrays]))
    assert not first[~mask].any()
    for output in all_outputs(filter_):
        assert not output[~mask].any()
    shares = [to_array(filter_.GetProbabilityImage(label)) for label in filter_.GetLabels()]
    np.testing.assert_allclose(np.sum(shares, axis=0)[mask], 1, atol=1e-12)


@every_fuser
def test_what_lies_outside_the_mask_does_not_matter(fuser: Fuser) -> None:
    images = raters()
    rng = np.random.default_rng(4)
    mask = rng.random(images[0].shape) < 0.6
    rubbish = [np.where(mask, image, rng.integers(0, 2, mask.shape)) for image in images]
    clean, dirty = fuser(MaskImage=mask), fuser(MaskImage=mask)
    clean.Execute([np.where(mask, image, 0).astype(np.uint8) for image in images])
    dirty.Execute([image.astype(np.uint8) for image in rubbish])
    assert_same(all_outputs(clean), all_outputs(dirty))
    assert repr(measured(clean)) == repr(measured(dirty))


@every_fuser
@pytest.mark.parametrize("raters_are_many", [False, True])
def test_an_empty_mask_is_an_error(fuser: Fuser, raters_are_many: bool) -> None:
    images = raters(number=20 if raters_are_many else 3)
    with pytest.raises(ParameterError, match=f"{fuser.__name__}: MaskImage must mark some voxels"):
        fuser(MaskImage=np.zeros_like(images[0])).Execute(images)


@every_fuser
def test_masks_on_another_grid_are_refused_by_name(fuser: Fuser) -> None:
    images = [make(array, "SimpleITK") for array in raters()]
    moved = make(raters()[0], "SimpleITK")
    moved.SetOrigin([100.0, 100.0])
    with pytest.raises(GeometryError, match=f"{fuser.__name__}: MaskImage"):
        fuser(MaskImage=moved).Execute(images)
    with pytest.raises(GeometryError, match=rf"{fuser.__name__}: RaterMasks\[2\]"):
        fuser(RaterMasks=[None, None, moved, None]).Execute(images)


@every_fuser
def test_rater_masks_are_one_per_rater(fuser: Fuser) -> None:
    images = raters()
    with pytest.raises(ConsensusError, match=f"{fuser.__name__}: RaterMasks must have 4 entries"):
        fuser(RaterMasks=[None]).Execute(images)


@every_fuser
def test_a_missing_label_is_a_rater_mask(fuser: Fuser) -> None:
    images = raters()
    rng = np.random.default_rng(5)
    masks = [rng.random(image.shape) < 0.8 for image in images]
    labelled = [
        np.where(m, image, 9).astype(np.uint8) for m, image in zip(masks, images, strict=True)
    ]
    by_mask = fuser(RaterMasks=[m.astype(np.uint8) for m in masks])
    by_label = fuser(MissingLabel=9)
    by_mask.Execute(images)
    by_label.Execute(labelled)
    assert_same(all_outputs(by_mask), all_outputs(by_label))
    assert repr(measured(by_mask)) == repr(measured(by_label))
    plain = fuser()
    plain.Execute(images)
    assert not np.array_equal(plain.GetProbabilityImage(1), by_mask.GetProbabilityImage(1))


@every_fuser
def test_masks_that_hold_everything_change_nothing(fuser: Fuser) -> None:
    images = raters()
    whole = np.ones_like(images[0])
    plain, masked = fuser(), fuser(MaskImage=whole, RaterMasks=[whole, None, whole, None])
    plain.Execute(images)
    masked.Execute(images)
    for one, other in zip(all_outputs(plain), all_outputs(masked), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


@every_fuser
def test_diagnostics_are_made_on_demand_and_can_be_printed(fuser: Fuser) -> None:
    filter_ = fuser()
    filter_.Execute(raters())
    outputs = all_outputs(filter_)
    diagnostics = filter_.GetDiagnostics()
    assert str(diagnostics)
    assert_same(all_outputs(filter_), outputs)


# -- laws, for the filters that declare them --------------------------------------------------

#: Filters with single-precision fields; violations of laws are much larger than rounding errors.
SINGLE_PRECISION = (
    "CoherenceVoteFilter",
    "ConsensusFilter",
    "HybridFusionFilter",  # runs Consensus
    "InstanceConsensusFilter",  # runs a coherence vote
    "ShapeBasedAveragingFilter",
    "SpatialSTAPLEFilter",
)


def rounding(fuser: Fuser) -> float:
    """Return the largest difference of results that are mathematically equal."""
    return 1e-5 if fuser.__name__ in SINGLE_PRECISION else 1e-9


def declaring(law: str) -> pytest.MarkDecorator:
    obeying = [fuser for fuser in FUSERS if law in fuser.laws]
    return pytest.mark.parametrize("fuser", obeying, ids=lambda fuser: fuser.__name__)


@st.composite
def stacks(draw: st.DrawFn, values: tuple[int, ...]) -> list[np.ndarray]:
    """Draw raters of one structure with different errors and at least two labels in total."""
    shape = draw(st.sampled_from([(6, 7), (13,), (3, 4, 5)]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    truth = rng.choice(values, shape)
    errors = draw(st.lists(st.floats(0, 0.5), min_size=2, max_size=5))
    images = [
        np.where(rng.random(shape) < share, rng.choice(values, shape), truth).astype(np.uint8)
        for share in errors
    ]
    assume(len(np.unique(images)) > 1 and 1 in np.unique(images))
    return images


def labels_for(fuser: Fuser) -> tuple[int, ...]:
    """Return several labels for a fuser that treats them alike, else background and foreground."""
    return (0, 1, 2, 5) if "relabelling" in fuser.laws else (0, 1)


def run(fuser: Fuser, images: list[np.ndarray]) -> Any:
    filter_ = fuser(**contract.without_chance(fuser))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsensusWarning)
        filter_.Execute(images)
    return filter_


def probabilities(filter_: Any, labels: Any) -> np.ndarray:
    return np.stack([filter_.GetProbabilityImage(label) for label in labels])


def is_clear(shares: np.ndarray, fuser: Fuser) -> np.ndarray:
    """Return where the label does not depend on rounding."""
    ordered = np.sort(np.append(shares, np.zeros((1, *shares.shape[1:])), axis=0), axis=0)
    return ordered[-1] - ordered[-2] > 10 * rounding(fuser)


@declaring("rater permutation")
@settings(max_examples=20)
@given(st.data())
def test_the_order_of_raters_does_not_matter(fuser: Fuser, data: st.DataObject) -> None:
    images = data.draw(stacks(labels_for(fuser)))
    order = data.draw(st.permutations(range(len(images))))
    one, other = run(fuser, images), run(fuser, [images[k] for k in order])
    labels = one.GetLabels()
    assert other.GetLabels() == labels
    shares = probabilities(one, labels)
    np.testing.assert_allclose(probabilities(other, labels), shares, atol=rounding(fuser))
    clear = is_clear(shares, fuser)
    np.testing.assert_array_equal(one.GetLabelImage()[clear], other.GetLabelImage()[clear])


@declaring("relabelling")
@settings(max_examples=20)
@given(st.data())
def test_the_names_of_labels_do_not_matter(fuser: Fuser, data: st.DataObject) -> None:
    images = data.draw(stacks(labels_for(fuser)))
    labels = np.unique(images)
    names = np.array(data.draw(st.permutations(range(20, 20 + len(labels)))), np.uint8)
    renamed = [names[np.searchsorted(labels, image)] for image in images]
    one, other = run(fuser, images), run(fuser, renamed)
    shares = probabilities(one, labels.tolist())
    np.testing.assert_allclose(probabilities(other, names.tolist()), shares, atol=rounding(fuser))
    fused = one.GetLabelImage()
    known = np.isin(fused, labels) & is_clear(shares, fuser)
    expected = names[np.searchsorted(labels, fused[known])]
    np.testing.assert_array_equal(other.GetLabelImage()[known], expected)


@declaring("unanimity")
@settings(max_examples=20)
@given(st.data())
def test_raters_who_agree_everywhere_are_believed(fuser: Fuser, data: st.DataObject) -> None:
    image = data.draw(stacks(labels_for(fuser)))[0]
    assume(1 in image)
    filter_ = run(fuser, [image] * data.draw(st.integers(2, 5)))
    np.testing.assert_array_equal(filter_.GetLabelImage(), image)
    assert filter_.GetLabelImage().dtype == image.dtype


def assert_padding_changes_nothing(
    fuser: Fuser, images: list[np.ndarray], data: st.DataObject
) -> None:
    width = [(data.draw(st.integers(0, 9)), data.draw(st.integers(0, 9))) for _ in images[0].shape]
    inner = tuple(slice(a, a + size) for (a, _), size in zip(width, images[0].shape, strict=True))
    one, other = run(fuser, images), run(fuser, [np.pad(image, width) for image in images])
    fused = other.GetLabelImage()
    np.testing.assert_array_equal(fused[inner], one.GetLabelImage())
    fused[inner] = 0
    assert not fused.any()
    for label in one.GetLabels():
        np.testing.assert_allclose(
            other.GetProbabilityImage(label)[inner],
            one.GetProbabilityImage(label),
            atol=rounding(fuser),
        )


@declaring("background padding")
@settings(max_examples=20)
@given(st.data())
def test_background_around_the_images_changes_nothing_inside(
    fuser: Fuser, data: st.DataObject
) -> None:
    assert_padding_changes_nothing(fuser, data.draw(stacks(labels_for(fuser))), data)


@declaring("clean background padding")
@settings(max_examples=20)
@given(st.data())
def test_more_background_around_images_with_a_clean_border_changes_nothing(
    fuser: Fuser, data: st.DataObject
) -> None:
    images = data.draw(stacks(labels_for(fuser)))
    assert_padding_changes_nothing(fuser, [np.pad(image, 1) for image in images], data)
