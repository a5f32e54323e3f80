"""A pass over notes that are not in English."""

import pytest

from graph_samples import LATER, by_id, sample
from nuggets.domain.records import MemoryNote
from nuggets.maintenance.reflection import Policy, reflect

GERMAN = [
    ("Sprache", "Die Antworten bitte auf Deutsch, kurz und ohne Floskeln, nicht mit Emojis"),
    ("Datenbank", "Die Migrationen werden nicht automatisch ausgeführt, das macht Jenkins"),
    ("Kantine", "Die Kantine ist freitags nicht geöffnet, nach dem Umbau wieder"),
    ("Urlaub", "Petra ist nach Ostern nicht da, die Vertretung hat Olaf"),
    ("Server", "Der Server wird nach dem Update nicht neu gestartet, das hat Gründe"),
    ("Tests", "Die Tests laufen nur mit Docker und brauchen eine lokale Umgebung"),
]
FRENCH = [
    ("Langue", "Les réponses doivent être en français pour le client"),
    ("Serveur", "Le serveur doit être redémarré pour les mises à jour"),
    ("Congés", "Les congés doivent être posés pour le mois suivant"),
]
SPANISH = [
    ("Idioma", "Las respuestas deben ser en español para el cliente"),
    ("Servidor", "El servidor debe reiniciarse después de las actualizaciones para evitar fallos"),
    ("Pruebas", "Las pruebas deben pasar después de los cambios para el servicio"),
]


def passed(texts: list[tuple[str, str]]) -> list[MemoryNote]:
    """The notes after a pass over all of them, in their order."""
    notes = by_id(*(sample(n, title=t, content=c) for n, (t, c) in enumerate(texts)))
    changes, _ = reflect(notes, LATER, Policy(max_notes=1000))
    return list((notes | by_id(*changes.put)).values())


@pytest.mark.parametrize("texts", [GERMAN, FRENCH, SPANISH], ids=["German", "French", "Spanish"])
def test_words_that_every_text_has_link_no_notes(texts: list[tuple[str, str]]) -> None:
    assert [note.links for note in passed(texts)] == [()] * len(texts)


@pytest.mark.parametrize(
    ("content", "topics"),
    [
        ("Die Kantine hat zu, die Kantine ist nicht geöffnet, nicht mal am Freitag", ["kantine"]),
        ("Wenn die Tests laufen, werden keine Tests gestartet; die Liste nennt sie", ["tests"]),
        ("Les congés sont pour tous, pour le client les congés sont fixes", ["congés"]),
        ("Las pruebas son para el servidor y para las otras pruebas", ["pruebas"]),
        ("Il server della prova non è il server della produzione", ["server"]),
        ("Uma prova não é para o servidor, a prova não é para a equipa", ["prova"]),
        ("De server is niet voor het testen, de server is voor het werk", ["server"]),
        ("Servern är inte för testet, den är inte för det som servern gör", ["servern"]),
    ],
)
def test_they_are_no_tags(content: str, topics: list[str]) -> None:
    tags = passed([("x", content)])[0].tags

    assert [tag for tag in tags if ":" not in tag and tag != "learnings"] == topics


def test_a_word_that_is_common_elsewhere_is_a_name_in_english() -> None:
    first, second, _ = passed(
        [
            ("NAS", "The NAS in the rack has a DOS attack filter"),
            ("Attack", "The DOS filter of the NAS was off"),
            ("Coffee", "The team is out of it"),
        ]
    )

    assert "nas" in first.tags
    assert [link.to for link in first.links] == [second.id]


def test_notes_with_the_same_topic_are_still_linked() -> None:
    first, second = passed(
        [
            ("Kantine", "Die Kantine ist nach dem Umbau nicht geöffnet"),
            ("Umbau", "Der Umbau wird nicht vor Ostern fertig, die Kantine bleibt zu"),
        ]
    )

    assert [link.to for link in first.links] == [second.id]
    assert first.links[0].reason == "shared context: kantine, umbau"


@pytest.mark.parametrize(("others", "links"), [(0, 1), (8, 0)])
def test_what_most_of_a_small_nugget_says_tells_nothing(others: int, links: int) -> None:
    texts = [(f"bardzo {n}", f"jest słowo{n}a słowo{n}b") for n in range(2 + others)]

    assert sum(len(note.links) for note in passed(texts)) == 2 * links
