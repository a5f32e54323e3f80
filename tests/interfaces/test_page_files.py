"""The page's files as they are shipped: built from the sources beside them, small, and alone."""

import gzip
import hashlib
import json
import re
from pathlib import Path

from nuggets.interfaces.rest import PAGE

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "ui-src"
BUILT = Path(PAGE)
COMPRESSED_BYTES = 400_000


def digest() -> str:
    """As ui-src/build.mjs takes it."""
    found = hashlib.sha256()
    names = [SOURCES / "package.json", SOURCES / "build.mjs"]
    names += [path for path in (SOURCES / "src").rglob("*") if path.is_file()]
    for path in sorted(names, key=str):
        found.update(path.relative_to(SOURCES).as_posix().encode() + b"\0")
        found.update(path.read_bytes() + b"\0")
    return found.hexdigest()


def test_the_bundle_was_built_from_these_sources() -> None:
    for name in ("app.js", "layout.js"):
        assert f"sources {digest()}" in (BUILT / name).read_text()[:120], "npm run build in ui-src"


def test_every_version_that_is_bundled_is_pinned_and_its_notice_shipped() -> None:
    package = json.loads((SOURCES / "package.json").read_text())
    notices = (BUILT / "licenses.txt").read_text()

    for name, version in {**package["dependencies"], **package["devDependencies"]}.items():
        assert re.fullmatch(r"\d+\.\d+\.\d+", version), name
    for name, version in package["dependencies"].items():
        assert f"{name} {version}\n" in notices
    assert not list(SOURCES.glob("*lock*"))


def test_all_files_together_are_small() -> None:
    sizes = [len(gzip.compress(path.read_bytes(), 9)) for path in BUILT.iterdir()]

    assert 10_000 < sum(sizes) <= COMPRESSED_BYTES


def test_the_page_refers_to_no_other_host_and_has_no_script_of_its_own() -> None:
    page = (BUILT / "index.html").read_text()
    style = (BUILT / "style.css").read_text()

    assert not re.search(r"https?://|//\w", page)
    assert not re.search(r"<script(?![^>]*\bsrc=)|\son\w+=|\sstyle=", page)
    assert not re.search(r"url\(|@import", style)
