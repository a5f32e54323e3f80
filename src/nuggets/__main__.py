"""The process ``nuggets``, which is the same as ``python -m nuggets``."""

from typing import NoReturn

from nuggets.interfaces import run_process
from nuggets.interfaces.cli import main as command


def main() -> NoReturn:
    run_process(command)


if __name__ == "__main__":
    main()
