"""Whether a prompt is really about a note, judged word by word. Knows no shelf and no ranking.

Search answers whoever asks; here nobody asked, so that a note has one word of a prompt is not
enough. Which words find a note says more than how well they do.
"""

from enum import IntEnum
from typing import Any

from nuggets.text import tokens

# Parts of what a prompt is about, by rarity:
NAMES_IT = 0.35  # a single word must be so much of it, and stand in the title
ASKS_FOR_IT = 0.6  # several words are so much of it, one in the title: nothing else is meant

# Belongs to talking, or tells an agent what to do: not what a prompt is about.
_IDLE = """
hello hi hey thanks thank ok okay yes yeah yep sure please sorry welcome great good nice cool fine
perfect awesome excellent amazing wonderful better best bad worse wrong right correct exactly really
job work works working worked done idea well maybe
again still already yet never always ever first second third last next left one two three other
another few many much more most lot bit little big small long short new old same whole rest
thing things stuff something anything everything nothing kind sort way ways part parts example
time times day days today tomorrow yesterday week minute minutes hour hours moment now later soon
say says said tell told talk ask asked answer answered question questions mean means meant think
thought know knows known believe guess wonder hope feel like likes liked want wants wanted need
needs needed prefer mind agree care help helps let lets
go goes going went come comes came get gets got give gives gave take takes took bring keep put set
make makes made making do does did doing try tries tried trying use uses used using call called
look looks looked looking see sees saw seen show shows showed find finds found check checked
read reads write writes wrote written explain describe summarise summarize list compare
run runs running start starts started stop stops stopped wait continue finish end begin
add adds added change changes changed fix fixes fixed update updates updated create creates created
remove removes removed delete deletes deleted rename move moves moved edit edits edited open opens
close turn happen happens happened seem seems must line lines number numbers word words sentence
name names file files people person someone anyone everyone
"""
# German words that only hold a sentence together: search leaves out English ones by itself.
_IDLE_GERMAN = """
der die das den dem des ein eine einen einem einer eines kein keine keinen und oder aber denn dass
weil wenn als wie wo wann wer warum wieso welche welcher welches ob nicht noch nur auch schon sehr
mehr immer nie jetzt dann dort hier da doch mal bitte danke ja nein ich du er sie es wir ihr mich
dich sich uns euch mein meine dein deine sein seine unser unsere ihre ist sind seid wurde wird
werden worden waren habe hast haben hatte kann kannst können konnte muss musst müssen soll sollte
sollen willst wollen würde darf mit von vom zu zum zur für auf aus bei beim bis durch gegen ohne um
unter über vor nach seit zwischen im am ans ins dieser diese dieses diesem diesen jede jeder jedes
alle alles etwas nichts viel viele gibt geht macht machen mach gerade wieder einfach
"""
IDLE = frozenset((*_IDLE.split(), *_IDLE_GERMAN.split()))


class Certainty(IntEnum):
    """How surely a prompt is about a note."""

    NONE = 0
    FAIR = 1  # worth a line
    STRONG = 2  # the person asks for it: counts as a recall


def certainty_of(prompt: str, title: str, words: tuple[Any, ...]) -> Certainty:
    """Of one note; `words` is what each word of the prompt found in it, of `explain`."""
    if _names(prompt, title, len(words)):
        return Certainty.STRONG
    telling = [word for word in words if _tells(word.word)]
    found = [word for word in telling if word.itself]
    titled = any("title" in word.fields for word in found)
    part = sum(word.rarity for word in found) / (sum(word.rarity for word in telling) or 1.0)
    if len(found) > 1:
        return Certainty.STRONG if titled and part >= ASKS_FOR_IT else Certainty.FAIR
    alone = len(words) == 1 or (titled and part >= NAMES_IT)
    supported = any(word.alike for word in telling if word not in found)
    return Certainty.FAIR if found and (alone or supported) else Certainty.NONE


def _names(prompt: str, title: str, words: int) -> bool:
    """Does the title stand in the prompt as it is? A single word must be all that is asked."""
    said, name = (f" {' '.join(tokens(text)).casefold()} " for text in (prompt, title))
    named = name.split()
    meant = any(map(_tells, named)) if len(named) > 1 else bool(named) and words == 1
    return meant and name in said


def _tells(word: str) -> bool:
    return word not in IDLE and not word.isdigit() and len(word) > 1
