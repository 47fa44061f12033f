from __future__ import annotations

import hashlib

import numpy as np

from examples.simulation import twelve_settings

DIGEST_OF_SEED_0 = "86887606bd65d7da9ada0d9db2b259b8ed07fd45c28ef7308ba296ee2029a467"


def test_twelve_settings_match_the_reference(reference):
    ours, theirs = twelve_settings(range(3)), reference.twelve_settings(range(3))
    for (name, cases), (expected_name, expected_cases) in zip(ours, theirs, strict=True):
        assert name == expected_name
        for case, expected in zip(cases, expected_cases, strict=True):
            np.testing.assert_array_equal(case.truth, expected[0])
            np.testing.assert_array_equal(case.raters, expected[1])


def test_settings_have_not_changed():
    digest = hashlib.sha256()
    for name, [(truth, raters)] in twelve_settings([0]):
        digest.update(name.encode())
        digest.update(np.packbits(truth).tobytes())
        digest.update(np.packbits(raters).tobytes())
    assert digest.hexdigest() == DIGEST_OF_SEED_0


def test_seeds_may_be_an_iterator():
    assert [len(setting.cases) for setting in twelve_settings(iter((4, 5)))] == [2] * 12
