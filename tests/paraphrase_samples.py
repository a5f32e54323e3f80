"""Prompts that say in other words what a memory says, and prompts on nothing in memory.

A prompt names the title that must be injected, or "" where every injection is noise. Four
samples: the shelf of `prompt_samples`, and three with shelves of their own. Each was written and
labelled before it was first measured.
"""

from collections.abc import Callable

from nuggets.encoder.minilm import MiniLM
from nuggets.encoder.quantized_vectors import VectorMatrix, cosines, encode_note, pack
from nuggets.encoder.vector_index import NearestNotes, text_of
from nuggets.interfaces.hooks.prompt_context import prompt_context
from nuggets.interfaces.hooks.prompt_meaning import has_topic
from nuggets.shelf import NuggetShelf
from prompt_samples import BLOG, SHOP, SILENT, SILENT_UNSEEN, Measured, Prompts, lived_in

Texts = tuple[tuple[str, str, str], ...]  # nugget, title, content

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


# --- a third sample: a game, and the same person's household ------------------------------------

GAME, HOUSE = "/home/me/lantern/.git", "/home/me/household/.git"

GAME_FACTS = (
    ("project", "engine", "Godot 4.3 with C#, not GDScript"),
    ("project", "target frame rate", "60 on a Steam Deck, 30 on the Switch"),
    ("project", "export presets", "export_presets.cfg, one for each platform"),
    ("project", "publisher contact", "milestones@northpier.example"),
    ("locations", "save files", "user://saves/*.lsv"),
    ("locations", "sound effects", "assets/audio/sfx, 48 kHz mono"),
    ("locations", "dialogue", "content/dialogue/*.yarn"),
    ("locations", "enemy behaviour", "src/Actors/Brains"),
    ("prefs", "sprites", "Pixel art at 32 x 32, palette of 24 colours"),
    ("prefs", "branches", "One for each task, deleted after the merge"),
    ("user", "pronouns", "they"),
    ("user", "machine", "Framework 13 with Fedora"),
)
GAME_NOTES = (
    (
        "learnings",
        "Stutter in the caves",
        "Shaders were compiled at first sight of a material. We warm them up behind the loading "
        "screen now.",
    ),
    (
        "learnings",
        "Lost progress on the Switch",
        "Writing and renaming is not atomic there; we keep two slots and alternate between them.",
    ),
    (
        "learnings",
        "Jump feels wrong",
        "Players want coyote time: 90 ms after the ledge a leap still counts.",
    ),
    (
        "learnings",
        "Desync in co-op",
        "Floating point differs between compilers; the simulation runs in fixed point.",
    ),
    (
        "learnings",
        "Economy balance",
        "Merchants bought herbs for more than they sold them, so people farmed gold for hours.",
    ),
    (
        "learnings",
        "Colour blindness",
        "Every signal that is red or green has a shape as well; checked with a simulator.",
    ),
    (
        "learnings",
        "Japanese text overflow",
        "Line breaking needs the rules for kinsoku, and boxes must grow with the glyphs.",
    ),
    (
        "learnings",
        "Music licences",
        "The cello tracks may not be streamed; there is a switch that mutes them for broadcasters.",
    ),
    (
        "learnings",
        "Demo at the fair",
        "Nobody finished it in ten minutes. The tutorial is now three rooms instead of nine.",
    ),
    (
        "learnings",
        "Crash reports",
        "Sent to Sentry only after the player agreed in the first dialogue; symbols are uploaded "
        "by the nightly job.",
    ),
    (
        "learnings",
        "Pathfinding cost",
        "A* over the whole level took 8 ms; a hierarchy of rooms brought it below 1.",
    ),
    (
        "learnings",
        "Controller rumble",
        "Turned off by default, since testers with arthritis complained.",
    ),
    (
        "learnings",
        "Refund requests",
        "Most came within the first half hour from people whose graphics card was too old.",
    ),
    (
        "learnings",
        "Voice acting",
        "Postponed: recording the script again after each rewrite would eat the budget.",
    ),
    ("people", "Ines", "Composes; wants to hear about cut scenes two weeks ahead."),
    ("people", "Bogdan", "Drew the backgrounds and speaks with the printing company."),
)
HOUSE_FACTS = (
    ("project", "boiler service", "Every October, Huber & Co., 0512 4711"),
    ("project", "alarm hub", "Zigbee stick on the Pi in the cellar"),
    ("project", "wifi for guests", "SSID lantern-guest, the password is on the fridge"),
    ("locations", "automations", "config/automations/*.yaml"),
)
HOUSE_NOTES = (
    (
        "learnings",
        "Blinds at noon",
        "They close when the south window gets more than 600 W/m2, or the plants burn.",
    ),
    (
        "learnings",
        "Washing machine tripped the fuse",
        "It must not run together with the oven; an automation delays it.",
    ),
    (
        "learnings",
        "Solar yield",
        "The inverter clips at 5 kW; in June we lose a tenth, a second string is not worth it.",
    ),
    (
        "learnings",
        "Mould in the bathroom",
        "Humidity above 65 % starts the fan until it falls below 55.",
    ),
)
THIRD_PARAPHRASES = (
    ("it hitches whenever something new comes into view", GAME, "Stutter in the caves"),
    (
        "a console player's adventure was reset to the beginning",
        GAME,
        "Lost progress on the Switch",
    ),
    ("hopping off platforms is frustratingly strict", GAME, "Jump feels wrong"),
    ("two machines disagree about where the monsters are", GAME, "Desync in co-op"),
    ("someone found an infinite money exploit at the shop", GAME, "Economy balance"),
    ("can people who cannot distinguish hues play this?", GAME, "Colour blindness"),
    ("the Asian translation spills over the edge of the window", GAME, "Japanese text overflow"),
    ("is a YouTuber allowed to play our soundtrack?", GAME, "Music licences"),
    ("visitors gave up before they reached the boss", GAME, "Demo at the fair"),
    ("do we ask for consent before we collect stack traces?", GAME, "Crash reports"),
    ("working out routes for creatures is eating the CPU", GAME, "Pathfinding cost"),
    ("should the gamepad vibrate?", GAME, "Controller rumble"),
    ("why do buyers want their money back?", GAME, "Refund requests"),
    ("when do we hire speakers for the characters?", GAME, "Voice acting"),
    ("who writes the melodies?", GAME, "Ines"),
    ("who painted the scenery?", GAME, "Bogdan"),
    ("where does a finished playthrough get stored on disk", GAME, "save files"),
    ("I need a louder explosion noise", GAME, "sound effects"),
    ("change what the innkeeper says", GAME, "dialogue"),
    ("make the goblins smarter", GAME, "enemy behaviour"),
    ("how smooth does it have to run on handhelds?", GAME, "target frame rate"),
    ("which framework is this built with?", GAME, "engine"),
    ("draw a new icon for the sword", GAME, "sprites"),
    ("which laptop do I have?", GAME, "machine"),
    ("why do the shutters go down in the middle of the day?", HOUSE, "Blinds at noon"),
    ("the breaker went off while I was doing laundry", HOUSE, "Washing machine tripped the fuse"),
    ("would more panels on the roof pay off?", HOUSE, "Solar yield"),
    ("there is black stuff growing above the shower", HOUSE, "Mould in the bathroom"),
    ("who maintains the heating?", HOUSE, "boiler service"),
    ("a friend is visiting and wants to get online", HOUSE, "wifi for guests"),
)
THIRD_SILENT = (
    *(
        (prompt, GAME)
        for prompt in (
            "great, ship it",
            "hold on a second",
            "that's the wrong file",
            "could you go through that step by step?",
            "I don't understand your last answer",
            "revert everything you did today",
            "make this method private",
            "replace the magic number with a constant",
            "why does this cast fail?",
            "add a null check before the call",
            "convert these callbacks to async",
            "what does the yield keyword do?",
            "how do generics work in C#?",
            "explain the observer pattern",
            "what is the difference between a stack and a heap?",
            "write a regex that matches a hex colour",
            "how do I squash my last three commits?",
            "set up pre-commit with a spell checker",
            "the linter complains about line length",
            "write a bash loop over all png files",
            "what does HTTP status 418 mean?",
            "generate lorem ipsum for the placeholder",
            "is quicksort stable?",
            "open the settings and tell me what you see",
            "count the lines of code in this repository",
            "why is my unit test timing out?",
            "fix the spelling in the readme",
            "add type hints to this module",
            "what is the best chess opening for beginners?",
            "who composed the Moonlight Sonata?",
            "recommend a board game for four players",
            "which console sold the most units ever?",
            "how do I learn to draw hands?",
            "what is the oldest video game?",
            "how do I improve my aim in shooters?",
            "tell me a riddle",
            "how long do cats sleep?",
            "translate 'the castle is haunted' into Polish",
            "what rhymes with orange?",
            "how heavy is an elephant?",
        )
    ),
    *(
        (prompt, HOUSE)
        for prompt in (
            "ok, thank you",
            "let's do that tomorrow",
            "how do I poach an egg?",
            "what is the boiling point of water on a mountain?",
            "which vegetables grow in the shade?",
            "how do I remove a wine stain from a carpet?",
            "write a shopping list for a barbecue",
            "what is a fair rent for two rooms in Graz?",
            "how does a heat pump work?",
            "why is the moon red tonight?",
            "what's the difference between a lemon and a lime?",
            "recommend a podcast about history",
            "how do I change a bicycle tyre?",
            "when is the next train to Vienna?",
            "how do I write a cancellation letter?",
            "sort these receipts by month",
            "merge the two yaml files",
            "why does the parser complain about tabs?",
            "what should I wear to a wedding?",
            "how much sleep does a toddler need?",
        )
    ),
)


# --- a fourth sample, written when all was chosen: a public library, and a laboratory ------------

LIBRARY, LAB = "/home/me/catalogue/.git", "/home/me/assay/.git"

LIBRARY_FACTS = (
    ("project", "database", "MariaDB 11 on db2, read replica on db3"),
    ("project", "opening hours feed", "https://hours.library.example/feed.ics"),
    ("project", "loan period", "28 days, films 7"),
    ("locations", "receipt printer driver", "vendor/escpos/bridge.c"),
    ("locations", "overdue letters", "templates/reminders/*.odt"),
    ("locations", "barcode scanner", "client/src/scan.ts"),
    ("prefs", "sql", "Upper-case keywords, one clause a line"),
    ("prefs", "screenshots", "Blur names of patrons before you share one"),
    ("user", "phone", "Do not call before ten"),
)
LIBRARY_NOTES = (
    (
        "learnings",
        "Umlauts in the catalogue",
        "Records from the consortium are in MARC-8, not UTF-8; convert them before the import.",
    ),
    (
        "learnings",
        "Holds queue",
        "A reservation expires after six days on the shelf; then the next person is notified.",
    ),
    (
        "learnings",
        "Children's cards",
        "Under fourteen a parent must sign, and films rated 16 are refused at the desk.",
    ),
    (
        "learnings",
        "Self-checkout outage",
        "The kiosks lost the network because the DHCP lease was an hour; they are static now.",
    ),
    (
        "learnings",
        "Fines",
        "Abolished in 2023; the code still computes them but the amount is always zero.",
    ),
    (
        "learnings",
        "Inter-library loans",
        "Requests go to the state library by e-mail, since their interface has no sandbox.",
    ),
    (
        "learnings",
        "Search ranking",
        "Newer editions first, then what is on the shelf of this branch.",
    ),
    (
        "learnings",
        "Privacy of borrowers",
        "What someone read is erased a week after the return; statistics keep only the year of "
        "birth.",
    ),
    ("people", "Frau Moser", "Head librarian; decides about new categories and colours of labels."),
    ("people", "Viktor", "Wires the branches and knows the switches."),
)
LAB_FACTS = (
    ("project", "freezer", "-80, box positions in inventory/boxes.csv"),
    ("project", "cluster", "sbatch -p short, 4 hours at most"),
    ("locations", "plots", "notebooks/figures"),
    ("locations", "raw reads", "/data/runs/*/fastq"),
)
LAB_NOTES = (
    (
        "learnings",
        "Contaminated controls",
        "The water blanks amplified in May; a new lot of primers solved it.",
    ),
    (
        "learnings",
        "Plate edge effect",
        "Outer wells evaporate; leave them empty or fill them with buffer.",
    ),
    (
        "learnings",
        "Normalisation",
        "Divide by the median of three housekeeping genes; one alone drifts with temperature.",
    ),
    (
        "learnings",
        "Outliers",
        "Dropped only if two people agree before the groups are unblinded.",
    ),
    (
        "learnings",
        "Pipette calibration",
        "Sent away every January; the blue one reads two percent low until then.",
    ),
    (
        "learnings",
        "Reproducible runs",
        "The seed and the container digest are written into the header of every result.",
    ),
    ("people", "Aiko", "Orders chemicals on Tuesdays."),
)
FOURTH_PARAPHRASES = (
    ("accented letters come out as gibberish after loading", LIBRARY, "Umlauts in the catalogue"),
    ("how long do we keep a book aside for somebody?", LIBRARY, "Holds queue"),
    ("may a twelve year old sign up alone?", LIBRARY, "Children's cards"),
    ("the terminals where visitors borrow things are offline", LIBRARY, "Self-checkout outage"),
    ("how much does a patron owe for being late?", LIBRARY, "Fines"),
    ("someone wants a title that we do not own", LIBRARY, "Inter-library loans"),
    ("in which order should hits be listed?", LIBRARY, "Search ranking"),
    ("the police ask what a reader has taken home", LIBRARY, "Privacy of borrowers"),
    ("who is in charge here?", LIBRARY, "Frau Moser"),
    ("who can help me with the cabling?", LIBRARY, "Viktor"),
    ("for how many weeks can one take out a novel?", LIBRARY, "loan period"),
    ("the slips for borrowers come out blank", LIBRARY, "receipt printer driver"),
    ("make the dunning notices friendlier", LIBRARY, "overdue letters"),
    ("reading the code on the back of a volume fails", LIBRARY, "barcode scanner"),
    ("how should I lay out this select statement?", LIBRARY, "sql"),
    ("can I send this picture of the form to the vendor?", LIBRARY, "screenshots"),
    ("which server holds the tables?", LIBRARY, "database"),
    ("when are we closed around the holidays?", LIBRARY, "opening hours feed"),
    ("the negatives show a signal", LAB, "Contaminated controls"),
    ("samples at the border dry out", LAB, "Plate edge effect"),
    ("what reference do we scale expression by?", LAB, "Normalisation"),
    ("can I throw away this weird measurement?", LAB, "Outliers"),
    ("the volumes dispensed are slightly too small", LAB, "Pipette calibration"),
    ("how do I get exactly the same numbers again?", LAB, "Reproducible runs"),
    ("we are running out of ethanol", LAB, "Aiko"),
    ("where is the tube with the old strain kept?", LAB, "freezer"),
    ("how do I submit a batch computation?", LAB, "cluster"),
    ("where are the graphs for the paper?", LAB, "plots"),
    ("where does the output of the sequencer end up?", LAB, "raw reads"),
    ("my calculation was killed before it was done", LAB, "cluster"),
)
FOURTH_SILENT = (
    *(
        (prompt, LIBRARY)
        for prompt in (
            "good morning",
            "that works now, thanks",
            "do the first two, skip the third",
            "why did you delete that?",
            "put it back please",
            "turn this into a table",
            "this method is too long, break it up",
            "rename the parameter in all callers",
            "what does the tilde mean in a version range?",
            "how do I pretty print JSON in the shell?",
            "what is memoisation?",
            "how do websockets differ from polling?",
            "write a comparator that ignores case",
            "the assertion in line 12 fails",
            "how do I profile a slow script?",
            "what is the difference between let and const?",
            "explain what a foreign key is",
            "generate some fake addresses for the fixtures",
            "who wrote Pride and Prejudice?",
            "what should I read on a long flight?",
            "how many pages has War and Peace?",
            "what is a good birthday present for a bookworm?",
            "who invented the printing press?",
            "how do I press flowers?",
            "when did the library of Alexandria burn?",
            "how do I bind a notebook by hand?",
            "is it pronounced gif or jif?",
            "how do I remove a coffee ring from wood?",
            "what is the population of Norway?",
            "write a birthday card for my niece",
            "which museum has the Rosetta stone?",
            "what time do the shops close on Sunday in general?",
            "how do I stop my glasses from fogging up?",
            "my bicycle was stolen, what do I do?",
        )
    ),
    *(
        (prompt, LAB)
        for prompt in (
            "ok",
            "please be more careful",
            "show me only the changed lines",
            "drop the second column",
            "read this csv with pandas",
            "what is a p-value?",
            "how do I compute a confidence interval?",
            "explain the central limit theorem",
            "rotate the labels on the x axis",
            "use a log scale",
            "why is this array two-dimensional?",
            "vectorise this loop",
            "how do I join two data frames?",
            "what is the half-life of caffeine?",
            "who discovered the structure of DNA?",
            "how do vaccines work?",
            "what is the largest cell in the human body?",
            "how do I keep bread fresh?",
            "why do onions make you cry?",
            "how do I defrost a refrigerator?",
            "what is the melting point of gold?",
            "write an abstract about climate change",
            "how do I cite a website?",
            "suggest a title for my thesis",
            "how do I get over a breakup?",
            "which microscope should a beginner buy?",
        )
    ),
)


def fitness_shelf(directory: str = "memory:") -> NuggetShelf:
    """A shelf of one project, as the person and their agents left it."""
    return _shelf_of(directory, (FITNESS, FACTS, NOTES))


def game_shelf(directory: str = "memory:") -> NuggetShelf:
    """A shelf of two projects of one person."""
    return _shelf_of(directory, (GAME, GAME_FACTS, GAME_NOTES), (HOUSE, HOUSE_FACTS, HOUSE_NOTES))


def library_shelf(directory: str = "memory:") -> NuggetShelf:
    """A shelf of two projects of another one."""
    return _shelf_of(
        directory, (LIBRARY, LIBRARY_FACTS, LIBRARY_NOTES), (LAB, LAB_FACTS, LAB_NOTES)
    )


def _shelf_of(directory: str, *projects: tuple[str, Texts, Texts]) -> NuggetShelf:
    """Of projects, each with its facts and notes; facts about the person are of no project."""
    shelf = NuggetShelf(directory, project=projects[0][0], at_work=True)
    with shelf.batch():
        for project, facts, notes in projects:
            for nugget, key, value in facts:
                personal = nugget in ("user", "prefs")
                shelf.remember(nugget, key, value, project="" if personal else project)
            for nugget, title, content in notes:
                shelf.create_note(nugget, title, content, project=project)
    return shelf


# how the shelf is made, prompts that get nothing, prompts with the title that they get
SAMPLES: tuple[tuple[Callable[[], NuggetShelf], Prompts, Prompts], ...] = (
    (lived_in, SILENT + SILENT_UNSEEN, PARAPHRASES),
    (fitness_shelf, FRESH_SILENT, FRESH_PARAPHRASES),
    (game_shelf, THIRD_SILENT, THIRD_PARAPHRASES),
    (library_shelf, FOURTH_SILENT, FOURTH_PARAPHRASES),
)


def judge(
    shelf: NuggetShelf,
    encoder: MiniLM,
    silent: Prompts,
    fitting: Prompts,
) -> Measured:
    """Put all the prompts to the hook, with this encoder at hand."""
    notes = {note.id: note for note in shelf.list_notes()}
    vectors = VectorMatrix(
        [(i, pack(encode_note(encoder, text))) for i in notes if (text := text_of(notes[i]))]
    )

    def compare(prompt: str) -> NearestNotes | None:
        if not has_topic(prompt):
            return None
        vector = encoder.encode([prompt])[0]
        near = cosines(vectors, vector)
        ordered = {note_id: near[note_id] for note_id in near.nearest(len(near))}
        return NearestNotes(ordered, len(near), encoder.common_cosine(vector))

    def told(prompt: str, project: str) -> list[str]:
        shelf.project = project
        found = prompt_context(shelf, prompt, frozenset(), "", compare)[1]
        return [notes[note_id].title for note_id in found]

    return Measured(
        [prompt for prompt, project in silent if told(prompt, project)],
        [prompt for prompt, project, wanted in fitting if wanted not in told(prompt, project)],
    )
