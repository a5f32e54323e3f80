import pytest

from graph_samples import LATER, NOW, by_id, sample
from nuggets import PROMOTE_THRESHOLD
from nuggets.domain.records import GraphNoteMetaInput, MemoryNote
from nuggets.maintenance.promotion.entries import Entry, WrittenEntries
from nuggets.maintenance.promotion.sections import Budget, Promotion, merged_text
from nuggets.operations.note_merging import merge_notes
from nuggets.operations.notes_and_links import add_link, archive_note

HEADER = (
    "# Memory\n\nAuto-promoted from nuggets graph notes "
    f"({PROMOTE_THRESHOLD}+ recalls across sessions).\n"
)


def note(
    number: int = 1,
    title: str = "JWT",
    content: str = "RS256.",
    hits: int = PROMOTE_THRESHOLD,
    given: GraphNoteMetaInput | None = None,
    nugget: str = "learnings",
    project: str = "",
) -> MemoryNote:
    made = sample(number, title=title, content=content, nugget=nugget, given=given, project=project)
    return made._replace(hits=hits)


def promoted(text: str, *notes: MemoryNote, written: WrittenEntries | None = None) -> Promotion:
    return merged_text(text, by_id(*notes), written or WrittenEntries(), "")


def outcomes(promotion: Promotion) -> dict[str, str]:
    return {one.title: one.outcome for one in promotion.explanations}


def test_a_new_file_has_the_documented_form_with_its_sections_in_order() -> None:
    made = promoted(
        "",
        note(1, "zoo", nugget="zoo"),
        note(2, "style", given=GraphNoteMetaInput(subject="user:primary"), nugget="topic"),
        note(
            3, "JWT token format", "Uses RS256.\nKey at src/keys.pem.", hits=PROMOTE_THRESHOLD + 1
        ),
        note(4, "tone", given=GraphNoteMetaInput(subject="assistant:self"), nugget="topic"),
        note(5, "tabs", nugget="prefs"),
        note(6, "server", given=GraphNoteMetaInput(scope="shared"), nugget="topic"),
    )

    assert made.new_count == 6
    assert made.text == (
        HEADER + "\n## learnings\n\n- **JWT token format**: Uses RS256. Key at src/keys.pem.\n"
        "\n## preferences\n\n- **tabs**: RS256.\n\n## assistant-self\n\n- **tone**: RS256.\n"
        "\n## shared-context\n\n- **server**: RS256.\n\n## user\n\n- **style**: RS256.\n"
        "- **zoo**: RS256.\n"
    )


def test_the_nugget_names_the_section_when_nothing_else_does() -> None:
    other = note(1, nugget="zoo", given=GraphNoteMetaInput(subject="the zoo", scope="user"))

    assert "\n## zoo\n\n- **JWT**: RS256.\n" in promoted("", other).text


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            {"hits": PROMOTE_THRESHOLD - 1},
            f"recalled in {PROMOTE_THRESHOLD - 1} of {PROMOTE_THRESHOLD} sessions",
        ),
        ({"hidden": True}, "archived"),
        ({"project": "elsewhere"}, "another project"),
        ({"stability": "temporary"}, "temporary"),
        ({"source": "tool_observation"}, "not confirmed"),
        ({"content": "ghp" + "_" + "a1B2" * 9}, "credential: token ghp_…"),
        ({"content": "the password:\n\n\t\n\n\nx9" + "Kq72Lm"}, "credential"),
    ],
)
def test_a_note_stays_out_and_it_is_said_why(change: dict[str, object], reason: str) -> None:
    held = note()._replace(**change)  # type: ignore[arg-type]

    made = promoted("", held)
    assert made.text == ""
    assert reason in made.explanations[0].reason
    assert made.explanations[0].outcome == "out"


def test_what_a_tool_saw_is_promoted_once_someone_confirmed_it() -> None:
    seen = note()._replace(source="tool_observation")

    assert promoted("", seen._replace(tags=(*seen.tags, "confirmed"))).new_count == 1
    assert promoted("", seen._replace(source="explicit_user")).new_count == 1


def test_a_note_of_this_project_is_promoted_into_its_file_only() -> None:
    mine = note(project="here", given=GraphNoteMetaInput(scope="project"))

    assert merged_text("", by_id(mine), WrittenEntries(), "here").new_count == 1
    assert merged_text("", by_id(mine), WrittenEntries(), "there").new_count == 0


def test_a_bullet_deleted_by_hand_is_not_written_back() -> None:
    first = promoted("", note(1, "one"), note(2, "two"))
    cut = first.text.replace("- **one**: RS256.\n", "")

    again = promoted(
        cut, note(1, "one", hits=PROMOTE_THRESHOLD + 6), note(2, "two"), written=first.written
    )
    assert again.text == cut
    assert outcomes(again) == {"one": "declined", "two": "kept"}
    third = promoted(again.text, note(1, "one", "new words"), note(2, "two"), written=again.written)
    assert third.text == cut


def test_an_entry_changed_by_hand_stays_as_it_was_changed() -> None:
    first = promoted("", note())
    by_hand = first.text.replace("RS256.", "RS512 since May.")

    again = promoted(by_hand, note(content="ES256."), written=first.written)
    assert again.text == by_hand
    assert outcomes(again) == {"JWT": "changed"}


def test_an_entry_put_back_by_hand_is_ours_again() -> None:
    first = promoted("", note())
    without = promoted(HEADER, note(), written=first.written)

    back = promoted(first.text, note(), written=without.written)
    assert outcomes(without) == {"JWT": "declined"}
    assert outcomes(back) == {"JWT": "kept"}
    assert "JWT" not in promoted(back.text, written=back.written).text


def test_an_edited_note_changes_its_line_in_place() -> None:
    first = promoted("", note(1, "one"), note(2, "two"))

    again = promoted(first.text, note(1, "one", "Anew."), note(2, "two"), written=first.written)
    assert again.text == first.text.replace("one**: RS256.", "one**: Anew.")
    assert (again.new_count, outcomes(again)["one"]) == (0, "updated")


@pytest.mark.parametrize("gone", ["forgotten", "archived"])
def test_an_entry_goes_with_its_note_and_an_emptied_section_too(gone: str) -> None:
    first = promoted("", note(1, "one"), note(2, "two", nugget="prefs"))
    left = [note(1, "one")]
    if gone == "archived":
        left.append(note(2, "two", nugget="prefs")._replace(hidden=True))

    again = promoted(first.text, *left, written=first.written)
    assert again.text == HEADER + "\n## learnings\n\n- **one**: RS256.\n\n"
    assert "its line was taken out" in again.explanations[-1].reason


def test_a_heading_of_ours_goes_when_a_person_deletes_its_last_entry() -> None:
    first = promoted("", note(1, "one"), note(2, "two", nugget="prefs"))
    cut = first.text.replace("- **one**: RS256.\n", "")

    again = promoted(cut, note(1, "one"), note(2, "two", nugget="prefs"), written=first.written)
    assert "## learnings" not in again.text
    assert "## preferences\n\n- **two**: RS256.\n" in again.text


@pytest.mark.parametrize("below", ["my own words\n", "### and more\n", "- mine\n"])
def test_a_heading_with_something_of_a_person_below_stays(below: str) -> None:
    first = promoted("", note())

    assert promoted(first.text + below, written=first.written).text.endswith(
        f"## learnings\n\n{below}"
    )


@pytest.mark.parametrize("heading", ["## learnings", "## Learnings", "## What we know"])
def test_a_heading_of_a_person_stays_without_entries(heading: str) -> None:
    own = f"{heading}\n\n"
    first = promoted(own + "- **JWT**: RS256.\n", note())
    renamed = promoted("", note())

    assert promoted(first.text, written=first.written).text == own
    if heading != "## learnings":
        text = renamed.text.replace("## learnings", heading)
        assert heading in promoted(text, written=renamed.written).text


def test_the_room_of_a_heading_that_goes_is_used_at_once() -> None:
    small = Budget(lines=9)  # header, heading, one entry and an empty line
    gone, fresh = note(1, "one", nugget="prefs"), note(2, "two")
    first = merged_text("", by_id(gone), WrittenEntries(), "", small)
    after = merged_text(first.text, by_id(fresh), first.written, "", small)

    assert "## preferences" not in after.text
    assert "## learnings\n\n- **two**: RS256.\n" in after.text


def test_a_line_changed_by_hand_stays_when_its_note_goes() -> None:
    first = promoted("", note())
    by_hand = first.text.replace("RS256", "RS512")

    assert promoted(by_hand, written=first.written).text == by_hand


def test_entries_moved_by_hand_keep_their_new_place() -> None:
    first = promoted("", note(1, "one"), note(2, "two"))
    moved = "- **two**: RS256.\n\n" + first.text.replace("- **two**: RS256.\n", "")

    assert promoted(moved, note(1, "one"), note(2, "two"), written=first.written).text == moved


def test_a_file_that_was_lost_is_written_again_but_not_what_was_declined() -> None:
    first = promoted("", note(1, "one"), note(2, "two"))
    declined = promoted(
        first.text.replace("- **one**: RS256.\n", ""),
        note(1, "one"), note(2, "two"), written=first.written,
    )  # fmt: skip

    anew = promoted("", note(1, "one"), note(2, "two"), written=declined.written)
    assert "**two**" in anew.text
    assert "**one**" not in anew.text


def test_a_crash_between_file_and_record_leaves_no_orphans() -> None:
    lost_record = promoted("", note())

    adopted = promoted(lost_record.text, note())
    assert adopted.text == lost_record.text
    assert adopted.new_count == 0
    assert "JWT" not in promoted(adopted.text, written=adopted.written).text


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_the_files_own_newlines_are_used(end: str) -> None:
    text = end.join(["\ufeff# Mine", "", "- keep"])

    made = promoted(text, note()).text
    assert made == end.join([text, "", "## learnings", "", "- **JWT**: RS256.", ""])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# A\n\n```\nopen", "# A\n\n## learnings\n\n- **JWT**: RS256.\n\n```\nopen"),
        ("# A\n<!--\n## user\n", "# A\n\n## learnings\n\n- **JWT**: RS256.\n\n<!--\n## user\n"),
        ("```\n## user\n```\n", "```\n## user\n```\n\n## learnings\n\n- **JWT**: RS256.\n"),
        ("## learnings\n- mine\n", "## learnings\n- mine\n- **JWT**: RS256.\n"),
        ("## Learnings ##\n- mine\n", "## Learnings ##\n- mine\n- **JWT**: RS256.\n"),
        ("## Learnings\n\nmine\n\n# B\n", "## Learnings\n\nmine\n\n- **JWT**: RS256.\n\n# B\n"),
        ("## learnings\n### sub\n- x\n", "## learnings\n\n- **JWT**: RS256.\n\n### sub\n- x\n"),
        ("## user\n- mine", "## learnings\n\n- **JWT**: RS256.\n\n## user\n- mine"),
        ("<div>\n## learnings\n", "<div>\n## learnings\n\n## learnings\n\n- **JWT**: RS256.\n"),
    ],
)  # fmt: skip
def test_a_new_entry_finds_its_place_in_what_people_wrote(text: str, expected: str) -> None:
    about_user = note(9, "u", hits=0, given=GraphNoteMetaInput(subject="user:primary"), nugget="t")
    others = (about_user._replace(hits=PROMOTE_THRESHOLD),) if text.startswith("## user") else ()

    made = promoted(text, note(), *others).text
    assert made.replace("- mine\n- **u**: RS256.\n", "- mine") == expected


def test_remarks_under_an_entry_stay_with_it() -> None:
    first = promoted("", note(1, "one"))
    remarked = first.text + "  - my remark\n\n  and more\n\nend\n"

    made = promoted(remarked, note(1, "one"), note(2, "two"), written=first.written).text
    assert made == first.text + "  - my remark\n\n  and more\n- **two**: RS256.\n\nend\n"


def test_new_entries_follow_their_fellows_under_a_renamed_heading() -> None:
    fellows = note(1, "one"), note(2, "two")
    first = promoted("", *fellows)
    renamed = first.text.replace("## learnings", "## What we know")

    made = promoted(renamed, *fellows, note(3, "three"), written=first.written).text
    assert made == renamed + "- **three**: RS256.\n"


def test_a_single_line_that_a_person_wrote_draws_no_others_to_it() -> None:
    here = GraphNoteMetaInput(scope="shared")
    first = promoted("", note(1, "one", given=here, nugget="topic"))
    by_hand = (
        first.text.replace("## shared-context", "## Team knowledge")
        + "\n## Things I dislike\n\n- **two**: RS256.\n"
    )
    notes = [note(n, title, given=here, nugget="topic") for n, title in enumerate(("one", "two"))]

    made = promoted(by_hand, *notes, note(3, "x", given=here, nugget="topic")).text
    assert made == by_hand + "\n## shared-context\n\n- **x**: RS256.\n"


def test_the_same_line_is_written_once() -> None:
    made = promoted("", note(1), note(2))

    assert made.text.count("**JWT**") == 1
    assert [one.reason for one in made.explanations][1] == "the same line is already there"


def test_the_file_stays_below_what_hosts_load_and_the_most_recalled_are_in_it() -> None:
    many = [
        note(n, f"title {n}", "word " * 30, hits=PROMOTE_THRESHOLD + n % 50) for n in range(2000)
    ]

    made = promoted("# Mine\n" + "- x\n" * 50, *many)
    assert made.text.count("\n") < 200
    assert len(made.text.encode()) < 25_000
    assert made.new_count == made.text.count("- **title") > 100
    admitted = [
        many[int(line.split("**")[1][6:])].hits for line in made.text.split("\n") if "**" in line
    ]
    assert min(admitted) >= sorted((n.hits for n in many), reverse=True)[made.new_count] - 1
    assert {one.outcome for one in made.explanations} == {"new", "no room"}


@pytest.mark.parametrize("foreign", ["- x\n" * 300, "x" * 30_000, "y" * 10_000_000])
def test_others_come_first_and_may_leave_no_room(foreign: str) -> None:
    first = promoted("", note())

    made = promoted(first.text + foreign, note(), note(2, "new"), written=first.written)
    assert "JWT" not in made.text
    assert made.text.endswith(foreign)
    assert outcomes(made) == {"JWT": "no room", "new": "no room"}


def test_a_newcomer_takes_the_room_of_an_entry_with_fewer_hits_only() -> None:
    small = Budget(lines=8)  # header, heading and one entry
    first = merged_text("", by_id(note(1, "one")), WrittenEntries(), "", small)
    equal = merged_text(first.text, by_id(note(1, "one"), note(2, "two")), first.written, "", small)
    more = merged_text(
        first.text,
        by_id(note(1, "one"), note(2, "two", hits=PROMOTE_THRESHOLD + 1)),
        first.written,
        "",
        small,
    )

    assert (equal.text, outcomes(equal)["two"]) == (first.text, "no room")
    assert more.text == first.text.replace("one", "two")


def test_bytes_that_are_no_utf_8_pass_through() -> None:
    text = b"# Mine \xff\xfe\n".decode(errors="surrogateescape")

    made = promoted(text, note()).text
    assert made.encode(errors="surrogateescape").startswith(b"# Mine \xff\xfe\n")


def test_a_record_survives_json_and_a_broken_one_claims_nothing() -> None:
    written = WrittenEntries({"note-a-1": Entry("ab", "declined")}, frozenset(["cd"]))

    assert WrittenEntries.from_json(written.to_json()) == written
    shapes: list[object] = [None, [], {"entries": [], "others": []}, {"entries": {"a": ["x"]}}]
    shapes.append({"entries": {"a": ["x", "y"]}, "others": []})
    for broken in shapes:
        assert WrittenEntries.from_json(broken) == WrittenEntries()


@pytest.mark.parametrize("by_hand", ["- mine\n", "- **JWT**: in my words\n"])
def test_what_was_refused_does_not_return_through_a_merge(by_hand: str) -> None:
    one, other = note(1, "JWT", "RS256."), note(2, "Tokens", "Short-lived.", hits=0)
    made = promoted("", one)
    text = made.text.replace("- **JWT**: RS256.\n", by_hand)
    for promoted_between in (True, False):
        known = promoted(text, one, written=made.written) if promoted_between else made
        united, gone, *_ = merge_notes(other, one, "", LATER, by_id(one, other))
        after = promoted(text, united, gone, written=known.written)

        assert united.hits == PROMOTE_THRESHOLD
        assert after.text == text
        assert after.new_count == 0
        assert outcomes(after)["Tokens"] == ("changed" if "JWT" in by_hand else "declined")
        assert promoted(text, united, gone, written=after.written).text == text
        # and what comes apart again is each its own
        fresh = other._replace(hits=PROMOTE_THRESHOLD)
        assert "Tokens" in promoted(text, one, fresh, written=after.written).text


def test_what_was_merged_into_a_line_that_stands_there_leaves_it_there() -> None:
    one, other = note(1, "JWT", "RS256."), note(2, "Tokens", "Short-lived.")
    made = promoted("", one, other)
    text = made.text.replace("- **JWT**: RS256.\n", "")
    united, gone, *_ = merge_notes(other, one, "", LATER, by_id(one, other))

    assert (
        "- **Tokens**: Short-lived. RS256.\n"
        in promoted(text, united, gone, written=made.written).text
    )


def test_an_archived_note_refuses_nothing_for_those_that_it_was_linked_with() -> None:
    one, other = note(1, "JWT", "RS256."), note(2, "Tokens", "Short-lived.", hits=0)
    made = promoted("", one)
    text = made.text.replace("- **JWT**: RS256.\n", "")
    pair = add_link(one, other, "", NOW)
    assert pair is not None
    gone = archive_note(pair[0], LATER)

    assert (
        "Tokens"
        in promoted(text, gone, pair[1]._replace(hits=PROMOTE_THRESHOLD), written=made.written).text
    )


def test_a_line_that_resembles_the_header_stays_as_it_is() -> None:
    text = "Auto-promoted from nuggets graph notes (x+ recalls across sessions).\n"

    assert promoted(text, note()).text.startswith(text)
