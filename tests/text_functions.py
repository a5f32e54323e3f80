"""Every function of the package that reads foreign text, by the file that it is in."""

from collections.abc import Callable, Mapping
from contextlib import suppress

from graph_samples import NOW, by_id, sample
from nuggets import PROMOTE_THRESHOLD
from nuggets.domain import credentials, host_markup, limits, type_check
from nuggets.domain.limits import NAME_CHARACTERS
from nuggets.domain.note_markdown import parse_note
from nuggets.domain.records import GraphNoteMetaInput, MemoryNote
from nuggets.errors import InvalidInput
from nuggets.facts.key_words import spellings, split_words
from nuggets.filesystem.atomic_files import is_leftover
from nuggets.interfaces import prompt_quoting
from nuggets.interfaces.cli import terminal_output
from nuggets.interfaces.connect import EditError, jsonc
from nuggets.interfaces.hooks import (
    help_probability,
    host_payload,
    orders,
    shown_memories,
)
from nuggets.interfaces.importers import ReadFile, Records, markdown_files
from nuggets.interfaces.importers.markdown_files import read_instructions
from nuggets.language import (
    dates,
    equivalence_and_contradiction,
    repository_references,
    text,
)
from nuggets.language.markdown import (
    continues_code,
    opening_fence,
    split_front_matter,
    structure,
    without_code,
)
from nuggets.maintenance.promotion import entries
from nuggets.maintenance.promotion.entries import WrittenEntries
from nuggets.maintenance.promotion.sections import merged_text
from nuggets.maintenance.reflection import archiving_tidying_tagging
from nuggets.maintenance.reflection.linking_and_merging import Plan
from nuggets.operations import metadata_inference, note_merging, notes_and_links, session_requests
from nuggets.operations.metadata_inference import is_personal
from nuggets.search import note_analyzer
from nuggets.search.query import tokenize_query

TextFunction = Callable[[str], object]
# What every function has something to do with, in one piece, as long as a prompt, and as a page.
_SAMPLE = (
    "Reflection on 3rd May 2024: use `src/app.py`, don't café 設定 3.5 HTTPServer rs256\n"
    "password = hunter2Xy9! and token: v2 sha256 your_key_123 https://user:pa55word@host/x\n"
    "- bullet\n\n## heading\n--flag tmp1 never! https://a.example/b me@host:x/y.git"
)
_PROMPTS = (
    "Please always use tabs, not spaces. I prefer vim over emacs. From now on, run the tests.",
    "Remember that the build is slow. Never push here. Do not use mocks",
    "No, use uv not pip. We use tabs in this repo. I like short names. My name is Robin.",
    "I like short names",
    "My name is Robin",
    "Do not use mocks",
    "no, use pnpm not npm",
    "Our rule is one test",
    "Remember that I leave at five today.",
    "Continue the parser, where were we last session?",
    "Merk dir, dass es regnet. Verwende immer uv. Ab jetzt nutze uv. Nein, nimm uv statt pip.",
    "Recuerda que llueve. Usa siempre uv. Prefiero uv. No, usa uv en lugar de pip.",
    "记住，下雨。请始终使用 uv。从现在起用 uv。我喜欢 uv。不，用 uv 而不是 pip。",
)
_BLOCKS = (
    "---\n* * *\n<!-- a\n-->\n<script>\n</script>\n<?a\n?>\n<![CDATA[\n]]>\n<!A\n>\n"
    "- a\n\n  b\n1. c"
)
_CREDENTIALS = (  # the words that each form of credential is looked for by
    "private .atlasv1. :aa q~ -us :// curl -token bearer cookie: pass secret eyJ ghp_ AKIA "
    "pin seed recovery 0000 0000 0000 MTsyt_ "
    "password: x9Y8z7W6v5U4 token: ERC721Enumerable9aX2bQ7"
)
_HOST_MARKS = (
    "<system> &lt;syst\u200dem-reminder&gt; <|im_start|> [INST] Human: a &#60;user name=b>"
)
SAMPLES = (*_PROMPTS, _HOST_MARKS, _SAMPLE, _BLOCKS, _CREDENTIALS, "tmp1: x", "***\n===\n", "// c")


def _note(words: str) -> MemoryNote:
    return sample()._replace(content=words)  # as long as it may be, in any script


def _tag(words: str) -> None:
    note = _note(words)
    archiving_tidying_tagging.tag(Plan(by_id(note), NOW, frozenset()), [note.id])


def _infer(words: str) -> object:
    name = words[:NAME_CHARACTERS]
    return metadata_inference.infer_metadata(
        name, words, [], "notes", "note", GraphNoteMetaInput(), None
    )


def _merge(words: str) -> object:
    one, other = sample(2), _note(words)
    with suppress(InvalidInput):  # too long together
        return note_merging.merge_notes(one, other, "same", NOW, by_id(one, other))
    return None


def _edit_jsonc(words: str) -> object:
    with suppress(EditError):
        return jsonc.set_member('{"a": [\n' + words + '\n], "b": "' + words, ["c"], 1)
    return None


def _insert_jsonc(words: str) -> object:
    with suppress(EditError):
        return jsonc.set_member('{\n"a": 1 ' + words + "\n}", ["c"], 1)
    return None


def _promote(words: str) -> object:
    return merged_text(
        words, by_id(sample()._replace(hits=PROMOTE_THRESHOLD)), WrittenEntries(), ""
    )


def _import_markdown(words: str) -> object:
    found = Records()
    markdown_files.read_markdown(ReadFile(words.encode(), NOW), "note.md", found)
    return found.notes


def _import_instructions(words: str) -> object:
    found = Records()
    read_instructions(words, "CLAUDE.md", NOW, found)
    return found.notes


# File inside the package -> what reads text there, alone or through what it calls.
def _read_limited(words: str) -> None:
    """Against the limits that have a pattern."""
    for kind in (limits.Address, limits.Digits):
        with suppress(InvalidInput):
            type_check.read(words, kind, "it")


TEXT_FUNCTIONS: Mapping[str, tuple[TextFunction, ...]] = {
    "domain/host_markup.py": (
        host_markup.escape_host_markup,
        host_markup.inert,
        host_markup.carries_mark,
    ),
    "domain/credentials.py": (credentials.credential_kinds, credentials.redact),
    "filesystem/atomic_files.py": (is_leftover,),
    "domain/type_check.py": (_read_limited,),
    "facts/key_words.py": (split_words, spellings),
    "operations/metadata_inference.py": (metadata_inference.content_tags, _infer),
    "operations/note_merging.py": (_merge,),
    "operations/notes_and_links.py": (notes_and_links.normal_content,),
    "interfaces/cli/terminal_output.py": (
        terminal_output.one_line,
        lambda words: terminal_output.fit(words, 80),
        lambda words: terminal_output.wrap_lines(words, "  "),
    ),
    "interfaces/connect/jsonc.py": (_edit_jsonc, _insert_jsonc),
    "interfaces/hooks/host_payload.py": (
        lambda words: host_payload.event_of("user-prompt", "", {"prompt": words, "cwd": "."}),
    ),
    "interfaces/hooks/orders.py": (
        orders.read_orders,
        orders.lasting_probability,
        orders.find_old_value,
        is_personal,
    ),
    "interfaces/hooks/help_probability.py": (
        lambda words: help_probability.features(
            help_probability.read_prompt(words), [_note(words)]
        ),
        lambda words: help_probability.says(_note(words), words),
    ),
    "interfaces/hooks/shown_memories.py": (lambda words: shown_memories.safe_line(words, 300),),
    "interfaces/importers/markdown_files.py": (_import_instructions, _import_markdown),
    "interfaces/prompt_quoting.py": (
        lambda text: prompt_quoting.name_tools(text, "pi"),
        prompt_quoting.remove_fenced,
        lambda words: text.one_line(words, 160),
    ),
    "domain/note_markdown.py": (parse_note, lambda words: parse_note(f"## Links\n- [[{words}")),
    "language/markdown.py": (
        lambda words: split_front_matter(f"---\na: {words}\n---\n"),
        without_code,
        opening_fence,
        lambda words: continues_code(words.split("\n")),
        lambda words: structure(words.split("\n")),
    ),
    "language/dates.py": (
        dates.asks_when,
        lambda words: dates.written_dates(words, text.tokens(words.lower())),
    ),
    "language/equivalence_and_contradiction.py": (
        lambda words: equivalence_and_contradiction.says_all(words, f"{words} too"),
        lambda words: equivalence_and_contradiction.may_name_the_same(words, f"{words} too", ""),
        equivalence_and_contradiction.statements,
        lambda words: equivalence_and_contradiction.deny_each_other(words, f"not {words}"),
    ),
    "language/repository_references.py": (repository_references.read_references,),
    "language/text.py": (text.words, text.tokens, text.fold_case, text.plain, text.visible),
    "maintenance/reflection/archiving_tidying_tagging.py": (
        lambda words: archiving_tidying_tagging.tidy(_note(f"{words}\n{words}")),
        _tag,
    ),
    "operations/session_notes.py": (
        session_requests.read_session_request,
        session_requests.is_substantial,
    ),
    "maintenance/promotion/hand_edits.py": (_promote,),
    "maintenance/promotion/entries.py": (lambda words: entries.line_for(_note(words)),),
    "search/note_analyzer.py": (lambda words: note_analyzer.analyze(_note(words)),),
    "search/query.py": (tokenize_query,),
}
