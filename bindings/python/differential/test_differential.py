"""A few hundred cases of the differential suite; ``python -m differential`` runs any number."""

import collections

import pytest

from differential.suite import run

SEED, CASES = 2026, 240


@pytest.fixture(scope="module")
def outcomes():
    return run(CASES, SEED)


def test_differential_cases_find_no_defect(outcomes):
    found = [f"case {each.case.index}: {each.findings}" for each in outcomes if each.findings]
    assert not found, "\n".join([f"run one again: python -m differential --seed {SEED} --case N", *found])


def test_the_cases_cover_every_objective_and_way_to_grow(outcomes):
    objectives = collections.Counter(each.case.task.objective for each in outcomes)
    assert len(objectives) == 9
    assert min(objectives.values()) >= 3
    assert {each.case.settings["growth"] for each in outcomes} == {"leaf", "depth", "symmetric"}
    # Guard against a vacuous comparison: most cases must have losses of all three libraries.
    compared = [each for each in outcomes if each.case.compares and each.losses and each.losses.xgboost]
    assert len(compared) > CASES / 2
