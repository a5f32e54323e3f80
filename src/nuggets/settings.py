"""Every setting, its value and where it came from. Read once, by a front door; never a global.

Defaults < ``config.toml`` in the shelf's directory < environment < command line. The directory
itself is named by the last two alone: a file that lies in it cannot say where it is.
"""

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from nuggets.errors import SettingsError
from nuggets.place import directory_of

DEFAULT_DIRECTORY = "~/.nuggets"


class Setting(NamedTuple):
    """One line of the documentation, and all that is needed to read it."""

    name: str
    variable: str
    default: Any  # its type is the setting's type
    meaning: str
    least: int | None = None
    most: int | None = None


SETTINGS = (
    Setting(
        "dir",
        "NUGGETS_DIR",
        DEFAULT_DIRECTORY,
        "the directory (or store URL) of the shelf; not for config.toml, which lies in it",
    ),
    Setting("session", "NUGGETS_SESSION", "", "who is asking; by default one session per day"),
    Setting(
        "project",
        "NUGGETS_PROJECT",
        "",
        "which project memories belong to; by default the git repository you are in",
    ),
    Setting(
        "memory_file",
        "NUGGETS_MEMORY_FILE",
        "",
        "where promotion writes; by default your agent's MEMORY.md of the repository",
    ),
    Setting(
        "reflection_hour",
        "MEMORY_REFLECTION_HOUR",
        9,
        "hour of the daily clean-up, local time",
        0,
        23,
    ),
    Setting("reflection_minute", "MEMORY_REFLECTION_MINUTE", 0, "minute of that hour", 0, 59),
    Setting(
        "reflection_max_notes",
        "MEMORY_REFLECTION_MAX_NOTES",
        10,
        "notes that one clean-up inspects at most",
        1,
        1_000_000,
    ),
    Setting(
        "heartbeat_interval_ms",
        "HEARTBEAT_INTERVAL_MS",
        1_800_000,
        "how often a running server looks whether the clean-up was missed",
        1_000,
        86_400_000,
    ),
    Setting(
        "history_days",
        "NUGGETS_HISTORY_DAYS",
        365,
        "how long the history is kept, for `history` and `undo`; 0: for ever. Notes stay anyway",
        0,
        36_500,
    ),
    Setting(
        "quiet_hours_start",
        "QUIET_HOURS_START",
        22,
        "from this hour on nothing is caught up; negative: no quiet hours",
        None,
        23,
    ),
    Setting(
        "quiet_hours_end",
        "QUIET_HOURS_END",
        8,
        "until this hour nothing is caught up; negative: no quiet hours",
        None,
        23,
    ),
)


class Settings:
    """Values by name, where each came from, and what was wrong on the way."""

    def __init__(
        self, values: Mapping[str, Any], origins: Mapping[str, str], warnings: tuple[str, ...]
    ) -> None:
        self._values = values
        self.origins = origins
        self.warnings = warnings

    def __getitem__(self, name: str) -> Any:
        return self._values[name]


def load(environ: Mapping[str, str], flags: Mapping[str, Any]) -> Settings:
    """Put the sources together. A value that makes no sense is warned about and left out."""
    values = {setting.name: setting.default for setting in SETTINGS}
    origins = dict.fromkeys(values, "default")
    warnings: list[str] = []
    url = flags.get("dir") or environ.get("NUGGETS_DIR") or DEFAULT_DIRECTORY
    directory = directory_of(url)
    path = os.path.join(directory, "config.toml") if directory else ""
    sources = (
        (path, _file(path)),
        ("environment", {s.name: environ[s.variable] for s in SETTINGS if environ.get(s.variable)}),
        ("command line", {name: value for name, value in flags.items() if value is not None}),
    )
    for origin, given in sources:
        for setting in SETTINGS:
            if setting.name in given:
                try:
                    values[setting.name] = _checked(setting, given[setting.name])
                    origins[setting.name] = origin
                except ValueError as problem:
                    name = setting.variable if origin == "environment" else setting.name
                    warnings.append(f"{name}: {problem}; using {values[setting.name]!r}")
        unknown = given.keys() - values.keys()
        warnings += [f"{origin}: there is no setting {name!r}" for name in sorted(unknown)]
    return Settings(values, origins, tuple(warnings))


def _file(path: str) -> Mapping[str, Any]:
    if not os.path.exists(path):
        return {}
    import tomllib

    try:
        with open(path, "rb") as file:
            given = tomllib.load(file)
    except (OSError, ValueError) as problem:
        raise SettingsError(
            f"{path} cannot be read: {problem}. Correct it or move it away"
        ) from None
    if "dir" in given:  # some would follow it and some not, and memories would go two ways
        raise SettingsError(
            f"{path} lies in the shelf's directory and cannot name another: take `dir` out, and "
            "set NUGGETS_DIR or use --dir"
        )
    return given


def _checked(setting: Setting, value: Any) -> Any:
    if isinstance(setting.default, str):
        if not isinstance(value, str):
            raise ValueError(f"a text is expected, not {value!r}")
        if setting.default and not value:  # no directory at all would be the one you stand in
            raise ValueError("it must not be empty")
        return value
    try:
        number = int(value)
        if isinstance(value, bool | float):
            raise ValueError
    except (OverflowError, TypeError, ValueError):
        raise ValueError(f"a whole number is expected, not {value!r}") from None
    too_small = setting.least is not None and number < setting.least
    too_large = setting.most is not None and number > setting.most
    if too_small or too_large:
        most = f"at most {setting.most}"
        allowed = most if setting.least is None else f"at least {setting.least} and {most}"
        raise ValueError(f"{number} is not {allowed}")
    return number
