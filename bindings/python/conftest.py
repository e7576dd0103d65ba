"""Modules whose engine is not installed have no doctests to run."""

import warnings
from importlib.util import find_spec

_ENGINES = {"mpi": "mpi4py", "dask": "distributed", "ray": "ray", "torch": "torch"}
_missing = [engine for engine, package in _ENGINES.items() if find_spec(package) is None]

collect_ignore = [f"python/bitgrain/distributed/{engine}.py" for engine in _missing]

if unexpected := [engine for engine in _missing if engine != "torch"]:
    # PyTorch takes hundreds of megabytes; the other engines are in oracles/requirements.txt.
    warnings.warn(f"NOT TESTED: bitgrain.distributed.{', '.join(unexpected)}: not installed", stacklevel=1)
