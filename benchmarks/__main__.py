"""All measurements as one table: what, goal, measured, and the baseline of the same run."""

import argparse
import json
import os
import platform
import sys
from importlib import import_module
from typing import Any

PARTS = (
    "engine",
    "facts",
    "stores",
    "exports",
    "importing",
    "search",
    "reflection",
    "agents",
    "web",
)
# What an agent's user notices over weeks; `python -m benchmarks.agents` is the report of these.
DAILY_USE = (
    *("everyday", "session_start", "credentials", "sessions"),
    *("staleness", "contradictions"),
)
LABELLED = ("answers", "recall", "clean_up", *DAILY_USE, "unknown")


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "part",
        nargs="*",
        choices=[[], *PARTS, *LABELLED],
        help=f"of {', '.join((*PARTS, *LABELLED))}",
    )
    parser.add_argument("--quick", action="store_true", help="smaller sizes, fewer repeats")
    parser.add_argument("--large", action="store_true", help="the engine with 1,000,000 notes too")
    parser.add_argument("--json", metavar="FILE", help="also write the rows there")
    options = parser.parse_args(argv)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # cold starts are measured with bytecode
    rows: list[dict[str, Any]] = []
    for part in options.part or (*PARTS, *LABELLED):
        print(f"\n{part}", flush=True)
        more = {"large": True} if options.large and part == "engine" else {}
        for row in import_module(f"benchmarks.{part}").rows(options.quick, **more):
            rows.append({"part": part, **row})
            print(line(row), flush=True)
    if options.json:
        machine = {
            "python": platform.python_version(),
            "system": f"{platform.system()} {platform.machine()}",
        }
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"machine": machine, "rows": rows}, file, indent=1)
    return 0 if all(row.get("reached", True) for row in rows) else 1


def line(row: dict[str, Any]) -> str:
    mark = {True: "✓", False: "✗"}.get(row.get("reached"), " ")  # type: ignore[arg-type]
    baseline = f"  ({row['baseline']})" if row.get("baseline") else ""
    return f"  {mark} {row['what']:58} goal {row['goal']:>16}  measured {row['measured']}{baseline}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
