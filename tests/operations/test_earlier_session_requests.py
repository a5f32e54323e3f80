import pytest

from nuggets.operations.session_requests import (
    LONGEST_QUESTION,
    SessionRequest,
    read_session_request,
)


@pytest.mark.parametrize(
    "prompt",
    [
        *("Where were we?", "where did I leave off", "where do we stand?", "pick up where we were"),
        *("last session?", "the previous conversation", "last time?", "Catch me up"),
        *(
            "What did we do?",
            "what have you been working on?",
            "Wo waren wir?",
            "Beim letzten Mal?",
        ),
        *(
            "letzte Sitzung",
            "Was war letztes Mal?",
            "Was haben wir gestern gemacht?",
            "¿Dónde lo dejamos?",
            "última vez",
        ),
        *("Où en étions-nous ?", "上次", "昨天", "我们做到哪里了？", "前回は？", "どこまで？"),
    ],
)
def test_a_question_for_an_earlier_session_is_noticed(prompt: str) -> None:
    request = read_session_request(prompt)
    assert request is not None
    assert request.is_question


@pytest.mark.parametrize(
    ("prompt", "topic"),
    [
        *((words, "") for words in ("continue", "ok, go on", "weiter", "mach weiter", "继续")),
        ("please continue with the UUID migration", "UUID migration"),
        ("Weitermachen mit Bestellungen", "Bestellungen"),
        ("finish the parser", "parser"),
    ],
)
def test_going_on_is_a_request_with_or_without_a_topic(prompt: str, topic: str) -> None:
    assert read_session_request(prompt) == SessionRequest(topic, is_question=False)


@pytest.mark.parametrize(
    "prompt",
    [
        *("where do I put the settings?", "add a session table", "what time is it there?"),
        *("do not continue on errors", "the resume page is broken", ""),
        f"where were we? {'x' * LONGEST_QUESTION}",
    ],
)
def test_other_prompts_ask_for_none(prompt: str) -> None:
    assert read_session_request(prompt) is None
