"""The command line: ``python -m bitgrain tour``."""

import signal
import sys

from bitgrain._native import command


def main() -> None:
    """Run the ``bitgrain`` command with the arguments of this process."""
    if sys.argv[1:2] == ["train"]:
        from bitgrain.distributed import command as shared

        if shared.is_started_by_mpi():
            from bitgrain.distributed.mpi import MpiCommunicator

            sys.exit(shared.main(MpiCommunicator(), sys.argv[2:]))
    # Ctrl-C terminates the process, as it does for the binary installed by cargo.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(command(["bitgrain", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
