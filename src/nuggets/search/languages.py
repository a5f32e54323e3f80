"""Which of the languages in Latin letters a text is written in, told by its commonest words.

Only languages that the stemmer knows. English is the default and needs no evidence.
"""

from collections.abc import Sequence
from functools import cache

from nuggets.text import STOP_WORDS

ENGLISH = "english"

# Words that hardly a paragraph does without. A word of several languages counts for each; what
# is an everyday word of English as well ("die", "man", "was") counts for none.
_COMMON = {
    "german": """der die das den dem des ein eine einen einem einer und oder aber nicht ist sind war
        waren wird wurde bin habe haben hat mit von für auf aus bei nach über unter zu zum zur im
        vom am an als ich er wir ihr sie es man uns mir mich unser unsere auch noch nur schon so
        wenn dass denn wie wo wer was wann warum wieso weshalb woher wohin welche welchen welchem
        welcher welches kein keine mein meine gibt liegt steht""",
    "french": """le la les un une des du de et ou mais est sont était avec dans pour par sur pas ne
        que qui où quand quoi comment pourquoi quel quelle quels quelles je tu il elle nous vous ils
        elles on ce cette ces son sa ses mon ma mes notre nos au aux en plus comme très fait être
        avoir a ont avons se si y c d j l m n qu s t""",
    "spanish": """el la los las un una unos unas de del y o pero es son está están era con en para
        por sin no que qué quien quién donde dónde adónde cuando cuándo cuál cuáles cómo porque yo
        tú él ella nosotros ellos su sus mi mis nuestro nuestra a al lo le se me más como muy hay
        tiene ser estar fue""",
    "italian": """il lo la gli le un uno una di del della dei delle e o ma è sono era con in per non
        che chi dove quando cosa perché quale quali quanto io tu lui lei noi voi loro si ci a nel
        nella al alla dal sul più come molto ha ho essere mio mia l""",
    "portuguese": """o os a as um uma uns umas de do da dos das e ou mas é são está era com em no na
        nos nas para por sem não que quem onde quando qual quais porque eu ele ela nós eles seu sua
        meu minha ao se mais como muito há tem ser foi""",
    "dutch": """de het een en of maar niet is zijn was wordt werd met van voor op uit bij naar over
        onder in aan dat die dit deze ik jij hij zij wij we jullie ze er ook nog al wel geen mijn
        ons onze waar wie wat hoe wanneer waarom welk welke heeft hebben ligt staat te""",
    "swedish": """och eller men inte är var har hade med av för på ur vid till under om att det den
        ett en som jag du han hon vi ni de dem min mitt mina sin vår också bara när hur vad vem
        varför vilken vilket vilka finns ligger""",
    "danish": """og eller men ikke er var har havde med af for på ud ved til under om at det den et
        en som jeg du han hun vi dem min mit mine sin vores også kun når hvor hvad hvem hvornår
        hvorfor hvordan hvilken hvilket findes ligger""",
    "norwegian": """og eller men ikke er var har hadde med av for på ut ved til under om å det den
        et en ei som jeg du han hun vi dem min mitt mine sin vår også bare når hvor hva hvem hvorfor
        hvordan hvilken hvilket finnes ligger""",
    "finnish": """ja tai mutta ei on ovat oli kanssa että se ne tämä tuo joka mikä kuka kenen missä
        mistä minne miksi miten milloin minä sinä hän me te he minun meidän myös vain kun niin kuin
        jos mitä ole sitä""",
}
# Their letters tell, so they say nothing beside words of any other language either.
_RUSSIAN = """
и в во не на я с со как а то все всё она оно они так его но да ты к ко у же вы за бы по её ее мне
было был была были вот от меня ещё еще нет о об из ему когда ну ли если или ни быть до вас вам он мы
нас нам что это этот эта кто кого кому где куда откуда почему зачем сколько какой какая какое какие
каком чем при для под над мой моя мои наш наша наши есть
"""
_ENGLISH_TOO = """
bin c ci comment con d den die era hat j l m man men mine n per plus s sin son t war
"""
LEAST_EVIDENCE = 2  # words, and more than the English ones


@cache
def stop_words(language: str) -> frozenset[str]:
    """The commonest words of the language."""
    own = STOP_WORDS if language == ENGLISH else _COMMON[language].split()
    return frozenset([*own, *_RUSSIAN.split()])


def spoken(words: Sequence[str]) -> str:
    """The language of a question: English, unless more of its words are common ones of another
    language, and one of them no everyday word of English as well."""
    known, told = evidence(), 0
    for word in words:
        if word in known:
            told |= known[word]
    if not told:
        return ENGLISH
    counts = {
        language: len(stop_words(language).intersection(words))
        for place, language in enumerate(LANGUAGES)
        if told >> place & 1
    }
    language = max(counts, key=lambda one: counts[one])
    english = len(STOP_WORDS.intersection(words))
    return language if counts[language] >= max(LEAST_EVIDENCE, english + 1) else ENGLISH


@cache
def evidence() -> dict[str, int]:
    """Which languages a word speaks for: bit n for the nth of `LANGUAGES`."""
    found: dict[str, int] = {}
    for place, language in enumerate(LANGUAGES):
        for word in set(_COMMON[language].split()) - STOP_WORDS - set(_ENGLISH_TOO.split()):
            found[word] = found.get(word, 0) | 1 << place
    return found


LANGUAGES = tuple(_COMMON)
