"""Distils a session with an agent into a short text, by fixed rules. Knows no host and no file.

The same steps give the same text. It is made of what was said and done, never of what an agent
concludes about itself; credentials are redacted, and nothing that memory showed is learnt again.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from nuggets.domain.credentials import redact, redacted_line
from nuggets.domain.host_markup import carries_mark
from nuggets.language.markdown import continues_code
from nuggets.language.text import shorten, visible
from nuggets.named_tuple import NamedTuple
from nuggets.operations.session_requests import READ_CHARACTERS, is_substantial

StepKind = Literal["request", "reply", "command", "file", "plan"]

# Ours: short enough that a person or a model reads all of it, some 500 tokens. No section crowds
# out the others, and those that rank last give way first.
SUMMARY_CHARACTERS = 2000
LINE_CHARACTERS = 180
LONG_LINE_CHARACTERS = 300  # of the goal and of the last words, one line each
LINES = 6  # of a section
FILES = 15  # on one line
TITLE_CHARACTERS = 80  # of the goal in a title: what a list of sessions shows on one line
LONGEST_SENTENCE = 400  # characters: a longer one was pasted, nobody writes it
SENTENCES = 40  # of a request that are looked at: a bound on the time that a pasted page takes

# A failure of these says "nothing found" more often than "broken".
_LOOKING = frozenset(
    ("cat", "cmp", "command", "diff", "egrep", "fgrep", "find", "grep", "head", "jq", "kill")
) | {"ls", "pgrep", "rg", "sed", "sleep", "stat", "tail", "test", "timeout", "which", "["}
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_DECISION = re.compile(
    r"(?:no|nope|actually|instead|rather|decision|decided|correction|wait)\b[,:; ]"
    r"|(?:let's|lets|we'll|we will|i'll) (?:go with|use|keep|stick|drop|skip|leave|not)\b"
    r"|(?:don't|do not|never|always|please don't|stop) \w"
    r"|.{0,200}\b(?:we|i|they|have) (?:decided|agreed|settled)\b"
    r"|.{0,200}\b(?:instead of|rather than|go with|stick with|not .{1,40} but)\b"
    r"|use .{1,80}\bnot\b",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r".{0,200}\b(?:next step|todo|to do|remaining|remains|still (?:need|fail|miss|open|to)\w*|"
    r"not yet|left to|follow-up|blocked|unresolved)\b",
    re.IGNORECASE,
)
_COMMITTED = re.compile(r"^\[\S+(?: \(root-commit\))? ([0-9a-f]{7,40})\] (\S.{0,200})$", re.M)
_MESSAGE = re.compile(
    r"\s(?:-[a-z]*m|--message)[ =]?(?:\"\$\(cat <<\S+\s*\n|[\"'])?([^\"'\n]{1,200})"
)
_CHANGE_OF_PLACE = re.compile(r"cd \S{1,300}\s*(?:&&|;)\s*")
_OUTPUT = re.compile(r"(?:\||[12&]?>).*")


class Step(NamedTuple):
    """One thing that happened in a session."""

    kind: StepKind
    text: str  # what was said; a command; a path; the open points of a plan, a line each
    failed: bool | None = None  # of a command; None if nobody said
    output: str = ""  # of a command, its beginning


class Summary(NamedTuple):
    """What a session was about."""

    goal: str
    text: str


class _Section(NamedTuple):
    heading: str
    lines: Sequence[str]
    rank: int  # what comes first when there is too little room


def summarize(steps: Iterable[Step], memories: Sequence[str] = ()) -> Summary | None:
    """The summary of a session; None if nothing substantial was asked, and nothing was changed.

    `memories`: titles and ids of the memories that the session was shown on its prompts.
    """
    done = [step for step in steps if not carries_mark(step.text)]
    commits, files = _commits(done), _changed_files(done)
    requests = _substantial_requests(done)
    if not requests and (commits or files):  # "go on" is all that was said
        requests = [step.text for step in done if step.kind == "request"][:1]
    if not requests:
        return None
    goal, *later = (redacted_line(request, LONG_LINE_CHARACTERS) for request in requests)
    runs = _runs_by_command(done)
    sections = [
        _Section("Goal", [goal], 0),
        _Section("Asked last", [line[:LINE_CHARACTERS] for line in later[-LINES:]], 2),
        _Section("Decided or corrected", _decisions(done), 3),
        _Section("Open", _open_points(done, runs), 1),
        _Section("Commits", commits, 4),
        _Section("Files changed", files, 5),
        _Section("Failed, then passed", _mended_commands(runs), 6),
        _Section("Memories used", _safe_lines(memories), 8),
        _Section("The agent's last words", _last_words(done), 7),
    ]
    return Summary(goal, redact(_text_within(sections, SUMMARY_CHARACTERS)))


def title_of(goal: str, date: str) -> str:
    """The title of a session's note: its date and its goal."""
    return f"{date} {shorten(goal, TITLE_CHARACTERS)}"


def _substantial_requests(steps: Sequence[Step]) -> list[str]:
    """What was asked, without repetitions: the last of equal ones counts, but the goal stays."""
    requests = [step.text for step in steps if step.kind == "request" and is_substantial(step.text)]
    first = requests[:1]
    rest = [text for text in dict.fromkeys(reversed(requests)) if text not in first]
    return [*first, *reversed(rest)]


def _sentences(text: str) -> Iterator[str]:
    """The sentences of prose, without fenced code and pasted text."""
    lines = visible(text[:READ_CHARACTERS]).split("\n")
    pairs = zip(lines, continues_code(lines), strict=True)
    prose = "\n".join(line for line, is_code in pairs if not is_code and line[:1] not in "`>|")
    for sentence in _SENTENCE.split(prose)[:SENTENCES]:
        bare = sentence.strip(" -*•")
        if bare and len(bare) <= LONGEST_SENTENCE:
            yield bare


def _decisions(steps: Sequence[Step]) -> list[str]:
    """What the person decided or corrected, in their words, and the agent's marked decisions."""
    found = []
    for step in steps:
        if step.kind == "request":
            found += [s for s in _sentences(step.text) if _DECISION.match(s) and is_substantial(s)]
        elif step.kind == "reply" and "ecision:" in step.text:
            found += [s for s in _sentences(step.text) if s.lower().startswith("decision:")]
    return _safe_lines(dict.fromkeys(found))


def _open_points(steps: Sequence[Step], runs: "dict[str, list[Step]]") -> list[str]:
    """An unanswered request, the open points of the last plan, commands that still fail, and what
    the last reply says is left."""
    points: list[str] = []
    last = next((step for step in reversed(steps) if step.kind != "plan"), None)
    has_replies = any(step.kind == "reply" for step in steps)  # else nobody recorded answers
    if last and last.kind == "request" and has_replies and is_substantial(last.text):
        points.append(f"not answered: {last.text}")
    plan = next((step.text for step in reversed(steps) if step.kind == "plan"), "")
    points += filter(None, plan.split("\n"))
    points += [f"still fails: {command}" for command, run in runs.items() if run[-1].failed]
    reply = next((step.text for step in reversed(steps) if step.kind == "reply"), "")
    points += [sentence for sentence in _sentences(reply) if _OPEN.match(sentence)]
    return _safe_lines(dict.fromkeys(points), newest=False)


def _runs_by_command(steps: Sequence[Step]) -> "dict[str, list[Step]]":
    """The runs of each command that tells by its exit status whether the work is good."""
    runs: dict[str, list[Step]] = {}
    for step in steps:
        command = _command_line(step.text) if step.kind == "command" else ""
        is_telling = command and command.split()[0] not in _LOOKING and "git commit" not in command
        if is_telling and step.failed is not None:
            runs.setdefault(command, []).append(step)
    return runs


def _command_line(text: str) -> str:
    """The first line of a command, without a change of directory and without redirections."""
    first = _CHANGE_OF_PLACE.sub("", text.strip()[:LONGEST_SENTENCE].split("\n", 1)[0], count=1)
    return " ".join(_OUTPUT.sub("", first, count=1).split())


def _mended_commands(runs: "dict[str, list[Step]]") -> list[str]:
    mended = []
    for command, run in runs.items():
        failures = sum(step.failed is True for step in run)
        if failures and run[-1].failed is False:
            mended.append(f"{command} ({failures}×)" if failures > 1 else command)
    return _safe_lines(mended)


def _commits(steps: Sequence[Step]) -> list[str]:
    """Commits made, by what git said of them, else by the message that the command gave."""
    commits: list[str] = []
    for step in steps:
        if step.kind != "command" or "git" not in step.text or "commit" not in step.text:
            continue
        made = _COMMITTED.findall(step.output)
        commits += [f"{number[:10]} {subject}" for number, subject in made]
        message = _MESSAGE.search(step.text[:READ_CHARACTERS])
        if not made and message and step.failed is False:
            commits.append(message[1].strip())
    return _safe_lines(dict.fromkeys(commits))


def _changed_files(steps: Sequence[Step]) -> list[str]:
    paths = list(dict.fromkeys(reversed([step.text for step in steps if step.kind == "file"])))
    if not paths:
        return []
    listed = ", ".join(redacted_line(path, 120) for path in reversed(paths[:FILES]))
    more = f" and {len(paths) - FILES} more" if len(paths) > FILES else ""
    return [f"{listed}{more}"]


def _last_words(steps: Sequence[Step]) -> list[str]:
    reply = next((step.text for step in reversed(steps) if step.kind == "reply"), "")
    return [redacted_line(reply, LONG_LINE_CHARACTERS)] if reply.strip() else []


def _safe_lines(texts: Iterable[str], *, newest: bool = True) -> list[str]:
    listed = list(texts)
    chosen = listed[-LINES:] if newest else listed[:LINES]
    return [redacted_line(text, LINE_CHARACTERS) for text in chosen]


def _text_within(sections: Sequence[_Section], room: int) -> str:
    """The sections in their order; what ranks last is left out first."""
    kept: dict[str, list[str]] = {section.heading: [] for section in sections}
    for section in sorted(sections, key=lambda section: section.rank):
        cost = len(section.heading) + 3
        for line in section.lines:
            cost += len(line) + 3
            if cost > room:
                break
            kept[section.heading].append(line)
            room, cost = room - cost, 0
    return "\n".join(
        f"{heading}: {lines[0]}"
        if len(lines) == 1
        else "\n".join([f"{heading}:", *(f"- {line}" for line in lines)])
        for heading, lines in kept.items()
        if lines
    )
