// Where notes lie: regions of nuggets at first, and a free place beside the others for each note that comes later.

const GOLDEN = Math.PI * (3 - Math.sqrt(5));
const GAP = 10; // between two notes

// Each nugget gets a disc as large as it is full; the discs are laid out on a spiral of their own.
export function regions(groups, radii, tall) {
  const sizes = [];
  groups.forEach((group, i) => (sizes[group] = (sizes[group] ?? 0) + (radii[i] + 7) ** 2));
  const order = [...sizes.keys()].sort((a, b) => (sizes[b] ?? 0) - (sizes[a] ?? 0));
  const [wide, high] = tall ? [5, 9] : [9, 7];
  const discs = [];
  const centres = [];
  for (const group of order) {
    const r = 1.55 * Math.sqrt(sizes[group] ?? 0) + 22;
    let disc = { x: 0, y: 0, r };
    for (let turn = 0; discs.some((other) => Math.hypot(other.x - disc.x, other.y - disc.y) < other.r + r); turn += 0.25)
      disc = { x: wide * turn * Math.cos(turn), y: high * turn * Math.sin(turn), r };
    discs.push(disc);
    centres[group] = disc;
  }
  return centres;
}

// Every note around the middle of its nugget, like seeds in a sunflower: the same graph, the same picture.
export function placeAll(positions, groups, centres) {
  const counts = new Map();
  groups.forEach((group, i) => {
    const nth = counts.get(group) ?? 0;
    counts.set(group, nth + 1);
    const distance = 11 * Math.sqrt(nth + 0.5);
    positions[2 * i] = centres[group].x + distance * Math.cos(nth * GOLDEN);
    positions[2 * i + 1] = centres[group].y + distance * Math.sin(nth * GOLDEN);
  });
}

// The middle of each nugget that has notes with a place.
export function centroids(positions, groups) {
  const centres = [];
  groups.forEach((group, i) => {
    if (Number.isNaN(positions[2 * i])) return;
    const centre = (centres[group] ??= { x: 0, y: 0, count: 0 });
    centre.count += 1;
    centre.x += (positions[2 * i] - centre.x) / centre.count;
    centre.y += (positions[2 * i + 1] - centre.y) / centre.count;
  });
  return centres;
}

// Gives every note without a place the nearest free one to its linked notes, else to its nugget, else outside.
export function placeNew(positions, groups, radii, neighbours, centres) {
  const grid = new Grid(positions, radii);
  groups.forEach((group, i) => {
    if (!Number.isNaN(positions[2 * i])) return;
    const linked = [...neighbours[i]].filter((j) => !Number.isNaN(positions[2 * j]));
    const isNewRegion = !linked.length && !centres[group];
    const near = linked.length ? meanOf(positions, linked) : (centres[group] ?? { x: 0, y: 0 });
    const place = grid.freeNear(near.x, near.y, radii[i] + (isNewRegion ? 6 * GAP : GAP));
    positions[2 * i] = place.x;
    positions[2 * i + 1] = place.y;
    centres[group] ??= place;
    grid.add(i);
  });
}

function meanOf(positions, members) {
  const sum = (axis) => members.reduce((total, i) => total + positions[2 * i + axis], 0) / members.length;
  return { x: sum(0), y: sum(1) };
}

const CELL = 60;
class Grid {
  constructor(positions, radii) {
    this.positions = positions;
    this.radii = radii;
    this.largest = radii.reduce((a, b) => Math.max(a, b), 0);
    this.cells = new Map();
    for (let i = 0; i < radii.length; i++) if (!Number.isNaN(positions[2 * i])) this.add(i);
  }

  add(i) {
    const key = cellKey(this.positions[2 * i], this.positions[2 * i + 1]);
    if (!this.cells.has(key)) this.cells.set(key, []);
    this.cells.get(key).push(i);
  }

  freeNear(x, y, room) {
    for (let turn = 0; ; turn++) {
      const distance = 9 * Math.sqrt(turn);
      const place = { x: x + distance * Math.cos(turn * GOLDEN), y: y + distance * Math.sin(turn * GOLDEN) };
      if (this.isFree(place, room)) return place;
    }
  }

  isFree({ x, y }, room) {
    const reach = room + this.largest;
    for (let cx = x - reach; cx < x + reach + CELL; cx += CELL)
      for (let cy = y - reach; cy < y + reach + CELL; cy += CELL)
        for (const i of this.cells.get(cellKey(cx, cy)) ?? [])
          if (Math.hypot(this.positions[2 * i] - x, this.positions[2 * i + 1] - y) < room + this.radii[i]) return false;
    return true;
  }
}

function cellKey(x, y) {
  return Math.floor(x / CELL) * 100003 + Math.floor(y / CELL);
}
