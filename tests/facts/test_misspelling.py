import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fact_oracle import fact_note
from fact_shelf import fact_database
from nuggets.facts.key_matching import fuzzy
from nuggets.facts.key_table import KeyTable
from nuggets.facts.key_tokenizer import form
from nuggets.facts.misspelling import OTHER_EDIT, SLIP, slip_cost

WORDS = (
    "auth authentication handler db port the of release encryption url x 2024 größe 设置"
    " apiEndpoint production a"
)
WORD = st.sampled_from(WORDS.split())
KEYS = st.builds(
    lambda scope, words: scope + " ".join(words),
    st.sampled_from(["", "", "user: ", "self:"]),
    st.lists(WORD, min_size=1, max_size=4),
)


@st.composite
def questions(draw: st.DrawFn, key: str) -> str:
    """The key without its scope, its words shuffled, cut short and mistyped, more or less."""
    text = draw(st.sampled_from([key, key.partition(":")[2] or key]))
    words = text.split()
    if draw(st.booleans()):
        words = draw(st.permutations(words))
    if draw(st.booleans()):
        words = [word[: draw(st.integers(3, 15))] for word in words]
    text = " ".join(words)
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(text)))
        letter = draw(st.sampled_from(["", " ", "z", "e", "ö"]))
        gap = draw(st.integers(0, 1))
        swapped = text[:at] + text[at : at + 2][::-1] + text[at + 2 :]
        text = draw(st.sampled_from([text[:at] + letter + text[at + gap :], swapped]))
    return text


@settings(max_examples=400, deadline=None)
@given(st.data(), KEYS, st.sampled_from([0.0, 0.3, 0.55, 0.8]))
def test_the_table_leaves_out_no_key_that_is_a_plausible_misspelling(
    data: st.DataObject, key: str, threshold: float
) -> None:
    query = form(data.draw(questions(key)))
    table = KeyTable(fact_database())
    table.update([(1, None, fact_note(key, "value"))])

    found = table.alike(query, threshold, "project")

    if fuzzy(query, {1: form(key)}, threshold):
        assert [candidate.form for candidate in found] == [form(key)]


@pytest.mark.parametrize(
    ("query", "key"),
    [
        # letters swapped where the halves of a word meet, and a beginning
        ("handler auth prot", "port authentication handler"),
        ("handler authentication prot", "port auth handler"),
        ("handlez releaxe", "user: release handler"),  # the scope left out
        ("handlez user releaxe", "user: release handler"),
        ("url production ezcryptxon", "encryption url production"),  # two slips in a long word
        ("zncryption xort", "port encryption"),  # first letters
        ("encryptioz porx", "port encryption"),  # last letters
        ("authhandlez", "auth handler"),  # blanks left out, and a slip
        ("prt", "session: port"),
    ],
)
def test_each_way_to_misspell_a_key_is_looked_at(query: str, key: str) -> None:
    table = KeyTable(fact_database())
    table.update([(1, None, fact_note(key, "value"))])

    assert fuzzy(form(query), {1: form(key)}, 0.0)
    assert len(table.alike(form(query), 0.0, None)) == 1


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("auth hanlder", ["auth handler"]),
        ("prot", ["port"]),
        ("relaese 2024", ["release 2024"]),
        ("release 2042", []),
        ("holiday in the mountains", []),
        ("", []),
    ],
)
def test_hardly_any_other_key_is_looked_at(query: str, found: list[str]) -> None:
    keys = ["auth handler", "port", "port of the staging server", "release 2024", "***"]
    table = KeyTable(fact_database())
    table.update([(i, None, fact_note(key, "value")) for i, key in enumerate(keys)])

    candidates = table.alike(form(query), 0.55, None)

    assert [one.form.text for one in candidates if one.form] == found


def test_a_key_as_long_as_the_threshold_allows_is_looked_at() -> None:
    table = KeyTable(fact_database())
    table.update([(1, None, fact_note("production x", "value"))])

    assert table.alike(form("produc x"), 0.8, None)  # a ratio of exactly 0.8


def test_a_question_of_very_many_words_can_be_asked() -> None:
    words = [f"word{chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(500)]
    key = " ".join(words)
    table = KeyTable(fact_database())
    table.update([(1, None, fact_note(key, "value"))])

    assert table.alike(form(key.replace("wordbb", "wrodbb")), 0.55, None)


@pytest.mark.parametrize(
    ("meant", "typed"),
    [
        ("handler", "handlr"),  # left out
        ("handler", "handdler"),  # doubled
        ("handler", "handlker"),  # a neighbouring key hit as well
        ("handler", "hanlder"),  # swapped
        ("handler", "hsndler"),  # a neighbouring key
        ("separate", "seperate"),  # another vowel
    ],
)
def test_a_usual_slip_is_cheap(meant: str, typed: str) -> None:
    assert slip_cost(meant, typed) == SLIP


@pytest.mark.parametrize(("meant", "typed"), [("port", "post"), ("node", "nodez"), ("", "x")])
def test_any_other_edit_costs_more(meant: str, typed: str) -> None:
    assert slip_cost(meant, typed) == OTHER_EDIT


def test_costs_add_up() -> None:
    assert slip_cost("", "") == slip_cost("port", "port") == 0
    assert slip_cost("authentication", "athentiction") == 2 * SLIP
    assert slip_cost("server", "sender") == 2 * OTHER_EDIT
