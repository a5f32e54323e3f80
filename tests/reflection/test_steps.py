import pytest

from graph_samples import LATER, NOW, by_id, sample
from nuggets.graph.links import asymmetries, linked
from nuggets.records import GraphNoteMetaInput, MemoryNote
from nuggets.reflection import Policy, ReflectionResult, reflect
from nuggets.reflection.selection import selected

ALL = Policy(max_notes=1000)
LONG = "The deploy script pushes the image to the registry and restarts the staging cluster"


def passed(*notes: MemoryNote, now: str = LATER) -> tuple[dict[str, MemoryNote], ReflectionResult]:
    """All notes after a pass over all of them."""
    changes, result = reflect(by_id(*notes), now, ALL)
    assert not changes.drop
    return by_id(*notes) | by_id(*changes.put), result


def after(note: MemoryNote, now: str = LATER) -> MemoryNote:
    return passed(note, now=now)[0][note.id]


@pytest.mark.parametrize(
    ("note", "hidden"),
    [
        (sample(content=""), True),
        (sample(content="ok"), True),
        (sample(content="ok")._replace(hits=1), False),
        (sample(content="yes"), False),
        (sample(kind="fact", title="port", content="80"), False),
        (sample(title="tmp notes"), True),
        (sample(title="user: scratch"), True),
        (sample(title="Temp_2"), True),
        (sample(title="tmp notes")._replace(hits=1), False),
        (sample(title="Template for mails"), False),
        (sample(title="Temperature in Berlin"), False),
        (sample(title="scratchpad"), False),
    ],
)
def test_only_what_is_worthless_is_archived(note: MemoryNote, hidden: bool) -> None:
    _, result = passed(note)

    assert after(note).hidden is hidden
    assert after(note).archived_at == (LATER if hidden else None)
    assert result.hidden == hidden


@pytest.mark.parametrize(
    ("now", "hidden"), [("2026-02-07T08:00:00.000Z", False), ("2026-02-07T10:00:00.000Z", True)]
)
def test_a_temporary_not_recalled_for_a_week_is_archived(now: str, hidden: bool) -> None:
    passing = sample(given=GraphNoteMetaInput(stability="temporary"))

    assert after(passing, now).hidden is hidden
    assert not after(passing._replace(last_accessed_at=now), now).hidden
    assert not after(sample(), now).hidden


@pytest.mark.parametrize(
    ("content", "tidied"),
    [
        ("a  \n\n\n\nb\t", "a\n\nb"),
        ("a b\nc\na b", "a b\nc"),
        ("a b\n\nc\n\na b\n\nd", "a b\n\nc\n\nd"),
        ("- ask Anna\n- ask Bob\n- ask Anna", "- ask Anna\n- ask Bob"),
        ("1. Wait.\n1. Wait.", "1. Wait."),
        ("回答请用中文\n回答请用中文", "回答请用中文"),
        ("```\n}\n}\n```", "```\n}\n}\n```"),
        ("````\nx y\n```\nx y\n````\nx y\nx y", "````\nx y\n```\nx y\n````\nx y"),
        ("A:\n  port 80\nB:\n  port 80", "A:\n  port 80\nB:\n  port 80"),
        ("# A\nport 80\n# B\nport 80", "# A\nport 80\n# B\nport 80"),
        ("A:\nport 80\nB:\nport 80", "A:\nport 80\nB:\nport 80"),
        ("- x\n  - 1\n- x\n  - 2", "- x\n  - 1\n- x\n  - 2"),
        ("}\n}\n---\n---", "}\n}\n---\n---"),
    ],
)
def test_contents_are_tidied_and_keep_their_meaning(content: str, tidied: str) -> None:
    note = sample()._replace(content=content)

    tidy = after(note)
    assert tidy.content == tidied
    assert tidy.last_rewritten_at == (LATER if tidied != content else None)
    assert tidy.updated_at == (LATER if tidied != content else NOW)


@pytest.mark.parametrize(
    "content",
    [
        "cd api\nmake\ncd ..\ncd web\nmake\ncd ..",
        "$ git pull\n$ make test\n$ git pull\n$ make release",
        "git pull\nmake test\ngit pull\nmake release",
        "./run --fast\nwait for it\n./run --fast",
        "curl example.com -o a\nmore\ncurl example.com -o a",
        "-old line\n+new line\n-old line\n+newer line",
        "+ one more\n+ one more",
        "a | b\n--- | ---\n1 | 2\n1 | 2",
        "| Anna | 2 |\n| Bob | 1 |\n| Anna | 2 |",
        "Anna\tcame\nBob\tcame\nAnna\tcame",
        "- verse\n- chorus\n- verse\n- chorus",
        "1. Basic\n2. Pro\n1. Basic\n2. Pro",
        "[ ] tests\n[ ] tests",
        ">>> next(it)\n1\n>>> next(it)\n2",
    ],
)
def test_what_is_done_or_counted_twice_stays_twice(content: str) -> None:
    assert after(sample(content=content)).content == content


def test_what_a_fact_answers_is_not_rewritten() -> None:
    fact = sample(kind="fact", title="chorus", content="la\nla")

    assert after(fact).content == "la\nla"


def test_a_note_is_tagged_by_its_own_words_once_and_a_person_has_the_last_say() -> None:
    note = sample(
        title="Auth middleware", content="Lives in src/auth/jwt.py, JWT only.", tags=["x"]
    )
    tagged, result = passed(note)

    first = tagged[note.id]
    assert first.tags == (
        "x", "files", "auth", "middleware", "jwt",
        "learnings", "scope:user", "type:note",
    )  # fmt: skip
    assert result.changes[0].detail == "tags added: files, auth, middleware, jwt"
    taken_off = first._replace(tags=("learnings", "scope:user", "type:note"))
    assert after(taken_off).tags == taken_off.tags


@pytest.mark.parametrize(
    ("title", "content", "topics"),
    [
        ("tests first", "write a failing test before the fix", ["tests", "failing"]),
        ("Why we left Redis", "Moved sessions via Postgres.", ["redis", "sessions"]),
        ("Cart expiry", "Carts are dropped; a job drops carts.", ["cart", "expiry"]),
        ("Limits", "Retry after 429. The client does the retry by itself.", ["limits", "retry"]),
        ("never", "always write it down first", []),
    ],
)
def test_only_what_a_note_is_about_becomes_a_tag(
    title: str, content: str, topics: list[str]
) -> None:
    tags = after(sample(title=title, content=content)).tags

    assert [tag for tag in tags if ":" not in tag and tag != "learnings"] == topics


def test_tags_that_every_note_carries_are_restored() -> None:
    assert after(sample(title="x", content="yes")._replace(tags=("own",))).tags == (
        "own", "yes", "learnings", "scope:user", "type:note",
    )  # fmt: skip


def test_near_duplicates_become_one_and_the_shorter_is_hidden_with_a_link() -> None:
    short, long = (
        sample(1, title="a", content=LONG),
        sample(2, title="b", content=f"{LONG} nightly"),
    )
    third = sample(3, title="other", content="unrelated words only")
    pair = linked(short, third, "see", NOW)
    assert pair

    notes, result = passed(*pair, long)
    assert result.merged == 1
    assert result.changes[-1].type in ("merge", "link")
    assert notes[short.id].hidden
    assert [link.to for link in notes[short.id].links] == [long.id]
    assert notes[long.id].content == f"{long.content}\n{LONG}"
    assert long.id in [link.to for link in notes[third.id].links]
    assert asymmetries(notes) == ()


@pytest.mark.parametrize(
    "other",
    [
        sample(2, title="b", content=LONG, nugget="elsewhere"),
        sample(2, title="b", content=LONG, given=GraphNoteMetaInput(scope="shared")),
        sample(2, title="b", content=LONG, given=GraphNoteMetaInput(subject="user:anna")),
        sample(2, title="b", content=LONG, given=GraphNoteMetaInput(type="style")),
        sample(2, title="b", content=LONG, given=GraphNoteMetaInput(project="other")),
        sample(2, title="b", content=LONG, given=GraphNoteMetaInput(stability="temporary")),
        sample(2, title="b", content=LONG, given=GraphNoteMetaInput(source="tool_observation")),
        sample(2, title="b", content=f"do not do it: {LONG}"),
        sample(2, title="b", content=LONG)._replace(hidden=True),
    ],
)
def test_what_differs_in_kind_or_words_is_not_merged(other: MemoryNote) -> None:
    notes, result = passed(sample(1, title="a", content=LONG), other)

    assert result.merged == 0
    assert notes[other.id].hidden == other.hidden


@pytest.mark.parametrize(
    ("one", "other", "content", "merged"),
    [
        ("Who owns billing", "Who owns search", "Ask Maria on Slack first", 0),
        ("Frontend port", "Backend port", "Runs on port 8080 behind nginx", 0),
        ("Staging DB", "Production DB", "postgres 15, user app, backups nightly", 0),
        ("Goals 2025", "Goals 2026", "Fewer meetings", 0),
        ("部署", "備份", "Ask Maria on Slack first", 0),
        ("Backups", "Nightly backup", "postgres 15, user app, backups nightly", 1),
        ("Database", "Postgres", "postgres 15, user app, backups nightly", 1),
        ("Deploy", "Deploys", "Ask Maria on Slack first", 1),
        ("Owner", "Owner of billing", "Ask Maria on Slack first", 1),
        ("Owner, first note", "Owner, second note", "Ask Maria on Slack first", 1),
    ],
)
def test_titles_that_name_different_things_keep_notes_apart(
    one: str, other: str, content: str, merged: int
) -> None:
    notes = sample(1, title=one, content=content), sample(2, title=other, content=content)

    assert passed(*notes)[1].merged == merged


def test_the_border_of_similarity_belongs_to_the_similar() -> None:
    nine, ten = "a1 b2 c3 d4 e5 f6 g7 h8 i9", "a1 b2 c3 d4 e5 f6 g7 h8 i9 j0"
    eight = "a1 b2 c3 d4 e5 f6 g7 h8"

    assert passed(sample(1, content=nine), sample(2, content=ten))[1].merged == 1
    assert passed(sample(1, content=eight), sample(2, content=nine))[1].merged == 0


def test_facts_are_never_merged_but_near_equal_ones_are_linked() -> None:
    facts = [sample(n, kind="fact", title=f"key {n}", content=LONG) for n in range(4)]

    notes, result = passed(*facts)
    assert result.merged == result.hidden == 0
    assert all(len(note.links) >= 2 for note in notes.values())
    assert {link.reason for note in notes.values() for link in note.links} == {
        "nearly the same value"
    }
    assert asymmetries(notes) == ()


def test_facts_that_are_merely_true_are_not_related() -> None:
    facts = [
        sample(n, kind="fact", title=name, content=value)
        for n, (name, value) in enumerate(
            [("dark", "true"), ("beta", "true"), ("a", "80"), ("b", "80")]
        )
    ]

    assert passed(*facts)[1].linked == 0


def test_notes_about_the_same_are_linked_the_best_match_first_until_they_have_two() -> None:
    notes = [
        sample(1, title="Auth", content="jwt rotation keys vault"),
        sample(2, title="Keys", content="jwt rotation keys vault monthly"),
        sample(3, title="Vault", content="vault rotation policies elsewhere"),
        sample(4, title="Weak", content="vault rotation"),
        sample(5, title="None", content="gardening"),
    ]

    linked_notes, result = passed(*notes)
    first = linked_notes[notes[0].id]
    second = linked_notes[notes[1].id]
    assert first.links[0].to == second.id
    assert second.links[0].to == first.id
    assert len(linked_notes[notes[3].id].links) == 2  # though it shares words with three
    assert first.links[0].reason == "shared context: jwt, keys"
    assert linked_notes[notes[4].id].links == ()
    assert asymmetries(linked_notes) == ()
    assert result.linked == len([c for c in result.changes if c.type == "link"])


def test_subjects_and_projects_that_do_not_fit_are_not_linked() -> None:
    mine = sample(1, title="Auth", content="jwt rotation")
    them = sample(2, title="Self", content="jwt rotation", given=GraphNoteMetaInput(scope="self"))
    far = sample(3, title="Far", content="jwt rotation", given=GraphNoteMetaInput(project="x"))

    assert passed(mine, them)[1].linked == 0
    assert passed(mine, far)[1].linked == 1
    assert passed(mine._replace(project="y"), far)[1].linked == 0


def test_nobody_becomes_the_hub_of_everything() -> None:
    hub = sample(0, title="hub", content=" ".join(f"w{n}a w{n}b" for n in range(40)))
    spokes = [sample(n + 1, title=f"t{n}", content=f"w{n}a w{n}b") for n in range(40)]

    notes, _ = passed(hub, *spokes)
    assert 2 <= len(notes[hub.id].links) <= Policy().hub_links


def test_the_most_needy_are_inspected_and_every_note_gets_its_turn() -> None:
    notes = {n.id: n for n in (sample(k, title=f"n{k}", content=f"word{k}") for k in range(25))}
    seen: list[str] = []
    for day in range(1, 6):
        now = f"2026-02-{day:02d}T09:00:00.000Z"
        ids = selected(notes.values(), now, Policy(max_notes=5))
        changes, result = reflect(notes, now, Policy(max_notes=5))
        notes |= by_id(*changes.put)
        assert result.inspected == 5
        assert {i for i in notes if notes[i].last_inspected_at == now} == set(ids)
        seen += ids

    assert sorted(seen) == sorted(notes)


def test_older_untagged_and_unlinked_notes_go_first() -> None:
    old = sample(1, created_at="2025-01-01T00:00:00Z")
    bare = sample(2, title="x", content="yes")
    cared = sample(3, tags=["own"])

    assert selected([cared, bare, old], LATER, Policy()) == [old.id, bare.id, cared.id]
    assert selected([cared, bare, old], LATER, Policy(max_notes=0)) == []


def test_a_clock_that_ran_ahead_hides_no_note_from_inspection() -> None:
    ahead = sample(1)._replace(last_inspected_at="2099-01-01T00:00:00.000Z")
    fresh = sample(2)._replace(last_inspected_at=NOW)

    assert selected([fresh, ahead], LATER, Policy(max_notes=1)) == [ahead.id]


def test_a_pass_may_keep_to_one_nugget() -> None:
    one, two = sample(1, nugget="One"), sample(2, nugget="two")

    changes, result = reflect(by_id(one, two), LATER, ALL, nugget="ONE")
    assert [note.id for note in changes.put] == [one.id]
    assert result.inspected == 1
