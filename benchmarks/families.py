"""Families of labelled corpora for search, made from what a machine has, and files of your own.

Each family is a list of corpora as benchmarks/retrieval.py reads them. None of the texts is part of
the repository, except the samples in data/. What a machine lacks is left out.
"""

import ast
import glob
import gzip
import json
import os
import random
import re
import sysconfig
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from benchmarks.retrieval import Corpus

AT = "2026-01-01T09:00:00.000Z"
PACKAGES = (
    "",
    "asyncio",
    "concurrent/futures",
    "email",
    "http",
    "importlib",
    "json",
    "logging",
    "multiprocessing",
    "unittest",
    "urllib",
    "xml/dom",
    "xml/etree",
)
DATA = os.path.join(os.path.dirname(__file__), "data")
MOST = 900  # notes of a family that a machine has more of, drawn once
LONGEST = 3000  # characters of a note made from a longer text
PACKAGE_DATABASE = "/var/lib/dpkg/status"
MANUALS = "/usr/share/man/man[1578]/*.gz"


def note(name: str, title: str, content: str, **more: Any) -> dict[str, Any]:
    made = {"id": name, "title": title, "content": content, "tags": [], "createdAt": AT}
    return {**made, "links": [], **more}


def docstrings() -> list[Corpus]:
    """The first paragraph of a docstring of the standard library asks for the rest."""
    return [docstring_corpus()]


def docstring_corpus() -> Corpus:
    """Functions and classes of the standard library that say more than one line."""
    notes, queries = [], []
    docstrings = dict(_docstrings(sysconfig.get_path("stdlib")))  # of one name the last
    for name, text in docstrings.items():
        question, _, rest = text.partition("\n\n")
        notes.append(
            {"id": name, "title": name, "content": rest, "tags": [], "createdAt": AT, "links": []}
        )
        queries.append({"text": " ".join(question.split()), "relevant": [name]})
    return {"notes": notes, "queries": queries}


def _docstrings(directory: str) -> Iterator[tuple[str, str]]:
    for package in PACKAGES:
        for file_name in sorted(os.listdir(os.path.join(directory, package))):
            if file_name.endswith(".py"):
                module = os.path.join(package, file_name.removesuffix(".py"))
                with open(os.path.join(directory, package, file_name), encoding="utf-8") as file:
                    yield from _docstrings_of(module.replace("/", "."), ast.parse(file.read()))


def _docstrings_of(module: str, tree: ast.AST) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            text = ast.get_docstring(node) or ""
            question, _, rest = text.partition("\n\n")
            if rest.strip() and 4 <= len(question.split()) <= 30:
                yield f"{module}.{node.name}", text


def functions() -> list[Corpus]:
    """The first paragraph of a docstring asks for the code, of installed packages."""
    found: dict[str, tuple[str, str, str]] = {}
    for path in sorted(glob.glob(os.path.join(sysconfig.get_path("purelib"), "*", "*.py"))):
        with open(path, encoding="utf-8", errors="ignore") as file:
            for title, question, code in _functions(file.read()):
                found[question] = (f"{path}:{title}", title, code)  # of one question the last
    drawn = _drawn(sorted(found))
    return [
        {
            "notes": [note(*found[question]) for question in drawn],
            "queries": [{"text": text, "relevant": [found[text][0]]} for text in drawn],
        }
    ]


def _functions(source: str) -> Iterator[tuple[str, str, str]]:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and len(node.body) > 1:
            question = " ".join((ast.get_docstring(node) or "").partition("\n\n")[0].split())
            if 4 <= len(question.split()) <= 30:
                node.body = node.body[1:]
                yield node.name, question, ast.unparse(node)[:LONGEST]


def manuals() -> list[Corpus]:
    """What a man page says it is, in one line, asks for the beginning of its description."""
    notes, queries = [], []
    seen: set[str] = set()
    # Of gcloud there are thousands of pages that hardly differ.
    paths = sorted(path for path in glob.glob(MANUALS) if "gcloud" not in path)
    for path in _drawn(paths, 3 * MOST):
        with gzip.open(path, "rt", encoding="utf-8", errors="ignore") as file:
            text = file.read()
        name, question, description = _manual(text)
        if len(description) > 200 and 3 <= len(question.split()) <= 30 and question not in seen:
            seen.add(question)
            notes.append(note(path, name, description[:LONGEST]))
            queries.append({"text": question, "relevant": [path]})
    return [{"notes": notes[:MOST], "queries": queries[:MOST]}]


def _manual(text: str) -> tuple[str, str, str]:
    """Name, line of NAME, and DESCRIPTION of a page, without its marks."""
    text = re.sub(r"(?m)^\.\\\".*$|^'\\\".*$", "", text)
    parts = re.split(r"(?m)^\.S[hH] +\"?([A-Z ]+)\"?[^\n]*$", text)
    sections = dict(zip(parts[1::2], parts[2::2], strict=False))
    named = _plain(sections.get("NAME", "")).replace(" Nd ", " - ")
    name, _, line = named.partition(" - ")
    return name, line, _plain(sections.get("DESCRIPTION", ""))


def _plain(roff: str) -> str:
    roff = re.sub(r"(?m)^\.(?:de|ds|ie|el|if|nr|tr|ne|sp|ta|ft|ad|nh|hy)\b.*$", "", roff)
    roff = re.sub(r"(?m)^\.[A-Za-z]{1,2} ?", "", roff)
    roff = re.sub(r"\\f[A-Z]|\\f\([A-Z]{2}|\\s[-+]?\d|\\[&|^/,%]|\\\*\([A-Z]\S", "", roff)
    roff = roff.replace("\\-", "-").replace("\\(aq", "'").replace("\\e", "\\").replace('"', "")
    return " ".join(roff.split())


def packages() -> list[Corpus]:
    """The line about an installed package asks for its description. Tag: its section; links: what
    it depends on."""
    with open(PACKAGE_DATABASE, encoding="utf-8") as file:
        records = [_fields(record) for record in file.read().split("\n\n")]
    known = {record["Package"] for record in records if "Package" in record}
    notes, queries = [], []
    for record in records:
        question, _, description = record.get("Description", "").partition("\n")
        if len(description) < 80:
            continue
        needs = re.findall(r"(?:^|, )([a-z0-9.+-]+)", record.get("Depends", ""))
        links = [other for other in dict.fromkeys(needs) if other in known]
        notes.append(
            note(
                record["Package"],
                record["Package"],
                description,
                tags=[record.get("Section", "misc")],
                links=links,
            )
        )
        queries.append({"text": question, "relevant": [record["Package"]]})
    names = {made["id"] for made in notes}
    for made in notes:
        made["links"] = [other for other in made["links"] if other in names][:4]
    return [{"notes": notes, "queries": queries}]


def _fields(record: str) -> dict[str, str]:
    return dict(re.findall(r"(?m)^([A-Z][\w-]*): ((?:.*)(?:\n .*)*)", record))


def memories() -> list[Corpus]:
    """Memories of three projects, and the prompts that some of them answer (benchmarks/everyday.py;
    its other set is kept aside)."""
    notes: dict[str, list[dict[str, Any]]] = {}
    for memory in _objects("everyday/a/shelves.jsonl"):
        texts = (memory["id"], memory["key_or_title"], memory["content"])
        notes.setdefault(memory["project"], []).append(note(*texts, tags=memory["tags"]))
    asked = [
        prompt
        for name in ("wanted", "names")
        for prompt in _objects(f"everyday/a/{name}.jsonl")
        if prompt["ids"]
    ]
    return [
        {
            "notes": kept,
            "queries": [
                {"text": prompt["prompt"], "relevant": prompt["ids"]}
                for prompt in asked
                if prompt["project"] == project
            ],
        }
        for project, kept in notes.items()
    ]


def developer_notes() -> list[Corpus]:
    """Kept aside: written before the ranking was fitted, and never part of a fit."""
    notes, queries = [], []
    for fields in _lines("developer_notes.txt"):
        if fields[0].startswith("? "):
            names = [name.strip() for name in fields[1].split(",")]
            queries.append({"text": fields[0].removeprefix("? "), "relevant": names})
        else:
            name, title, content, tags, links = fields
            notes.append(note(name, title, content, tags=tags.split(), links=links.split()))
    return [{"notes": notes, "queries": queries}]


def _lines(name: str) -> Iterator[list[str]]:
    with open(os.path.join(DATA, name), encoding="utf-8") as file:
        for line in file:
            if not line.startswith("#") and line.strip():
                yield [field.strip() for field in line.rstrip("\n").split("|")]


def _objects(name: str) -> Iterator[dict[str, Any]]:
    with open(os.path.join(DATA, name), encoding="utf-8") as file:
        yield from map(json.loads, file)


def _drawn(names: Sequence[str], most: int = MOST) -> list[str]:
    return random.Random(1).sample(list(names), min(most, len(names)))


def labelled(path: str) -> list[Corpus]:
    """A file of your own."""
    with open(path, encoding="utf-8") as file:
        corpora: list[Corpus] = json.load(file)
    return corpora


MADE: dict[str, Callable[[], list[Corpus]]] = {
    "docstrings": docstrings,
    "functions": functions,
    "manuals": manuals,
    "packages": packages,
    "memories": memories,
}
ASIDE = {"developer notes": developer_notes}


def paragraphs_shuffled(corpora: list[Corpus]) -> list[Corpus]:
    """The same notes with their paragraphs, or sentences if there is one paragraph only, in any
    order: what a ranking that trusts the beginning of a note makes of notes that do not."""
    rng = random.Random(1)

    def shuffled(text: str) -> str:
        separator = "\n\n" if "\n\n" in text.strip() else ". "
        pieces = text.strip().split(separator)
        rng.shuffle(pieces)
        return separator.join(pieces)

    return [
        {**corpus, "notes": [{**n, "content": shuffled(n["content"])} for n in corpus["notes"]]}
        for corpus in corpora
    ]
