"""Which notes with nearly the same words are one, and which only look alike."""

import pytest

from graph_samples import LATER, NOW, by_id, sample
from nuggets.domain.records import CONTRADICTS, GraphNoteMetaInput, MemoryNote
from nuggets.language.equivalence_and_contradiction import says_all
from nuggets.maintenance.reflection import Policy, reflect
from nuggets.operations.notes_and_links import add_link

ALL = Policy(max_notes=1000)
LAST = "2026-02-02T10:30:00.000Z"
RULES = (
    "The pipeline uploads artefacts to our bucket after all tests are green and somebody has "
    "approved them on the page of that release; then mirrors pick up whatever is new there and "
    "tell people by mail"
)


def merges(*notes: MemoryNote) -> int:
    return reflect(by_id(*notes), LATER, ALL)[1].merged


def pair(one: str, other: str, title: str = "Rule", second_title: str = "") -> int:
    return merges(
        sample(1, title=title, content=one), sample(2, title=second_title or title, content=other)
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("{} in 10 years", "{} in 8 years"),
        ("{} is allowed", "{} is not allowed"),
        ("{}, ist erlaubt", "{}, ist nicht erlaubt"),
        ("{} on Android 11, later on 12", "{} on Android 12, later on 11"),
        ("{} at 10.0.0.5", "{} at 10.0.0.6"),
        ("{} when rate > 2%", "{} when rate < 2%"),
        ("{}, offset -5 degrees", "{}, offset 5 degrees"),
        ("{} for 1.500 a year", "{} for 1,500 a year"),
        ("{} mixed 1:10", "{} mixed 1.10"),
        ("{} retried 3, 5 times", "{} retried 3.5 times"),
        ("{} cache = !debug", "{} cache = debug"),
        ("{} from pg-a in zone b to pg-b in zone a", "{} from pg-b in zone a to pg-a in zone b"),
        ("{} in src/a/b.ts", "{} in src/b/a.ts"),
        ("{} in C only", "{} in C# only"),
        ("{}", "{} at 03:00"),
        ("{}", "{} by ops/up.sh"),
        ("- [x] rotate keys\n- [ ] {}", "- [ ] rotate keys\n- [ ] {}"),
        ("{} と 回答请用中文", "{} と 回答不请用中文"),
        ("{} ✅", "{} ❌"),
        ("{} 👍", "{}"),
        ("🟢 alpha 🔴 beta {}", "🔴 alpha 🟢 beta {}"),
        ("{}: ≤ 5 and 6", "{}: 5 and ≤ 6"),
        ("{}.", "{}?"),
    ],
)
def test_a_number_a_sign_or_a_negation_keeps_contents_apart(one: str, other: str) -> None:
    assert pair(one.format(RULES), other.format(RULES)) == 0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("git branch -d", "git branch -D"),
        ("curl -o", "curl -O"),
        (r"\d", r"\D"),
        ("rm -rf /data/Old", "rm -rf /data/old"),
        ("the US hosts", "the us hosts"),
        ("what IT has", "what it has"),
        ("the Polish texts", "the polish texts"),
        ("fooBar", "foobar"),
        ("make check && make publish", "make check || make publish"),
        ("a & b", "a && b"),
        ("a | tee", "a ; tee"),
        ("./run.sh", "../run.sh"),
        ("cd ..", "cd ."),
        ("main..dev", "main...dev"),
        ("src/*", "src/**"),
        ("old*", "old"),
        ("f(**options)", "f(options)"),
        ("{a}", "[a]"),
        ("#channel", "@channel"),
        ("my-file", "my_file"),
        ("'$HOME'", '"$HOME"'),
        ("grep -v foo bar", "grep foo -v bar"),
        ("server A", "server"),
    ],
)
def test_letter_case_and_signs_keep_contents_apart(one: str, other: str) -> None:
    rule = f"Do it with {{}} as agreed: {RULES}"
    assert pair(rule.format(one), rule.format(other)) == 0
    assert pair(rule.format(f"`{one}`"), rule.format(one)) == 1  # so it is not for their words


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("{} today; it never fails.", "{} today. It never fails"),
        ("{} today; Mara knows.", "{} today. Mara knows."),
        ("**Read this:** {}", "Read this: {}"),
        ("{} “today” – don’t ask (yet).", '{} "today", don\'t ask yet'),
        ("{} 部署，备份", "{} 部署、备份。"),
        ("IDs hold 64-bit numbers: {}", "IDs hold 64 bit numbers: {}"),
        ("Set jvmargs=-Xmx4g, or {}", "Set jvmargs=-Xmx4g or {}"),
        ("{} (longitude first)", "{}, longitude first!"),
        ("- {}", "* {}"),
        ("# Upload\n{}", "Upload\n{}"),
    ],
)
def test_punctuation_does_not(one: str, other: str) -> None:
    assert pair(one.format(RULES), other.format(RULES)) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Load auth before logging in the gateway", "Load logging before auth in the gateway"),
        ("I prefer tabs over spaces in Python", "I prefer spaces over tabs in Python"),
        ("Ask the cache, then the database", "Ask the database, then the cache"),
        ("We moved from Jest to Vitest", "We moved from Vitest to Jest"),
        (
            "The primary is in Bonn, the replica in Cork",
            "The primary is in Cork, the replica in Bonn",
        ),
        ("Mara reviews what Jonas writes", "Jonas reviews what Mara writes"),
        ("{} within thirty seconds", "{} within sixty seconds"),
        ("{} is always encrypted", "{} is usually encrypted"),
        ("{} only on laptops", "{} even on laptops"),
        ("A release needs a review and a green build", "A release needs a review or a green build"),
        ("{} is copied to the intranet", "{} is copied from the intranet"),
        ("The worker kills jobs: {}", "The worker is killed by jobs: {}"),
    ],
)
def test_other_words_or_another_order_keep_contents_apart(one: str, other: str) -> None:
    assert pair(one.format(RULES), other.format(RULES)) == 0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The build fails if a test fails: {}", "A build fails when tests fail: {}"),
        (
            "Somebody is paged when it doesn't answer: {}",
            "Someone gets paged if it does not answer: {}",
        ),
        ("Read it through the replica until noon; {}", "Read it via the replica till noon, and {}"),
    ],
)
def test_words_without_effect_do_not(one: str, other: str) -> None:
    assert pair(one.format(RULES), other.format(RULES)) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Server A", "Server B"),
        ("server a", "server b"),
        ("v3.8 release notes", "v3.9 release notes"),
        ("OKR Q1", "OKR Q2"),
        ("Weekly 2026-01-05", "Weekly 2026-01-12"),
        ("TODO week 1", "TODO week 2"),
        ("Lang C", "Lang C++"),
        ("Lang C++", "Lang C#"),
        ("Friday deploys", "No Friday deploys"),
        ("Friday deploys", "Friday deploys failed"),
        ("Deploy", "Deploy wrong"),
        ("IT", "HR"),
    ],
)
def test_so_do_titles_with_other_numbers_letters_or_negations(one: str, other: str) -> None:
    assert pair(f"{RULES} in Falkenstein", f"{RULES} in Helsinki", one, other) == 0
    assert pair(RULES, RULES, one, other) == 0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("GPS in the emulator", "Emulator GPS"),
        ("Fetch on iOS", "iOS fetch"),
        ("Postgres", "Upgrade of Postgres"),
        ("Backups", "Backup"),
        ("Time zones", "Timezones"),
        ("Invoice numbers", "Invoice numbering"),
    ],
)
def test_titles_in_other_words_for_the_same_do_not(one: str, other: str) -> None:
    assert pair(RULES, RULES, one, other) == 1


@pytest.mark.parametrize(
    "addition",
    ["{} in batches", "{}. Ask Mara.", "Ask Mara.\n{}", "It is old. {}\nBeware!"],
)
def test_one_may_say_more_in_whole_sentences_or_at_its_end(addition: str) -> None:
    assert pair(RULES, addition.format(RULES)) == 1


def test_a_sentence_may_come_between_two_but_not_within_one() -> None:
    first, second = RULES.split("; ")
    assert pair(f"{first}. {second}", f"{first}; it waits. {second}") == 0
    assert pair(f"{first}. {second}", f"{first}. Ask Mara! {second}") == 1
    assert pair(f"{first}, {second}", f"{first}. Ask Mara! {second}") == 0


@pytest.mark.parametrize(
    ("plain", "other"),
    [
        ("uploads", "rarely uploads"),
        ("uploads", "seldom uploads"),
        ("uploads", "hardly uploads"),
        ("uploads", "formerly uploads"),
        ("uploads", "refuses uploads"),
        ("The pipeline", "It forbids that anyone in the pipeline"),
        ("our bucket", "your bucket"),
        ("our bucket", "my bucket"),
        ("are green", "were green"),
        ("is new", "was new"),
        ("green and somebody", "green or somebody"),
        ("on the page", "off the page"),
        ("on the page", "for the page"),
        ("by mail", "by mail, rarely"),
        ("by mail", "by mail before release"),
        ("by mail", "by mail, which is wrong"),
    ],
)
def test_one_word_that_turns_a_sentence_keeps_contents_apart(plain: str, other: str) -> None:
    assert pair(RULES, RULES.replace(plain, other)) == 0


@pytest.mark.parametrize("tail", [". That is wrong.", " in theory", ". Ask Mara."])
def test_what_one_says_more_is_merged_only_if_it_was_written_later(tail: str) -> None:
    """A later copy without a retraction takes it back: it must not vanish in the retracted text."""
    plain, more = RULES, f"{RULES}{tail}"
    for shorter, longer, is_merged in ((NOW, LATER, True), (NOW, NOW, True), (LATER, NOW, False)):
        short = sample(1, title="Upload of releases", content=plain, now=shorter)
        long = sample(2, title="Upload", content=more, now=longer)
        changes, result = reflect(by_id(short, long), LAST, ALL)
        after = by_id(*changes.put)

        assert (result.merged, after[short.id].hidden) == (is_merged, is_merged)
        assert (after[long.id].title, after[long.id].content) == ("Upload", more)
        assert [link.to for link in after[short.id].links] == [long.id]


def test_a_text_is_later_if_it_was_made_after_the_other_was_last_changed() -> None:
    short, long = sample(1, content=RULES), sample(2, content=f"{RULES}. That is wrong.", now=LATER)

    assert merges(short, long) == 1
    assert merges(short._replace(updated_at=LAST), long) == 0
    # a clean-up of the retraction is no new retraction
    assert merges(short._replace(updated_at=LAST), long._replace(updated_at=LAST)) == 0


def test_what_is_merged_elsewhere_meanwhile_is_not_linked() -> None:
    retracted = sample(1, content=f"{RULES}. That is wrong.")
    again = [sample(n, content=RULES, now=LATER) for n in (2, 3)]
    changes, result = reflect(by_id(retracted, *again), LAST, ALL)
    after = by_id(*changes.put)

    assert (result.merged, result.linked) == (1, 1)
    assert [link.to for link in after[retracted.id].links] == [again[0].id]


def test_a_sentence_that_is_only_repeated_says_no_more() -> None:
    first = RULES.split("; ")[0]
    assert merges(sample(1, content=RULES, now=LATER), sample(2, content=f"{RULES}. {first}")) == 1


def test_for_and_against_are_no_duplicates() -> None:
    assert pair(f"Anna voted for it: {RULES}", f"Anna voted against it: {RULES}") == 0


def test_words_at_the_end_are_read_in_english_alone() -> None:
    rule = (
        "Die Pipeline lädt nach jedem Test alle Dateien in den Speicher und meldet das dem Team "
        "per Mail und mit einem Eintrag auf der Seite"
    )
    assert pair(rule, f"{rule}. Frag Mara.") == 1
    assert pair(rule, f"{rule} selten") == 0


def test_what_contradicts_is_not_merged_and_stays_marked() -> None:
    linked = add_link(sample(1, content=RULES), sample(2, content=RULES), CONTRADICTS, NOW)
    assert linked is not None
    changes, result = reflect(by_id(*linked), LATER, ALL)

    assert result.merged == 0
    assert all(
        CONTRADICTS in [link.reason for link in note.links] and not note.hidden
        for note in changes.put
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Accepted options", "Rejected options"),
        ("Checks before deploy", "Checks after deploy"),
        ("Good ideas", "Bad ideas"),
        ("Ideas", "Bad ideas"),
        ("Former address", "Address"),
        ("Guest rooms", "Rooms"),
        ("Anna allergy", "Ben allergy"),
        ("Who owns billing", "Who owns search"),
        ("Tabs over spaces", "Spaces over tabs"),
        ("部署", "備份"),
    ],
)
def test_the_same_text_under_titles_in_other_words_is_about_something_else(
    one: str, other: str
) -> None:
    assert pair(RULES, RULES, one, other) == 0


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_of_many_that_say_no_in_nearly_the_same_words_one_is_left(count: int) -> None:
    said = f"Do not touch prod-db: {RULES}"
    ends = ["", " today", "!", " today folks", " today folks please"][:count]
    notes = [sample(n, content=f"{said}{end}") for n, end in enumerate(ends)]

    assert merges(*notes) == count - 1


def test_what_someone_confirmed_and_what_nobody_did_stay_two() -> None:
    seen = GraphNoteMetaInput(source="tool_observation")
    vouched = sample(1, content=RULES, tags=["confirmed"], given=seen)
    planted = sample(2, content=f"{RULES}, then elsewhere", given=seen)

    assert merges(vouched, planted) == 0
    assert merges(vouched, planted._replace(tags=vouched.tags)) == 1


@pytest.mark.parametrize("text", ["x", "-", "!", "é", "don", "xy- ", "')", "**a", "x'", " ("])
def test_a_text_as_long_as_can_be_is_read_in_one_go(text: str) -> None:
    assert says_all(text * 100_000, text * 100_000)
