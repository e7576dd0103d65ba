"""Version, command line, exports, exceptions and docstrings of the installed package."""

import importlib.metadata
import importlib.resources
import inspect
import os
import pathlib
import re
import stat
import subprocess
import sys
import tomllib

import pytest

import bitgrain

ROOT = pathlib.Path(__file__).parents[3]


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=120, check=False)


def test_the_version_is_one_everywhere() -> None:
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    assert bitgrain.__version__ == importlib.metadata.version("bitgrain") == workspace
    assert run("-m", "bitgrain", "--version").stdout.strip() == f"bitgrain {workspace}"


def test_the_module_is_the_command_with_its_exit_codes(tmp_path: pathlib.Path) -> None:
    info = run("-m", "bitgrain", "info")
    assert info.returncode == 0
    assert "backends on this CPU" in info.stdout
    assert run("-m", "bitgrain", "--help").returncode == 0
    for wrong in ([], ["no-such-command"], ["store", "ls", str(tmp_path / "none")]):
        done = run("-m", "bitgrain", *wrong)
        assert (done.returncode, bool(done.stderr), done.stdout) == (2, True, ""), wrong
    script = pathlib.Path(sys.executable).with_name("bitgrain")
    assert run(str(script), "--version").stdout.startswith("bitgrain ") if script.suffix else script.exists()


def test_a_failed_check_exits_with_1(tmp_path: pathlib.Path) -> None:
    with bitgrain.TensorStore(tmp_path) as store:
        store["a"] = [1.0] * 1000
    segment = next(file for file in tmp_path.iterdir() if "segment" in file.name)
    data = bytearray(segment.read_bytes())
    data[len(data) // 2] ^= 1
    segment.write_bytes(data)
    assert run("-m", "bitgrain", "store", "verify", str(tmp_path)).returncode == 1


def test_every_exported_name_exists() -> None:
    assert len(bitgrain.__all__) == len(set(bitgrain.__all__))
    for name in bitgrain.__all__:
        if name.startswith(("Bitgrain", "sklearn")) and importlib.util.find_spec("sklearn") is None:
            continue
        offered = getattr(bitgrain, name)
        assert name == "__version__" or inspect.getdoc(offered), name
    assert set(bitgrain.__all__) <= set(dir(bitgrain))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        bitgrain.nothing  # type: ignore[attr-defined]  # noqa: B018


def test_the_error_for_a_moved_name_states_its_module() -> None:
    for module in (bitgrain.boosting, bitgrain.weights, bitgrain.store, bitgrain.errors):
        elsewhere = [name for name in module.__all__ if name not in bitgrain.__all__]
        assert elsewhere
        for name in elsewhere:
            with pytest.raises(AttributeError, match=f"use {module.__name__}.{name}"):
                getattr(bitgrain, name)
    assert bitgrain.sklearn.BitgrainClassifier is bitgrain.BitgrainClassifier


def test_exceptions_derive_from_one_base_and_from_builtins() -> None:
    tree = {
        bitgrain.Error: Exception,
        bitgrain.errors.InputError: ValueError,
        bitgrain.errors.DTypeError: TypeError,
        bitgrain.errors.NotFoundError: KeyError,
        bitgrain.errors.FileError: OSError,
        bitgrain.errors.LockedError: bitgrain.errors.FileError,
        bitgrain.errors.FormatError: ValueError,
        bitgrain.errors.DamagedError: bitgrain.errors.FormatError,
        bitgrain.errors.InternalError: RuntimeError,
    }
    for error, also in tree.items():
        assert issubclass(error, bitgrain.Error), error
        assert issubclass(error, also), error
    assert str(bitgrain.errors.NotFoundError("unknown tensor id `a`")) == "unknown tensor id `a`"
    assert issubclass(bitgrain.errors.TrainingInterrupted, UserWarning)


def test_type_stubs_are_included() -> None:
    files = importlib.resources.files("bitgrain")
    assert (files / "py.typed").is_file()
    assert (files / "_native.pyi").is_file()


def test_the_import_loads_only_numpy() -> None:
    code = """if True:
        import sys, numpy
        before = set(sys.modules)
        import bitgrain
        print(sorted({name.split(".")[0] for name in set(sys.modules) - before if not name.startswith("bitgrain")}))
    """
    done = run("-c", code)
    assert done.returncode == 0, done.stderr
    brought = set(re.findall(r"'(\w+)'", done.stdout)) - set(sys.stdlib_module_names) - {"numpy"}
    assert not brought


def test_every_public_function_and_method_has_a_docstring() -> None:
    modules = (bitgrain.boosting, bitgrain.weights, bitgrain.store, bitgrain.errors)
    for name, offered in ((name, getattr(module, name)) for module in modules for name in module.__all__):
        members = [offered]
        if inspect.isclass(offered):
            members += [member for key, member in vars(offered).items() if callable(member) and not key.startswith("_")]
        for member in members:
            assert inspect.getdoc(member), f"{name}: {member}"


def test_the_extension_has_no_unsafe_code() -> None:
    source = pathlib.Path(__file__).parents[1] / "src"
    files = list(source.rglob("*.rs"))
    assert len(files) > 10
    for file in files:
        assert not re.search(r"\bunsafe\b", file.read_text()), file


def test_everything_else_works_without_scikit_learn() -> None:
    program = """
import sys
sys.modules["sklearn"] = None
from bitgrain import *
import bitgrain
assert "Dataset" in globals() and "BitgrainClassifier" not in globals()
try:
    bitgrain.BitgrainClassifier
except ImportError as error:
    print(error)
"""
    done = run("-c", program)
    assert done.stdout == "BitgrainClassifier needs scikit-learn: install it with pip install 'bitgrain[sklearn]'\n", (
        done
    )


@pytest.mark.skipif(sys.platform == "win32", reason="requires Unix files")
def test_saving_replaces_regular_files_only(tmp_path: pathlib.Path) -> None:
    model = bitgrain.train(bitgrain.Dataset([[1.0], [2.0]], [1.0, 2.0]), n_estimators=1)
    network = bitgrain.Network(2, [bitgrain.layers.Dense(1)])
    saves = {
        "model.bitgrain": model.save,
        "network.json": network.save,
        "tensors.safetensors": lambda path: bitgrain.weights.save_tensors(path, {"a": [1.0]}),
    }
    for name, save in saves.items():
        pipe, link, file = tmp_path / f"pipe-{name}", tmp_path / f"link-{name}", tmp_path / name
        os.mkfifo(pipe)
        with pytest.raises(bitgrain.errors.FileError, match="a device or a pipe"):
            save(pipe)
        assert stat.S_ISFIFO(pipe.stat().st_mode)
        folder = tmp_path / f"folder-{name}"
        folder.mkdir()
        with pytest.raises(bitgrain.errors.FileError, match="a folder"):
            save(folder)
        file.write_text("old")
        file.chmod(0o600)
        link.symlink_to(name)
        save(link)
        assert link.is_symlink()
        assert file.stat().st_size > 3
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert not [each for each in tmp_path.iterdir() if each.name.endswith(".part")]
