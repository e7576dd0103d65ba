"""The command line: ``python -m bitgrain tour``."""

import signal
import sys

from bitgrain._native import command


def main() -> None:
    """Run the ``bitgrain`` command with the arguments of this process."""
    # Ctrl-C ends the command, as it does the program that is installed by cargo.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(command(["bitgrain", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
