"""``python -m nuggets`` is the same as ``nuggets``."""

import sys

from nuggets.interfaces.cli import main

if __name__ == "__main__":
    sys.exit(main())
