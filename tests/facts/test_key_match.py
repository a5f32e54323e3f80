"""Which key a question means, by probability and in the documented order."""

from difflib import SequenceMatcher

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fact_oracle import fact_note
from fact_shelf import FactShelf
from nuggets.domain.records import CLEAR_PROBABILITY, Changes, NuggetConfig, RecallResult
from nuggets.facts.key_probability import WEIGHTS, probabilities

SERVICES = ("kafka", "redis", "mongo", "nginx", "vault", "consul", "etcd", "minio", "loki", "tempo")
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def ask(
    query: str, *keys: str, least: float | None = None, threshold: float = 0.55
) -> RecallResult:
    shelf = FactShelf()
    config = NuggetConfig("project", dims=1024, fuzzy_threshold=threshold)
    notes = tuple(fact_note(key, f"value of {key}") for key in keys)
    shelf.apply(Changes(put=notes, put_nuggets=(config,)))
    if least is None:
        return shelf.recall(query)
    return shelf.index.recall(query, None, "", least)


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("test command", "test cmd"),
        ("ath hndlr", "auth handler"),
        ("auth handling", "auth handler"),
        ("db port", "database port"),
        ("linter config", "lint configuration"),
        ("what's the style of this project", "style"),
        ("style guide", "style"),
        ("where is the authentication handler?", "auth handler"),
        ("handler of auth", "auth handler"),
        ("which editor do I use", "user: editor"),
        ("auth_handler", "authHandler"),
        ("codeowners", "code owners"),
        ("code owners", "CODEOWNERS"),
        ("pk of the orders table", "orders table primary key"),
        ("wie lautet der Testbefehl?", "test befehl"),
        ("設定", "設定ファイル"),
        ("cafe address", "café address"),
        ("DATABASEU_RL", "DATABASE_URL"),
    ],
)
def test_what_a_person_would_accept_is_answered(query: str, key: str) -> None:
    assert ask(query, key, "mail service port", "payment provider").key == key


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("build cmd", "test cmd"),
        ("cache service port", "auth service port"),
        ("prod db url", "staging db url"),
        ("release 2025", "release 2024"),
        ("server 1", "server 2"),
        ("mailHandler", "authHandler"),
        ("dinner recipe", "error reporter"),
        ("project: license", "project: style"),
        ("the", "the plan"),
    ],
)
def test_another_thing_is_not(query: str, key: str) -> None:
    assert not ask(query, key, "mail service host").found


def test_an_answer_names_the_words_that_its_key_lacks() -> None:
    assert ask("holiday opening hours", "opening hours").missing == ("holiday",)
    assert ask("what are the opening hours", "opening hours").missing == ()


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("after deploy", "before deploy"),
        ("what do we do after the deploy?", "before deploy"),
        ("after deploy", "prod deploy"),
        ("to address", "from address"),
        ("out port", "in port"),
        ("in port", "out port"),
        ("may log", "must log"),
        ("your editor", "my editor"),
        ("us region", "eu region"),
        ("what is the us region", "eu region"),
        ("eu region", "us region"),
        ("min retries", "max retries"),
        ("what is the min retries", "max retries"),
        ("maximum retries", "minimum retries"),
        ("port b", "port a"),
        ("port a", "port b"),
        ("drive e", "drive d"),
        ("team y lead", "team x lead"),
        ("external url", "internal url"),
        ("decode step", "encode step"),
        ("c++ compiler", "c compiler"),
        ("c compiler", "c++ compiler"),
        ("c# style", "C++ style"),
        (".NET income", "net income"),
    ],
)
def test_a_word_in_the_place_of_another_means_another_thing(query: str, key: str) -> None:
    assert not ask(query, key, "mail service host").found


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("do use", "do not use"),
        ("do squash", "don't squash"),
        ("cannot deploy", "can deploy"),
        ("should not retry", "should retry"),
        ("do deploy to production", "do not deploy to production"),
        ("with proxy", "without proxy"),
    ],
)
def test_the_opposite_is_no_clear_answer(query: str, key: str) -> None:
    for asked, known in ((query, key), (key, query)):
        assert not ask(asked, known, "mail service host").is_clear


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("after the deploy", "after deploy"),
        ("what should we do after a deploy?", "after deploy"),
        ("do we use tabs", "tabs"),
        ("what is our rate limit", "the rate limit"),
        ("how do we deploy", "how to deploy"),
        ("how can we deploy", "how to deploy"),
        ("limit for uploads", "limit of uploads"),
        ("formateur des dates", "formateur de dates"),
        ("why can't we deploy?", "cannot deploy"),
        ("without proxy", "no proxy"),
        ("min retries", "minimum retries"),
        ("the formatter for C#", "c# formatter"),
        ("which version of .NET", ".net version"),
        ("the .env file", "env file"),
        ("what was plan B", "plan b"),
    ],
)
def test_words_that_only_ask_replace_none(query: str, key: str) -> None:
    result = ask(query, key, "mail service host")

    assert (result.key, result.missing, result.is_clear) == (key, (), True)


@pytest.mark.parametrize(
    ("query", "key", "only"),
    [
        ("who is the user", "user timeout", "timeout"),
        ("how do I log in?", "log level", "level"),
        ("quel est le format", "format api", "api"),
        ("what is the rate limit", "api rate limit", "api"),
        ("what is my phone number", "landlord phone number", "landlord"),
        ("drive a serial", "drive d serial", "d"),
    ],
)
def test_a_question_without_a_word_of_the_key_is_answered_with_that_doubt(
    query: str, key: str, only: str
) -> None:
    result = ask(query, key, "mail service host")

    assert (result.key, result.is_clear) == (key, False)
    assert result.doubt == f"{only!r} is in the key only"


def test_a_part_of_a_key_is_no_doubt_as_documented() -> None:
    assert ask("format", "format api").doubt == ""


def test_a_word_that_is_asked_twice_is_not_missing() -> None:
    assert ask("test cmd test cmd nonsense", "test cmd").missing == ("nonsense",)


def test_an_answer_names_the_stop_word_that_its_key_lacks() -> None:
    result = ask("do we rotate the api keys after deploy", "rotate api keys before deploy")

    assert (result.found, result.missing, result.is_clear) == (True, ("after",), False)


def test_a_number_is_never_a_slip() -> None:
    assert ask("relaese 2024", "release 2024").found
    assert not ask("release 2034", "release 2024").found


def test_many_keys_that_lack_what_was_asked_for_do_not_add_up_to_an_answer() -> None:
    rooms = [f"room {number} phone" for number in range(101, 113)]

    assert not ask("room 207 phone", *rooms).found
    assert not ask("what port does grafana use", *(f"{name} port" for name in SERVICES)).found
    assert ask("room phone", *rooms).key == rooms[0]  # all have what was asked for


def test_a_slip_is_told_and_counts_as_no_recall() -> None:
    slip = ask("Geburtstag von Opa", "Geburtstag von Oma")

    assert slip.key == "Geburtstag von Oma"
    assert slip.doubt == "'opa' is read as 'oma'" and not slip.is_clear


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("what was the invoice total in 2023?", "invoice 2024 total"),
        ("cipher suite for tls 1.3", "tls 1.2 cipher suite"),
        ("admin url for router 2", "router 1 admin url"),
    ],
)
def test_another_number_is_another_thing_wherever_it_stands(query: str, key: str) -> None:
    assert not ask(query, key, "mail service port").found


def test_keys_that_fit_alike_share_the_probability_and_the_oldest_answers() -> None:
    result = ask("host", "mail host", "disk host", "auth host")

    assert result.key == "mail host"
    assert result.probability < 1 / 3
    assert len(result.also) == 2


@pytest.mark.parametrize("threshold", [0.55, 0.85, 0.95])
def test_the_threshold_says_how_much_of_a_word_must_be_right(threshold: float) -> None:
    assert ask("depolyment", "deployment", threshold=threshold).found is (threshold <= 0.9)
    assert ask("deolpymnet", "deployment", threshold=threshold).found is False
    assert ask("deolyment", "deployment", threshold=threshold).found is (threshold <= 0.8)


@pytest.mark.parametrize("threshold", [0.55, 0.85, 0.9])
def test_the_threshold_holds_for_each_word_whatever_stands_around_it(threshold: float) -> None:
    for typed in ("auth hendler", "authhendler", "authhe ndler"):
        assert ask(typed, "auth handler", threshold=threshold).found is (threshold <= 0.85)


# --- the documented order -----------------------------------------------------------------------


def documented(query: str, *keys: str, threshold: float = 0.55) -> RecallResult:
    return ask(query, *keys, least=0, threshold=threshold)


def test_with_a_least_probability_of_0_a_part_is_enough() -> None:
    assert documented("e", "test cmd").key == "test cmd"
    assert documented("port wine from portugal", "port").key == "port"
    assert documented("test", "tests", "the big test of all").key == "the big test of all"
    assert documented("port", "port of the server", "port number", "port range").key == "port range"


def test_then_the_best_ratio_from_the_threshold_on_answers() -> None:
    assert documented("best cmd", "test cmd", "mail host").key == "test cmd"
    assert not documented("best cmd", "test cmd", threshold=0.9).found
    assert documented("xyz", "abd", "auth handler", threshold=0.0).key == "abd"


WORDS = st.lists(st.text(LETTERS, min_size=1, max_size=6), min_size=1, max_size=3).map(" ".join)


@given(st.lists(WORDS, min_size=1, max_size=6, unique=True), WORDS)
def test_the_documented_order_is_that_of_the_documents(keys: list[str], query: str) -> None:
    result = documented(query, *keys)

    ratios = {k: SequenceMatcher(None, k, query, autojunk=False).ratio() for k in keys}
    parts = [key for key in keys if key in query or query in key]
    if query in keys:
        assert (result.key, result.match) == (query, "exact")
    elif parts:
        assert result.key in parts
        assert result.match == "substring"
    elif max(ratios.values()) >= 0.55:
        assert result.match == "fuzzy"
        assert result.ratio == ratios[result.key] == max(ratios.values())
    else:
        assert not result.found


# --- laws ---------------------------------------------------------------------------------------


@given(st.lists(st.floats(-50, 50), max_size=8))
def test_probabilities_leave_room_for_none(scores: list[float]) -> None:
    chances = probabilities(scores)

    assert all(0 <= chance <= 1 for chance in chances)
    assert sum(chances) <= 1 + 1e-9
    assert [x for _, x in sorted(zip(scores, chances, strict=True))] == sorted(chances)


@given(WORDS, st.data())
def test_one_slip_in_a_long_word_finds_the_key(key: str, data: st.DataObject) -> None:
    key = f"{key} deployment"
    at = data.draw(st.integers(len(key) - 9, len(key) - 1))
    letter = data.draw(st.sampled_from(LETTERS))
    typed = data.draw(st.sampled_from([key[:at] + key[at + 1 :], key[:at] + letter + key[at:]]))

    assert ask(typed, key).key == key


def test_there_are_at_most_ten_weights() -> None:
    assert len(WEIGHTS) <= 10


@pytest.mark.parametrize(
    ("query", "key", "doubt"),
    [
        ("which licences are allowed", "licences that are not allowed", "'not' is in the key only"),
        ("licences that are not allowed", "which licences are allowed", "'not' is not in the key"),
        ("how do we build with the cache", "build without cache", "'without' is in the key only"),
        ("do we ever force push", "never force push", "'never' is in the key only"),
        ("holiday opening hours", "opening hours", "'holiday' is not in the key"),
        (
            "how do I migrate mysql to postgres",
            "migrate postgres to mysql",
            "'mysql' and 'postgres' change places in the key",
        ),
        (
            "how does the server call the client",
            "client calls server",
            "'server' and 'client' change places in the key",
        ),
    ],
)
def test_what_speaks_against_an_answer_is_told(query: str, key: str, doubt: str) -> None:
    result = ask(query, key, "mail service host")

    assert (result.key, result.doubt, result.is_clear) == (key, doubt, False)
    assert result.probability < CLEAR_PROBABILITY


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("sync staging to prod", "sync from prod to staging"),
        ("copy to backup from archive", "copy from backup to archive"),
        ("server calls client", "client calls server"),
    ],
)
def test_two_words_that_change_places_mean_another_thing(query: str, key: str) -> None:
    assert not ask(query, key, "mail service host").found


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("port of the database", "database port"),
        ("the limit in europe for uploads", "limit for uploads in europe"),
        ("script that deploys staging", "staging deploy script"),
        ("command to deploy staging", "staging deploy command"),
        ("login and auth", "auth and login"),
    ],
)
def test_words_may_stand_in_another_order(query: str, key: str) -> None:
    result = ask(query, key, "mail service host")

    assert (result.key, result.doubt, result.is_clear) == (key, "", True)


@pytest.mark.parametrize(("query", "key"), [("carry", "car insurance"), ("motel", "hotel city")])
def test_one_misspelt_word_is_no_evidence_for_a_long_key(query: str, key: str) -> None:
    assert not ask(query, key).found


@pytest.mark.parametrize(("query", "key"), [("handlr", "auth handler"), ("stlye", "style")])
def test_but_is_for_one_that_it_is_most_of(query: str, key: str) -> None:
    assert ask(query, key).key == key


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("v11.2 notes", "v1.12 notes"),
        ("size 35 bolts", "size 3.5 bolts"),
        ("bus 11/2", "bus 1/12"),
        ("100.0.1 owner", "10.0.0.1 owner"),
        ("192.168.2.1 hostname", "192.168.1.2 hostname"),
        ("docker 80:8080", "docker 8080:80"),
    ],
)
def test_signs_part_numbers_and_their_order_tells(query: str, key: str) -> None:
    assert not ask(query, key).found


@pytest.mark.parametrize(
    ("query", "key", "doubt"),
    [
        ("product manager", "production manager", "'product' is read as 'production'"),
        ("address of Anne", "Ann's address", "'anne' is read as 'ann'"),
        ("testing commands", "test command", ""),
        ("retry policies", "retry policy", ""),
    ],
)
def test_another_word_of_one_stem_is_told(query: str, key: str, doubt: str) -> None:
    result = ask(query, key)

    assert (result.key, result.doubt) == (key, doubt)


def test_the_word_as_it_was_asked_comes_before_another_form() -> None:
    assert ask("the birthday of Anne", "ann birthday", "anne birthday").key == "anne birthday"
