"""Where an agent works: the root of the checkout around a folder."""

import os


def checkout_root(folder: str) -> str:
    """The nearest folder above with a `.git` in it; the folder itself if there is none.

    A worktree has a root of its own, although it shares its project with the others.
    """
    here = os.path.realpath(folder)
    root = here
    while not os.path.lexists(os.path.join(root, ".git")):
        above = os.path.dirname(root)
        if above == root:
            return here
        root = above
    return root
