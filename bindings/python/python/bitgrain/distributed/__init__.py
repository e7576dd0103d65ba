"""Training on the rows of several workers, with the same model as one process.

Every worker calls :func:`train` with its own rows. The workers exchange integer sums, so the model is bit-identical to
the one that a single process trains on the rows of worker 0, followed by those of worker 1, and so on.

| module | communication |
|---|---|
| :mod:`bitgrain.distributed.mpi` | MPI, with mpi4py: ``mpiexec -n 4 python train.py`` |
| :mod:`bitgrain.distributed.dask` | Dask collections and clusters |
| :mod:`bitgrain.distributed.ray` | Ray datasets and clusters |
| :mod:`bitgrain.distributed.torch` | process groups of PyTorch |

mpi4py, Dask, Ray and torch are not installed with this package; importing a module imports its library.
"""

from bitgrain.distributed.communicator import Communicator
from bitgrain.distributed.threads import run_threads
from bitgrain.distributed.training import train
from bitgrain.errors import WorkerError

__all__ = ["Communicator", "WorkerError", "run_threads", "train"]
