"""What can be wrong in a shelf's directory."""

from nuggets.named_tuple import NamedTuple

DAMAGED_DATABASE = "damaged database"
DAMAGED_RECORDS = "damaged records"
WRONG_COLUMNS = "wrong columns"
WRONG_INDEX = "wrong index"
DAMAGED_FILE = "damaged file"
LEFTOVER = "leftover"
OPEN_TO_OTHERS = "open to others"
UNFINISHED_PURGE = "unfinished purge"


class Defect(NamedTuple):
    """One thing that is not as it should be."""

    kind: str  # one of the above, or one that only a person can repair
    path: str
    problem: str
    remedy: str  # what a repair does about it; "" if it leaves that to a person
    harmful: bool  # the shelf does not work, or something was lost
    mended: bool = False
