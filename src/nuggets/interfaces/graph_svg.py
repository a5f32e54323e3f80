"""The graph as an SVG image, without a browser. The same notes always give the same image."""

from collections.abc import Sequence
from math import cos, pi, sin, sqrt
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

from nuggets.domain.records import MemoryNote
from nuggets.interfaces.display_text import pluralize

if TYPE_CHECKING:
    from numpy.typing import NDArray

COLOURS = (  # apart from each other, on light and on dark ground
    *("#c2603f", "#0f8f9c", "#4b965a", "#6a76c4", "#b5568f", "#a67c1e"),
    *("#3f86c0", "#8d66b8", "#768a2c", "#c25a6a", "#2f9379", "#8a6d5a"),
)
LABELLED_NOTES = 60  # notes with a label, those recalled and linked most
LEGEND = 12  # nuggets listed
LABEL_CHARACTERS = 32
SPACE = 46.0  # between linked notes at rest
PUSH = 650.0  # how strongly notes keep apart
GOLDEN = pi * (3 - sqrt(5))
PAIRS = 100_000_000  # distances that one drawing may take: about two seconds
ROWS = 512  # distances are taken for so many notes at a time, which bounds the memory
MARGIN = 48
UNPRINTABLE = {code: "�" for code in (*range(32), 0x7F, *range(0x202A, 0x202F), 0xFFFE, 0xFFFF)}
UNPRINTABLE |= {code: "�" for code in range(0x2066, 0x206A)}

STYLE = """
svg { background: #fbfaf7; font: 12px system-ui, sans-serif; }
line { stroke: #8a8170; stroke-opacity: .4; }
circle { stroke: #fbfaf7; stroke-width: 1.5; }
circle.archived { fill: none; stroke-dasharray: 3 2.5; }
text { fill: #4c473e; text-anchor: middle; paint-order: stroke; }
text { stroke: #fbfaf7; stroke-width: 3px; }
text.legend { text-anchor: start; }
@media (prefers-color-scheme: dark) {
  svg { background: #15161a; }
  circle { stroke: #15161a; }
  text { fill: #c9c5bb; stroke: #15161a; }
}
"""


def svg(notes: Sequence[MemoryNote], width: int = 1200, height: int = 800) -> str:
    """The notes and the links between them as SVG; links to other notes are left out."""
    nuggets = sorted({note.nugget_name for note in notes})
    colours = {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(_by_age(notes))}
    number = {note.id: i for i, note in enumerate(notes)}
    links = _links(notes, number)
    degrees = [0] * len(notes)
    for a, b, _ in links:
        degrees[a] += 1
        degrees[b] += 1
    radii = [4 + 1.9 * sqrt(n.hits) + 0.7 * sqrt(d) for n, d in zip(notes, degrees, strict=True)]
    scale, places = _fit(_arrange(notes, nuggets, links), width, height)
    radii = [radius * max(0.4, min(1.3, scale)) for radius in radii]
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img">',
        f"<title>{pluralize(len(notes), 'note')}, {pluralize(len(links), 'link')}</title>",
        f"<style>{STYLE}</style>",
    ]
    for a, b, reason in links:
        (x1, y1), (x2, y2) = places[a], places[b]
        lines.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}">'
            f"<title>{_text(reason)}</title></line>"
        )
    for note, (x, y), radius in zip(notes, places, radii, strict=True):
        colour = colours[note.nugget_name]
        look = f'class="archived" stroke="{colour}"' if note.hidden else f'fill="{colour}"'
        if note.hidden:
            look += f" style={quoteattr(f'stroke:{colour}')}"
        lines.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" {look}>'
            f"<title>{_text(note.title)} · {_text(note.nugget_name)}</title></circle>"
        )
    lines += _labels(notes, places, radii)
    for i, name in enumerate(nuggets[:LEGEND]):
        y = 26 + 20 * i
        lines.append(f'<circle cx="24" cy="{y - 4}" r="5" fill="{colours[name]}"/>')
        lines.append(f'<text class="legend" x="36" y="{y}">{_text(name)}</text>')
    return "\n".join([*lines, "</svg>", ""])


def _by_age(notes: Sequence[MemoryNote]) -> list[str]:
    """The nuggets, the one with the oldest note first: a new one recolours no other."""
    oldest: dict[str, str] = {}
    for note in notes:
        name = note.nugget_name
        oldest[name] = min(oldest.get(name, note.created_at), note.created_at)
    return sorted(oldest, key=lambda name: (oldest[name], name))


def _labels(
    notes: Sequence[MemoryNote], places: Sequence[tuple[float, float]], radii: Sequence[float]
) -> list[str]:
    """Names under the most telling notes, as long as they find room."""
    drawn: list[tuple[float, float, float]] = []
    lines = []
    for i in sorted(range(len(notes)), key=lambda i: (-radii[i], notes[i].id))[
        : 5 * LABELLED_NOTES
    ]:
        x, y = places[i][0], places[i][1] + radii[i] + 13
        text = _text(notes[i].title, LABEL_CHARACTERS)
        half = 3.4 * len(text)
        free = all(abs(y - b) > 14 or abs(x - a) > half + other_half for a, b, other_half in drawn)
        if free and len(drawn) < LABELLED_NOTES:
            drawn.append((x, y, half))
            lines.append(f'<text x="{x:.1f}" y="{y:.1f}">{text}</text>')
    return lines


def _links(notes: Sequence[MemoryNote], number: dict[str, int]) -> list[tuple[int, int, str]]:
    """Each link once, although both of its ends hold it."""
    links: dict[tuple[int, int, str], None] = {}
    for a, note in enumerate(notes):
        for link in note.links:
            b = number.get(link.to, a)
            if a != b:
                links[(min(a, b), max(a, b), link.reason)] = None
    return list(links)


def _arrange(
    notes: Sequence[MemoryNote], nuggets: list[str], links: list[tuple[int, int, str]]
) -> "NDArray[Any]":
    """Places in no particular unit: linked notes attract, all others keep their distance."""
    import numpy as np

    homes = {name: np.array(home) for name, home in zip(nuggets, _homes(notes), strict=True)}
    centres = np.array([homes[note.nugget_name] for note in notes]).reshape(-1, 2)
    places: NDArray[Any] = centres + np.array(_spirals(notes)).reshape(-1, 2)
    places, centres = places.astype(np.float32), centres.astype(np.float32)
    ends = np.array([(a, b) for a, b, _ in links], dtype=int).reshape(-1, 2)
    rounds = min(160, max(6, PAIRS // max(1, len(notes) ** 2)))
    for step in range(rounds):
        moves = 0.06 * (centres - places) + _repulsion(places)
        apart = places[ends[:, 0]] - places[ends[:, 1]]
        length = np.sqrt((apart**2).sum(1, keepdims=True)) + 1e-9
        pull = 0.12 * apart * (1 - SPACE / length)
        np.add.at(moves, ends[:, 0], -pull)
        np.add.at(moves, ends[:, 1], pull)
        reach = np.sqrt((moves**2).sum(1, keepdims=True)) + 1e-9
        hottest = 30.0 * (1 - step / rounds) + 0.5
        places = places + moves * np.minimum(1.0, hottest / reach)
    return places


def _repulsion(places: "NDArray[Any]") -> "NDArray[Any]":
    """Everyone pushes everyone near: Σ w·(here - there), as products of matrices."""
    import numpy as np

    moves = np.zeros_like(places)
    squares = (places**2).sum(1)
    for start in range(0, len(places), ROWS):
        some = places[start : start + ROWS]
        squared = squares[start : start + ROWS, None] + squares[None, :] - 2 * some @ places.T
        weight = PUSH / (np.maximum(squared, 0) + 30)
        weight[squared > (8 * SPACE) ** 2] = 0
        moves[start : start + ROWS] = some * weight.sum(1, keepdims=True) - weight @ places
    return moves


def _homes(notes: Sequence[MemoryNote]) -> list[tuple[float, float]]:
    """The middle of each nugget, by name: on a spiral, as far out as the ones before are large."""
    counts: dict[str, int] = {}
    for note in notes:
        counts[note.nugget_name] = counts.get(note.nugget_name, 0) + 1
    taken: list[tuple[float, float, float]] = []
    homes: dict[str, tuple[float, float]] = {}
    for name in sorted(counts, key=lambda name: (-counts[name], name)):
        radius, turn, x, y = 26 * sqrt(counts[name]) + 30, 0.0, 0.0, 0.0
        while any((x - a) ** 2 + (y - b) ** 2 < (radius + r) ** 2 for a, b, r in taken):
            turn += 0.25
            x, y = 10 * turn * cos(turn), 7 * turn * sin(turn)
        taken.append((x, y, radius))
        homes[name] = (x, y)
    return [homes[name] for name in sorted(homes)]


def _spirals(notes: Sequence[MemoryNote]) -> list[tuple[float, float]]:
    """Where notes start around the middle of their nugget: like seeds in a sunflower."""
    counts: dict[str, int] = {}
    starts = []
    for note in notes:
        nth = counts.get(note.nugget_name, 0)
        counts[note.nugget_name] = nth + 1
        away = 17 * sqrt(nth + 0.5)
        starts.append((away * cos(nth * GOLDEN), away * sin(nth * GOLDEN)))
    return starts


def _fit(
    places: "NDArray[Any]", width: int, height: int
) -> tuple[float, list[tuple[float, float]]]:
    """Positions moved and scaled into the image, and the scale, which has an upper limit."""
    if not len(places):
        return 1.0, []
    low, high = places.min(0), places.max(0)
    room = max(1, width - 2 * MARGIN), max(1, height - 2 * MARGIN)
    scale = min(1.3, *(room[k] / max(1e-9, float(high[k] - low[k])) for k in (0, 1)))
    middle = (low + high) / 2
    return scale, [
        (width / 2 + scale * float(x - middle[0]), height / 2 + scale * float(y - middle[1]))
        for x, y in places
    ]


def _text(text: str, most: int = 200) -> str:
    """One line that XML can hold and that cannot turn its surroundings around."""
    flat = " ".join(text.split()).translate(UNPRINTABLE)
    return escape(flat if len(flat) <= most else flat[: most - 1] + "…")
