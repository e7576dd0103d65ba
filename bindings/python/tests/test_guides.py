"""The Python blocks of the guides and of the README run in order."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[3]
GUIDES = [
    ROOT / "README.md",
    ROOT / "bindings" / "python" / "README.md",
    *sorted((ROOT / "docs" / "guide").glob("python-*.md")),
    ROOT / "docs" / "guide" / "rank.md",
    *sorted((ROOT / "docs" / "coming-from").glob("*.md")),
]


@pytest.mark.parametrize("path", GUIDES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_guide_runs(path: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", path.read_text(), re.MULTILINE | re.DOTALL)
    assert blocks
    names: dict[str, object] = {"__name__": path.stem}
    for number, block in enumerate(blocks, 1):
        exec(compile(block, f"{path.name}, block {number}", "exec"), names)


def test_each_domain_has_a_guide() -> None:
    assert len(GUIDES) >= 9
