"""Completion scripts for bash, zsh and fish: commands, their options, and the nuggets you have.

Nuggets are files, so a shell lists them without starting anything; their names are never
evaluated.
"""

from argparse import ArgumentParser
from typing import NamedTuple

from nuggets.interfaces.cli import GROUPS, MODULES, find
from nuggets.interfaces.cli.command import Call, Command, Outcome
from nuggets.interfaces.cli.parsing import parser_for


def _arguments(parser: ArgumentParser) -> None:
    parser.add_argument("shell", choices=("bash", "zsh", "fish"))


def _completion(call: Call) -> Outcome:
    script = {"bash": _bash, "zsh": _zsh, "fish": _fish}[call.options.shell]()
    return Outcome({"shell": call.options.shell, "script": script}, [script])


class _Known(NamedTuple):
    """What there is to complete after a command."""

    summary: str
    options: list[str]
    with_value: list[str]  # those of its options that a value follows
    takes_nugget: bool  # as its first argument


def _commands() -> dict[str, _Known]:
    known = {}
    for commands in MODULES.values():
        for name, (_, summary) in commands.items():
            command = find(name)
            assert command is not None
            actions = parser_for(name, command)._actions
            long = [o for action in actions for o in action.option_strings if o.startswith("--")]
            valued = [o for a in actions if a.nargs != 0 for o in a.option_strings]
            positional = [action.dest for action in actions if not action.option_strings]
            known[name] = _Known(summary, long, valued, positional[:1] == ["nugget"])
    return known


def _first_words() -> list[str]:
    names = (name.split()[0] for commands in MODULES.values() for name in commands)
    return list(dict.fromkeys(names))


def _second_words(group: str) -> list[str]:
    names = (name.split() for commands in MODULES.values() for name in commands)
    return [words[1] for words in names if len(words) == 2 and words[0] == group]


def _bash() -> str:
    known = _commands()
    valued = "|".join(sorted({option for one in known.values() for option in one.with_value}))
    cases = [f'    "") words="{" ".join(_first_words())}" ;;']
    cases += [f'    {group}) words="{" ".join(_second_words(group))}" ;;' for group in GROUPS]
    for name, one in known.items():
        topics = '; [ "$place" -eq 0 ] && topics=1' if one.takes_nugget else ""
        cases.append(f'    "{name}") words="{" ".join(one.options)}"{topics} ;;')
    parts = {"@valued@": valued, "@groups@": "|".join(GROUPS), "@cases@": "\n".join(cases)}
    script = _BASH
    for place, part in parts.items():
        script = script.replace(place, part)
    return script


# Written so that zsh's bashcompinit runs it as well. `compgen -W` would evaluate the names of
# files, so words are compared here.
_BASH = r"""# bash completion for nuggets. In ~/.bashrc:  eval "$(nuggets completion bash)"
_nuggets() {
  local current="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"
  local directory="${NUGGETS_DIR:-$HOME/.nuggets}" command="" place=0 words="" topics="" i word
  COMPREPLY=()
  case "$before" in =) before="${COMP_WORDS[COMP_CWORD-2]}" ;; esac
  case "$current" in =) current="" ;; esac
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="${COMP_WORDS[i]}"
    case "$word" in
      @valued@)
        i=$((i + 1))
        case "${COMP_WORDS[i]}" in =) i=$((i + 1)) ;; esac
        case "$word" in --dir) directory="${COMP_WORDS[i]:-}" ;; esac ;;
      --dir=*) directory="${word#*=}" ;;
      -*) ;;
      *) case "$command" in
           "") command="$word" ;;
           @groups@) command="$command $word" ;;
           *) place=$((place + 1)) ;;
         esac ;;
    esac
  done
  directory="${directory/#\~/$HOME}"
  case "$command" in
@cases@
  esac
  case "$before" in
    --nugget) words=""; topics=1 ;;
    @valued@) return ;;
  esac
  current="${current//\\/}"
  if [ -n "$topics" ]; then
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
    case "$topics$current" in 1) continue ;; esac
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
    for name, one in _commands().items():
        group, _, rest = name.rpartition(" ")
        if group:
            inside = f"__fish_seen_subcommand_from {group}"
            open_group = f"{inside}; and not __fish_seen_subcommand_from {_joined(group)}"
            seen = f"{inside}; and __fish_seen_subcommand_from {rest}"
        else:
            open_group = "__fish_use_subcommand"
            outside = " ".join(GROUPS)
            seen = f"not __fish_seen_subcommand_from {outside}; and "
            seen += f"__fish_seen_subcommand_from {name}"
        lines.append(f"complete -c nuggets -n '{open_group}' -a {rest} -d {_quoted(one.summary)}")
        for option in one.options:
            value = " -r" if option in one.with_value else ""
            topics = " -a '(__nuggets_topics)'" if option == "--nugget" else ""
            lines.append(f"complete -c nuggets -n '{seen}' -l {option[2:]}{value}{topics}")
        if one.takes_nugget:
            lines.append(f"complete -c nuggets -n '{seen}' -a '(__nuggets_topics)'")
    lines += [
        f"complete -c nuggets -n __fish_use_subcommand -a {group} -d 'work with {group}s'"
        for group in GROUPS
    ]
    return "\n".join(lines)


_FISH = r"""# fish completion for nuggets.
# nuggets completion fish > ~/.config/fish/completions/nuggets.fish
function __nuggets_topics
    set -l directory "$HOME/.nuggets"
    set -q NUGGETS_DIR; and set directory $NUGGETS_DIR
    for path in $directory/*.nugget.json
        string replace -r '^.*/(.*)\.nugget\.json$' '$1' -- $path
    end
end
complete -c nuggets -f"""


def _joined(group: str) -> str:
    return " ".join(_second_words(group))


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


COMMANDS = {
    "completion": Command(
        (
            'eval "$(nuggets completion bash)"',
            "nuggets completion fish > ~/.config/fish/completions/nuggets.fish",
        ),
        _completion,
        _arguments,
    ),
}
