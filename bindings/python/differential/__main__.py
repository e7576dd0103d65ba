"""Command line: ``python -m differential --cases 5000 --seed 1 --json out.json``."""

from __future__ import annotations

import argparse
import json
import pathlib
import sys
import time

from differential.suite import run, run_case, summary


def main() -> int:
    """Run cases, print the findings, and exit with status 1 if there are any."""
    parser = argparse.ArgumentParser(prog="python -m differential", description="Compare bitgrain with its rivals.")
    parser.add_argument("--cases", type=int, default=1000, help="number of cases")
    parser.add_argument("--seed", type=int, default=1, help="seed of the recipes")
    parser.add_argument("--first", type=int, default=0, help="index of the first case")
    parser.add_argument("--jobs", type=int, default=2, help="number of processes")
    parser.add_argument("--json", type=pathlib.Path, help="file for the record of the run")
    parser.add_argument("--case", type=int, help="run this case only, and print its recipe")
    args = parser.parse_args()
    start = time.monotonic()
    if args.case is None:
        outcomes = run(args.cases, args.seed, first=args.first, jobs=args.jobs)
    else:
        outcomes = [run_case(args.seed, args.case)]
        print(json.dumps(outcomes[0].case.describe()), outcomes[0].losses, sep="\n")
    record = summary(outcomes, args.seed, time.monotonic() - start)
    if args.json is not None:
        args.json.write_text(json.dumps(record, indent=1) + "\n")
    for finding in record["findings"]:
        print(
            f"case {finding['case']}: {finding['rows']} rows, {finding['objective']}", *finding["findings"], sep="\n  "
        )
    print(f"{record['cases']} cases, {record['cases_with_findings']} with findings: {record['findings_by_check']}")
    return 1 if record["findings"] else 0


if __name__ == "__main__":
    sys.exit(main())
