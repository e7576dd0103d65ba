"""Worker of an MPI job, which the tests start with mpiexec: trains on its rows and writes what it got."""

import json
import os
import sys
import time
from pathlib import Path

import numpy as np

from bitgrain.distributed import mpi
from bitgrain.errors import WorkerError


def main(folder, task):
    """Train on the rows of this process; `task` has the ends of all processes' rows and the failure to cause."""
    group = mpi.MpiCommunicator()
    table = np.load(folder / "table.npz")
    start, end = (task["ends"][group.rank - 1] if group.rank else 0), task["ends"][group.rank]
    X, y = table["X"][start:end], table["y"][start:end]

    def callback(round_):
        if round_.index == 2 and group.rank == task.get("raises"):
            raise RuntimeError("no more electricity")
        if round_.index == 2 and group.rank == task.get("dies"):
            # In the middle of a round: the others are already in its next collective operation.
            time.sleep(0.2)
            os._exit(9)
        return False

    try:
        half = slice(0, 100) if group.rank == 0 else slice(100, 300) if group.rank == 1 else slice(0, 0)
        valid = [(table["X"][half], table["y"][half])]
        model = mpi.train(X, y, valid=valid, callbacks=[callback], n_jobs=1, **task["settings"])
        result = model.to_bytes()
    except WorkerError as error:
        result = str(error).encode()
    (folder / f"result-{group.rank}").write_bytes(result)


if __name__ == "__main__":
    main(Path(sys.argv[1]), json.loads(sys.argv[2]))
