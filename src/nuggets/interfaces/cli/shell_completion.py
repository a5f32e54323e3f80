"""Completion in a shell: the scripts for bash, zsh and fish, and the words that they ask for.

The shell lists the nuggets from their files, without starting Python. For keys and titles it asks
`nuggets __complete KIND DIR NUGGET PREFIX`, at every press of the Tab key: so that imports little,
and never writes. Names are never evaluated. Commands: completion.
"""

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from nuggets.errors import NuggetsError
from nuggets.filesystem.current_project import current_project
from nuggets.filesystem.shelf_location import default_location, directory_of
from nuggets.interfaces.cli.command_table import GROUPS, MODULES, Call, Command, Outcome, find
from nuggets.language.text import fold_case
from nuggets.named_tuple import NamedTuple
from nuggets.stores.completion_titles import recent_titles

if TYPE_CHECKING:
    from argparse import ArgumentParser


def _shell_argument(parser: "ArgumentParser") -> None:
    parser.add_argument("shell", choices=("bash", "zsh", "fish"))


def _completion(call: Call) -> Outcome:
    script = {"bash": _bash, "zsh": _zsh, "fish": _fish}[call.options.shell]()
    return Outcome({"shell": call.options.shell, "script": script}, [script])


class _Completions(NamedTuple):
    """What can follow a command."""

    summary: str
    options: list[str]
    options_with_value: list[str]
    choices: list[str]  # of its first argument
    option_values: dict[str, list[str]]
    kinds: list[str]  # what each argument names: nugget, key, title, setting; "-" for anything else


def _list_completions() -> dict[str, _Completions]:
    from nuggets.interfaces.cli.arguments_and_receipts import METADATA_VALUES
    from nuggets.interfaces.cli.parsing_and_help import build_parser

    completions = {}
    for commands in MODULES.values():
        for name, (_, summary) in commands.items():
            command = find(name)
            assert command is not None
            parser = build_parser(name, command)
            options = [o for a in parser.arguments for o in a.option_strings if o[:2] == "--"]
            with_value = [o for a in parser.arguments if a.nargs != 0 for o in a.option_strings]
            first = parser.positionals[0] if parser.positionals else None
            choices = list(map(str, first.choices or ())) if first else []
            values = {
                option: list(map(str, argument.choices or METADATA_VALUES.get(argument.dest, ())))
                for argument in parser.arguments
                for option in argument.option_strings
            }
            completions[name] = _Completions(
                summary,
                options,
                with_value,
                choices,
                {option: allowed for option, allowed in values.items() if allowed},
                [_kind_of(name, argument.dest) for argument in parser.positionals],
            )
    return completions


def _kind_of(command: str, argument: str) -> str:
    """What an argument names."""
    if argument == "query":
        return "key" if command == "recall" else "-"
    if command == "config":
        return "setting" if argument == "name" else "-"
    is_title = command.partition(" ")[0] in ("note", "link", "unlink", "graph")
    if is_title and argument in ("note", "a", "b", "target", "source"):
        return "title"
    return argument if argument in ("nugget", "key") else "-"


def _first_words() -> list[str]:
    names = (name.split()[0] for commands in MODULES.values() for name in commands)
    return list(dict.fromkeys(names))


def _second_words(group: str) -> list[str]:
    names = (name.split() for commands in MODULES.values() for name in commands)
    return [words[1] for words in names if len(words) == 2 and words[0] == group]


def _setting_names() -> str:
    from nuggets.settings import SETTINGS

    return " ".join(setting.name for setting in SETTINGS)


def _bash() -> str:
    completions = _list_completions()
    with_value = {
        option for completion in completions.values() for option in completion.options_with_value
    }
    cases = [f'    "") words="{" ".join(_first_words())}" ;;']
    cases += [f'    {group}) words="{" ".join(_second_words(group))}" ;;' for group in GROUPS]
    for name, completion in completions.items():
        words = f'words="{" ".join(completion.options)}"; kinds="{" ".join(completion.kinds)}"'
        choices = " ".join(completion.choices)
        first = f'; [ "$position" -eq 0 ] && choices="{choices}"' if choices else ""
        cases.append(f'    "{name}") {words}{first} ;;')
    option_values: dict[str, str] = {}
    for name, completion in completions.items():
        for option, allowed in completion.option_values.items():
            option_values.setdefault(f'"{name} {option}"', " ".join(allowed))
    values = [f'    {case}) words="{allowed}" ;;' for case, allowed in option_values.items()]
    script = _BASH.replace("@options_with_value@", "|".join(sorted(with_value)))
    script = script.replace("@option_values@", "\n".join(values))
    script = script.replace("@settings@", _setting_names())
    return script.replace("@groups@", "|".join(GROUPS)).replace("@cases@", "\n".join(cases))


# zsh's bashcompinit runs it too. `compgen -W` would evaluate the names of files, so the script
# compares the words itself.
_BASH = r"""# bash completion for nuggets. In ~/.bashrc:  eval "$(nuggets completion bash)"
_nuggets() {
  local current="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"
  local directory="${NUGGETS_DIR:-$HOME/.nuggets}" command="" position=0
  local words="" choices="" nuggets="" kinds="" kind="" first="" quoted="" nugget="" i word
  COMPREPLY=()
  case "$before" in =) before="${COMP_WORDS[COMP_CWORD-2]}" ;; esac
  case "$current" in =) current="" ;; esac
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="${COMP_WORDS[i]}"
    case "$word" in
      @options_with_value@)
        i=$((i + 1))
        case "${COMP_WORDS[i]}" in =) i=$((i + 1)) ;; esac
        case "$word" in
          --dir) directory="${COMP_WORDS[i]:-}" ;;
          --nugget) nugget="${COMP_WORDS[i]:-}" ;;
        esac ;;
      --dir=*) directory="${word#*=}" ;;
      -*) ;;
      *) case "$command" in
           "") command="$word" ;;
           @groups@) command="$command $word" ;;
           *) [ "$position" -gt 0 ] || first="$word"
              position=$((position + 1)) ;;
         esac ;;
    esac
  done
  directory="${directory/#\~/$HOME}"
  case "$command" in
@cases@
  esac
  i=0
  for word in $kinds; do
    [ "$i" -ne "$position" ] || kind="$word"
    i=$((i + 1))
  done
  case "$kind" in
    nugget) nuggets=1 ;;
    setting) choices="@settings@" ;;
  esac
  case "$before" in
    --nugget) words=""; choices=""; nuggets=1; kind="" ;;
    --note) words=""; choices=""; kind="title" ;;
    @options_with_value@)
      words=""; choices=""; nuggets=""; kind=""
      case "$command $before" in
@option_values@
        *) return ;;
      esac ;;
  esac
  case "$current" in
    \"*|\'*) quoted=1; current="${current#?}" ;;
    *) current="${current//\\/}" ;;
  esac
  case "$current" in -*) ;; *) words="${choices:-$words}" ;; esac
  case "$kind$current" in
    key-*|title-*) kind="" ;;
    key*) case "$kinds" in nugget*) nugget="${first//\\/}" ;; esac ;;
  esac
  case "$kind" in key|title)
    while IFS= read -r word; do
      [ -n "$quoted" ] || word="$(printf %q "$word")"
      COMPREPLY[${#COMPREPLY[@]}]="$word"
    done < <("${COMP_WORDS[0]}" __complete "$kind" "$directory" "$nugget" "$current" 2>/dev/null)
    [ -n "${COMPREPLY[*]:-}" ] && case "$current" in -*) ;; *) return ;; esac ;;
  esac
  if [ -n "$nuggets" ]; then
    for word in "$directory"/*.nugget.json; do
      [ -e "$word" ] || continue
      word="${word##*/}"; word="${word%.nugget.json}"
      [ "${word#"$current"}" != "$word" ] || [ -z "$current" ] || continue
      COMPREPLY[${#COMPREPLY[@]}]="$(printf %q "$word")"
    done
  fi
  local IFS=' '
  for word in $words; do
    [ "${word#"$current"}" != "$word" ] || [ -z "$current" ] || continue
    case "$nuggets$current" in 1) continue ;; esac
    COMPREPLY[${#COMPREPLY[@]}]="$word"
  done
}
complete -o default -F _nuggets nuggets"""


def _zsh() -> str:
    return f"""\
# zsh completion for nuggets. In ~/.zshrc, after compinit:  eval "$(nuggets completion zsh)"
autoload -U +X bashcompinit && bashcompinit
{_bash()}"""


def _fish() -> str:
    lines = [_FISH]
    for name, completion in _list_completions().items():
        group, _, word = name.rpartition(" ")
        if group:
            in_group = f"__fish_seen_subcommand_from {group}"
            siblings = " ".join(_second_words(group))
            before = f"{in_group}; and not __fish_seen_subcommand_from {siblings}"
            after = f"{in_group}; and __fish_seen_subcommand_from {word}"
        else:
            before = "__fish_use_subcommand"
            after = f"not __fish_seen_subcommand_from {' '.join(GROUPS)}; and "
            after += f"__fish_seen_subcommand_from {name}"
        lines.append(f"complete -c nuggets -n '{before}' -a {word} -d {_quote(completion.summary)}")
        for option in completion.options:
            value = " -r" if option in completion.options_with_value else ""
            names = " -a '(__nuggets_names)'" if option == "--nugget" else ""
            allowed = " ".join(completion.option_values.get(option, ()))
            names = f" -a '{allowed}'" if allowed else names
            lines.append(f"complete -c nuggets -n '{after}' -l {option[2:]}{value}{names}")
        if completion.choices:
            lines.append(f"complete -c nuggets -n '{after}' -a '{' '.join(completion.choices)}'")
        if completion.kinds[:1] == ["nugget"]:
            lines.append(f"complete -c nuggets -n '{after}' -a '(__nuggets_names)'")
        for kind in sorted({"key", "title"} & set(completion.kinds)):
            lines.append(f"complete -c nuggets -n '{after}' -a '(__nuggets_titles {kind})'")
        if "setting" in completion.kinds:
            lines.append(f"complete -c nuggets -n '{after}' -a '{_setting_names()}'")
    lines += [
        f"complete -c nuggets -n __fish_use_subcommand -a {group} -d 'commands of {group}'"
        for group in GROUPS
    ]
    return "\n".join(lines)


_FISH = r"""# fish completion for nuggets.
# nuggets completion fish > ~/.config/fish/completions/nuggets.fish
function __nuggets_names
    set -l directory "$HOME/.nuggets"
    set -q NUGGETS_DIR; and set directory $NUGGETS_DIR
    for path in $directory/*.nugget.json
        string replace -r '^.*/(.*)\.nugget\.json$' '$1' -- $path
    end
end
function __nuggets_titles
    command nuggets __complete $argv[1] "" "" (commandline -ct) 2>/dev/null
end
complete -c nuggets -f"""


def _quote(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


# --- words for a shell -------------------------------------------------------------------------


_KINDS = {"key": "fact", "title": ""}


def print_words(arguments: Sequence[str]) -> int:
    """Print one title a line; nothing if there is no shelf, or if it cannot be read."""
    kind, directory, nugget, prefix = (*arguments, "", "", "", "")[:4]
    try:
        titles = recent_titles(
            directory_of(directory or default_location(os.environ)),
            prefix,
            project=os.environ.get("NUGGETS_PROJECT") or current_project(),
            kind=_KINDS.get(kind, ""),
            nugget=fold_case(nugget) if nugget else "",
        )
    except (NuggetsError, OSError, ValueError):
        return 1
    lines = "".join(f"{title}\n" for title in titles if title.isprintable())
    sys.stdout.buffer.write(lines.encode(errors="replace"))
    return 0


COMMANDS = {
    "completion": Command(
        (
            'eval "$(nuggets completion bash)"',
            "nuggets completion fish > ~/.config/fish/completions/nuggets.fish",
        ),
        _completion,
        _shell_argument,
    ),
}
