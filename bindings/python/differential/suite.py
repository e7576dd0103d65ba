"""Parallel runs of many cases, and their record."""

from __future__ import annotations

import collections
import concurrent.futures
import dataclasses
import multiprocessing
import platform
import time
import traceback
import warnings
from importlib.metadata import version
from typing import Any

import numpy as np

from differential.case import Case
from differential.checks import check_imported, check_model
from differential.quality import Losses, compare, measure
from differential.rivals import train_lightgbm, train_ours, train_xgboost

__all__ = ["Outcome", "run", "run_case", "summary"]

#: Packages whose versions are recorded.
_PACKAGES = ("bitgrain", "lightgbm", "xgboost-cpu", "xgboost", "numpy", "scikit-learn")


@dataclasses.dataclass(frozen=True)
class Outcome:
    """A case and its findings."""

    case: Case
    findings: list[tuple[str, str]]
    losses: Losses | None


def run_case(seed: int, index: int) -> Outcome:
    """Train, check and compare one case."""
    case = Case.random(seed, index)
    # The rivals warn if they find no split; the relevant warnings of bitgrain are exceptions.
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return _run(case)
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            return Outcome(case, [("raised", f"{type(error).__name__}: {error} ({last.name})")], None)


def _run(case: Case) -> Outcome:
    table = case.draw()
    ours = train_ours(case, table, history=True)
    findings = list(check_model(case, table, ours))
    rivals = (train_lightgbm(case, table), train_xgboost(case, table))
    findings += check_imported(table, *rivals)
    losses = measure(case, table, ours, rivals)
    # LightGBM fails on some recipes without regularization, on which the other comparisons mean little as well.
    if case.compares and losses.lightgbm is not None:
        findings += compare(case, losses)
    return Outcome(case, findings, losses)


def run(cases: int, seed: int, *, first: int = 0, jobs: int = 2) -> list[Outcome]:
    """Run cases on several processes; each case trains on one or two threads."""
    # Spawned instead of forked, because the threads of the rivals do not survive a fork.
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(jobs, mp_context=context) as pool:
        indices = range(first, first + cases)
        return list(pool.map(run_case, [seed] * cases, indices, chunksize=max(1, min(16, cases // (4 * jobs)))))


def summary(outcomes: list[Outcome], seed: int, seconds: float) -> dict[str, Any]:
    """Return the record of a run for JSON."""
    by_check = collections.Counter(check for outcome in outcomes for check, _ in outcome.findings)
    objectives: dict[str, dict[str, int]] = {}
    for outcome in outcomes:
        counts = objectives.setdefault(outcome.case.task.objective, collections.Counter())  # type: ignore[arg-type]
        counts["cases"] = counts.get("cases", 0) + 1
        if outcome.losses is not None and outcome.losses.lightgbm is not None and outcome.case.compares:
            counts["compared"] = counts.get("compared", 0) + 1
            place = _place(outcome.losses)
            counts[place] = counts.get(place, 0) + 1
    return {
        "what": "random tables and settings, trained by bitgrain, LightGBM and XGBoost side by side",
        "command": f"python -m differential --cases {len(outcomes)} --seed {seed}",
        "date": time.strftime("%Y-%m-%d"),
        "cases": len(outcomes),
        "seed": seed,
        "seconds": round(seconds),
        "versions": {"python": platform.python_version(), **_versions()},
        "cases_with_findings": sum(bool(outcome.findings) for outcome in outcomes),
        "findings_by_check": dict(sorted(by_check.items())),
        "held_out_loss_by_objective": {name: dict(sorted(objectives[name].items())) for name in sorted(objectives)},
        "findings": [
            {**outcome.case.describe(), "findings": [f"{check}: {detail}" for check, detail in outcome.findings]}
            for outcome in outcomes
            if outcome.findings
        ],
    }


def _place(losses: Losses) -> str:
    """Return the rank of bitgrain's held-out loss; differences below 1 % of the constant's loss are ignored."""
    ours, theirs = losses.ours["held_out"], [each["held_out"] for each in losses.rivals]
    if ours < min(theirs) - 0.01:
        return "best"
    return "worst" if ours > max(theirs) + 0.01 else "between or equal"


def _versions() -> dict[str, str]:
    found = {}
    for name in _PACKAGES:
        try:
            found[name.removesuffix("-cpu")] = version(name)
        except ModuleNotFoundError:
            continue
    return found
