import pytest

from nuggets.language.languages import LANGUAGES, evidence, stems
from searchable import found, index_of, note

ENGLISH = [note(100 + i, f"Other {i}", f"Nothing of interest here, number {i}.") for i in range(10)]


@pytest.mark.parametrize(
    ("content", "query"),
    [
        ("Die Schlüssel liegen in der Küche unter dem Tisch", "schluessel kueche schlüssels"),
        ("Wir haben das Haus und den Garten gekauft", "häuser gärten"),
        ("Les fenêtres de la maison sont dans le jardin", "fenetre maisons"),
        ("Las canciones de la casa están en el disco", "canción casas"),
        ("Il server è nella sala con le finestre della casa", "finestra case"),
        ("As janelas da casa estão com os meninos", "janela menino"),
        ("De sleutels van het huis liggen op de tafel", "sleutel tafels"),
        ("Nycklarna till huset ligger på bordet och inte i bilen", "nyckel huset bordets"),
        ("Nøglerne til huset ligger på bordet og ikke i bilen", "nøgle huse"),
        ("Avaimet ovat talossa ja auto on pihalla mutta ei tallissa", "talo auto"),
    ],
)
def test_inflected_words_are_found_in_the_language_of_the_note(content: str, query: str) -> None:
    index = index_of(note(1, "This", content), *ENGLISH)

    assert found(index, query)[:1] == ["This"]


@pytest.mark.parametrize(
    ("content", "query"),
    [
        ("Das Café an der Straße", "cafe strasse"),
        ("Où est la bibliothèque de l’école ?", "bibliotheque ecole"),
        ("La contraseña está en el cajón", "contrasena cajon"),
        ("Die Datenbank läuft auf Port 5432 und nicht im Container", "datenbank 5432"),
        ("Wir deployen mit kubectl und nicht mit der createNote API", "create note"),
        ("Die 設定 ist in der Datei", "設定"),
        ("設定 для сервера in the config", "серверов"),
    ],
)
def test_accents_identifiers_and_mixed_scripts_do_not_matter(content: str, query: str) -> None:
    assert found(index_of(note(1, "This", content), *ENGLISH), query)[:1] == ["This"]


def test_english_notes_are_read_as_english_whatever_stands_beside_them() -> None:
    alone = index_of(note(1, "This", "The houses were sold and the children went"), *ENGLISH)
    beside = index_of(
        note(1, "This", "The houses were sold and the children went"),
        note(2, "Haus", "Das Haus ist nicht mit dem Garten verkauft"),
        *ENGLISH,
    )

    for index in (alone, beside):
        assert found(index, "house child go")[:1] == ["This"]


def test_one_foreign_word_does_not_make_a_note_foreign() -> None:
    index = index_of(note(1, "This", "Trips to La Jolla, hiking the canyons"), *ENGLISH)

    assert found(index, "trip hike canyon")[:1] == ["This"]


def test_common_words_of_the_note_s_language_say_nothing_about_it() -> None:
    german = [
        note(1, "Eins", "Der Schlüssel ist bei der Nachbarin und nicht im Haus"),
        note(2, "Zwei", "Die Nachbarin hat den Hund und wir haben die Katze"),
    ]

    assert found(index_of(*german, *ENGLISH), "wo ist der schlüssel")[0] == "Eins"


def test_every_language_is_one_that_the_stemmer_knows() -> None:
    for language in LANGUAGES:
        assert stems(["haus"], language)

    assert evidence()["und"] == 1 << LANGUAGES.index("german")
