"""How hosts and models mark turns, tools and their own words; escapes such marks in a text.

A memory that says `</system-reminder>` or `<|im_start|>` must not look like the host's own words,
neither in a prompt (`interfaces/prompt_quoting.py`) nor in MEMORY.md.
The marks are escaped, not removed: a model still reads what the memory says.
"""

import re
import unicodedata
from functools import cache

# Names of tags, in small letters without separators ("system-reminder", "system_reminder").
_NAMES_BY_HOST = {
    "models": "startofturn endofturn toolcall toolcalls tooluse toolresult toolresults toolcode "
    "toolresponse toolresponses tooloutput tooloutputs tooluseerror toolname toolinput toolcalling "
    "functioncall functioncalls functionresult functionresults functionresponse argkey argvalue",
    "several hosts": "systemreminder systemmessage systemprompt systemnotification systemwarning "
    "systeminstruction systeminstructions systeminfo developerinstructions developermessage "
    "userinstructions custominstructions projectinstructions reminderinstructions "
    "importantinstructionreminders",
    "Claude Code": "commandname commandmessage commandargs commandcontents localcommandstdout "
    "localcommandstderr localcommandcaveat bashinput bashstdout bashstderr userpromptsubmithook "
    "sessionstarthook usermemoryinput tasknotification teammatemessage persistedoutput "
    "newdiagnostics ideopenedfile ideselection idediagnostics claudemd availabledeferredtools",
    "Codex": "environmentcontext permissionsinstructions collaborationmode turnaborted useraction "
    "usershellcommand skillsinstructions appsinstructions pluginsinstructions modelswitch "
    "personalityspec subagentnotification hookprompt",
    "Gemini CLI": "hookcontext sessioncontext statesnapshot extensioncontext loadedcontext "
    "projectcontext globalcontext activatedskill availableskills availablesubagents",
    "Cursor, Copilot, Cline": "userquery userrequest userinfo additionaldata additionalcontext "
    "attachedfiles editorcontext environmentdetails environmentinfo workspaceinfo userrules "
    "alwaysappliedworkspacerules agentskills usemcptool executecommand attemptcompletion "
    "askfollowupquestion newtask",
}
_HOST_NAMES = frozenset(name for names in _NAMES_BY_HOST.values() for name in names.split())
# These are ordinary words too: they count between signs or with attributes, and not as the type
# argument in `List<User>`.
_ROLE_NAMES = {
    *("system", "user", "human", "assistant", "developer", "model", "sys", "s", "bos", "eos"),
    *("tool", "tools", "function", "functions", "invoke", "parameter", "parameters", "sop"),
    *("think", "thinking", "instruction", "instructions", "reminder", "env"),
}
_BRACKETED = {
    *("inst", "sys", "systemprompt", "availabletools", "toolcalls", "toolresults", "toolcontent"),
    *("gmask", "callid", "modelsettings"),
}
_TURNS = ("human", "assistant")  # also inside a line: memories are shown on one
_ROLES = (*_TURNS, "user", "system", "developer")
_HEADINGS = ("instruction", "instructions", "input", "response", *_ROLES)  # "### Response:"

_JUDGED_CHARACTERS = 80  # characters after a sign: no name is longer
_SIGNS = "<[&\\%"
# A sign that may begin a mark: as it is, in full width, or as an escape.
_OPENING = (
    r"(?P<less>[<\u2039\u2329\u27e8\u3008\ufe64\uff1c]|&(?:lt|#0{0,6}60|#x0{0,6}3c);?"
    r"|\\u003c|\\x3c|%3c)|(?P<bracket>[\[\uff3b]|&(?:lsqb|lbrack|#0{0,6}91|#x0{0,6}5b);?)"
)
_NAME = (
    r"[\s</]{0,20}(?:[A-Za-z]{1,20}\s?:\s?)?(?P<name>[A-Za-z](?:[A-Za-z0-9_. -]{0,60}[A-Za-z])?)"
)
_AFTER_NAME = r"\s{0,8}(?:[>/\]=&]|$)|[A-Za-z_:-]{1,30}\s?="
_BARRED = r"[\s<]{0,8}/?\|(?:/?[\w.:\u2581-]{1,60}\||\s{0,4}/?[\w.:\u2581 -]{4,60}\|\s{0,4}>)"
_SEPARATORS = str.maketrans("", "", "-_. ")
_JOINERS = "[\u00ad\u200b-\u200d\u2060\ufe00-\ufe0f]"  # nobody sees them in a name
# A turn of a transcript: a role at the beginning of a line. In small letters it is a key of a
# settings file ("user: postgres").
_TURN = (
    r"(?P<before>(?:^|\\n)[\s>*_#|-]{0,12}|(?<=\s))(?P<role>[A-Z\uff21-\uff3a]\w{3,12})"
    r"(?P<after>[\s*_]{0,4})[:\uff1a\ufe55]"
)


def escape_host_markup(text: str) -> str:
    """The text with the marks of hosts escaped; everything else stays as it is."""
    if not text.isascii() or any(sign in text for sign in _SIGNS):
        text = _pattern(_OPENING, re.IGNORECASE).sub(_escape_sign, text)
    lower = text.lower()
    if not text.isascii() or any(heading in lower for heading in _HEADINGS):
        text = _pattern(_TURN, re.MULTILINE).sub(_escape_turn, text)
    return text


@cache
def _pattern(expression: str, flags: int = 0) -> re.Pattern[str]:
    """Compiled on first use: few texts of a cold hook need one."""
    return re.compile(expression, flags)


def _escape_sign(sign: re.Match[str]) -> str:
    following = _normal_form(sign.string[sign.end() : sign.end() + _JUDGED_CHARACTERS])
    if sign["bracket"]:
        return "&#91;" if _is_bracketed(following) else sign[0]
    is_type_argument = sign.string[max(0, sign.start() - 1) : sign.start()].isalnum()
    is_mark = _pattern(_BARRED).match(following) or _is_tag(following, is_type_argument)
    return "&lt;" if is_mark else sign[0]


def _is_tag(following: str, is_type_argument: bool) -> bool:
    match = _pattern(_NAME).match(following)
    if match is None:
        return False
    words = match["name"].lower().split(" ")
    if not _HOST_NAMES.isdisjoint((_squeeze("".join(words)), _squeeze(words[0]))):
        return True
    if _squeeze(words[0]) not in _ROLE_NAMES or is_type_argument:
        return False
    rest = following[match.start("name") + len(words[0]) :]
    return bool(_pattern(_AFTER_NAME).match(rest.lstrip()))


def _is_bracketed(following: str) -> bool:
    match = _pattern(_NAME).match(following)
    closes = match is not None and following[match.end() :].lstrip().startswith("]")
    return match is not None and closes and _squeeze(match["name"].lower()) in _BRACKETED


def _squeeze(name: str) -> str:
    return name.translate(_SEPARATORS)


def _normal_form(following: str) -> str:
    """As a lenient reader sees it: entities, full width and joiners resolved."""
    if "&" in following:
        import html

        following = html.unescape(following)
    if not following.isascii():
        following = unicodedata.normalize("NFKC", _pattern(_JOINERS).sub("", following))
    return following


def _escape_turn(turn: re.Match[str]) -> str:
    begins_line = turn["before"] or turn.string[max(0, turn.start() - 1) : turn.start()] in (
        "",
        "\n",
    )
    names = _HEADINGS if "#" in turn["before"] else _ROLES if begins_line else _TURNS
    if _normal_form(turn["role"]).lower() not in names:
        return turn[0]
    return f"{turn['before']}{turn['role']}{turn['after']}&#58;"
