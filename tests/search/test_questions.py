"""Questions as people ask them: with talk around, in their own spelling, in their own language."""

import pytest

from nuggets.domain.records import MemoryNote
from nuggets.search.answer_degree import describe_gaps
from searchable import Shelf, answered, found, index_of, note

OTHERS = [
    note(100 + i, f"Matter {i}", f"Nothing of interest here, number {i} of many.")
    for i in range(30)
]
CDN = note(1, "CDN", "Fastly service id 3xKq9; purge with fastly purge --key product-42.")


def among_others(*notes: MemoryNote) -> Shelf:
    return index_of(*notes, *OTHERS)


@pytest.mark.parametrize(
    "talk",
    [
        "{} - asking because the customer complains again and my boss wants an explanation today",
        "My colleague joined yesterday and is confused, explain {} to him",
        "{}\n\nI tried several approaches but they all failed, it is driving me crazy",
    ],
)
def test_talk_around_a_question_does_not_drown_it(talk: str) -> None:
    assert found(among_others(CDN), talk.format("fastly purge"))[:1] == ["CDN"]


def test_talk_makes_an_answer_less_sure() -> None:
    index = among_others(CDN)
    plainly, amid_talk = (
        index.search(f"fastly purge {talk}")[0].relevance
        for talk in ("", "because customers keep shouting whenever caches explode overnight")
    )

    assert amid_talk < plainly


@pytest.mark.parametrize(
    "asked",
    [
        "How do I remove limescale from the service kettle?",
        "When is the key to the garden shed due?",
        "How do I stop a purge of orchids, ferns and mosses?",
    ],
)
def test_a_question_of_which_one_word_is_known_is_not_answered(asked: str) -> None:
    assert answered(among_others(CDN), asked) == []


def test_half_of_a_question_is_shown_as_little_found() -> None:
    denmark = note(1, "Holiday", "By car to Denmark.")
    many = [note(1000 + i, f"Entry {i}", f"The house number {i} has a garden.") for i in range(900)]

    (holiday,) = among_others(denmark).search("denmark Ferry")
    assert holiday.note.title == "Holiday"
    assert (holiday.little_found, holiday.known_words) == (True, ("denmark",))
    assert holiday.unknown_words == ("Ferry",)
    assert answered(among_others(denmark, *many), "denmark ferry") == []


def test_what_no_note_knows_is_told_also_where_the_rest_is_found() -> None:
    hooks = note(1, "Stripe webhooks", "We answer 200 first and work later.")

    found = among_others(hooks).search("stripe webhooks Kubernetes")
    assert [one.note.title for one in found] == ["Stripe webhooks"]
    assert not found[0].little_found
    assert describe_gaps(found) == "Nothing on 'Kubernetes'."
    assert describe_gaps(among_others(hooks).search("how do the stripe webhooks work?")) == ""


TALK = [
    note(1, "Anna", "My sister visited Norway and painted the harbour with her daughter."),
    note(2, "Anna", "We join the choir on Mondays and sing until nine."),
    note(3, "Anna", "The new job at the museum is going well so far."),
    note(4, "Tobias", "I repaired the bicycle of my neighbour last week."),
]


@pytest.mark.parametrize(
    "asked",
    [
        "When did Anna paint the harbour?",
        "When did anna paint the harbour?",
        "When did Anan paint the harbour?",  # a typo of a title
        "When did Anna paint the harbour with Melanie?",
        "Which bicycle did Tobias repair in June?",
        "WHICH BICYCLE DID TOBIAS REPAIR IN LEEDS",
        "bicycle neighbour Kubernetes",
    ],
)
def test_what_is_known_of_a_question_is_shown_however_it_is_spelt(asked: str) -> None:
    assert found(among_others(*TALK), asked)


def test_a_title_of_several_words_is_found_though_a_name_beside_it_is_unknown() -> None:
    index = among_others(note(1, "Deploy pipeline", "Blue, then green."))

    assert found(index, "Who told Melanie about the deploy pipeline of Acme?") == [
        "Deploy pipeline"
    ]


def test_a_title_of_several_words_is_found_whatever_is_said_around_it() -> None:
    index = among_others(note(1, "Tests first", "Write a test before the code."))
    talk = "please ignore whatever customers, bosses and colleagues say about the tests first rule"

    assert found(index, talk)[:1] == ["Tests first"]


def test_a_title_that_is_named_with_a_typo_is_recognised() -> None:
    index = among_others(
        note(1, "Caroline", "Went hiking with the dog."),
        note(2, "Melanie", "Caroline went hiking too, and hiking again."),
    )

    assert found(index, "hiking of Carolnie")[0] == "Caroline"


@pytest.mark.parametrize(
    ("asked", "read"),
    [
        ("Wehn did Anna paint the harbour?", ["anna", "paint", "harbour"]),
        ("Whn did Anna paint the harbour", ["anna", "paint", "harbour"]),
        ("wheat allergy of Anna", ["wheat", "allergy", "anna"]),  # no question
    ],
)
def test_a_question_word_with_a_slip_is_no_word_to_look_for(asked: str, read: list[str]) -> None:
    index = among_others(*TALK)

    assert [word.word for word in index.explain(asked, "note-n-00000001").words] == read


def test_a_word_that_notes_have_is_no_slip_of_a_question_word() -> None:
    index = among_others(note(1, "Wat Arun", "The wat is closed on Mondays."))

    assert found(index, "wat is closed?") == ["Wat Arun"]


def test_a_month_with_a_slip_beside_a_number_is_that_month() -> None:
    index = among_others(note(1, "Harbour", "We sailed on 16 August 2023."))

    def words_of(asked: str) -> list[tuple[str, float]]:
        told = index.explain(asked, "note-n-00000001").words
        return [(word.word.lower(), word.weight) for word in told]

    meant = words_of("Who sailed on 16 August 2023?")
    assert words_of("Who sailed on 16 Augsut, 2023?") == meant
    assert words_of("Who sailed on 16 August, 2023?") != words_of("Who sailed with Augsut?")


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("pre-commit runs ruff and mypy", "precommit"),
        ("all webhooks are signed", "web hooks"),
        ("the webhook is signed", "web hooks"),
        ("a deadlock in the inventory", "dead lock"),
        ("Die Datensicherungen laufen nachts und nicht mit dem Rest", "daten sicherungen"),
        ("der Termin beim Zahnarzt ist am Montag", "Zahnarzttermin"),
    ],
)
def test_a_compound_is_found_written_together_or_apart(written: str, asked: str) -> None:
    assert found(among_others(note(1, "This", written)), asked) == ["This"]


def test_a_compound_is_not_cut_at_a_word_that_says_nothing() -> None:
    index = among_others(note(1, "This", "gotten for free"), note(2, "That", "ten more of those"))

    (word,) = index.explain("forgotten", "note-n-00000001").words

    assert not word.matched


def test_why_says_that_a_word_was_taken_apart_or_two_were_joined() -> None:
    index = among_others(note(1, "This", "pre-commit runs first"), note(2, "That", "the webhook"))

    apart = index.explain("precommit", "note-n-00000001").words
    joined = index.explain("web hooks", "note-n-00000002").words

    assert [word.matched for word in apart] == [
        ("precommit → pre (part)",),
        ("precommit → commit (part)",),
    ]
    assert {word.matched for word in joined} == {
        ("web → webhooks (joined)",),
        ("hooks → webhooks (joined)",),
    }
    assert all(word.itself for word in joined)
    assert all(word.alike and not word.itself for word in apart)


def test_a_name_in_its_own_spelling_finds_the_name_before_its_parts() -> None:
    index = among_others(
        note(1, "Pinned actions", "github actions are pinned"),
        note(2, "Large files in git", "git lfs for files"),
    )

    assert found(index, "GitHub") == ["Pinned actions", "Large files in git"]


def test_nothing_is_guessed_from_the_parts_of_a_name_that_is_known() -> None:
    index = among_others(
        note(1, "Fonts", "jetbrains mono for code"), note(2, "Travel", "trains run late")
    )

    assert found(index, "JetBrains") == ["Fonts"]


def test_an_identifier_that_nobody_wrote_so_is_found_by_its_parts() -> None:
    index = among_others(note(1, "This", "create a note first"))

    assert found(index, "createNote") == ["This"]


@pytest.mark.parametrize("asked", ["LLMs", "LLM", "which LLMs do we use"])
@pytest.mark.parametrize("written", ["the LLM has a prompt", "all LLMs have prompts"])
def test_an_acronym_is_the_same_in_the_plural(written: str, asked: str) -> None:
    index = among_others(note(1, "This", written), note(2, "Timeouts", "after 500 ms"))

    assert found(index, asked)[:1] == ["This"]
    assert "Timeouts" not in found(index, asked)


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("The internal CA bundle is /etc/ssl/ca.pem", "CA bundle"),
        ("The SHA of the release", "SHA"),
        ("AI reviews are mandatory", "AI reviews"),
    ],
)
def test_what_a_contraction_leaves_over_is_a_word_elsewhere(written: str, asked: str) -> None:
    index = among_others(
        note(1, "This", written), note(2, "Bundle", "Bundle and reviews can't, won't and shan't")
    )

    assert found(index, asked)[0] == "This"
    assert "Bundle" not in found(index, "sha")


def test_a_number_that_a_note_has_is_no_year() -> None:
    index = among_others(
        note(1, "Port of the profiler", "Profiler listens on 1984."),
        note(2, "Orders port", "Orders listens on port 7000."),
    )

    assert found(index, "which port is 1984")[0] == "Port of the profiler"


def test_a_word_may_be_of_the_root_if_its_correction_begins_otherwise() -> None:
    index = among_others(note(1, "Linting", "lint all files"), note(2, "Season", "winter tyres"))

    assert "Linting" in found(index, "linter")


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        (
            "Vom 3. bis 17. August sind wir mit dem Auto in Dänemark",
            "wann fahren wir nach Dänemark",
        ),
        ("Der Ersatzschlüssel liegt bei der Nachbarin", "wer hat den ersatzschlüssel"),
        ("Los niños tienen natación los martes", "¿qué días hay natación?"),
        ("OVH parce que les données restent en France", "pour quelle raison est-ce qu'on a OVH"),
        ("Отпуск на озере Байкал, турбаза в Листвянке", "куда же мы едем и почему Байкал"),
        ("本地数据库每天晚上两点自动备份", "什么时候备份"),
        ("データベースは毎晩バックアップします", "データベースのポートを教えてください"),
    ],
)
def test_words_that_only_ask_say_nothing_in_any_language(written: str, asked: str) -> None:
    index = index_of(note(1, "This", written), *OTHERS, *(german(200 + i) for i in range(60)))

    assert found(index, asked)[:1] == ["This"]


def test_letters_that_only_meet_in_the_question_weigh_little() -> None:
    index = among_others(note(1, "This", "本地数据库每天晚上两点自动备份"))

    told = {
        word.word: word.weight for word in index.explain("什么时候备份", "note-n-00000001").words
    }

    assert told["备份"] > 3 * told["什么"]


def german(number: int) -> MemoryNote:
    return note(number, f"Sache {number}", f"Der Garten ist bei dem Haus mit der Nummer {number}")


def test_an_english_question_keeps_words_that_ask_elsewhere() -> None:
    index = among_others(note(1, "Modules", "ES modules only"), note(2, "Du", "du shows disk use"))

    assert found(index, "es modules") == ["Modules"]
    assert found(index, "du") == ["Du"]


def test_why_names_the_field_in_the_language_of_the_note() -> None:
    index = among_others(note(1, "Schlüssel", "Die Häuser haben keine Schlüssel und keine Türen"))

    for asked in ("häuser schlüsseln", "schlüsel"):
        for word in index.explain(asked, "note-n-00000001").words:
            assert word.fields, word


def test_a_phrase_is_found_however_many_notes_have_its_words_and_are_asked_for() -> None:
    early = [note(i, f"Matter {i}", "copper is dearer than cable") for i in range(1, 41)]
    late = note(50, "Prices", "Much is written here before it comes to this: " * 2 + "copper cable")
    index = among_others(*early, late)

    few, many = (index.search("copper cable", limit) for limit in (3, 80))

    assert few[0].note.title == "Prices"
    assert [(one.note.id, one.relevance) for one in many[:3]] == [
        (one.note.id, one.relevance) for one in few
    ]
