// Where notes lie before anything has moved them: a first picture at once, the same every time.

const GOLDEN = Math.PI * (3 - Math.sqrt(5));

// Each nugget gets a disc as large as it is full; the discs are laid out on a spiral of their own.
export function regions(groups, radii, tall) {
  const sizes = [];
  groups.forEach((group, i) => (sizes[group] = (sizes[group] ?? 0) + (radii[i] + 7) ** 2));
  const order = [...sizes.keys()].sort((a, b) => sizes[b] - sizes[a]);
  const [wide, high] = tall ? [5, 9] : [9, 7];
  const placed = [];
  const centres = [];
  for (const group of order) {
    const r = 1.55 * Math.sqrt(sizes[group] ?? 0) + 22;
    let place = { x: 0, y: 0, r };
    for (let turn = 0; placed.some((p) => Math.hypot(p.x - place.x, p.y - place.y) < p.r + r); turn += 0.25)
      place = { x: wide * turn * Math.cos(turn), y: high * turn * Math.sin(turn), r };
    placed.push(place);
    centres[group] = place;
  }
  return centres;
}

// Gives every note without a place one around the middle of its nugget, like seeds in a sunflower.
export function start(positions, groups, radii, tall) {
  const centres = regions(groups, radii, tall);
  const within = new Map();
  groups.forEach((group, i) => {
    const nth = within.get(group) ?? 0;
    within.set(group, nth + 1);
    if (!Number.isNaN(positions[2 * i])) return;
    const away = 11 * Math.sqrt(nth + 0.5);
    positions[2 * i] = centres[group].x + away * Math.cos(nth * GOLDEN);
    positions[2 * i + 1] = centres[group].y + away * Math.sin(nth * GOLDEN);
  });
}
