"""Completion scripts for bash, zsh and fish: commands, their options, and the nuggets you have."""

from argparse import ArgumentParser

from nuggets.interfaces.cli import MODULES, find
from nuggets.interfaces.cli.command import Call, Command, Outcome
from nuggets.interfaces.cli.parsing import parser_for

# Nuggets are files, so a shell can list them without starting anything.
_NUGGETS = 'ls "${NUGGETS_DIR:-$HOME/.nuggets}" 2>/dev/null | sed -n "s/\\\\.nugget\\\\.json\\$//p"'


def _arguments(parser: ArgumentParser) -> None:
    parser.add_argument("shell", choices=("bash", "zsh", "fish"))


def _completion(call: Call) -> Outcome:
    script = {"bash": _bash, "zsh": _zsh, "fish": _fish}[call.options.shell]()
    return Outcome({"shell": call.options.shell, "script": script}, [script])


def _commands() -> dict[str, tuple[str, list[str], bool]]:
    """Command -> summary, options, and whether a nugget's name comes first."""
    found = {}
    for commands in MODULES.values():
        for name, (_, summary) in commands.items():
            command = find(name)
            assert command is not None
            actions = parser_for(name, command)._actions
            options = [option for action in actions for option in action.option_strings]
            positional = [action.dest for action in actions if not action.option_strings]
            found[name] = (summary, options, positional[:1] == ["nugget"])
    return found


def _bash() -> str:
    commands = _commands()
    names = " ".join(commands)
    cases = "\n".join(
        f'    {name}) words="{" ".join(options)}"{"; topics=1" if takes_nugget else ""};;'
        for name, (_, options, takes_nugget) in commands.items()
    )
    return f"""\
# bash completion for nuggets. In ~/.bashrc:  eval "$(nuggets completion bash)"
_nuggets() {{
  local IFS=$'\\n' current="${{COMP_WORDS[COMP_CWORD]}}" words="" topics=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="{names}"; COMPREPLY=($(compgen -W "${{words// /$'\\n'}}" -- "$current")); return
  fi
  case "${{COMP_WORDS[1]}}" in
{cases}
  esac
  if [ -n "$topics" ] && [ "$COMP_CWORD" -eq 2 ]; then
    COMPREPLY=($(compgen -W "$({_NUGGETS})" -- "$current"))
  else
    COMPREPLY=($(compgen -W "${{words// /$'\\n'}}" -- "$current"))
  fi
}}
complete -o default -F _nuggets nuggets"""


def _zsh() -> str:
    return f"""\
# zsh completion for nuggets. In ~/.zshrc, after compinit:  eval "$(nuggets completion zsh)"
autoload -U +X bashcompinit && bashcompinit
{_bash()}"""


def _fish() -> str:
    lines = [
        "# fish completion for nuggets.",
        "# nuggets completion fish > ~/.config/fish/completions/nuggets.fish",
        "complete -c nuggets -f",
    ]
    for name, (summary, options, takes_nugget) in _commands().items():
        lines.append(f"complete -c nuggets -n __fish_use_subcommand -a {name} -d '{summary}'")
        seen = f"'__fish_seen_subcommand_from {name}'"
        for option in options:
            if option.startswith("--"):
                lines.append(f"complete -c nuggets -n {seen} -l {option[2:]}")
        if takes_nugget:
            lines.append(f"complete -c nuggets -n {seen} -a '(sh -c {_quoted(_NUGGETS)})'")
    return "\n".join(lines)


def _quoted(command: str) -> str:
    return '"' + command.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$") + '"'


COMMANDS = {
    "completion": Command(
        "print the completion script for your shell",
        (
            'eval "$(nuggets completion bash)"',
            "nuggets completion fish > ~/.config/fish/completions/nuggets.fish",
        ),
        _arguments,
        _completion,
    ),
}
