"""What a stemmer cannot know about English: irregular forms and habitual abbreviations."""

# base form, then the forms that no rule leads back to it
_IRREGULAR = """
arise arose arisen|awake awoke awoken|bear bore borne|beat beaten|become became|begin began begun
bend bent|bite bit bitten|bleed bled|blow blew blown|break broke broken|bring brought
build built|burn burnt|buy bought|catch caught|choose chose chosen|come came|creep crept|deal dealt
dig dug|draw drew drawn|dream dreamt|drink drank drunk|drive drove driven|eat ate eaten
fall fell fallen|feed fed|feel felt|fight fought|find found|flee fled|fly flew flown
forbid forbade forbidden|forget forgot forgotten|forgive forgave forgiven|freeze froze frozen
get got gotten|give gave given|go goes went gone|grow grew grown|hang hung|hear heard
hide hid hidden|hold held|keep kept|kneel knelt|know knew known|lay laid|lead led|leap leapt
learn learnt|leave left|lend lent|lie lain|light lit|lose lost|make made|mean meant|meet met
mistake mistook mistaken|overcome overcame|pay paid|prove proven|ride rode ridden
ring rang rung|rise rose risen|run ran
say said|see saw seen|seek sought|sell sold|send sent|shake shook shaken|shine shone|shoot shot
show shown|shrink shrank shrunk|sing sang sung|sink sank sunk|sit sat|sleep slept|slide slid
speak spoke spoken|speed sped|spend spent|spin spun|spring sprang sprung|stand stood
steal stole stolen|stick stuck|sting stung|strike struck|strive strove|swear swore sworn
sweep swept|swell swollen|swim swam swum|swing swung|take took taken|teach taught|tear tore torn
tell told|think thought|throw threw thrown|understand understood|undertake undertook undertaken
wake woke woken|wear wore worn|weave wove woven|weep wept|win won|wind wound
withdraw withdrew withdrawn|write wrote written|rewrite rewrote rewritten
child children|person people|man men|woman women|foot feet|tooth teeth|goose geese|mouse mice
life lives|wife wives|knife knives|half halves|leaf leaves|shelf shelves|wolf wolves|self selves
index indices|vertex vertices|matrix matrices|criterion criteria|phenomenon phenomena
analysis analyses|crisis crises|basis bases|datum data|medium media
good better best|bad worse worst|far further furthest
"""

# short form, then what it stands for: people search for the one and wrote down the other
_ABBREVIATIONS = """
app application|arg argument|async asynchronous
auth authentication authorization authenticate authorize|cert certificate|cmd command
col column|conf configuration|config configuration|conn connection|ctx context|db database
deps dependencies|dev development developer|dir directory|doc document documentation
docs documentation|env environment|err error|exec execute|fn function|func function
id identifier|impl implementation|info information|init initialize initialization|int integer
js javascript|k8s kubernetes|kid child|lang language|len length|lib library|max maximum
mem memory|min minimum|mom mother|msg message|num number|obj object|param parameter
perf performance|pic picture|pkg package|photo photograph|prefs preferences|pref preference
prev previous|prod production|proc process|pw password|pwd password|py python|ref reference
repo repository|req request|resp response|spec specification|srv server|str string
sync synchronize synchronization|sys system|temp temporary|tmp temporary|ts typescript
tv television|util utility|val value|var variable|ver version|bike bicycle|dad father
fridge refrigerator|lab laboratory|math mathematics|phone telephone|vet veterinarian
veg vegetable
"""

# Belong to the asking more than to what is asked
_ASKING_WORDS = """
according describe described discuss discussed get give gave kind kinds like likes long many
mention mentioned mentions much name names new often said say says something sort tell thing
things told type types use used uses way ways
"""
ASKING_WORDS = frozenset(_ASKING_WORDS.split())


def _entries(listed: str) -> list[list[str]]:
    return [entry.split() for entry in listed.strip().replace("\n", "|").split("|")]


def irregular_forms() -> dict[str, str]:
    """Inflected form to base form."""
    return {form: base for base, *forms in _entries(_IRREGULAR) for form in forms}


def abbreviations() -> dict[str, tuple[str, ...]]:
    """Short form to long forms and back."""
    related: dict[str, tuple[str, ...]] = {}
    for short, *long in _entries(_ABBREVIATIONS):
        related[short] = (*related.get(short, ()), *long)
        for one in long:
            related[one] = (*related.get(one, ()), short)
    return related
