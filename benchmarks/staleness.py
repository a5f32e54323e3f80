"""How many stale answers are flagged, and how many others, on repositories with real history.

    python -m benchmarks.staleness [--list]      --list prints the memories judged wrongly

Each case is a repository of its own, made with git: files are committed, memories of them are kept
through the command's door, then the repository moves on by commits, renames and branches, and each
memory is recalled. Whether a memory is stale then is known by construction: `CASES` says for each
memory what happens and whether that makes it wrong. "moved" and the like are told apart as well.
`ASIDE` is a second set on another repository, written after the rules.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.__main__ import line
from nuggets import NuggetShelf
from nuggets.operations.permissions import COMMAND

FLAGGED_GOAL, FALSE_GOAL = 0.95, 0.05

AUTH = """import jwt

ALGORITHM = "RS256"
SESSION_MINUTES = 30


def verify_token(token):
    return jwt.decode(token, algorithms=[ALGORITHM])


class AuthMiddleware:
    def handle(self, request):
        return verify_token(request.headers["Authorization"])
"""
CONFIG = """retry_limit: 5
timeout_seconds: 30
queue:
  name: mail
  workers: 8
"""
MAKEFILE = """test:
\tpytest -q

lint:
\truff check .

deploy-staging:
\t./scripts/deploy.sh staging
"""
PACKAGE = """{
  "name": "shop",
  "engines": {"node": "18.2"},
  "scripts": {
    "build": "vite build",
    "e2e": "playwright test"
  },
  "dependencies": {
    "react": "18.3.1",
    "zod": "3.22.0"
  }
}
"""
FILES = {
    "src/auth.py": AUTH,
    "src/mail/queue.py": "def enqueue_mail(message):\n    return push('mail', message)\n",
    "src/billing/invoice.ts": "export function renderInvoice(order) {\n  return order.total\n}\n",
    "config/settings.yaml": CONFIG,
    "docs/deploy.md": "# Deploy\n\nDeploys take ten minutes.\n",
    "scripts/deploy.sh": "#!/bin/sh\necho deploying $1\n",
    "Makefile": MAKEFILE,
    "package.json": PACKAGE,
    ".python-version": "3.11\n",
    "pyproject.toml": '[project]\nrequires-python = ">=3.11"\ndependencies = ["django>=4.2"]\n',
}


class Repository:
    """A repository in a folder of its own."""

    def __init__(self, folder: Path, files: dict[str, str]) -> None:
        self.folder = folder
        self.git("init", "-q", "-b", "main")
        for path, text in files.items():
            self.write(path, text)
        self.commit("start")

    def git(self, *arguments: str) -> None:
        identity = ("-c", "user.name=someone", "-c", "user.email=someone@example.org")
        environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        command = ["git", *identity, "-c", "commit.gpgsign=false", *arguments]
        subprocess.run(command, cwd=self.folder, env=environment, check=True, capture_output=True)

    def write(self, path: str, text: str) -> None:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def replace(self, path: str, old: str, new: str) -> None:
        text = (self.folder / path).read_text()
        assert old in text, (path, old)
        self.write(path, text.replace(old, new))
        self.commit(f"change {path}")

    def commit(self, message: str) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)

    def move(self, old: str, new: str) -> None:
        (self.folder / new).parent.mkdir(parents=True, exist_ok=True)
        self.git("mv", old, new)
        self.commit(f"move {old}")

    def delete(self, path: str) -> None:
        self.git("rm", "-q", path)
        self.commit(f"delete {path}")

    def switch(self, branch: str) -> None:
        self.git("checkout", "-q", "-B", branch)


Change = Callable[[Repository], None]


class Case(NamedTuple):
    memory: str
    change: Change
    stale: bool
    told: str = ""  # what the caveat must say, where more than "changed" is known
    prepare: Change | None = None  # before the memory is kept


def _edit(path: str, old: str, new: str) -> Change:
    return lambda repository: repository.replace(path, old, new)


def _move(old: str, new: str) -> Change:
    return lambda repository: repository.move(old, new)


def _delete(path: str) -> Change:
    return lambda repository: repository.delete(path)


def _move_and_edit(repository: Repository) -> None:
    repository.move("src/auth.py", "src/security/tokens.py")
    repository.replace("src/security/tokens.py", "import jwt\n", "import jwt\nimport time\n")


def _move_twice(repository: Repository) -> None:
    repository.move("src/auth.py", "src/login.py")
    repository.move("src/login.py", "src/access/login.py")


def _move_uncommitted(repository: Repository) -> None:
    (repository.folder / "lib").mkdir()
    (repository.folder / "src/auth.py").rename(repository.folder / "lib/auth.py")


def _branch_only(repository: Repository) -> None:
    repository.switch("feature/coupons")
    repository.write("src/coupons.py", "def apply_coupon(order):\n    return order\n")
    repository.commit("coupons")


def _back_to_main(repository: Repository) -> None:
    repository.git("checkout", "-q", "main")


def _drop_branch(repository: Repository) -> None:
    repository.git("checkout", "-q", "main")
    repository.git("branch", "-q", "-D", "feature/coupons")


def _insert_above(repository: Repository) -> None:
    repository.replace("src/auth.py", "import jwt\n", "import jwt\nimport time\nimport logging\n")


def _rewrite_history(repository: Repository) -> None:
    repository.move("src/auth.py", "src/tokens.py")
    repository.git("commit", "-q", "--amend", "-m", "other words")


def _touch_all(repository: Repository) -> None:
    for path in FILES:
        os.utime(repository.folder / path, (1_900_000_000, 1_900_000_000))


def _unrelated(repository: Repository) -> None:
    repository.replace("docs/deploy.md", "ten minutes", "five minutes")
    repository.write("src/new.py", "x = 1\n")
    repository.commit("new")


def _clone_dates(repository: Repository) -> None:
    repository.git("checkout", "-q", "-b", "other")
    _touch_all(repository)


_AT_AUTH = "The token check is at src/auth.py:7"
_IN_AUTH = "verify_token lives in src/auth.py"
CASES = (
    # stale: files
    Case("Mail jobs are pushed in src/mail/queue.py", _delete("src/mail/queue.py"), True, "gone"),
    Case("Deploys are described in docs/deploy.md", _delete("docs/deploy.md"), True, "gone"),
    Case("Deploy with scripts/deploy.sh", _delete("scripts/deploy.sh"), True, "gone"),
    Case("Invoices: `src/billing/invoice.ts`", _delete("src/billing/invoice.ts"), True, "gone"),
    Case("Settings are in ./config/settings.yaml.", _delete("config/settings.yaml"), True, "gone"),
    Case(_IN_AUTH, _delete("src/auth.py"), True, "gone"),
    Case(_IN_AUTH, _move("src/auth.py", "src/tokens.py"), True, "moved to src/tokens.py"),
    Case(_AT_AUTH, _move("src/auth.py", "app/auth.py"), True, "moved to app/auth.py"),
    Case(_IN_AUTH, _move_and_edit, True, "moved to src/security/tokens.py"),
    Case(_IN_AUTH, _move_twice, True, "moved to src/access/login.py"),
    Case(_IN_AUTH, _move_uncommitted, True, "moved to lib/auth.py"),
    Case(_IN_AUTH, _rewrite_history, True, "moved to src/tokens.py"),
    Case("Deploys: docs/deploy.md", _move("docs/deploy.md", "docs/ops/deploy.md"), True, "moved"),
    Case("Run scripts/deploy.sh to deploy", _move("scripts/deploy.sh", "bin/deploy.sh"), True,
         "moved to bin/deploy.sh"),
    # stale: lines
    Case(_AT_AUTH, _insert_above, True, "now line 9"),
    Case(_AT_AUTH, _edit("src/auth.py", "def verify_token(token)", "def check(token)"), True),
    Case("ALGORITHM is set at src/auth.py:3", _edit("src/auth.py", '"RS256"', '"ES256"'), True),
    Case("src/auth.py:4 keeps a session 30 minutes", _edit("src/auth.py", "= 30", "= 60"), True),
    Case("config/settings.yaml:1 limits retries",
         _edit("config/settings.yaml", ": 5", ": 9"), True),
    Case("The worker count is config/settings.yaml:5",
         _edit("config/settings.yaml", "  workers: 8\n", ""), True),
    Case("src/billing/invoice.ts:1 renders an invoice",
         _edit("src/billing/invoice.ts", "renderInvoice", "printInvoice"), True),
    # stale: symbols
    Case(_IN_AUTH, _edit("src/auth.py", "verify_token", "check_token"), True, "verify_token"),
    Case("`AuthMiddleware` in src/auth.py checks every request",
         _edit("src/auth.py", "AuthMiddleware", "TokenGuard"), True, "AuthMiddleware"),
    Case("enqueue_mail() in src/mail/queue.py pushes to the queue",
         _edit("src/mail/queue.py", "enqueue_mail", "schedule"), True, "enqueue_mail"),
    Case("src/billing/invoice.ts has renderInvoice",
         _edit("src/billing/invoice.ts", "renderInvoice", "printInvoice"), True, "renderInvoice"),
    Case("The auth middleware of src/auth.py reads the header",
         _edit("src/auth.py", "AuthMiddleware", "TokenGuard"), True, "AuthMiddleware"),
    Case("To verify a token, call src/auth.py",
         _edit("src/auth.py", "verify_token", "check_token"), True, "verify_token"),
    # stale: values
    Case("The retry limit is 5 (config/settings.yaml)",
         _edit("config/settings.yaml", "retry_limit: 5", "retry_limit: 9"), True),
    Case("Timeout is 30 seconds, see config/settings.yaml",
         _edit("config/settings.yaml", "timeout_seconds: 30", "timeout_seconds: 10"), True),
    Case("The mail queue has 8 workers, in config/settings.yaml",
         _edit("config/settings.yaml", "workers: 8", "workers: 2"), True),
    Case("Sessions last 30 minutes (src/auth.py)", _edit("src/auth.py", "= 30", "= 45"), True),
    # stale: commands
    Case("Run the tests with make test", _edit("Makefile", "test:\n", "check:\n"), True, "test"),
    Case("Deploy to staging by `make deploy-staging`",
         _edit("Makefile", "deploy-staging:", "stage:"), True, "deploy-staging"),
    Case("Lint with make lint.", _delete("Makefile"), True, "gone"),
    Case("End-to-end tests: npm run e2e", _edit("package.json", '"e2e"', '"browser"'), True, "e2e"),
    Case("Build with pnpm build", _edit("package.json", '"build": "vite build"', '"b": "x"'), True),
    # stale: versions
    Case("We run on Node 18.2", _edit("package.json", '"node": "18.2"', '"node": "20.1"'), True),
    Case("The shop uses React 18.3.1", _edit("package.json", "18.3.1", "19.0.0"), True),
    Case("zod 3.22.0 validates input", _edit("package.json", "3.22.0", "4.0.1"), True),
    Case("Python 3.11 is required", _edit("pyproject.toml", "3.11", "3.12"), True),
    Case("We are on Django 4.2", _edit("pyproject.toml", "django>=4.2", "django>=5.0"), True),
    # stale: branches
    Case("Coupons are applied in src/coupons.py", _back_to_main, True, "feature/coupons",
         _branch_only),
    Case("apply_coupon is in src/coupons.py", _back_to_main, True, "feature/coupons", _branch_only),
    Case("Coupons are on branch feature/coupons", _drop_branch, True, "feature/coupons",
         _branch_only),
    # not stale
    *(Case(memory, change, False)
      for change in (_unrelated, _touch_all, _clone_dates)
      for memory in (
          _IN_AUTH, _AT_AUTH, "Run the tests with make test", "We run on Node 18.2",
          "The retry limit is 5 (config/settings.yaml)", "Invoices: `src/billing/invoice.ts`",
          "The auth middleware of src/auth.py reads the header", "npm run e2e opens a browser",
      )),
    Case(_IN_AUTH, _insert_above, False),
    Case(_IN_AUTH, _edit("src/auth.py", "(token):", "(token, *, leeway=0):"), False),
    Case(_IN_AUTH, _edit("src/auth.py", "SESSION_MINUTES = 30", "SESSION_MINUTES = 60"), False),
    Case("ALGORITHM is set at src/auth.py:3", _edit("src/auth.py", "= 30", "= 60"), False),
    Case(_AT_AUTH, _edit("src/auth.py", "class AuthMiddleware", "class Guard"), False),
    Case("The retry limit is 5 (config/settings.yaml)",
         _edit("config/settings.yaml", "workers: 8", "workers: 2"), False),
    Case("Timeout is 30 seconds, see config/settings.yaml",
         _edit("config/settings.yaml", "name: mail", "name: letters"), False),
    Case("Deploys are described in docs/deploy.md",
         _edit("docs/deploy.md", "ten minutes", "five minutes"), False),
    Case("Run the tests with make test", _edit("Makefile", "ruff check .", "ruff check"), False),
    Case("Run the tests with make test", _edit("Makefile", "pytest -q", "pytest -q -x"), False),
    Case("End-to-end tests: npm run e2e", _edit("package.json", "18.3.1", "19.0.0"), False),
    Case("The shop uses React 18.3.1", _edit("package.json", "3.22.0", "4.0.1"), False),
    Case("We run on Node 18.2", _edit("package.json", "18.3.1", "19.0.0"), False),
    Case("Deploy with scripts/deploy.sh", _edit("scripts/deploy.sh", "echo", "printf"), False),
    Case("Coupons are on branch feature/coupons", _back_to_main, False, prepare=_branch_only),
    Case("The team meets on Tuesdays at 10", _unrelated, False),
    Case("Use feature branches for every change", _delete("docs/deploy.md"), False),
    Case("`AuthMiddleware` in src/auth.py checks every request",
         _edit("src/auth.py", "def handle(self", "async def handle(self"), False),
    Case("enqueue_mail() in src/mail/queue.py pushes to the queue",
         _edit("src/mail/queue.py", "'mail'", "'letters'"), False),
    Case("Settings are in ./config/settings.yaml.",
         _edit("config/settings.yaml", "workers: 8", "workers: 2"), False),
)  # fmt: skip


ASIDE_FILES = {
    "cmd/server/main.go": """package main

import "net/http"

const defaultPort = 8080

func main() {
\thttp.ListenAndServe(":8080", newRouter())
}
""",
    "internal/store/postgres.go": """package store

// PostgresStore keeps orders.
type PostgresStore struct {
\tmaxConns int
}

func (s *PostgresStore) SaveOrder(o Order) error {
\treturn s.exec("INSERT INTO orders VALUES ($1)", o)
}
""",
    "web/src/hooks/useCart.ts": """export const CART_LIMIT = 20

export function useCart() {
  return useStore((state) => state.cart)
}
""",
    "web/package.json": '{\n  "scripts": {"dev": "vite"}\n}\n',
    "go.mod": "module shop\n\ngo 1.22\n\nrequire github.com/lib/pq v1.10.9\n",
    "Dockerfile": "FROM golang:1.22\nEXPOSE 8080\n",
    "justfile": "default: build\n\nbuild:\n  go build ./...\n\nrelease:\n  goreleaser\n",
    ".env.example": "API_URL=http://localhost\n",
    "migrations/0007_orders.sql": "ALTER TABLE orders ADD COLUMN note text;\n",
    "README.md": "# Shop\n\nStart with `just build`.\n",
}


def _split_store(repository: Repository) -> None:
    repository.delete("internal/store/postgres.go")
    repository.write("internal/store/orders.go", ASIDE_FILES["internal/store/postgres.go"])
    repository.commit("split")


def _rename_folder(repository: Repository) -> None:
    repository.git("mv", "internal", "pkg")
    repository.commit("internal is pkg now")


def _reformat(repository: Repository) -> None:
    text = (repository.folder / "web/src/hooks/useCart.ts").read_text()
    repository.write("web/src/hooks/useCart.ts", text.replace("  return", "    return"))
    repository.commit("four spaces")


def _hotfix_branch(repository: Repository) -> None:
    repository.switch("hotfix-42")
    repository.replace("cmd/server/main.go", "8080", "9090")


def _drop_hotfix(repository: Repository) -> None:
    repository.git("checkout", "-q", "main")
    repository.git("branch", "-q", "-D", "hotfix-42")


def _append(path: str, text: str) -> Change:
    def change(repository: Repository) -> None:
        repository.write(path, (repository.folder / path).read_text() + text)
        repository.commit(f"more in {path}")

    return change


_STORE = "internal/store/postgres.go"
_CART = "web/src/hooks/useCart.ts"
ASIDE = (
    Case("Orders are saved by SaveOrder in internal/store/postgres.go",
         _edit(_STORE, "SaveOrder", "Insert"), True, "SaveOrder"),
    Case("PostgresStore (internal/store/postgres.go) is the only store",
         _edit(_STORE, "PostgresStore", "OrderStore"), True, "PostgresStore"),
    Case("see internal/store/postgres.go for the SQL", _split_store, True, "orders.go"),
    Case("see internal/store/postgres.go for the SQL", _rename_folder, True, "pkg/store"),
    Case("The server listens on port 8080 (cmd/server/main.go)",
         _edit("cmd/server/main.go", "8080", "9000"), True),
    Case("Default port: cmd/server/main.go:5",
         _edit("cmd/server/main.go", "defaultPort = 8080", "defaultPort = 9000"), True),
    Case("cmd/server/main.go:8 starts listening",
         _edit("cmd/server/main.go", 'import "net/http"', 'import (\n"net/http"\n)'), True, "line"),
    Case("useCart in web/src/hooks/useCart.ts reads the cart", _delete(_CART), True, "gone"),
    Case("The cart limit is 20, web/src/hooks/useCart.ts",
         _edit(_CART, "CART_LIMIT = 20", "CART_LIMIT = 50"), True),
    Case("web/src/hooks/useCart.ts exports CART_LIMIT",
         _edit(_CART, "CART_LIMIT", "MAX_ITEMS"), True, "CART_LIMIT"),
    Case("We build with Go 1.22", _edit("go.mod", "go 1.22", "go 1.23"), True),
    Case("golang 1.22 is the base image", _edit("Dockerfile", "1.22", "1.23"), True),
    Case("Release by running just release", _edit("justfile", "release:", "publish:"), True),
    Case("The last migration is migrations/0007_orders.sql",
         _delete("migrations/0007_orders.sql"), True, "gone"),
    Case("README.md says how to start", _move("README.md", "docs/README.md"), True, "docs/R"),
    Case("The port fix is on branch hotfix-42",
         _drop_hotfix, True, "hotfix-42", _hotfix_branch),
    Case("cmd/server/main.go listens on 9090", _back_to_main, True, "hotfix-42", _hotfix_branch),
    Case("The environment is described in .env.example", _delete(".env.example"), True, "gone"),
    Case("Start the page with npm run dev in web/package.json",
         _edit("web/package.json", '"dev"', '"start"'), True),
    Case("SaveOrder writes one row, internal/store/postgres.go:9",
         _edit(_STORE, "INSERT INTO orders", "INSERT INTO sales"), True),
    # not stale
    Case("Orders are saved by SaveOrder in internal/store/postgres.go",
         _edit(_STORE, "maxConns int", "maxConns int32"), False),
    Case("PostgresStore (internal/store/postgres.go) is the only store",
         _append(_STORE, "\nfunc (s *PostgresStore) Close() {}\n"), False),
    Case("see internal/store/postgres.go for the SQL", _append(_STORE, "\n// end\n"), False),
    Case("The server listens on port 8080 (cmd/server/main.go)",
         _append("cmd/server/main.go", "\nfunc newRouter() http.Handler { return nil }\n"), False),
    Case("Default port: cmd/server/main.go:5", _append("cmd/server/main.go", "// end\n"), False),
    Case("useCart in web/src/hooks/useCart.ts reads the cart", _reformat, False),
    Case("The cart limit is 20, web/src/hooks/useCart.ts", _reformat, False),
    Case("We build with Go 1.22", _edit("go.mod", "v1.10.9", "v1.10.10"), False),
    Case("golang 1.22 is the base image", _edit("Dockerfile", "EXPOSE 8080", "EXPOSE 9090"), False),
    Case("Release by running just release", _edit("justfile", "goreleaser", "make dist"), False),
    Case("The last migration is migrations/0007_orders.sql",
         _append("migrations/0007_orders.sql", "-- done\n"), False),
    Case("README.md says how to start", _append("README.md", "\nMore.\n"), False),
    Case("The port fix is on branch hotfix-42", _back_to_main, False, prepare=_hotfix_branch),
    Case("Start the page with npm run dev in web/package.json",
         _edit("web/package.json", '"vite"', '"vite --host"'), False),
    Case("Ada reviews and/or merges every Friday at 15:30", _rename_folder, False),
    Case("The API is described at https://example.org/docs/api.html", _rename_folder, False),
    Case("Node 20 is what I use at home", _rename_folder, False),
    Case("Use tabs, not spaces", _reformat, False),
    Case("The environment is described in .env.example",
         _edit(".env.example", "localhost", "127.0.0.1"), False),
    Case("SaveOrder writes one row, internal/store/postgres.go:9",
         _edit(_STORE, "maxConns int", "maxConns int64"), False),
)  # fmt: skip


class Judged(NamedTuple):
    case: Case
    caveats: tuple[str, ...]

    @property
    def is_flagged(self) -> bool:
        return bool(self.caveats)

    @property
    def says_what(self) -> bool:
        return any(self.case.told in caveat for caveat in self.caveats)


def judge(case: Case, files: dict[str, str]) -> Judged:
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory) / "repository"
        folder.mkdir()
        repository = Repository(folder, files)
        if case.prepare:
            case.prepare(repository)
        shelf = NuggetShelf(Path(directory) / "shelf", folder=str(folder), client=COMMAND)
        with shelf:
            note = shelf.create_note("project", "What I know", case.memory)
            case.change(repository)
            recalled = shelf.get_note(note.id)
            return Judged(case, tuple(shelf.caveats(recalled)))


def rows(quick: bool = False, show: bool = False) -> Iterator[dict[str, Any]]:
    for name, cases, files in (("", CASES, FILES), (", aside", ASIDE, ASIDE_FILES)):
        yield from _judge_set(name, [judge(case, files) for case in cases], show)


def _judge_set(name: str, judged: list[Judged], show: bool) -> Iterator[dict[str, Any]]:
    stale = [one for one in judged if one.case.stale]
    valid = [one for one in judged if not one.case.stale]
    flagged = sum(one.is_flagged for one in stale)
    precise = sum(one.is_flagged and one.says_what for one in stale)
    false = sum(one.is_flagged for one in valid)
    for one in judged if show else ():
        if one.is_flagged != one.case.stale or (one.is_flagged and not one.says_what):
            print(f"{one.case.memory} | stale: {one.case.stale} | {one.case.told} | {one.caveats}")
    yield _row(f"stale answers flagged{name}", flagged, len(stale), FLAGGED_GOAL, at_least=True)
    yield _row(f"stale answers that say how{name}", precise, len(stale), 0.9, at_least=True)
    yield _row(f"other answers flagged{name}", false, len(valid), FALSE_GOAL, at_least=False)


def _row(what: str, count: int, of: int, goal: float, *, at_least: bool) -> dict[str, Any]:
    share = count / of
    return {
        "what": what,
        "goal": f"{'≥' if at_least else '≤'} {goal:.0%}",
        "measured": f"{share:.1%} ({count} of {of})",
        "reached": share >= goal if at_least else share <= goal,
    }


def main() -> None:
    for row in rows(show="--list" in sys.argv):
        print(line(row))


if __name__ == "__main__":
    main()
