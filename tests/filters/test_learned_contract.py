"""The common test suite for a fitted learned fusion, with the number of raters of each test."""

from __future__ import annotations

import inspect
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
import test_contract as suite
from contract import FAMILIES
from learned_cohort import cohort

import itk_consensus as ic
from itk_consensus.calibration.learned.learned_record import LearnedRecord

pytestmark = pytest.mark.filterwarnings("ignore::itk_consensus.core.errors.ConsensusWarning")

#: Tests that do not apply: those of function forms need a record; those of probabilities do not
#: suit a record made from masks; and in those that move missing raters, each position is a
#: different rater here.
EXCEPT = {
    "test_calling_without_arguments_is_an_error",
    "test_parameters_by_position_follow_simpleitks_order",
    "test_too_many_positional_parameters_are_refused",
    "test_a_parameter_given_twice_is_refused",
    "test_functions_describe_their_parameters",
    "test_soft_raters_may_be_missing_weigh_nothing_and_lie_outside_a_mask",
    "test_lists_tuples_generators_and_separate_arguments_are_one",
    "test_more_images_than_simpleitk_takes_may_be_separate_arguments",
    "test_one_bare_array_is_an_error_that_suggests_a_list",
    "test_an_unknown_parameter_is_refused_and_the_known_are_listed",
    "test_soft_inputs_of_every_family_give_the_same_and_are_not_changed",
    "test_certain_soft_inputs_are_masks",
    "test_absent_raters_do_not_count",
    "test_arrays_among_images_are_refused",
}


@cache
def record(raters: int) -> LearnedRecord:
    """Return a record for raters of whom the first makes no errors; the others draw too large."""
    of = cohort(6, ((0.0, 0.1), *((2.0, 0.8),) * (raters - 1)))
    filter_ = ic.LearnedFusionFilter()
    filter_.Fit(of.cases, of.truths)
    return filter_.GetRecord()


class Fitted(ic.LearnedFusionFilter):
    """A learned fusion with a record for any number of raters."""

    laws = frozenset()

    def _known_record(self) -> LearnedRecord:
        return record(4)

    def _fuse(self, case: Any) -> Any:
        number = case.votes.number_of_raters
        known = record(max(number, 2))
        if number == 1:
            known = replace(known, rater_count=1)
        self._known_record = lambda: known  # type: ignore[method-assign]
        return super()._fuse(case)


def contract(*wanted: str) -> list[Any]:
    """Yield the tests of the common suite that need only a fuser and these arguments."""
    return [
        test
        for name, test in vars(suite).items()
        if name.startswith("test_")
        and name not in EXCEPT
        and set(inspect.signature(test).parameters) == {"fuser", *wanted}
        and not hasattr(test, "hypothesis")
    ]


@pytest.mark.parametrize("test", contract(), ids=lambda test: test.__name__)
def test_contract(test: Any) -> None:
    test(Fitted)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("test", contract("family"), ids=lambda test: test.__name__)
def test_contract_of_every_family(test: Any, family: str) -> None:
    test(Fitted, family)
