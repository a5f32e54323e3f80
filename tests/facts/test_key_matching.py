from difflib import SequenceMatcher

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggets.facts.key_matching import Match, fuzzy, substring
from nuggets.facts.key_tokenizer import form
from nuggets.facts.misspelling import misspelling_cost
from nuggets.language.text import fold_case

KEYS = [
    "auth handler",
    "auth handler tests",
    "test cmd",
    "db port",
    "database url",
    "user: favourite editor",
    "authentication flow",
    "api_endpoint",
    "release 2024",
    "設定ファイル",
    "the plan",
]


def sub(query: str, keys: list[str] = KEYS) -> str | None:
    match = substring(form(query), {i: form(key) for i, key in enumerate(keys)})
    return keys[match.place] if match else None


def near(query: str, keys: list[str] = KEYS, threshold: float = 0.55) -> str | None:
    match = fuzzy(form(query), {i: form(key) for i, key in enumerate(keys)}, threshold)
    return keys[match.place] if match else None


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("auth", "auth handler"),
        ("what is the auth handler?", "auth handler"),
        ("please run the test cmd for the server again tomorrow", "test cmd"),
        ("favourite editor", "user: favourite editor"),
        ("which is my editor?", "user: favourite editor"),
        ("auth_handler", "auth handler"),
        ("api endpoint", "api_endpoint"),
        ("handler tests", "auth handler tests"),
        ("endpoint", "api_endpoint"),
        ("authentic", "authentication flow"),
        ("test cmds", "test cmd"),
        ("設定", "設定ファイル"),
    ],
)
def test_a_part_or_a_surrounding_names_its_key(query: str, key: str) -> None:
    assert sub(query) == key


@pytest.mark.parametrize("query", ["a", "e", "at", "as", "the", "what is the", "base", "and"])
def test_a_few_letters_name_nothing(query: str) -> None:
    assert sub(query) is None


def test_of_several_keys_the_closest_in_length_is_meant() -> None:
    keys = ["port of the staging server", "port number", "port range"]

    assert sub("port", keys) == "port range"


def test_whole_words_come_before_letters_inside_a_word() -> None:
    assert sub("test", ["tests", "the big test of all"]) == "the big test of all"


def test_a_word_of_a_long_question_is_not_what_it_is_about() -> None:
    keys = ["port"]

    assert sub("which port", keys) == "port"
    assert sub("port wine from northern portugal", keys) is None
    assert sub("portability", keys) is None


def test_the_ratio_of_a_part_is_the_one_difflib_gives() -> None:
    match = substring(form("auth"), {0: form("auth handler")})

    expected = SequenceMatcher(None, "auth handler", "auth", autojunk=False).ratio()
    assert match == Match("substring", expected, True, 0)


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("auth hanlder", "auth handler"),
        ("auht handler", "auth handler"),
        ("authhandler", "auth handler"),
        ("aut hhandler", "auth handler"),
        ("handler auth", "auth handler"),
        ("tst cmd", "test cmd"),
        ("favorite editor", "user: favourite editor"),
        ("what is my favorite editr", "user: favourite editor"),
        ("auth flow", "authentication flow"),
        ("relaese 2024", "release 2024"),
        ("databse ulr", "database url"),
        ("auht handlr", "auth handler"),
        ("athentiction flow", "authentication flow"),
    ],
)
def test_a_misspelling_finds_its_key(query: str, key: str | None) -> None:
    assert near(query) == key


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("lube arc", "blue car"),
        ("db host", "db port"),
        ("web port", "db port"),
        ("release 2025", "release 2024"),
        ("server 1", "server 2"),
        ("post code", "port node"),
        ("auth handler path", "auth handler file"),
        ("dinner recipe", "error reporter"),
    ],
)
def test_letters_in_common_by_chance_are_no_match(query: str, key: str) -> None:
    assert near(query, [key]) is None


def test_of_two_plausible_keys_the_better_ratio_is_meant() -> None:
    assert near("deploy scrpt", ["deploy scrip", "deploy script"]) == "deploy script"


def test_of_equally_good_keys_the_older_is_meant_in_whatever_order_they_come() -> None:
    keys = {7: form("test cmd"), 3: form("test cmx")}

    match = fuzzy(form("test cmz"), keys, 0.55)

    assert match is not None
    assert match.place == 3


def test_a_ratio_below_the_threshold_is_no_match() -> None:
    keys = ["handler auth"]

    assert near("auth handler", keys, threshold=0.55) == "handler auth"
    assert near("auth handler", keys, threshold=0.95) is None


@pytest.mark.parametrize(
    ("query", "key", "accepted_by"),
    [
        ("auth hanlder", "auth handler", [0.0, 0.55, 0.8]),
        ("auht handlr", "auth handler", [0.0, 0.55]),
        ("post code", "port node", [0.0]),
    ],
)
def test_the_threshold_says_how_much_may_be_misspelt(
    query: str, key: str, accepted_by: list[float]
) -> None:
    thresholds = [0.0, 0.55, 0.8]

    assert [limit for limit in thresholds if near(query, [key], limit)] == accepted_by


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("sender address", "server address"),
        ("primary key", "privacy key"),
        ("ticket queue", "target queue"),
        ("feature list", "future list"),
        ("meeting notes", "melting votes"),
        ("kubernetes cluster cpu limit", "kubernetes cluster cdn limit"),
    ],
)
def test_another_word_is_no_misspelling(query: str, key: str) -> None:
    assert near(query, [key]) is None


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("production database host", "database host"),
        ("product owner email", "product owner"),
        ("external api base url of billing", "api base url"),
        ("non-production url", "production url"),
    ],
)
def test_a_word_beside_a_key_makes_it_another_thing(query: str, key: str) -> None:
    assert sub(query, [key]) is None


def test_the_ratio_is_taken_from_the_key_to_the_query() -> None:
    key, query = "tide table", "tied table"
    forward = SequenceMatcher(None, key, query, autojunk=False).ratio()

    match = fuzzy(form(query), {0: form(key)}, 0.5)

    assert match is not None
    assert match.ratio == forward


LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORDS = st.lists(st.text(LETTERS, min_size=3, max_size=9), min_size=1, max_size=4)


@given(WORDS, st.data())
def test_one_edit_anywhere_finds_its_key(words: list[str], data: st.DataObject) -> None:
    key = " ".join(words)
    at = data.draw(st.integers(0, len(key) - 1))
    letter = data.draw(st.sampled_from(LETTERS))
    typo = data.draw(
        st.sampled_from(
            [
                key[:at] + key[at + 1 :],
                key[:at] + letter + key[at:],
                key[:at] + letter + key[at + 1 :],
                key[:at] + key[at : at + 2][::-1] + key[at + 2 :],
            ]
        )
    )

    assert misspelling_cost(form(typo), form(key), 0.55) is not None
    ratio = SequenceMatcher(None, key, fold_case(typo), autojunk=False).ratio()
    assert near(typo, [key]) == (key if ratio >= 0.55 else None)


@given(WORDS, WORDS)
def test_a_fuzzy_match_reaches_the_ratio_and_is_plausible(
    ours: list[str], theirs: list[str]
) -> None:
    query, key = form(" ".join(ours)), form(" ".join(theirs))
    ratio = SequenceMatcher(None, key.text, query.text, autojunk=False).ratio()

    found = fuzzy(query, {0: key}, 0.55)

    assert found is None or (
        found.ratio == ratio >= 0.55 and found.cost == misspelling_cost(query, key, 0.55)
    )


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("trusted hosts", "untrusted hosts"),
        ("prod account", "nonprod account"),
        ("deploy script", "undeploy script"),
        ("production steps", "reproduction steps"),
        ("undeploy script", "deploy script"),
        ("encryption key", "decryption key"),
        ("external hostname", "internal hostname"),
        ("exporter config", "importer config"),
        ("decrease rate", "increase rate"),
        ("descending order", "ascending order"),
        ("server c", "server a"),
    ],
)
def test_a_word_that_says_the_opposite_is_no_slip(query: str, key: str) -> None:
    assert sub(query, [key]) is None
    assert near(query, [key]) is None
