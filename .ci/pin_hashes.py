"""Writes `hashes.txt`: the files of every version in `constraints.txt`, by SHA-256, no addresses.

python .ci/pin_hashes.py

pip is asked which file it would install for each Python and system that Nuggets is made for; it
downloads none of them. Run it after a change of `constraints.txt`.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from itertools import product

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PYTHONS = ("3.11", "3.12", "3.13")
OLD_LINUX = (28, 27, 26, 24, 17)  # versions of glibc that wheels are built for
SYSTEMS = {
    "Linux x86_64": [f"manylinux_2_{n}_x86_64" for n in OLD_LINUX] + ["manylinux2014_x86_64"],
    "Linux aarch64": [f"manylinux_2_{n}_aarch64" for n in OLD_LINUX] + ["manylinux2014_aarch64"],
    "macOS arm64": ["macosx_14_0_arm64"],
}
HEAD = """# SHA-256 of the files that pip installs for the versions in constraints.txt,
# for Python {pythons} on {systems}. No addresses: any index will do.
# Used by `make setup REQUIRE_HASHES=1`; written by .ci/pin_hashes.py.
"""


def files_for(python: str, platforms: list[str]) -> dict[str, str]:
    """`name==version` -> SHA-256 of the wheel."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--no-deps"]
        command += ["--ignore-installed", "--only-binary=:all:", "--python-version", python]
        for platform in platforms:
            command += ["--platform", platform]
        command += ["--target", folder, "--report", report]
        subprocess.run([*command, "-r", os.path.join(ROOT, "constraints.txt")], check=True)
        with open(report, encoding="utf-8") as file:
            found = json.load(file)["install"]
    return {
        f"{one['metadata']['name']}=={one['metadata']['version']}": one["download_info"][
            "archive_info"
        ]["hashes"]["sha256"]
        for one in found
    }


def main() -> None:
    hashes: dict[str, set[str]] = defaultdict(set)
    with ThreadPoolExecutor(3) as workers:
        for files in workers.map(files_for, *zip(*product(PYTHONS, SYSTEMS.values()), strict=True)):
            for pin, digest in files.items():
                hashes[pin].add(digest)
    lines = [HEAD.format(pythons=", ".join(PYTHONS), systems=", ".join(SYSTEMS))]
    for pin in sorted(hashes, key=str.lower):
        lines.append(" \\\n    ".join([pin, *(f"--hash=sha256:{h}" for h in sorted(hashes[pin]))]))
        lines.append("\n")
    with open(os.path.join(ROOT, "hashes.txt"), "w", encoding="utf-8") as file:
        file.write("".join(lines))


if __name__ == "__main__":
    main()
