"""The command completion, and what it offers.

Completion in a shell is a short script for bash, zsh or fish. At every press of the Tab key it asks
`nuggets __complete WORD …`, with the words up to the cursor, which never writes. Names are never
evaluated.
"""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence

from nuggets.errors import NuggetsError
from nuggets.filesystem.current_project import current_project
from nuggets.filesystem.shelf_location import default_location, directory_of
from nuggets.interfaces.cli import (
    COMMANDS,
    GROUPS,
    Argument,
    Call,
    Command,
    Outcome,
    argument,
    command,
    find,
    split_command,
)
from nuggets.language.text import fold_case

# bash before version 4, as on macOS, has no negative indexes. A candidate may be followed by a tab
# and what it is, which fish shows.
_BASH = r"""# bash completion for nuggets. In ~/.bashrc:  eval "$(nuggets completion bash)"
_nuggets() {
  local word current="${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=()
  while IFS= read -r word; do
    word="${word%%$'\t'*}"
    case "$current" in \"*|\'*) ;; *) word="$(printf %q "$word")" ;; esac
    COMPREPLY[${#COMPREPLY[@]}]="$word"
  done < <("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _nuggets nuggets"""
_ZSH = f"""\
# zsh completion for nuggets. In ~/.zshrc, after compinit:  eval "$(nuggets completion zsh)"
autoload -U +X bashcompinit && bashcompinit
{_BASH}"""
_FISH = r"""# fish completion for nuggets.
# nuggets completion fish > ~/.config/fish/completions/nuggets.fish
function __nuggets_words
    set -l words (commandline -opc)
    command nuggets __complete $words[2..] (commandline -ct) 2>/dev/null
end
complete -c nuggets -f -a '(__nuggets_words)'"""
_SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


@command(
    "completion",
    argument("shell", choices=tuple(_SCRIPTS)),
    examples=(
        'eval "$(nuggets completion bash)"',
        "nuggets completion fish > ~/.config/fish/completions/nuggets.fish",
    ),
)
def _completion(call: Call) -> Outcome:
    script = _SCRIPTS[call.options.shell]
    return Outcome({"shell": call.options.shell, "script": script}, [script])


def print_words(words: Sequence[str]) -> int:
    """Print what may stand for the last word, one a line; nothing if the shelf cannot be read."""
    try:
        offered = list(_offer_words(words))
    except (NuggetsError, OSError, ValueError):
        return 1
    lines = "".join(f"{word}\n" for word in offered if word.replace("\t", "").isprintable())
    sys.stdout.buffer.write(lines.encode(errors="replace"))
    return 0


def _offer_words(words: Sequence[str]) -> Iterator[str]:
    *before, current = (_unquote(word) for word in words or ("",))
    before = [part for word in before for part in _split_value(word)]
    option, equals, value = current.partition("=")
    if current == "=":  # bash makes a word of it
        current = ""
    elif equals and option.startswith("--"):
        for word in _offer_words([*before, option, value]):
            yield f"{option}={word}"
        return
    name, options, rest = split_command(before)
    command = None if name in GROUPS else find(name)
    if command is not None:
        yield from _argument_words(name, command, [*options, *rest], current)
    elif before[-1:] != ["--dir"]:  # for which the shell offers files
        yield from (line for line in _command_lines(name) if line.startswith(current))


def _unquote(word: str) -> str:
    """The word without the signs by which a shell keeps it together."""
    if word[:1] in ('"', "'"):
        return word[1:].removesuffix(word[0])
    return word.replace("\\", "")


def _split_value(word: str) -> list[str]:
    """An option and its value, which may be one word, or three with the sign between them."""
    option, equals, value = word.partition("=")
    if not equals or not (option.startswith("--") or word == "="):
        return [word]
    return [part for part in (option, value) if part]


def _command_lines(group: str) -> Iterator[str]:
    """The words that continue the name of a command, each with what it is."""
    known = set()
    for name, (_, summary) in COMMANDS.items():
        first, _, second = name.partition(" ")
        if group and first == group:
            yield f"{second}\t{summary}"
        elif not group and first not in known:
            known.add(first)
            yield f"{first}\t{f'commands of {first}' if first in GROUPS else summary}"


def _argument_words(
    name: str, command: Command, words: Sequence[str], current: str
) -> Iterable[str]:
    """What may stand behind these words of a command: the value of an argument, else an option."""
    from nuggets.interfaces.cli.run_command import GLOBAL_ARGUMENTS

    arguments = (*command.arguments, *GLOBAL_ARGUMENTS)
    given: dict[str, str] = {}
    positions: list[str] = []
    waiting: Argument | None = None
    for word in words:
        if waiting is not None:
            given[waiting.name] = word
            waiting = None
        elif word.startswith("-"):
            named = [argument for argument in arguments if word == argument.name]
            waiting = next((argument for argument in named if argument.takes_value), None)
        else:
            positions.append(word)
    following = [argument for argument in arguments if not argument.is_option][len(positions) :]
    argument = waiting if waiting or current.startswith("-") else next(iter(following), None)
    if argument is not None:
        found = _values(name, argument, current, given, positions)
        if found or waiting or argument.name == "nugget":
            return found
    options = [argument.name for argument in arguments if argument.is_option]
    return [option for option in (*options, "--help") if option.startswith(current)]


# what an argument names: of any command, or of one
_NAMED = {
    **dict.fromkeys(("--nugget", "nugget"), "nugget"),
    **dict.fromkeys(("--note", "note", "a", "b"), "title"),
    "key": "key",
}
_NAMED_BY = {
    ("recall", "query"): "key",
    ("config", "name"): "setting",
    ("note merge", "target"): "title",
    ("note merge", "source"): "title",
}


def _values(
    name: str, argument: Argument, current: str, given: dict[str, str], positions: Sequence[str]
) -> list[str]:
    """What an argument of a command may be."""
    from nuggets.interfaces.cli.run_command import METADATA_VALUES
    from nuggets.settings import SETTINGS
    from nuggets.stores import nugget_names, recent_titles

    of = argument.name
    kind = _NAMED_BY.get((name, of)) or _NAMED.get(of)
    directory = directory_of(given.get("--dir") or default_location(os.environ))
    if kind in ("key", "title"):
        nugget = positions[0] if of == "key" and positions else given.get("--nugget", "")
        return recent_titles(
            directory,
            current,
            project=os.environ.get("NUGGETS_PROJECT") or current_project(),
            kind="fact" if kind == "key" else "",
            nugget=fold_case(nugget),
        )
    names: Iterable[str] = argument.options.get("choices") or METADATA_VALUES.get(of[2:], ())
    if kind == "nugget":
        names = nugget_names(directory)
    elif kind == "setting":
        names = (setting.name for setting in SETTINGS)
    return [one for one in names if one.startswith(current)]
