"""What a prompt orders of memory, and what is left to the agent's model."""

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from agent_doors import hook, repository
from command_line import run_process
from nuggets.interfaces.hooks.orders import (
    ASK_WHAT,
    LEAST_LASTING,
    Order,
    find_old_value,
    lasting_probability,
    leave_orders,
    read_orders,
    waiting_orders,
)
from nuggets.interfaces.hooks.prompt_answer import LINE_TOKENS, ask_model, title_of
from nuggets.language.text import estimate_tokens
from nuggets.operations.metadata_inference import is_personal
from nuggets.shelf import NuggetShelf
from nuggets.stores.process_lock import hold_shelf_lock


def kept(prompt: str) -> list[str]:
    return [order.text for order in read_orders(prompt) if order.kind == "remember"]


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        ("Remember that the build needs Node 22.", "the build needs Node 22"),
        ("ok, could you remember that my sister is Ida?", "my sister is Ida"),
        ("Keep in mind: never push on a Friday", "never push on a Friday"),
        ("The build needs Node 22, remember that.", "The build needs Node 22"),
        ("Don't forget that staging is reset on Mondays", "staging is reset on Mondays"),
        ("Keep this in mind: the van is at the garage", "the van is at the garage"),
        ("Write this down: the van is at the garage", "the van is at the garage"),
        ("Garde cela en mémoire : le port est fermé", "le port est fermé"),
        ("save this to memory: we use tabs", "we use tabs"),
        ("keep  the following in mind: we use tabs", "we use tabs"),
        (
            "Remember: the İzmir office is closed on Mondays",
            "the İzmir office is closed on Mondays",
        ),
        ("Merk dir bitte, dass der Server nachts aus ist.", "der Server nachts aus ist"),
        ("Recuerda que usamos pnpm", "usamos pnpm"),
        ("Retiens que la réunion est le lundi", "la réunion est le lundi"),
        ("请记住：测试用英文写", "测试用英文写"),
        ("覚えておいて、金曜日にデプロイします", "金曜日にデプロイします"),
        ("Remember these:\n- tabs\n- no semicolons", "- tabs\n- no semicolons"),
    ],
)
def test_an_order_is_read_with_what_it_says(prompt: str, text: str) -> None:
    assert kept(prompt) == [text]


@pytest.mark.parametrize(
    "prompt",
    [
        "do you remember when we changed the port?",
        "I don't remember that",
        "the note that pops up is cut off",
        'the "Remember me" box is not aligned',
        "Remember to run the tests",
        "add a `remember that` button",
        "log says:\n\nRemember that the disk is full.",
        "<nuggets-memory>\nRemember that x is y.\n</nuggets-memory>\nhello",
        "Ich kann mir das nicht merken",
        "你还记得吗？",
    ],
)
def test_what_is_no_order_is_not_read_as_one(prompt: str) -> None:
    assert read_orders(prompt) == []


@pytest.mark.parametrize(
    "prompt",
    [
        "remember this",
        "please remember that!",
        "Merk dir das",
        "记一下",
        "keep it in mind",
        "remember: bananas",
    ],
)
def test_an_order_that_does_not_say_what_is_refused_aloud(prompt: str) -> None:
    assert read_orders(prompt) == [Order("remember", "", ASK_WHAT)]


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        ("forget the discount code TEE10", "the discount code TEE10"),
        ("Vergiss den Eintrag zur Station Nord", "den Eintrag zur Station Nord"),
        ("oublie le proxy, il n'existe plus", "le proxy, il n'existe plus"),
        ("Please forget the barn paint, please.", "the barn paint"),
    ],
)
def test_an_order_to_forget_says_what(prompt: str, text: str) -> None:
    assert read_orders(prompt) == [Order("forget", text)]


@pytest.mark.parametrize("prompt", ["forget it, let's go on", "Vergiss es", "oublie ça"])
def test_what_is_said_to_the_agent_forgets_nothing(prompt: str) -> None:
    assert read_orders(prompt) == []


@pytest.mark.parametrize(
    ("prompt", "lasting"),
    [
        ("we never deploy on Fridays", True),
        ("Bei uns heißen Tabellen immer im Plural.", True),
        ("fix the type error in the reducer", False),
        ("never mind", False),
        ("why do we always squash?", False),
        ("don't run the tests this time", False),
    ],
)
def test_a_sign_of_something_lasting_asks_the_model(prompt: str, lasting: bool) -> None:
    assert (lasting_probability(prompt) >= LEAST_LASTING) is lasting


@pytest.mark.parametrize(
    ("prompt", "old"),
    [
        ("we deploy on Thursdays, not Fridays", "Fridays"),
        ("pnpm instead of yarn, please and thanks", "yarn"),
        ("wir nehmen jetzt uv statt pip", "pip"),
        ("we switched from Mollie to Adyen", "Mollie"),
        ("no, we deploy on Thursdays not Fridays", "Fridays"),
    ],
)
def test_a_statement_names_what_no_longer_holds(prompt: str, old: str) -> None:
    stated = find_old_value(prompt)

    assert stated is not None and stated.old == old


def test_what_may_be_a_mere_request_replaces_nothing_and_names_the_memory(tmp_path: Path) -> None:
    folder = repository(tmp_path / "shop")
    with NuggetShelf(str(tmp_path / "shelf"), folder=str(folder)) as shelf:
        note = shelf.remember("project", "package manager", "yarn 4", project=shelf.project)
        subject = shelf.remember("project", "server access", "port 22", project=shelf.project)
    for prompt in (
        "in our script use pnpm instead of yarn",
        "I work from home on Wednesdays, not access to the server room",
    ):
        hook("user-prompt", {"cwd": str(folder), "prompt": prompt}, tmp_path / "shelf")

    with NuggetShelf(str(tmp_path / "shelf"), folder=str(folder)) as shelf:
        assert shelf.get_notes([note.id])[note.id].content == "yarn 4"
        assert not shelf.get_notes([subject.id])[subject.id].hidden
        assert note.id in ask_model(shelf, "in our script use pnpm instead of yarn")


@pytest.mark.parametrize(
    "prompt", ["delete src/cards/old.ts", "lösch die Datei alt.py", "borra el fichero viejo.py"]
)
def test_deleting_a_file_forgets_no_memory(prompt: str) -> None:
    assert read_orders(prompt) == []


def test_deleting_a_memory_does() -> None:
    assert [order.kind for order in read_orders("delete the memory of the test command")] == [
        "forget"
    ]


def test_a_rule_that_begins_with_when_is_no_question() -> None:
    assert lasting_probability("When you change a role, always run molecule on it") >= LEAST_LASTING
    assert lasting_probability("when do we always release") < LEAST_LASTING


def test_what_is_about_a_person_is_told_from_what_is_about_the_project() -> None:
    assert is_personal("Antworte mir immer auf Deutsch") and is_personal("I prefer short answers")
    assert is_personal("我喜欢简短的回答") and not is_personal("我们的测试命令是 make t")
    assert not is_personal("the printer only takes A4")


def test_a_title_made_from_a_sentence_reads_like_one() -> None:
    assert title_of("the printer in the office only takes A4.") == (
        "The printer in the office only takes A4"
    )
    long = title_of("word " * 40)
    assert len(long) <= 61 and long.endswith("word…")


# --- with a shelf -------------------------------------------------------------------------------


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return repository(tmp_path / "here")


def answer(directory: Path, project: Path, prompt: str, seconds: str = "60") -> dict[str, Any]:
    sent = {"session_id": os.urandom(4).hex(), "cwd": str(project), "prompt": prompt}
    environ = {"NUGGETS_HOOK_SECONDS": seconds}
    done = hook("user-prompt", sent, directory, "--host", "claude-code", environ=environ)
    assert done.returncode == 0 and done.stderr == b""
    return json.loads(done.stdout) if done.stdout else {}


def filled(directory: Path, project: Path, **facts: str) -> dict[str, str]:
    """By title, the ids of facts of the project."""
    with NuggetShelf(directory, folder=str(project), at_work=True) as shelf:
        ids = {}
        for key, value in facts.items():
            key = key.replace("_", " ")
            ids[key] = shelf.remember("project", key, value, project=shelf.project).id
        return ids


def facts(directory: Path, project: Path) -> dict[str, str]:
    with NuggetShelf(directory, folder=str(project)) as shelf:
        return {note.title: note.content for note in shelf.list_notes()}


def line_for_model(told: dict[str, Any]) -> str:
    context: str = told["hookSpecificOutput"]["additionalContext"]
    (line,) = [line for line in context.splitlines() if line.startswith("Memory: ")]
    assert estimate_tokens(line) <= LINE_TOKENS
    return line


@pytest.mark.parametrize(
    ("key", "value", "prompt"),
    [
        ("release_day", "Tuesdays", "no, we release on Wednesdays now, no longer on Tuesdays"),
        ("deploys", "we deploy on Fridays", "no, we deploy on Thursdays not Fridays"),
        ("bread", "we eat rye bread", "Only for this party use white bread instead of rye."),
        ("bread", "we eat rye bread", "Translate this: we eat white bread instead of rye bread."),
        (
            "rehearsal_day",
            "Thursday",
            "Anna thinks the rehearsal day is Friday now, no longer Thursday",
        ),
        (
            "fire_drill",
            "it takes place on Mondays",
            "The sewing circle is on Thursdays now, no longer on Mondays",
        ),
    ],
)
def test_what_a_statement_says_no_longer_holds_is_handed_to_the_model(
    tmp_path: Path, project: Path, key: str, value: str, prompt: str
) -> None:
    directory = tmp_path / "shelf"
    ids = filled(directory, project, **{key: value}, barn_paint="Falu red")
    before = facts(directory, project)

    told = answer(directory, project, prompt)

    key = key.replace("_", " ")
    assert f"{ids[key]} {key}: {value}" in line_for_model(told)
    assert "systemMessage" not in told and facts(directory, project) == before


def test_an_order_that_names_the_subject_replaces_it_and_can_be_undone(
    tmp_path: Path, project: Path
) -> None:
    directory = tmp_path / "shelf"
    filled(directory, project, release_day="Tuesdays before noon", package_manager="pnpm")

    told = answer(
        directory, project, "remember that we release on Wednesdays now, no longer on Tuesdays"
    )

    message = told["systemMessage"]
    assert "(replaces: Tuesdays before noon)" in message and "undo 0" not in message
    assert "Wednesdays" in facts(directory, project)["release day"]
    with NuggetShelf(directory, folder=str(project)) as shelf:
        shelf.undo(int(message.rpartition("nuggets undo ")[2]))
    assert facts(directory, project)["release day"] == "Tuesdays before noon"


def test_an_order_that_gives_a_number_anew_replaces_it(tmp_path: Path, project: Path) -> None:
    directory = tmp_path / "shelf"
    filled(directory, project, redis_port="6379", mail_port="6379")

    told = answer(directory, project, "remember: the redis port is 6380 now, not 6379")

    assert "(replaces: 6379)" in told["systemMessage"]
    assert facts(directory, project) == {
        "redis port": "the redis port is 6380 now, not 6379",
        "mail port": "6379",
    }


def test_a_corrected_order_no_longer_says_in_its_title_what_was_wrong(
    tmp_path: Path, project: Path
) -> None:
    directory = tmp_path / "shelf"
    answer(directory, project, "Remember that we deploy on Fridays.")

    told = answer(directory, project, "remember that we deploy on Thursdays, not Fridays")

    assert "(replaces: we deploy on Fridays)" in told["systemMessage"]
    ((title, content),) = facts(directory, project).items()
    assert "Thursdays" in title and "Thursdays" in content
    with NuggetShelf(directory, folder=str(project)) as shelf:
        shelf.undo(int(told["systemMessage"].rpartition("nuggets undo ")[2]))
    assert facts(directory, project) == {"We deploy on Fridays": "we deploy on Fridays"}


def test_an_order_replaces_nothing_of_another_subject_that_only_has_the_old_value(
    tmp_path: Path, project: Path
) -> None:
    directory = tmp_path / "shelf"
    answer(directory, project, "Remember that the fire drill takes place on Mondays.")
    (drill,) = facts(directory, project)
    circle = "the sewing circle is on Thursdays now, no longer on Mondays"

    told = answer(directory, project, f"Remember that {circle}.")

    assert "the fire drill takes place on Mondays" in line_for_model(told)
    assert "kept: " in told["systemMessage"] and "replaces" not in told["systemMessage"]
    kept = facts(directory, project)
    assert kept[drill] == "the fire drill takes place on Mondays" and circle in kept.values()


def test_what_says_something_else_of_the_same_is_handed_to_the_model_with_its_id(
    tmp_path: Path, project: Path
) -> None:
    directory = tmp_path / "shelf"
    ids = filled(directory, project, dev_server_port="4310")

    told = answer(directory, project, "the dev server listens on 4400")

    context = told["hookSpecificOutput"]["additionalContext"]
    (line,) = [line for line in context.splitlines() if "lasting" in line]
    assert ids["dev server port"] in line and estimate_tokens(line) <= LINE_TOKENS
    assert facts(directory, project) == {"dev server port": "4310"}


def test_the_line_stays_short_whatever_memories_are_called(tmp_path: Path) -> None:
    with NuggetShelf("memory:") as shelf:
        for number in range(5):
            shelf.remember(
                "p", f"release day of the {'very ' * 20}large product {number}", "Monday"
            )
        line = ask_model(shelf, "we never release the large product on a Monday")

    assert 0 < estimate_tokens(line) <= LINE_TOKENS


def test_forgetting_archives_the_one_that_is_meant_and_asks_if_it_is_not_plain(
    tmp_path: Path, project: Path
) -> None:
    directory = tmp_path / "shelf"
    ids = filled(directory, project, discount_code="TEE10", dev_port="4310", mail_port="5055")

    told = answer(directory, project, "forget the discount code TEE10")
    assert "archived: discount code: TEE10 · nuggets undo" in told["systemMessage"]
    told = answer(directory, project, "forget the port")

    assert "not forgotten" in told["systemMessage"]
    context = told["hookSpecificOutput"]["additionalContext"]
    assert ids["dev port"] in context and ids["mail port"] in context
    assert facts(directory, project) == {"dev port": "4310", "mail port": "5055"}


@pytest.mark.parametrize(
    "prompt",
    [
        "Forget the barn paint.",
        "please forget about barn paint",
        "Forget project barn paint, please",
        "forget that the barn is painted Falu red",
    ],
)
def test_forgetting_archives_what_is_named_and_nothing_else_said(
    tmp_path: Path, project: Path, prompt: str
) -> None:
    directory = tmp_path / "shelf"
    filled(directory, project, barn_paint="the barn is painted Falu red", roof="tiles")

    assert "archived: barn paint" in answer(directory, project, prompt)["systemMessage"]
    assert facts(directory, project) == {"roof": "tiles"}


@pytest.mark.parametrize(
    "prompt",
    [
        "Forget barn paint for now, let us do the roof.",
        "Forget the barn paint for a moment.",
        "Forget about the barn paint today; we start with the roof.",
        "Forget the barn paint now",
        "Forget no barn paint",
    ],
)
def test_forgetting_asks_the_model_if_anything_else_is_said(
    tmp_path: Path, project: Path, prompt: str
) -> None:
    directory = tmp_path / "shelf"
    ids = filled(directory, project, barn_paint="Falu red for now", roof="tiles")

    told = answer(directory, project, prompt)

    assert f"{ids['barn paint']} barn paint: Falu red" in line_for_model(told)
    assert "not forgotten" in told["systemMessage"]
    assert facts(directory, project) == {"barn paint": "Falu red for now", "roof": "tiles"}


def test_what_is_said_of_one_thing_forgets_and_replaces_no_other(
    tmp_path: Path, project: Path
) -> None:
    directory = tmp_path / "shelf"
    ids = filled(directory, project, test_cmd="make test", backend_port="8080")

    told = answer(directory, project, "forget the lint cmd")
    assert "not forgotten" in told["systemMessage"]
    told = answer(directory, project, "the frontend port is 3000 instead of 8080")

    assert ids["backend port"] in told["hookSpecificOutput"]["additionalContext"]
    assert facts(directory, project) == {"test cmd": "make test", "backend port": "8080"}


@pytest.mark.parametrize(
    ("key", "value", "prompt"),
    [
        ("staging_host", "stg.x", "Forget the production host."),
        ("left_key", "in the drawer", "forget the right key"),
        ("deploys", "We never deploy on Fridays", "Forget that we do deploy on Fridays."),
        ("Lieferung", "Wir liefern nicht mehr mit DHL", "vergiss, dass wir mit DHL liefern"),
    ],
)
def test_a_sibling_or_the_opposite_is_not_forgotten(
    tmp_path: Path, project: Path, key: str, value: str, prompt: str
) -> None:
    directory = tmp_path / "shelf"
    filled(directory, project, **{key: value}, other="xyz")

    assert "archived" not in answer(directory, project, prompt)["systemMessage"]
    assert len(facts(directory, project)) == 2


def test_the_title_of_a_list_has_its_items_without_their_marks(
    tmp_path: Path, project: Path
) -> None:
    directory = tmp_path / "shelf"
    answer(directory, project, "Remember:\n- ports are 8080 and 9090\n- logs go to Loki")

    (title,) = facts(directory, project)
    assert title == "Ports are 8080 and 9090, logs go to Loki"


def test_an_order_that_meets_a_busy_memory_waits_and_is_taken_in_by_what_runs_next(
    tmp_path: Path, project: Path
) -> None:
    directory = tmp_path / "shelf"
    filled(directory, project, package_manager="pnpm")
    with hold_shelf_lock(str(directory)):
        told = answer(directory, project, "remember that the printer takes A4", seconds="1")
    assert "waiting" in told["systemMessage"]
    (waiting,) = waiting_orders(str(directory))
    assert stat.S_IMODE(os.stat(waiting.path).st_mode) == 0o600

    told = answer(directory, project, "thanks")

    assert "kept: the printer takes A4" in told["systemMessage"]
    assert "the printer takes A4" in facts(directory, project).values()
    assert waiting_orders(str(directory)) == []


def test_a_command_takes_in_what_waits_and_says_so(tmp_path: Path, project: Path) -> None:
    directory = tmp_path / "shelf"
    filled(directory, project, package_manager="pnpm")
    leave_orders(str(directory), [Order("remember", "the printer takes A4")], str(project))

    done = run_process("list", "--dir", str(directory))

    assert "kept: the printer takes A4" in done.err
    assert "the printer takes A4" in facts(directory, project).values()
    assert waiting_orders(str(directory)) == []


def test_no_order_is_lost_though_every_second_hook_is_late(tmp_path: Path, project: Path) -> None:
    directory = tmp_path / "shelf"
    filled(directory, project, package_manager="pnpm")
    for number in range(20):
        prompt = f"remember that drawer {number} holds part {number * 7}"
        if number % 2:
            with hold_shelf_lock(str(directory)):
                answer(directory, project, prompt, seconds="0.4")
        else:
            answer(directory, project, prompt)
    answer(directory, project, "thanks")

    held = set(facts(directory, project).values())
    assert {f"drawer {number} holds part {number * 7}" for number in range(20)} <= held


def test_a_credential_is_refused_and_never_waits(tmp_path: Path) -> None:
    token = "ghp_" + "a1B2" * 9
    (left,) = leave_orders(str(tmp_path), [Order("remember", f"the token is {token}")], "/")

    assert left.order.refusal.startswith("this looks like a credential") and not left.path
    assert not any(
        token.encode() in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()
    )


def test_purging_reaches_what_waits(tmp_path: Path) -> None:
    from nuggets.filesystem.hook_files import drop_diaries

    (left,) = leave_orders(str(tmp_path), [Order("remember", "the printer takes A4")], "/")
    assert "inbox-order-" in left.path

    assert left.path in drop_diaries(str(tmp_path))
    assert waiting_orders(str(tmp_path)) == []
