"""`python -m nuggets.interfaces.hooks EVENT`: the short way in, past the rest of the command."""

import sys

from nuggets.interfaces import run_process
from nuggets.interfaces.hooks.run_hook import main

run_process(lambda: main(sys.argv[1:]))
