"""Prompts that say in other words what a memory says, and prompts on nothing in memory.

A prompt names the title that must be injected, or "" where every injection is noise. Two samples:
the shelf of `prompt_samples`, and a shelf of its own. All of it was written and labelled before any
threshold was chosen; thresholds were chosen with the first sample alone.
"""

from nuggets.interfaces.hooks.context import prompt_context
from nuggets.interfaces.hooks.relevance_gate import has_topic
from nuggets.meaning.model import Encoder
from nuggets.meaning.nearest import NearestNotes
from nuggets.meaning.vector_index import text_of
from nuggets.shelf import NuggetShelf
from prompt_samples import BLOG, SHOP, Measured

# --- to the shelf of prompt_samples --------------------------------------------------------------

PARAPHRASES = (
    ("somebody got billed two times for the same order", SHOP, "Stripe idempotency"),
    ("how do we ship this to production?", SHOP, "deploy"),
    ("could we hold login state in memcached?", SHOP, "Why we left Redis"),
    ("finding items in the catalogue takes forever", SHOP, "Slow product search"),
    ("where do I turn on a toggle for beta users", SHOP, "feature flags"),
    ("how long does an abandoned basket stay around?", SHOP, "Cart expiry"),
    ("how do we handle fractions of a penny?", SHOP, "Currency rounding"),
    (
        "the supplier's stock service is throttling us",
        SHOP,
        "Rate limits of the warehouse API",
    ),
    ("how should I word what I'm checking in?", SHOP, "commit messages"),
    ("the picture previews look pixelated, what generates them", SHOP, "Image resizing"),
    ("the bill document lacks some glyphs", SHOP, "Invoices as PDF"),
    ("how do I spin up the app locally?", SHOP, "dev server"),
    ("which programming tongues am I fluent in", SHOP, "languages"),
    ("how much outage can we afford?", SHOP, "Error budget"),
    ("we want to ship today, what is the checklist?", SHOP, "Release steps"),
    ("equations look garbled", BLOG, "Broken math rendering"),
    ("readers want to leave replies below articles", BLOG, "Comment system"),
    ("how many visitors did we have last week?", BLOG, "Analytics"),
    ("which tone should the article have?", BLOG, "Writing style"),
    ("the typeface appears late", BLOG, "Fonts"),
)

# --- a shelf of its own --------------------------------------------------------------------------

FITNESS = "/home/me/stride/.git"

# nugget, title, content
FACTS = (
    ("project", "ios build", "xcodebuild -scheme Stride -configuration Release"),
    ("project", "simulator", "iPhone 15, iOS 17.4"),
    ("project", "coverage threshold", "80 % of lines, checked by the pipeline"),
    ("project", "secrets", "Vault path kv/stride, never in .env"),
    ("project", "api base", "https://api.stride.example/v3"),
    ("project", "minimum android", "API level 26"),
    ("locations", "push notifications", "Stride/Services/Notifier.swift"),
    ("locations", "translations", "Resources/*.lproj/Localizable.strings"),
    ("locations", "onboarding screens", "Stride/Views/Onboarding"),
    ("locations", "heart rate parser", "core/sensors/hr_parser.rs"),
    ("prefs", "naming", "Booleans begin with is, has or should"),
    ("prefs", "dependencies", "No new library without asking"),
    ("prefs", "reviews", "Two approvals before merging anything in core"),
    ("prefs", "dates", "ISO 8601 in UTC everywhere"),
    ("user", "working hours", "9 to 17, Fridays off"),
    ("user", "keyboard", "Split ergonomic with a Dvorak layout"),
)
NOTES = (
    (
        "learnings",
        "Step counts doubled",
        "The phone and the watch both reported steps; we now keep the source with the higher "
        "sampling rate and discard the other.",
    ),
    (
        "learnings",
        "GPS drain",
        "Continuous location ate 30 % battery an hour. Deferred updates with a 20 m filter brought "
        "it down to 6 %.",
    ),
    (
        "learnings",
        "Crash on launch in April",
        "The Core Data model was changed without a mapping model, and the app died at startup for "
        "everyone who upgraded.",
    ),
    (
        "learnings",
        "Subscription receipts",
        "Apple's server notifications are the truth; the receipt on the device may be weeks old.",
    ),
    (
        "learnings",
        "Why gRPC was dropped",
        "Corporate proxies broke HTTP/2 streams; plain JSON over HTTPS works behind all of them.",
    ),
    (
        "learnings",
        "Leaderboard cheating",
        "Runs faster than 2:30 min/km or with jumps of more than 100 m are hidden until someone "
        "looks at them.",
    ),
    (
        "learnings",
        "Offline mode",
        "Workouts are queued in SQLite and uploaded when the network returns; the server merges "
        "by a UUID made on the phone.",
    ),
    (
        "learnings",
        "Deleting accounts",
        "Legal wants everything erased within 30 days; the nightly sweeper does it and mails a "
        "confirmation.",
    ),
    (
        "learnings",
        "Colour contrast",
        "Grey on white failed the accessibility audit; body text needs a ratio of 4.5.",
    ),
    (
        "learnings",
        "Warehouse partitions",
        "Events are partitioned by day in BigQuery; a query without a date costs 40 dollars.",
    ),
    (
        "learnings",
        "Model retraining",
        "The calorie model is fitted anew every Sunday on the last 90 days; drift above 5 % stops "
        "the rollout.",
    ),
    (
        "learnings",
        "Flaky Bluetooth",
        "Straps of one vendor disconnect after a minute unless the keep-alive packet is sent every "
        "ten seconds.",
    ),
    (
        "learnings",
        "App Store rejection",
        "Reviewers refused us because the paywall did not state the price per month.",
    ),
    (
        "learnings",
        "Retries with jitter",
        "All phones synced at midnight and toppled the backend; clients now wait a random time.",
    ),
    (
        "learnings",
        "Beta group",
        "Forty runners from the club in Graz get every build through TestFlight on Thursdays.",
    ),
    (
        "learnings",
        "Elevation data",
        "Barometers are noisy in wind; we smooth over 15 seconds and snap to the terrain model.",
    ),
    ("people", "Priya", "Designs the interface; send her mockups before you code a new screen."),
    ("people", "Tomas", "Looks after the database and holds the production credentials."),
)
FRESH_PARAPHRASES = (
    ("walking totals are twice as high as they should be", FITNESS, "Step counts doubled"),
    ("people complain that tracking empties their phone", FITNESS, "GPS drain"),
    ("it closes immediately when opened after the update", FITNESS, "Crash on launch in April"),
    ("how do we know if someone still pays for premium?", FITNESS, "Subscription receipts"),
    ("should we use protobuf for talking to the backend?", FITNESS, "Why gRPC was dropped"),
    ("someone at the top of the ranking is obviously lying", FITNESS, "Leaderboard cheating"),
    ("what happens to a jog recorded without reception?", FITNESS, "Offline mode"),
    ("a user demands that we wipe his personal information", FITNESS, "Deleting accounts"),
    ("is this text legible for visually impaired people?", FITNESS, "Colour contrast"),
    ("our analytics bill exploded, what can I do in SQL?", FITNESS, "Warehouse partitions"),
    ("how often is the energy burn estimator updated?", FITNESS, "Model retraining"),
    ("the chest sensor keeps losing its connection", FITNESS, "Flaky Bluetooth"),
    ("why did Apple turn down our submission?", FITNESS, "App Store rejection"),
    ("the servers fall over when everybody uploads at once", FITNESS, "Retries with jitter"),
    ("who gets early versions to try out?", FITNESS, "Beta group"),
    ("the altitude graph is all jagged", FITNESS, "Elevation data"),
    ("who draws the screens?", FITNESS, "Priya"),
    ("who can give me access to prod?", FITNESS, "Tomas"),
    ("where do we alert the user on their lock screen", FITNESS, "push notifications"),
    ("add a Spanish wording for this label", FITNESS, "translations"),
    ("where is the welcome tutorial implemented", FITNESS, "onboarding screens"),
    ("where is the pulse decoded", FITNESS, "heart rate parser"),
    ("may I add a package for charts?", FITNESS, "dependencies"),
    ("where do passwords of services belong?", FITNESS, "secrets"),
    ("how should timestamps be written?", FITNESS, "dates"),
    ("what is the oldest Google phone version we support", FITNESS, "minimum android"),
)
FRESH_SILENT = tuple(
    (prompt, FITNESS)
    for prompt in (
        "thanks a lot, that fixed it",
        "hm, let me think about it",
        "go ahead",
        "not now, later please",
        "can you explain that in simpler terms?",
        "why did you change that line?",
        "please undo your last edit",
        "what does this regular expression match?",
        "split this function into two",
        "extract this block into a helper",
        "add a docstring to this class",
        "turn this loop into a comprehension",
        "fix the indentation in this file",
        "there is a typo in the second paragraph",
        "write a unit test for this method",
        "make this faster",
        "why is this variable unused?",
        "what is the difference between a struct and a class in Swift?",
        "how does async await work?",
        "explain how hash maps handle collisions",
        "what is a race condition?",
        "show me an example of dependency injection",
        "how do I exit vim?",
        "what is the time complexity of merge sort?",
        "how do I revert the last commit?",
        "resolve the merge conflict",
        "generate a random UUID in bash",
        "convert this JSON to YAML",
        "write a Dockerfile for a Flask app",
        "how do I center a div?",
        "what port does SSH use?",
        "set up a GitHub action that runs the linter",
        "how do I parse command line arguments in Go?",
        "the compiler says: expected ';' before return",
        "why do I get a null pointer exception here?",
        "what's new in Python 3.13?",
        "rename the folder to assets",
        "list all files larger than a megabyte",
        "print the environment variables",
        "how much memory does this process use?",
        "write an email to my landlord about the heating",
        "what should I cook tonight?",
        "recommend a film for a rainy evening",
        "how tall is Mount Everest?",
        "who painted the Mona Lisa?",
        "when does summer time end this year?",
        "how do I get rid of hiccups?",
        "tell me a story about a dragon",
        "what is the plural of octopus?",
        "what's a synonym for happy?",
        "how many grams are in an ounce?",
        "is it going to rain tomorrow?",
        "plan a birthday party for a seven year old",
        "give me some ideas for a team event",
        "how do I tie a bow tie?",
        "translate this into Italian: see you soon",
        "what is the speed of light?",
        "what are good stretches for back pain?",
        "how do I train for a marathon?",
        "which shoes are best for trail running?",
        "how many calories does a banana have?",
        "what is a healthy resting pulse?",
        "my phone screen is cracked, what now?",
        "how do I pair my headphones with my laptop?",
        "why is my wifi so slow?",
        "what is the best price for a used car?",
        "draft a message to the team about the holiday",
        "summarise the meeting notes below",
        "is this sentence grammatically correct?",
        "which colour goes well with navy blue?",
    )
)


def fitness_shelf(directory: str = "memory:") -> NuggetShelf:
    """A shelf of one project, as the person and their agents left it."""
    shelf = NuggetShelf(directory, project=FITNESS, at_work=True)
    with shelf.batch():
        for nugget, key, value in FACTS:
            personal = nugget in ("user", "prefs")
            shelf.remember(nugget, key, value, project="" if personal else FITNESS)
        for nugget, title, content in NOTES:
            shelf.create_note(nugget, title, content, project=FITNESS)
    return shelf


def judge(
    shelf: NuggetShelf,
    encoder: Encoder,
    silent: tuple[tuple[str, str], ...],
    fitting: tuple[tuple[str, ...], ...],
) -> Measured:
    """Put all the prompts to the hook, with this encoder at hand."""
    notes = {note.id: note for note in shelf.list_notes()}
    vectors = {note_id: encoder.encode([text_of(note)])[0] for note_id, note in notes.items()}

    def compare(prompt: str) -> NearestNotes | None:
        if not has_topic(prompt):
            return None
        vector = encoder.encode([prompt])[0]
        cosines = {note_id: float(other @ vector) for note_id, other in vectors.items()}
        nearest = sorted(cosines, key=lambda note_id: -cosines[note_id])
        return NearestNotes({note_id: cosines[note_id] for note_id in nearest}, len(nearest))

    def told(prompt: str, project: str) -> list[str]:
        shelf.project = project
        found = prompt_context(shelf, prompt, frozenset(), "", compare)[1]
        return [notes[note_id].title for note_id in found]

    return Measured(
        [prompt for prompt, project in silent if told(prompt, project)],
        [prompt for prompt, project, wanted in fitting if wanted not in told(prompt, project)],
    )
