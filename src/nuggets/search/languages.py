"""Which of the languages in Latin letters a text is written in, told by its commonest words.

Only languages that the stemmer knows. English is the default and needs no evidence.
"""

from functools import cache

from nuggets.text import STOP_WORDS

ENGLISH = "english"

# Words that hardly a paragraph does without. A word of several languages counts for each; what
# is an everyday word of English as well ("die", "man", "was") counts for none.
_COMMON = {
    "german": """der das den dem des ein eine einen einem einer und oder aber nicht ist sind wird
        wurde haben hat mit von für auf aus bei nach über unter zum zur im vom ich wir ihr sie es
        auch noch nur schon wenn dass wie wo wer kein keine mein meine liegt steht""",
    "french": """le la les un une des du de et ou mais est sont était avec dans pour par sur pas ne
        que qui où je tu il elle nous vous ils elles ce cette ces son sa ses mon ma mes au aux en
        plus comme très fait être avoir""",
    "spanish": """el la los las un una unos unas de del y o pero es son está están era con en para
        por sin no que quien donde dónde cuando yo tú él ella nosotros ellos su sus mi mis al lo se
        más como muy hay ser estar fue""",
    "italian": """il lo la gli le un uno una di del della dei delle e o ma è sono era con in per non
        che chi dove quando io tu lui lei noi voi loro si nel nella al alla dal sul più come molto
        ha ho essere mio mia""",
    "portuguese": """o os as um uma uns umas de do da dos das e ou mas é são está era com em no na
        nos nas para por sem não que quem onde quando eu ele ela nós eles seu sua meu minha ao se
        mais como muito há ser foi""",
    "dutch": """de het een en of maar niet is zijn was wordt werd met van voor op uit bij naar over
        onder in aan dat die dit deze ik jij hij zij wij jullie ze er ook nog al wel geen mijn
        waar wie wat hoe ligt staat""",
    "swedish": """och eller men inte är var har hade med av för på ur vid till under om att det den
        ett en som jag du han hon vi ni de dem min mitt mina sin också bara när hur vad vem finns
        ligger""",
    "danish": """og eller men ikke er var har havde med af for på ud ved til under om at det den et
        en som jeg du han hun vi dem min mit mine sin også kun når hvor hvad hvem findes ligger""",
    "norwegian": """og eller men ikke er var har hadde med av for på ut ved til under om å det den
        et en ei som jeg du han hun vi dem min mitt mine sin også bare når hvor hva hvem finnes
        ligger""",
    "finnish": """ja tai mutta ei on ovat oli kanssa että se ne tämä tuo joka mikä kuka missä
        milloin minä sinä hän me te he minun myös vain kun niin kuin jos mitä ole sitä""",
}
_ENGLISH_TOO = frozenset(
    ["con", "den", "die", "era", "hat", "man", "men", "mine", "per", "plus", "sin", "son"]
)
LEAST_EVIDENCE = 2  # words, and more than the English ones


def stop_words(language: str) -> frozenset[str]:
    """The commonest words of the language."""
    return frozenset(_COMMON[language].split())


@cache
def evidence() -> dict[str, int]:
    """Which languages a word speaks for: bit n for the nth of `LANGUAGES`."""
    found: dict[str, int] = {}
    for place, language in enumerate(LANGUAGES):
        for word in stop_words(language) - STOP_WORDS - _ENGLISH_TOO:
            found[word] = found.get(word, 0) | 1 << place
    return found


LANGUAGES = tuple(_COMMON)
