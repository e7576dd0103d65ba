"""Every example runs."""

import pathlib
import subprocess
import sys

import pytest

EXAMPLES = sorted((pathlib.Path(__file__).parent.parent / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_and_prints_output(path: pathlib.Path, tmp_path: pathlib.Path) -> None:
    call = [sys.executable, path]
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_each_domain_has_an_example() -> None:
    assert len(EXAMPLES) >= 3
