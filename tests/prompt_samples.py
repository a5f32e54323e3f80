"""What people type to an agent, and which memory it is about, if any: two projects, one shelf.

A prompt names the title that must be injected, or "" where every injection is noise.
"""

from typing import NamedTuple

from nuggets.interfaces.hooks.prompt_context import prompt_context
from nuggets.shelf import NuggetShelf

Prompts = tuple[tuple[str, ...], ...]  # prompt, project and, if there is one, the title it is about

SHOP, BLOG = "/home/me/shop/.git", "/home/me/blog/.git"

# nugget, title, content: facts of the shop
SHOP_FACTS = (
    ("project", "test cmd", "pnpm test -- --run"),
    ("project", "lint cmd", "pnpm lint && pnpm typecheck"),
    ("project", "dev server", "pnpm dev, port 5173"),
    ("project", "deploy", "make deploy ENV=staging, then smoke.sh"),
    ("project", "staging url", "https://staging.shop.example"),
    ("locations", "auth handler", "src/auth/middleware.ts:47"),
    ("locations", "payment webhook", "src/billing/webhook.ts"),
    ("locations", "feature flags", "config/flags.yaml"),
    ("locations", "cron jobs", "infra/cron/*.yaml"),
    ("locations", "email templates", "packages/mail/templates"),
    ("project", "tests first", "write a failing test before the fix"),
    ("project", "migrations", "never edit a migration that has run; add a new one"),
    ("project", "default branch", "trunk, not main"),
    ("project", "node version", "22, see .nvmrc"),
)
SHOP_NOTES = (
    (
        "learnings",
        "Why we left Redis",
        "Sessions moved to Postgres because failover lost writes in March. Never go back to a "
        "cache as the only copy.",
    ),
    (
        "learnings",
        "Flaky upload test",
        "test_upload_retry fails when the clock jumps; use the frozen_clock fixture.",
    ),
    (
        "learnings",
        "JWT token format",
        "Tokens use RS256 signing. The public key is at src/auth/keys/public.pem.",
    ),
    (
        "learnings",
        "Release steps",
        "Bump the version, tag it, run make release, then announce it in the channel.",
    ),
    (
        "learnings",
        "Stripe idempotency",
        "Every charge carries an idempotency key made of cart id and attempt, or customers pay "
        "twice when a request is retried.",
    ),
    (
        "learnings",
        "Slow product search",
        "The trigram index was missing on products.title; adding it took queries from 900 ms "
        "to 12 ms.",
    ),
    (
        "learnings",
        "Image resizing",
        "Thumbnails are made by a worker via sharp; originals stay in the bucket.",
    ),
    (
        "learnings",
        "Cart expiry",
        "Carts are dropped after 30 days; the job runs at night and writes a report first.",
    ),
    (
        "learnings",
        "Currency rounding",
        "Amounts are integers in cents. Rounding happens once, on the invoice line.",
    ),
    (
        "learnings",
        "Checkout is a state machine",
        "States and transitions stand in src/checkout/machine.ts; do not set the status by hand.",
    ),
    (
        "learnings",
        "Rate limits of the warehouse API",
        "Ten requests a second, then 429 for a minute. The client backs off by itself.",
    ),
    (
        "learnings",
        "Postgres upgrade",
        "Went from 14 to 16 in May with logical replication; two minutes of downtime.",
    ),
    (
        "learnings",
        "Logging",
        "Structured JSON via pino; request ids come from the gateway. Never log a card number.",
    ),
    (
        "learnings",
        "Invoices as PDF",
        "Rendered with headless Chromium; fonts must be installed in the image or text is cut.",
    ),
    ("learnings", "Search relevance", "Boost what is in stock; synonyms live in search/words.txt."),
    (
        "learnings",
        "Error budget",
        "The team agreed on 99.9 % a month; alerts go to the good pager.",
    ),
    ("people", "Mara", "Owns the billing code and reviews everything about payments."),
    ("people", "Jonas", "Runs operations; ask before you touch the firewall."),
)
BLOG_FACTS = (
    ("project", "build cmd", "hugo --minify"),
    ("project", "drafts", "content/drafts, never published by the build"),
    ("project", "theme", "themes/paper, a fork with our colours"),
    ("project", "publish", "git push, the host builds by itself"),
    ("locations", "shortcodes", "layouts/shortcodes"),
    ("locations", "rss template", "layouts/_default/rss.xml"),
    ("project", "image width", "1200 pixels at most"),
)
BLOG_NOTES = (
    (
        "learnings",
        "Comment system",
        "We use self-hosted Isso; moderation mails go to the editor.",
    ),
    (
        "learnings",
        "Writing style",
        "Short sentences, no exclamation marks, British spelling, first person.",
    ),
    ("learnings", "Analytics", "Plausible, without cookies, so no banner is needed."),
    (
        "learnings",
        "Old links",
        "Aliases in the front matter redirect from the WordPress addresses; keep them.",
    ),
    (
        "learnings",
        "Newsletter",
        "Sent on the first Monday with Listmonk from the tag newsletter.",
    ),
    (
        "learnings",
        "Fonts",
        "Self-hosted Inter, subset with pyftsubset to latin; loaded with swap.",
    ),
    (
        "learnings",
        "Broken math rendering",
        "KaTeX needs passthrough delimiters in the config or underscores become emphasis.",
    ),
)
# of the person, valid everywhere
EVERYWHERE = (
    ("prefs", "style: 2-space", "2-space indentation everywhere"),
    ("prefs", "answers", "Keep answers short, no summaries at the end"),
    ("prefs", "package manager", "Always use pnpm, never npm"),
    ("prefs", "commit messages", "Imperative mood, no ticket numbers"),
    ("prefs", "comments", "Say why, never what; no commented-out code"),
    ("prefs", "pull requests", "Small ones; squash before merging"),
    ("user", "name", "Alex"),
    ("user", "editor", "Neovim with the dark theme"),
    ("user", "timezone", "Europe/Vienna"),
    ("user", "languages", "Python and TypeScript well, Rust a little"),
    ("prefs", "force push", "Never force-push to a shared branch"),
    ("prefs", "python formatter", "ruff format, line length 100"),
)
SEEN_FILES = (
    *("src/auth/middleware.ts", "src/billing/webhook.ts", "src/checkout/machine.ts"),
    *("package.json", "README.md", "src/cart/expiry.test.ts"),
)

# --- prompts that the rule was made with ---------------------------------------------------------

SILENT = (
    ("thanks, looks good", SHOP),
    ("I never said that", SHOP),
    ("write a haiku about autumn", SHOP),
    ("good job", SHOP),
    ("what's 2+2", SHOP),
    ("ok please continue", SHOP),
    ("yes, do it", BLOG),
    ("no, undo that please", SHOP),
    ("hmm, not quite what I wanted", BLOG),
    ("perfect, that's exactly right!", SHOP),
    ("what is the capital of Mongolia?", SHOP),
    ("who wrote Don Quixote?", BLOG),
    ("explain the difference between a monad and a functor", SHOP),
    ("how many legs does a spider have?", SHOP),
    ("what is 17 * 23?", BLOG),
    ("convert 100 miles to kilometres", SHOP),
    ("write a limerick about a sleepy cat", BLOG),
    ("tell me a joke", SHOP),
    ("give me three names for a goldfish", SHOP),
    ("can you make the button a bit larger on small screens", SHOP),
    ("add a dark border around the table", SHOP),
    ("rename this variable to total", SHOP),
    ("why is the sky blue?", BLOG),
    ("my grandmother's soup recipe calls for leeks", SHOP),
    ("how long does it take to boil an egg?", SHOP),
    ("first do the left one, then the right one", SHOP),
    ("I have a meeting at 3pm, be quick", SHOP),
    ("what do you think about that?", BLOG),
    ("let's take a break", SHOP),
    ("the second option please", SHOP),
    ("please write that down in one sentence", BLOG),
    ("is this a good idea?", SHOP),
    ("you never answered my question", SHOP),
    ("look at line 100 again", SHOP),
    ("run it again", SHOP),
    ("that's not working, try something else", BLOG),
    ("can you summarise what you just did?", SHOP),
    ("what time is it in Tokyo?", SHOP),
    ("translate 'good morning' to French", BLOG),
    ("the job interview went well today", SHOP),
    ("state of the art in machine learning", SHOP),
    ("my search for a new flat in the city", SHOP),
    ("the server room at work is cold", SHOP),
    ("I read the file you edited", SHOP),
    ("my favourite theme park is closed", BLOG),
    ("what's the best editor for writing novels", BLOG),
    ("which version of python introduced match statements?", SHOP),
    ("create an index on the users table", SHOP),
)
FITTING = (
    ("how do I run the tests?", SHOP, "test cmd"),
    ("where is auth handled", SHOP, "auth handler"),
    ("deploy?", SHOP, "deploy"),
    ("deploy to staging", SHOP, "deploy"),
    ("whats the staging url", SHOP, "staging url"),
    ("why don't we use redis for sessions any more?", SHOP, "Why we left Redis"),
    ("please fix the flaky upload test", SHOP, "Flaky upload test"),
    ("the upload test fails agian on CI", SHOP, "Flaky upload test"),
    ("let's do a release", SHOP, "Release steps"),
    ("how are the JWT tokens signed?", SHOP, "JWT token format"),
    ("where are the feature flags?", SHOP, "feature flags"),
    ("add a feature flag for the new checkout", SHOP, "feature flags"),
    ("which cron jobs do we have", SHOP, "cron jobs"),
    (
        "a customer was charged twice, how does idempotency work with stripe?",
        SHOP,
        "Stripe idempotency",
    ),
    ("product search is slow again", SHOP, "Slow product search"),
    ("change the email template of the order confirmation", SHOP, "email templates"),
    ("how do we round currency amounts?", SHOP, "Currency rounding"),
    (
        "I need to add a new state to the checkout state machine",
        SHOP,
        "Checkout is a state machine",
    ),
    ("we get 429 from the warehouse api", SHOP, "Rate limits of the warehouse API"),
    ("add a migration for the orders table", SHOP, "migrations"),
    ("what node version do we need", SHOP, "node version"),
    ("lint the code", SHOP, "lint cmd"),
    ("who owns billing?", SHOP, "Mara"),
    ("when do carts expire", SHOP, "Cart expiry"),
    ("the pdf invoices have missing fonts", SHOP, "Invoices as PDF"),
    ("start the dev server", SHOP, "dev server"),
    ("where is the paymnt webhook handled?", SHOP, "payment webhook"),
    ("write the commit message", SHOP, "commit messages"),
    ("open a pull request", SHOP, "pull requests"),
    ("how do I build the site?", BLOG, "build cmd"),
    ("publish the post", BLOG, "publish"),
    ("add a shortcode for videos", BLOG, "shortcodes"),
    ("math rendering is broken on the new page", BLOG, "Broken math rendering"),
    ("how does the comment system work?", BLOG, "Comment system"),
    ("redirect the old wordpress links", BLOG, "Old links"),
    ("which theme do we use", BLOG, "theme"),
    ("prepare the newsletter", BLOG, "Newsletter"),
    ("do we need a cookie banner for analytics?", BLOG, "Analytics"),
    ("format the python code", BLOG, "python formatter"),
    ("what timezone am I in", BLOG, "timezone"),
    ("authentication", SHOP, "auth handler"),
    ("mara", SHOP, "Mara"),
    (
        "I'm going to work on the billing webhook today; before I start, could you tell me which "
        "file has the payment webhook and who reviews that code, and what I should know about "
        "idempotency when stripe retries a request? I also want to keep the change small.",
        SHOP,
        "payment webhook",
    ),
    (
        "We had an outage tonight. Customers report that they are logged out at random. I suspect "
        "that sessions are lost in redis failover, but somebody said that we moved sessions "
        "elsewhere. Can you look into how sessions are stored now and write a summary?",
        SHOP,
        "Why we left Redis",
    ),
)

# --- prompts that no word was listed for; thresholds were chosen with their totals in view --------

SILENT_UNSEEN = (
    ("great work, thank you so much", SHOP),
    ("never mind", SHOP),
    ("sounds good to me", BLOG),
    ("write me a short poem about the sea", BLOG),
    ("what is the square root of 1764?", SHOP),
    ("what's the weather like on Mars", SHOP),
    ("who won the world cup in 1998?", SHOP),
    ("how do I get a stain out of a shirt?", BLOG),
    ("explain recursion to a five year old", SHOP),
    ("I changed my mind, go back", SHOP),
    ("make it shorter", SHOP),
    ("show me the diff", SHOP),
    ("what does this function return?", SHOP),
    ("my name is spelled with a C", SHOP),
    ("the first one looks better", BLOG),
    ("add some padding to the sidebar", BLOG),
    ("did you read the whole thing?", SHOP),
    ("wait, stop", SHOP),
    ("nice, one more time with feeling", SHOP),
    ("how old is the universe", SHOP),
    ("is a tomato a fruit?", BLOG),
    ("let me know when you are done", SHOP),
    ("sort this list by date", SHOP),
    ("what's a good book about sailing?", SHOP),
    ("I'll be back in 30 minutes", SHOP),
    ("do the same for the other two", SHOP),
    ("why did the Roman empire fall?", BLOG),
    ("plan a weekend trip to Lisbon", SHOP),
    ("it says index out of range", SHOP),
    ("compare bubble sort and quick sort", SHOP),
)
FITTING_UNSEEN = (
    ("tests?", SHOP, "test cmd"),
    ("what's the test command", SHOP, "test cmd"),
    ("can you show me where the auth handler is", SHOP, "auth handler"),
    ("how do we deploy this?", SHOP, "deploy"),
    ("make a new release and announce it", SHOP, "Release steps"),
    ("should we put sessions into redis?", SHOP, "Why we left Redis"),
    ("test_upload_retry is red", SHOP, "Flaky upload test"),
    ("where do I find the public key for the tokens", SHOP, "JWT token format"),
    ("the thumbnails look blurry, how are images resized", SHOP, "Image resizing"),
    ("when did we upgrade postgres", SHOP, "Postgres upgrade"),
    ("add a request id to the logging", SHOP, "Logging"),
    ("tune the search relevance for synonyms", SHOP, "Search relevance"),
    ("who should review the payments change?", SHOP, "Mara"),
    ("change a firewall rule for operations", SHOP, "Jonas"),
    ("what's our error budget", SHOP, "Error budget"),
    ("edit the email templates", SHOP, "email templates"),
    ("which branch is the default", SHOP, "default branch"),
    ("force push the branch", SHOP, "force push"),
    ("set the checkout status to paid by hand", SHOP, "Checkout is a state machine"),
    ("install lodash with the package manager", SHOP, "package manager"),
    ("write comments for this module", SHOP, "comments"),
    ("where are the drafts", BLOG, "drafts"),
    ("change the rss template", BLOG, "rss template"),
    ("how wide may an image be?", BLOG, "image width"),
    ("what is our writing style", BLOG, "Writing style"),
    ("load the fonts faster", BLOG, "Fonts"),
    ("moderation of comments in isso", BLOG, "Comment system"),
    ("send the newsleter with listmonk", BLOG, "Newsletter"),
    ("keep the aliases from wordpress", BLOG, "Old links"),
    ("fix the theme colours", BLOG, "theme"),
)


def lived_in() -> NuggetShelf:
    """A shelf of both projects, as the person and their agents left it."""
    shelf = NuggetShelf("memory:", project=SHOP, at_work=True)
    with shelf.batch():
        for project, facts, notes in (
            (SHOP, SHOP_FACTS, SHOP_NOTES),
            (BLOG, BLOG_FACTS, BLOG_NOTES),
            ("", EVERYWHERE, ()),
        ):
            for nugget, key, value in facts:
                shelf.remember(nugget, key, value, project=project)
            for nugget, title, content in notes:
                shelf.create_note(nugget, title, content, project=project)
        for path in SEEN_FILES:
            shelf.create_note(
                "files",
                f"file: {path}",
                f"{path} was read on 2026-01-31",
                ["seen-file"],
                scope="project",
                source="tool_observation",
                stability="temporary",
                project=SHOP,
            )
    return shelf


class Measured(NamedTuple):
    """What labelled prompts got."""

    noise: list[str]  # prompts about nothing here that got something
    missed: list[str]  # prompts on a topic that did not get its note


def measured(shelf: NuggetShelf, silent: Prompts, fitting: Prompts) -> Measured:
    """Put all the prompts to the hook, each in its project and in a conversation of its own."""
    title = {note.id: note.title for note in shelf.list_notes(include_hidden=True)}

    def told(prompt: str, project: str) -> list[str]:
        shelf.project = project
        return [title[note] for note in prompt_context(shelf, prompt, frozenset(), "")[1]]

    return Measured(
        [prompt for prompt, project in silent if told(prompt, project)],
        [prompt for prompt, project, wanted in fitting if wanted not in told(prompt, project)],
    )
