import pytest

from graph_samples import LATER, NOW, by_id, links_are_sound, sample
from nuggets.domain.limits import LINKS
from nuggets.domain.records import GraphNoteMetaInput, MemoryNote, NoteLink
from nuggets.maintenance.reflection import Policy, ReflectionResult, reflect
from nuggets.maintenance.reflection.archiving_tidying_tagging import select_notes
from nuggets.operations.notes_and_links import add_link

ALL = Policy(max_notes=1000)
NEXT_WEEK = "2026-02-07T10:00:00.000Z"
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
    ],
)
def test_only_what_is_worthless_is_archived(note: MemoryNote, hidden: bool) -> None:
    _, result = passed(note)

    assert after(note).hidden is hidden
    assert after(note).archived_at == (LATER if hidden else None)
    assert result.hidden == hidden


@pytest.mark.parametrize("now", [LATER, NEXT_WEEK])
@pytest.mark.parametrize("title", ["Temp credentials for staging", "tmp notes", "scratch disk"])
def test_a_durable_note_stays_whatever_its_title(title: str, now: str) -> None:
    durable = GraphNoteMetaInput(stability="durable")

    assert not after(sample(title=title, given=durable), now).hidden
    assert not after(sample(kind="fact", title=title, given=durable), now).hidden


@pytest.mark.parametrize(
    ("title", "hidden"),
    [
        *((title, True) for title in ("tmp notes", "user: scratch", "Temp: pad", "tmp_2", "temp")),
        *((title, False) for title in ("Template", "Temperature", "scratchcard", "The tmp folder")),
    ],
)
def test_a_title_that_begins_with_the_word_is_archived_at_once(title: str, hidden: bool) -> None:
    fact = sample(kind="fact", title=title, content="some value")
    assert after(sample(title=title)).hidden is hidden
    assert after(fact).hidden is hidden
    assert not after(fact._replace(hits=1)).hidden


def test_what_is_no_longer_valid_is_archived_and_the_change_says_so() -> None:
    over = sample(given=GraphNoteMetaInput(valid_until="2026-01-31"))
    notes, result = passed(over, now="2026-02-02T09:00:00.000Z")

    assert notes[over.id].hidden
    assert result.changes[0].detail.endswith(": expired, it was valid until 2026-01-31")
    assert not after(over, "2026-01-31T12:00:00.000Z").hidden


@pytest.mark.parametrize(
    ("now", "hidden"), [("2026-02-07T08:00:00.000Z", False), (NEXT_WEEK, True)]
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
        ("a b\na b\n\na b\nc", "a b\n\nc"),
        ("go on as before\nbeta\ngo on as before", "go on as before\nbeta"),
        ("Ask Ada about it.\n\nThen wait.\n\nAsk Ada about it.", "Ask Ada about it.\n\nThen wait."),
        ("- ask Anna\n- ask Anna\n- ask Bob", "- ask Anna\n- ask Bob"),
        ("- [ ] write tests\n- [ ] write tests", "- [ ] write tests"),
        ("1. Wait.\n1. Wait.", "1. Wait.\n1. Wait."),
        ("回答请用中文\n回答请用中文", "回答请用中文"),
        ("```\n}\n}\n```", "```\n}\n}\n```"),
        ("````\nx y\n```\nx y\n````\nx y\nx y", "````\nx y\n```\nx y\n````\nx y"),
        ("A:\n  port 80\nB:\n  port 80", "A:\n  port 80\nB:\n  port 80"),
        ("# A\n# A\nopen to all\nopen to all", "# A\n# A\nopen to all"),
        ("- x\n\n  - 1\n- x\n\n  - 2", "- x\n\n  - 1\n- x\n\n  - 2"),
        ("Try x.\n```py\nTry x.\n```\n```py\ny\n```", "Try x.\n```py\nTry x.\n```\n```py\ny\n```"),
        ("- x\n  - 1\n- x\n  - 2", "- x\n  - 1\n- x\n  - 2"),
        ("}\n}\n---\n---", "}\n}\n---\n---"),
        (f"{LONG}.\n\nAnd now?\n\n{LONG}.", f"{LONG}.\n\nAnd now?"),
        (f"- {LONG}.\n- Wait.\n- {LONG}.", f"- {LONG}.\n- Wait."),
        ("stop nginx web server\nupdate it\nstop nginx web server",) * 2,
    ],
)
def test_contents_are_tidied(content: str, tidied: str) -> None:
    note = sample()._replace(content=content)

    tidy = after(note)
    assert tidy.content == tidied
    assert tidy.last_rewritten_at == (LATER if tidied != content else None)
    assert tidy.updated_at == (LATER if tidied != content else NOW)


@pytest.mark.parametrize(
    "content",
    [
        "[staging]\nuser = app\nhost = db-stg\n\n[production]\nuser = app\nhost = db-prd",
        "server {\nlisten 443 ssl;\nname a;\n}\nserver {\nlisten 443 ssl;\nname b;\n}",
        "step();\nstep();",
        "x = next(it)\nx = next(it)",
        "a | b\n--- | ---\n1 | 2\n1 | 2",
        "Anna\tcame\nAnna\tcame",
        "./run --fast\n./run --fast",
        "$ make\n$ make",
        "1. Wait.\n2. Press it.\n3. Wait.\n1. Wait.",
        "Do it:\n\n    step\n    step",
        "cd /srv/app\nsleep 5\nsleep 5\n./start --fast",
        'print("done")\nprint("done")',
        'echo "All is done."\necho "All is done."',
        "apple,1,2,Rome\napple,1,2,Rome\npear,red,Rome\npear,red,Rome",
        "curl -X POST example.com/hook\ncurl -X POST example.com/hook",
        "git add .\ngit add .\ncd ..\ncd ..",
        "<p>We ship weekly.</p>\n<p>We ship weekly.</p>",
        "alice   admin   Berlin\nalice   admin   Berlin",
        "Berlin 3 4 5\nBerlin 3 4 5",
        "name | We ship weekly.\nname | We ship weekly.",
        "Anna\tcame to us.\nAnna\tcame to us.",
        "Retrying the upload...\nRetrying the upload...",
        "> We ship weekly.\n> We ship weekly.",
    ],
)
def test_lines_of_code_tables_and_numbered_steps_may_come_again(content: str) -> None:
    assert after(sample(content=content)).content == content


@pytest.mark.parametrize(
    "content",
    [
        "## Staging\n- port 80 is open to all\n## Production\n- port 80 is open to all",
        "Staging\n---\nPort 80 is open to all\n\nProduction\n---\nPort 80 is open to all",
        "Staging:\nPort 80 is open to all\nProduction:\nPort 80 is open to all",
        "**Staging**\nPort 80 is open to all\n**Production**\nPort 80 is open to all",
        "[staging]\nPort 80 is open to all\n[production]\nPort 80 is open to all",
        "Staging\n- port 80 is open to all\n\nProduction\n- port 80 is open to all",
        "Press the button\nWait one minute\nPress it again\nWait one minute",
        "Anna: may I?\nBen: deploy.\nAnna: really?\nBen: deploy.",
        "Anna\n3\nBen\n3",
        "Is it safe\nYes.\nIs it fast\nYes.",
        "3\n3\n5",
        "For Linux users\nInstall the client.\nFor Mac users\nInstall the client.",
        "On macOS 14\nInstall the client.\nOn macOS 15\nInstall the client.",
        "On Linux\nInstall it from the mirror.\nOn a Mac\nInstall it from the mirror.",
        "Im Büro\nBitte zuerst anmelden.\nZu Hause\nBitte zuerst anmelden.",
        "Ask the team that\nruns the mirror.\nTell the team that\nruns the mirror.",
        "Mon\nPasta with tomato and basil\nTue\nRice with beans\nWed\nPasta with tomato and basil",
        "2024-05-01\nSlept badly.\nTook a pill.\n\n2024-05-02\nSlept well.\nTook a pill.",
        "Apple cake\n\nBeat them.\nAdd the flour.\n\nLemon cake\n\nPress them.\nAdd the flour.",
        "2026-03-01\nSlept badly, too much coffee.\n2026-03-02\nSlept badly, too much coffee.",
        "Berlin\n\nThe code changes on Mondays.\n\nParis\n\nThe code changes on Mondays.",
    ],
)
def test_a_line_may_come_again_in_another_section_and_a_short_one_after_others(
    content: str,
) -> None:
    assert after(sample(content=content)).content == content


@pytest.mark.parametrize(
    ("content", "tidied"),
    [
        ("wait\nwait\ngo", "wait\ngo"),
        ("wait\n\nwait\ngo", "wait\n\ngo"),
        (
            "## A\n- ask Mara before that\n- go\n- ask Mara before that",
            "## A\n- ask Mara before that\n- go",
        ),
        ("上传之前请先检查\n好\n上传之前请先检查", "上传之前请先检查\n好"),
        ("We ship weekly.\nAsk Ops.\nWe ship weekly.", "We ship weekly.\nAsk Ops."),
        ("We ship weekly.\n- Ask Ops\nWe ship weekly.", "We ship weekly.\n- Ask Ops"),
        ("We ship weekly.\nx = 1\n\nWe ship weekly.", "We ship weekly.\nx = 1"),
        ("We pay $5 (at first).\nAsk.\nWe pay $5 (at first).", "We pay $5 (at first).\nAsk."),
        ("Run `make -j2` first.\nRun `make -j2` first.", "Run `make -j2` first."),
        ("- Runs on port 80\n- Ask Ops\n- Runs on port 80", "- Runs on port 80\n- Ask Ops"),
        ("端口是80，请检查。\n好。\n端口是80，请检查。", "端口是80，请检查。\n好。"),
        ("We ship weekly.\n```\nx\n```\nWe ship weekly.", "We ship weekly.\n```\nx\n```"),
        ("For all who ship\nAsk Ops.\nFor all who ship\nAsk Ops.", "For all who ship\nAsk Ops."),
    ],
)
def test_within_a_section_what_follows_itself_or_is_a_statement_is_said_once(
    content: str, tidied: str
) -> None:
    assert after(sample(content=content)).content == tidied


@pytest.mark.parametrize(
    ("content", "detail"),
    [
        ("a  \n\n\nb", "blanks tidied"),
        ("It is 80.\n\nIt is 80.", "repeated lines removed: 'It is 80.'"),
        ("wait\nwait\nwait  ", "blanks tidied, repeated lines removed: 'wait'"),
        ("\n".join("aabbccddee"), "repeated lines removed: 'a', 'b', 'c', 2 more"),
        (f"{LONG}.\n{LONG}.", f"repeated lines removed: '{LONG.partition(' restarts')[0]}…'"),
    ],
)
def test_a_rewrite_says_what_it_removed(content: str, detail: str) -> None:
    [change] = [
        c for c in passed(sample()._replace(content=content))[1].changes if c.type == "rewrite"
    ]

    assert change.detail == f"content: {detail}"


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
        ("tests first", "write a failing test before the fix", ["tests"]),
        ("Why we left Redis", "Moved sessions via Postgres.", ["redis"]),
        ("Cart expiry", "Carts are dropped; a job drops carts.", ["cart", "expiry"]),
        ("Limits", "Retry after 429. The client does the retry by itself.", ["limits", "retry"]),
        ("never", "always write it down first", []),
        ("GitHub over GitLab", "PostgreSQL, JavaScript", ["github", "gitlab"]),
        ("VLANs for OAuth", "They may want three", ["vlans", "oauth"]),
        ("Two-factor rollout", "Mandatory since April", ["rollout", "two-factor"]),
        ("use_cart", "Lives in snake_case", ["cart"]),
        ("Confirmed bookings", "Confirmed learnings, confirmed files", ["bookings"]),
        ("Preferences page", "Saved by PATCH", ["page"]),
    ],
)
def test_only_what_a_note_is_about_becomes_a_tag(
    title: str, content: str, topics: list[str]
) -> None:
    tags = after(sample(title=title, content=content)).tags

    assert [tag for tag in tags if ":" not in tag and tag != "learnings"] == topics


def test_tags_that_every_note_carries_are_restored() -> None:
    assert after(sample(title="x", content="yes")._replace(tags=("own",))).tags == (
        "own", "learnings", "scope:user", "type:note",
    )  # fmt: skip


def test_near_duplicates_become_one_and_the_shorter_is_hidden_with_a_link() -> None:
    short, long = (
        sample(1, content=LONG),
        sample(2, content=f"{LONG} nightly"),
    )
    third = sample(3, title="other", content="unrelated words only")
    pair = add_link(short, third, "see", NOW)
    assert pair

    notes, result = passed(*pair, long)
    assert result.merged == 1
    assert result.changes[-1].type in ("merge", "link")
    assert notes[short.id].hidden
    assert [link.to for link in notes[short.id].links] == [long.id]
    assert notes[long.id].content == long.content  # which says it all, once
    assert long.id in [link.to for link in notes[third.id].links]
    assert links_are_sound(notes)


@pytest.mark.parametrize(
    "other",
    [
        sample(2, content=LONG, nugget="elsewhere"),
        sample(2, content=LONG, given=GraphNoteMetaInput(scope="shared")),
        sample(2, content=LONG, given=GraphNoteMetaInput(subject="user:anna")),
        sample(2, content=LONG, given=GraphNoteMetaInput(type="style")),
        sample(2, content=LONG, given=GraphNoteMetaInput(project="other")),
        sample(2, content=LONG, given=GraphNoteMetaInput(source="tool_observation")),
        sample(2, content=f"do not do it: {LONG}"),
        sample(2, content=LONG)._replace(hidden=True),
    ],
)
def test_what_differs_in_kind_or_words_is_not_merged(other: MemoryNote) -> None:
    notes, result = passed(sample(1, content=LONG), other)

    assert result.merged == 0
    assert notes[other.id].hidden == other.hidden


@pytest.mark.parametrize(
    ("one", "other", "tag"),
    [
        ("Owner", "Owner of billing", "owner-of-billing"),
        ("部署", "部署 staging", "部署-staging"),
        ("Staging DB", "DB of staging", None),
        ("Slack", "First ask Maria on Slack", None),
    ],
)
def test_the_same_text_under_two_titles_is_one_note_that_has_both(
    one: str, other: str, tag: str | None
) -> None:
    earlier = "2026-01-01T09:00:00.000Z"
    kept = sample(1, title=one, content="Ask Maria on Slack first", created_at=earlier)
    gone = sample(2, title=other, content="Ask Maria on Slack first")

    notes, result = passed(kept, gone)
    assert result.merged == 1
    assert notes[gone.id].hidden
    assert notes[kept.id].title == one
    assert notes[kept.id].content == kept.content
    assert [t for t in notes[kept.id].tags if t == tag] == [tag] * (tag is not None)


def test_the_survivor_lasts_as_long_as_either_would_have() -> None:
    brief = GraphNoteMetaInput(stability="temporary", valid_until="2026-12-31")
    short = sample(1, content=LONG)
    long = sample(2, content=f"{LONG} nightly", given=brief)

    survivor = passed(short, long)[0][long.id]
    assert not survivor.hidden
    assert (survivor.stability, survivor.valid_until) == ("durable", None)


def test_the_border_of_similarity_belongs_to_the_similar() -> None:
    ten = "alfa bravo charlie delta echo foxtrot golf hotel india juliett"
    nine, eight = ten.removesuffix(" juliett"), ten.removesuffix(" india juliett")

    assert passed(sample(1, content=nine), sample(2, content=ten))[1].merged == 1
    assert passed(sample(1, content=eight), sample(2, content=nine))[1].merged == 0


def test_facts_are_never_merged_but_near_equal_ones_are_linked() -> None:
    facts = [sample(n, kind="fact", title=f"key {n}", content=LONG) for n in range(4)]

    notes, result = passed(*facts)
    assert result.merged == result.hidden == 0
    assert all(len(note.links) >= 2 for note in notes.values())
    assert links_are_sound(notes)


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
        sample(1, title="JWT", content="jwt, rotation, keys, vault"),
        sample(2, title="Keys", content="keys: rotation; vault; jwt"),
        sample(3, title="Vault", content="keys elsewhere, rotation policies, vault"),
        sample(4, title="Rotation", content="vault; keys; rotation"),
        sample(5, title="None", content="gardening"),
    ]

    linked_notes, result = passed(*notes)
    first = linked_notes[notes[0].id]
    second = linked_notes[notes[1].id]
    assert first.links[0].to == second.id
    assert second.links[0].to == first.id
    own = [c for c in result.changes if (c.type, c.note_id) == ("link", first.id)]
    assert len(own) == 2  # though it shares words with three
    assert first.links[0].reason == "shared context: jwt, keys"  # the rarest ones
    assert linked_notes[notes[4].id].links == ()
    assert links_are_sound(linked_notes)
    assert result.linked == len([c for c in result.changes if c.type == "link"])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("lib/nav/router.dart:20", "lib/ui/theme.dart"),
        ("every job fills the cache", "a nonce is fresh for every answer, no cache"),
        ("run it for one invoice", "run pg_upgrade for one hour"),
        ("see https://docs.example.com/a", "from https://docs.example.com/b"),
        ("mail anna@example.com", "mail bob@example.com"),
        ("2026 on 5433", "5433 in 2026"),
        ("timeout 30s, cache true", "idle 30s, debug true"),
    ],
)
def test_words_that_say_nothing_make_no_link(one: str, other: str) -> None:
    assert (
        passed(sample(1, title="a", content=one), sample(2, title="b", content=other))[1].linked
        == 0
    )


def test_a_note_with_no_room_for_a_link_gets_none() -> None:
    links = tuple(NoteLink(f"note-{number}", "once", NOW) for number in range(LINKS))
    full = sample(1, title="Deploy", content=LONG)._replace(links=links)
    gone = [sample(n + 10, title="Gone")._replace(id=link.to) for n, link in enumerate(links)]
    archived = [note._replace(hidden=True, archived_at=NOW) for note in gone]
    other = sample(2, title="Deploys", content="Staging cluster: the deploy script, the registry")
    _, result = passed(full, other, *archived)

    assert result.linked == 0


def test_the_reason_of_a_link_names_words_that_say_something() -> None:
    _, result = passed(
        sample(1, title="Carrier", content="Since 2026 use the api"),
        sample(2, title="Carriers", content="The api of 2026 may be in use"),
    )

    [linking] = [c.detail for c in result.changes if c.type == "link"]
    assert linking.endswith("shared context: api, carrier")


def test_the_reason_of_a_link_names_an_identifier_as_it_is_written() -> None:
    _, result = passed(
        sample(1, title="Flags", content="LaunchDarkly decides who sees the beta"),
        sample(2, title="Rollout", content="The beta is watched with LaunchDarkly"),
    )

    [linking] = [c.detail for c in result.changes if c.type == "link"]
    assert linking.endswith("shared context: beta, LaunchDarkly")


@pytest.mark.parametrize(
    ("one", "other", "links"),
    [
        (("Cart", "the customer pays by card"), ("Mail", "customers get it when they pay"), 1),
        (("Cart", "leads to payments"), ("Payments", "cover a whole cart"), 1),
        (("Reviews", "every pull request"), ("Size", "a pull request has 400 lines"), 1),
        (("Pull requests", "reviewed"), ("Size of a pull request", "below 400 lines"), 1),
        (("Session cookies", "last a day"), ("Cookie jar", "kept in the kitchen"), 0),
        (("Flags", "set in LaunchDarkly"), ("Rollout", "watched with LaunchDarkly"), 0),
        (("Backup", "has user_accounts"), ("Limits", "counted in user_accounts"), 0),
        (("Backup", "has user_accounts"), ("Limits", "on the accounts of a user"), 1),
    ],
)
def test_two_words_that_both_notes_have_somewhere_are_a_reason(
    one: tuple[str, str], other: tuple[str, str], links: int
) -> None:
    first = sample(1, title=one[0], content=one[1])
    second = sample(2, title=other[0], content=other[1])

    assert passed(first, second)[1].linked == links


def test_a_tag_is_a_word_of_its_note_unless_it_says_what_kind_of_note_it_is() -> None:
    one = sample(1, title="Carrier", content="late on Mondays", tags=["invoices", "files"])
    other = sample(2, title="Carriers", content="two of them", tags=["invoice", "files"])

    assert passed(one, other)[1].linked == 1
    without = [note._replace(tags=("files", "confirmed")) for note in (one, other)]
    assert passed(*without)[1].linked == 0


def test_subjects_and_projects_that_do_not_fit_are_not_linked() -> None:
    mine = sample(1, title="Keys", content="jwt, keys, rotation")
    them = sample(
        2, title="Rotation", content="jwt; rotation; keys", given=GraphNoteMetaInput(scope="self")
    )
    far = sample(
        3, title="Rotation", content="jwt; rotation; keys", given=GraphNoteMetaInput(project="x")
    )

    assert passed(mine, them)[1].linked == 0
    assert passed(mine, far)[1].linked == 1
    assert passed(mine._replace(project="y"), far)[1].linked == 0


def test_the_most_needy_are_inspected_and_every_note_gets_its_turn() -> None:
    notes = {n.id: n for n in (sample(k, title=f"n{k}", content=f"word{k}") for k in range(25))}
    seen: list[str] = []
    for day in range(1, 6):
        now = f"2026-02-{day:02d}T09:00:00.000Z"
        ids = select_notes(notes.values(), now, Policy(max_notes=5))
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

    assert select_notes([cared, bare, old], LATER, Policy()) == [old.id, bare.id, cared.id]
    assert select_notes([cared, bare, old], LATER, Policy(max_notes=0)) == []


def test_notes_in_equal_need_are_chosen_alike_a_moment_later() -> None:
    tagged = sample(1, tags=["own"], created_at="2026-01-24T09:00:00.007Z")
    bare = sample(2, title="x", content="yes", created_at="2026-01-31T09:00:00.007Z")
    moments = [f"2026-02-01T09:00:00.{n:03}Z" for n in range(0, 1000, 7)]

    chosen = [select_notes([bare, tagged], now, Policy(max_notes=1)) for now in moments]
    assert chosen == [[tagged.id]] * len(moments)


def test_a_clock_that_ran_ahead_hides_no_note_from_inspection() -> None:
    ahead = sample(1)._replace(last_inspected_at="2099-01-01T00:00:00.000Z")
    fresh = sample(2)._replace(last_inspected_at=NOW)

    assert select_notes([fresh, ahead], LATER, Policy(max_notes=1)) == [ahead.id]


def test_a_pass_may_keep_to_one_nugget() -> None:
    one, two = sample(1, nugget="One"), sample(2, nugget="two")

    changes, result = reflect(by_id(one, two), LATER, ALL, nugget="ONE")
    assert [note.id for note in changes.put] == [one.id]
    assert result.inspected == 1
