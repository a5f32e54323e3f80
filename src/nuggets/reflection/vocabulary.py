"""The tokens of a note, and which notes have a token. Knows no rule about notes."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import chain

from nuggets.search.languages import LANGUAGES, LEAST_EVIDENCE, evidence, stop_words
from nuggets.text import STOP_WORDS, folded, is_unspaced, pairs, split_scripts, tokens

SHORTEST_SIGNIFICANT = 3  # characters; pairs of letters of unspaced scripts are words already
COMPARED = 1000  # texts that one is compared with: among ten thousand from one template, the first
LONGEST_SIGNIFICANT = 40  # longer runs are hashes and encoded data

_SEPARATING = str.maketrans({chr(c): " " for c in range(128) if not chr(c).isalnum()} | {"'": ""})

# Addresses, and words that say how, when, how many or what to do, which no text is about.
_IDLE_LISTED = """
http https www com org src lib
use used uses using via per never always first second last next left right every without
instead maybe may also old new good bad best better big small long short many much few main
one two three four five six seven eight nine ten nobody nothing everything except behind inside
add ask call come comes do does find fix get give go goes went keep know leave let like lives look
made make makes mean move moved need needs put read run runs said say says see seen sent set show
start stop take tell think try want wants write writes written wrong how why what file
"""
IDLE_WORDS = frozenset(_IDLE_LISTED.split())

# What a text is not about either, besides the commonest words by which search tells a language.
_FUNCTION_WORDS = {
    "german": """alle alles als andere anderen bis bitte bleibt dabei damit dann darf darum
        dazu denn deren deshalb dessen die diese diesem diesen dieser dieses doch dort drei durch
        etwas euch gegen gibt hatte hier hin ihm ihn ihnen ihre immer innerhalb ins jede jeder jedes
        jetzt kann kommen kommt können machen macht mal man mehr mir muss müssen nichts nie ohne
        sehr sein seine seit sich soll sollen sollte sondern uns unser unsere viel vier vor war
        waren warum weil weiter welche wenig werden wieder woher wollen worden während würde zwei
        zwischen""",
    "french": """ainsi alors après aucun aucune aussi autre autres avait avant avez avons bien
        car cela celle celui cet ceux chaque chez comment contre depuis deux doit doivent donc dont
        dès encore entre faire faut font ici jamais jusque leur leurs lors moins même nos notre ont
        pendant peu peut peuvent pourquoi puis quand quel quelle quelques rien sans sera seront
        soit sous toujours tourne tous tout toute toutes trois trop vers voici voir vos votre
        étaient été""",
    "spanish": """además ahora algo alguna algún antes aquí así aunque bien cada casi cual debe
        deben desde después dos durante ellas entonces entre esa esas ese eso esos esta estas este
        esto estos fueron hace hacer hacia han hasta hemos mientras misma mismo mucho muchos nada
        ninguno nos nuestra nuestro nunca otra otro otros porque puede pueden pues qué sea según
        sido siempre sino sobre solo sólo también tan tanto tiene tienen toda todas todo todos tras
        vez""",
    "italian": """alcuni allora altra altri altro anche ancora appena così cui dai dalla dalle
        degli dello deve devono dopo due durante fare fatto fino fra hanno invece mai meno mentre
        molti negli nei nelle nessuno niente nostro nulla ogni oppure perché però poi possono prima
        può qualche quale quali quanto quella quelle quelli quello questa queste questi questo
        quindi sarà sempre senza siamo solo sopra sotto stata stato sua sue sugli sulla sulle suo
        tra tutte tutti tutto verso""",
    "portuguese": """agora ainda algo algum alguma antes apenas após aqui assim até cada cujo
        dela dele depois desde dessa desse desta deste deve devem disso duas durante elas enquanto
        entre eram essa esse esta este estão fazer foram isso isto lhe mesma mesmo muitos nada nem
        nenhum nessa nesse nesta neste nossa nosso nunca outra outro outros pela pelas pelo pelos
        pode podem pois porque quais qual qualquer quanto seja sempre será sobre somente também tem
        tinha toda todo todos tudo têm vez você""",
    "dutch": """alle alleen als altijd andere beide daar daarom dan doen doet door dus echt
        eens eerst elk elke gaan gaat gedaan geweest haar hadden heb hebben heeft hem hen hier
        hoeft hun ieder iedere iets jouw kan kunnen mag maken meer moet moeten mogen naast niets
        nooit nou omdat ons onze ooit sinds steeds tegen terwijl tijdens toch toen tot tussen vaak
        veel waarom wanneer want waren weer weinig welke werden wil willen worden zal zelf zich
        zoals zonder zou zouden""",
    "swedish": """alla allt andra behöver blev bli blir borde bort denna dess dessa detta din
        dina där efter från före genom ger gör göra hans hennes här ingen inget innan kan kunde
        mellan mer mot mycket måste någon något några oss sedan ska skall skulle utan vara varför
        varit varje vilken vilket vill vår våra vårt ännu över""",
    "danish": """alle alt andre blev blive bliver burde denne dens der dette din disse efter
        endnu fra før gennem gør gøre hans hendes hvilken hvis hvorfor ingen intet kan kunne mange
        meget mellem mere mod nogen noget nogle siden skal skulle uden vil ville vores være
        været""",
    "norwegian": """alle alt andre ble bli blir burde denne dens der dette din disse ennå etter
        fra før gjennom gjør gjøre hans hennes hvilken hvis hvorfor ingen ingenting kan kunne mange
        mellom mer mot mye noe noen oss siden skal skulle uten vil ville vår våre være vært""",
    "finnish": """aina ainakin eivät ennen enää eri hänen ilman itse jonka jotka jälkeen kaikki
        koska kuitenkin kuten kyllä mukaan muu muut myöskään nyt nämä olisi olla ollut pitää saa
        sekä sen siis siitä silloin sitten tulee tämän tässä täytyy vaan vai vielä voi voidaan
        vuoksi yli""",
}

Tokens = frozenset[str]


def all_tokens(text: str) -> Tokens:
    """Every token, stop words too: "deploy" and "do not deploy" are not the same."""
    if text.isascii():  # the same tokens in a tenth of the time, and every note is read
        return frozenset(text.lower().translate(_SEPARATING).split())
    return frozenset(
        piece
        for token in tokens(folded(text).replace("'", "").replace("’", "").replace("_", " "))
        for run in split_scripts(token)
        for piece in (pairs(run) if is_unspaced(run) else (run,))
    )


def significant(tokens: Tokens) -> Tokens:
    """Those that say what a text is about."""
    return frozenset(filter(_is_significant, tokens))


def _is_significant(token: str) -> bool:
    if SHORTEST_SIGNIFICANT <= len(token) <= LONGEST_SIGNIFICANT:
        return token not in STOP_WORDS
    return len(token) < SHORTEST_SIGNIFICANT and not token.isascii() and is_unspaced(token)


def function_words(text: Tokens) -> Tokens:
    """Those of the language that a text is written in; none for English, which has STOP_WORDS."""
    speaking = evidence()
    telling = [speaking[token] for token in text if token in speaking]
    if len(telling) < LEAST_EVIDENCE:
        return frozenset()
    count = [sum(known >> bit & 1 for known in telling) for bit in range(len(LANGUAGES))]
    most = max(count)
    if most < LEAST_EVIDENCE or most <= len(text & STOP_WORDS):
        return frozenset()
    likely = [_of_language(name) for name, n in zip(LANGUAGES, count, strict=True) if n == most]
    return max(likely, key=lambda known: len(text & known))  # relatives share their commonest


@cache
def _of_language(language: str) -> Tokens:
    return stop_words(language).union(_FUNCTION_WORDS[language].split())


class Postings:
    """Which of some texts have a token; only for `wanted` tokens, the rest cannot be asked for.

    Texts keep the order in which they were given. One may be put again with more tokens.
    """

    def __init__(self, texts: Mapping[str, Tokens], wanted: Tokens) -> None:
        self.tokens: dict[str, Tokens] = {}
        self._wanted = wanted
        self._places: defaultdict[str, list[str]] = defaultdict(list)
        self.rank = {name: position for position, name in enumerate(texts)}
        for name in texts:
            self.put(name, texts[name])

    def put(self, name: str, tokens: Tokens) -> None:
        known = self.tokens.get(name, frozenset())
        self.tokens[name] = tokens
        places = self._places
        for token in (tokens & self._wanted) - known:
            places[token].append(name)

    def drop(self, name: str) -> None:
        self.tokens.pop(name, None)

    def having(self, token: str) -> list[str]:
        """In order; some may have been dropped since."""
        return self._places.get(token, [])

    def rarest_first(self, name: str) -> list[str]:
        """The wanted tokens of a text."""
        wanted = self.tokens[name] & self._wanted
        return sorted(wanted, key=lambda token: (len(self._places[token]), token))


def union(texts: Iterable[Tokens]) -> Tokens:
    return frozenset(chain.from_iterable(texts))


def near(postings: Postings, name: str, at_least: float) -> list[tuple[float, str]]:
    """The other texts whose Jaccard similarity to this one is high enough, the best first, equals
    in order.

    A text that has `at_least` of these tokens can miss only few of them, so it must have one of
    the few rarest: nothing else needs to be compared.
    """
    own = postings.tokens[name]
    may_miss = int(len(own) * (1 - at_least) + 1e-9)  # the 10 % of 10 that floats call 0.99
    candidates: dict[str, None] = {}
    for token in postings.rarest_first(name)[: may_miss + 1]:
        candidates.update(dict.fromkeys(postings.having(token)[:COMPARED]))
        if len(candidates) >= COMPARED:
            break
    candidates.pop(name, None)
    found = [
        (jaccard(own, postings.tokens[other]), other)
        for other in candidates
        if other in postings.tokens
    ]
    return sorted(
        (pair for pair in found if pair[0] >= at_least),
        key=lambda pair: (-pair[0], postings.rank[pair[1]]),
    )


def jaccard(a: Tokens, b: Tokens) -> float:
    """Size of what is common over size of all; 0 when there is nothing."""
    common = len(a & b)
    return common / (len(a) + len(b) - common) if common else 0.0
