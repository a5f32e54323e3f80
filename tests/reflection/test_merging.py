"""Which notes with nearly the same words are one, and which only look alike."""

import pytest

from graph_samples import LATER, by_id, sample
from nuggets.records import GraphNoteMetaInput, MemoryNote
from nuggets.reflection import Policy, reflect
from nuggets.reflection.contrast import contradict, particulars

ALL = Policy(max_notes=1000)
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
        ("{} in C++ only", "{} in C# only"),
        ("- [x] rotate keys\n- [ ] {}", "- [ ] rotate keys\n- [ ] {}"),
        ("{} と 回答请用中文", "{} と 回答不请用中文"),
    ],
)
def test_a_number_a_sign_or_a_negation_keeps_contents_apart(one: str, other: str) -> None:
    assert pair(one.format(RULES), other.format(RULES)) == 0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("{} today; it never fails.", "{} today. It never fails"),
        ("IDs hold 64-bit numbers: {}", "IDs hold 64 bit numbers: {}"),
        ("Set jvmargs=-Xmx4g, or {}", "Set jvmargs=-Xmx4g or {}"),
        ("{} (longitude first)", "{}, longitude first!"),
        ("{}", "{} at 03:00"),
        ("{}", "{} by ops/up.sh"),
        ("- {}", "* {}"),
        ("# Upload\n{}", "Upload\n{}"),
    ],
)
def test_punctuation_and_what_one_of_them_adds_do_not(one: str, other: str) -> None:
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
        ("VAT rule EU", "VAT rule US"),
        ("vat rule eu", "vat rule us"),
        ("Lang C", "Lang C++"),
        ("Lang C++", "Lang C#"),
        ("Old API limits", "New API limits"),
        ("First shift", "Second shift"),
        ("Server one", "Server two"),
        ("Friday deploys", "No Friday deploys"),
    ],
)
def test_so_do_titles_that_say_which_one(one: str, other: str) -> None:
    assert pair(f"{RULES} in Falkenstein", f"{RULES} in Helsinki", one, other) == 0
    assert pair(RULES, f"{RULES} in Helsinki", one, other) == 1  # nothing is said otherwise


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("GPS in the emulator", "Emulator GPS"),
        ("Fetch on iOS", "iOS fetch"),
        ("Upload", "Upload 2"),
        ("Upload, draft", "Upload (copy)"),
        ("Postgres upgrade", "Postgres 15 upgrade"),
    ],
)
def test_titles_in_other_words_for_the_same_do_not(one: str, other: str) -> None:
    assert pair(f"{one} {other} {RULES}", f"{one} {other} {RULES}", one, other) == 1


def test_of_many_that_say_no_in_nearly_the_same_words_one_is_left() -> None:
    said = f"Do not touch prod-db: {RULES}"
    notes = [sample(n, content=f"{said}{end}") for n, end in enumerate(["", " now", " soon", "!"])]

    assert merges(*notes) == 3


def test_what_someone_confirmed_and_what_nobody_did_stay_two() -> None:
    seen = GraphNoteMetaInput(source="tool_observation")
    vouched = sample(1, content=RULES, tags=["confirmed"], given=seen)
    planted = sample(2, content=f"{RULES}, then elsewhere", given=seen)

    assert merges(vouched, planted) == 0
    assert merges(vouched, planted._replace(tags=vouched.tags)) == 1


def test_whoever_says_more_contradicts_nobody_but_a_no_is_not_more() -> None:
    base = particulars("port 80")

    assert not contradict(base, particulars("port 80 and 443, see etc/ports"))
    assert not contradict(particulars("port 80 and 443"), base)
    assert contradict(base, particulars("port 443"))
    assert contradict(base, particulars("port 80, not open"))
    assert contradict(particulars("not open: port 80"), base)


@pytest.mark.parametrize("text", ["x", "-", "!", "é", "don", "xy- "])
def test_a_text_as_long_as_can_be_is_read_in_one_go(text: str) -> None:
    assert particulars(text * 100_000) == ()
