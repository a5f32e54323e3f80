"""`python -m nuggets.interfaces.hooks EVENT`: the short way in, past the rest of the command."""

import sys

from nuggets.interfaces.hooks.running import main

sys.exit(main(sys.argv[1:]))
