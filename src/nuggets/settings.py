"""Every setting, its value and where it came from. Read once, by a front door; never a global.

Defaults < ``config.toml`` in the shelf's directory < environment < command line. The directory
itself is named only by the last two: a file inside it cannot name it.
"""

import os
from collections.abc import Mapping
from typing import Any

from nuggets.domain.records import PROMOTE_THRESHOLD, RECALL_MIN_PROBABILITY
from nuggets.errors import SettingsError
from nuggets.filesystem.shelf_location import DEFAULT_DIRECTORY, default_location, directory_of
from nuggets.named_tuple import NamedTuple

CONFIG_FILE = "config.toml"  # in the shelf's directory


class Setting(NamedTuple):
    """One setting: its name, default, meaning and limits."""

    name: str
    default: Any  # its type is the setting's type
    meaning: str
    least: float | None = None
    most: float | None = None
    named: str = ""  # its variable, if that is not NUGGETS_ and the name

    @property
    def variable(self) -> str:
        """The variable of the environment that sets it."""
        return self.named or f"NUGGETS_{self.name.upper()}"


SETTINGS = (
    Setting(
        "dir",
        DEFAULT_DIRECTORY,
        "the directory of the shelf, or the URL of a database (postgresql://…); not for "
        "config.toml, which lies in the directory",
    ),
    Setting("session", "", "the id of this session; by default one session per day"),
    Setting(
        "project", "", "which project memories belong to; by default the git repository you are in"
    ),
    Setting(
        "memory_file",
        "",
        "where promotion writes; by default your agent's MEMORY.md of the repository, else one "
        "in the shelf's directory",
    ),
    Setting(
        "promote_after",
        PROMOTE_THRESHOLD,
        "in how many sessions a memory must have been recalled to be promoted to MEMORY.md",
        1,
        1_000,
    ),
    Setting(
        "recall_min_probability",
        RECALL_MIN_PROBABILITY,
        "how probable it must be that a question means a known key for `recall` to answer; 0: the"
        " documented order (exact, substring, best ratio), however improbable",
        0.0,
        1.0,
    ),
    Setting(
        "reflection_hour",
        9,
        "hour of the daily reflection, local time",
        0,
        23,
        named="MEMORY_REFLECTION_HOUR",
    ),
    Setting(
        "reflection_daily",
        1,
        "1: the reflection runs once a day by itself; 0: only when you call `nuggets reflect`",
        0,
        1,
        named="MEMORY_REFLECTION_DAILY",
    ),
    Setting("reflection_minute", 0, "minute of that hour", 0, 59, named="MEMORY_REFLECTION_MINUTE"),
    Setting(
        "reflection_max_notes",
        10,
        "most notes that one reflection inspects",
        1,
        1_000_000,
        named="MEMORY_REFLECTION_MAX_NOTES",
    ),
    Setting(
        "heartbeat_interval_ms",
        1_800_000,
        "how often a running server checks whether the reflection was missed",
        1_000,
        86_400_000,
        named="HEARTBEAT_INTERVAL_MS",
    ),
    Setting(
        "history_days",
        365,
        "how long the history is kept, for `history` and `undo`; 0: for ever. Notes stay anyway",
        0,
        36_500,
    ),
    Setting(
        "session_notes",
        1,
        "1: hooks keep a note of each session with an agent (`nuggets sessions`); 0: none",
        0,
        1,
    ),
    Setting(
        "session_days",
        90,
        "how long the note of a session is kept after it ended; 0: for ever",
        0,
        36_500,
    ),
    Setting(
        "start_tokens",
        800,
        "how much memory a session with an agent starts with, in tokens (estimated); 0: none",
        0,
        2_000,
    ),
    Setting(
        "server_shelves",
        200,
        "most private shelves of members that a server keeps open; in a directory each has some "
        "four open files",
        1,
        100_000,
    ),
    Setting(
        "member_requests",
        600,
        "requests that a server takes of one member in a minute",
        1,
        1_000_000,
    ),
    Setting(
        "member_kilobytes",
        10_000,
        "kilobytes that one member may send to a server in a minute",
        1,
        100_000_000,
    ),
    Setting(
        "offline_notes",
        5_000,
        "most notes of a server (https://…) in the copy on this machine, which answers while the "
        "server is unreachable; 0: no copy and no queue",
        0,
        100_000,
    ),
    Setting(
        "quiet_hours_start",
        22,
        "first of the hours in which a missed reflection is not caught up; negative: none",
        None,
        23,
        named="QUIET_HOURS_START",
    ),
    Setting(
        "quiet_hours_end",
        8,
        "hour at which quiet hours end; negative: no quiet hours",
        None,
        23,
        named="QUIET_HOURS_END",
    ),
)


class Settings:
    """Values by name, the origin of each, and warnings about invalid ones."""

    def __init__(
        self,
        values: Mapping[str, Any],
        origins: Mapping[str, str],
        warnings: tuple[str, ...],
        file_problem: str = "",
    ) -> None:
        """`file_problem`: why config.toml was ignored."""
        self._values = values
        self.origins = origins
        self.warnings = warnings
        self.file_problem = file_problem

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def replace(self, **values: Any) -> "Settings":
        """The same settings, but for these."""
        return Settings({**self._values, **values}, self.origins, self.warnings, self.file_problem)


def load(
    environ: Mapping[str, str], flags: Mapping[str, Any], *, ignore_broken_file: bool = False
) -> Settings:
    """Combine the sources. An invalid value gives a warning and is ignored.

    A file that cannot be read is an error, unless `ignore_broken_file`.
    """
    values = {setting.name: setting.default for setting in SETTINGS}
    origins = dict.fromkeys(values, "default")
    warnings: list[str] = []
    if environ.get("NUGGETS_STORE"):
        environ = {**environ, "NUGGETS_DIR": environ["NUGGETS_STORE"]}
    url = flags.get("dir") or default_location(environ)
    directory = directory_of(url)
    path = os.path.join(directory, CONFIG_FILE) if directory else ""
    file_content: Mapping[str, Any] = {}
    file_problem = ""
    try:
        file_content = _read_file(path)
    except SettingsError as problem:
        if not ignore_broken_file:
            raise
        file_problem = str(problem)
    sources = (
        (path, file_content),
        ("environment", {s.name: environ[s.variable] for s in SETTINGS if environ.get(s.variable)}),
        ("command line", {name: value for name, value in flags.items() if value is not None}),
    )
    for origin, source in sources:
        for setting in SETTINGS:
            if setting.name in source:
                try:
                    values[setting.name] = validate(setting, source[setting.name])
                    origins[setting.name] = origin
                except ValueError as problem:
                    name = setting.variable if origin == "environment" else setting.name
                    warnings.append(f"{name}: {problem}; using {values[setting.name]!r}")
        unknown = source.keys() - values.keys()
        warnings += [f"{origin}: there is no setting {name!r}" for name in sorted(unknown)]
    return Settings(values, origins, tuple(warnings), file_problem)


def _read_file(path: str) -> Mapping[str, Any]:
    if not os.path.exists(path):
        return {}
    import tomllib

    from nuggets.filesystem.atomic_files import open_plain

    try:
        with open(path, "rb", opener=open_plain) as file:
            content = tomllib.load(file)
    except (OSError, ValueError, RecursionError) as problem:
        raise SettingsError(
            f"{path} cannot be read: {problem}. Correct it or move it away"
        ) from None
    if "dir" in content:  # else memories would end up in two directories
        raise SettingsError(
            f"{path} lies in the shelf's directory and cannot name another: take `dir` out, and "
            "set NUGGETS_DIR or use --dir"
        )
    return content


def validate(setting: Setting, value: Any) -> Any:
    """The value in the setting's type; `ValueError` says what is expected."""
    if isinstance(setting.default, str):
        if not isinstance(value, str):
            raise ValueError(f"a text is expected, not {value!r}")
        if setting.default and not value:  # an empty path would mean the working directory
            raise ValueError("it must not be empty")
        return value
    is_whole = isinstance(setting.default, int)
    try:
        number = int(value) if is_whole else float(value)
        if isinstance(value, bool) or (is_whole and isinstance(value, float)):
            raise ValueError
    except (OverflowError, TypeError, ValueError):
        expected = "a whole number" if is_whole else "a number"
        raise ValueError(f"{expected} is expected, not {value!r}") from None
    too_small = setting.least is not None and not number >= setting.least  # nan is not
    too_large = setting.most is not None and number > setting.most
    if too_small or too_large:
        most = f"at most {setting.most}"
        allowed = most if setting.least is None else f"at least {setting.least} and {most}"
        raise ValueError(f"{number} is not {allowed}")
    return number
