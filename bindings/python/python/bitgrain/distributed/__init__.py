"""Training on the rows of several workers, with the model of one process.

Every worker calls :func:`train` with its own rows. What the workers exchange are integer sums, so the model is bit for
bit the one that a single process trains on the rows of worker 0, then those of worker 1, and so on.

| module | engine |
|---|---|
| :mod:`bitgrain.distributed.mpi` | MPI, with mpi4py: ``mpiexec -n 4 python train.py`` |
| :mod:`bitgrain.distributed.dask` | Dask collections and clusters |
| :mod:`bitgrain.distributed.ray` | Ray datasets and clusters |
| :mod:`bitgrain.distributed.torch` | process groups of PyTorch |

The engines are imported when their module is, and are not installed with this package.
"""

from bitgrain.distributed.communicator import Communicator
from bitgrain.distributed.threads import run_threads
from bitgrain.distributed.training import train
from bitgrain.errors import WorkerError

__all__ = ["Communicator", "WorkerError", "run_threads", "train"]
