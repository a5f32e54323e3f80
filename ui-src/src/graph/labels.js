// Names in the picture: of notes where there is room, of nuggets from afar.
import { plainLabel, short } from "../words.js";
import { radius, SMALL } from "./painter.js";

const HIGH = 15; // of a line
const HIGH_NAME = 18; // of the name of a nugget
const LINES = [0, 1, -1, 2, -2, 3, -3]; // by which it may be moved, so that it covers no name of a larger nugget
const BUDGET = { narrow: 30, wide: 80 };

// The most telling notes are named, as many as have room beside the notes themselves.
export function drawLabels(context, scene, place, look, camera, inside, width) {
  const small = scene.nodes.length < SMALL;
  const room = new Room();
  const seen = (i) => look.isShown(i) && inside(i);
  if (small) scene.nodes.forEach((_, i) => seen(i) && room.take(around(place, i, radius(scene, camera, i))));
  let left = width < 500 ? BUDGET.narrow : BUDGET.wide;
  context.font = `500 12px ${look.font}`;
  context.textAlign = "center";
  context.textBaseline = "top";
  context.lineJoin = "round";
  context.lineWidth = 3.5;
  for (const i of look.order) {
    const named = look.isNamed(i);
    if (!left || (!named && scene.radii[i] * camera.k < look.leastNamed)) break; // the rest is smaller
    if (!seen(i) || (look.dims && !named)) continue;
    const text = short(plainLabel(scene.nodes[i].title), 30);
    const spots = beside(place, i, radius(scene, camera, i) + (i === look.chosen ? 7 : 4), context.measureText(text).width);
    const spot = (small ? spots : spots.slice(0, 1)).find((box) => box.x > 2 && box.x + box.wide < width - 2 && room.isFree(box)) ?? (i === look.chosen ? spots[0] : null);
    if (!spot) continue;
    room.take(spot);
    context.strokeStyle = look.colours.ground;
    context.strokeText(text, spot.x + spot.wide / 2, spot.y + 1);
    context.fillStyle = named ? look.colours.ink : look.colours.soft;
    context.fillText(text, spot.x + spot.wide / 2, spot.y + 1);
    left -= 1;
  }
}

// From afar, names of notes would be a blur; those of nuggets say where to look.
export function drawRegions(context, scene, place, look) {
  const regions = new Map();
  for (let i = 0; i < scene.nodes.length; i++) {
    if (!look.isShown(i)) continue;
    const name = scene.nodes[i].nugget;
    const region = regions.get(name) ?? { x: 0, y: 0, count: 0 };
    region.x += place[2 * i];
    region.y += place[2 * i + 1];
    region.count += 1;
    regions.set(name, region);
  }
  context.font = `650 15px ${look.font}`;
  context.textBaseline = "middle";
  context.lineWidth = 5;
  const room = new Room();
  for (const [name, { x, y, count }] of [...regions].sort((a, b) => b[1].count - a[1].count)) {
    const text = short(plainLabel(name), 24);
    const wide = context.measureText(text).width;
    const spot = LINES.map((lines) => ({ x: x / count - wide / 2, y: y / count + (lines - 0.5) * HIGH_NAME, wide, high: HIGH_NAME }))
      .find((box) => room.isFree(box));
    if (!spot) continue;
    room.take(spot);
    const middle = spot.y + HIGH_NAME / 2;
    context.globalAlpha = 0.85;
    context.strokeStyle = look.colours.ground;
    context.strokeText(text, x / count, middle);
    context.globalAlpha = 1;
    context.fillStyle = look.colours.ink;
    context.fillText(text, x / count, middle);
  }
}

function around(place, i, r) {
  return { x: place[2 * i] - r, y: place[2 * i + 1] - r, wide: 2 * r, high: 2 * r };
}

// Where a name may stand, the best place first: below, above, right, left.
function beside(place, i, away, wide) {
  const x = place[2 * i], y = place[2 * i + 1];
  return [[x - wide / 2, y + away], [x - wide / 2, y - away - HIGH], [x + away + 2, y - HIGH / 2], [x - away - 2 - wide, y - HIGH / 2]]
    .map(([left, top]) => ({ x: left, y: top, wide, high: HIGH }));
}

// Which places are taken, in cells so that asking stays cheap.
const CELL = 64;
class Room {
  constructor() {
    this.cells = new Map();
  }

  take(box) {
    for (const key of cellsOf(box)) {
      if (!this.cells.has(key)) this.cells.set(key, []);
      this.cells.get(key).push(box);
    }
  }

  isFree(box) {
    return !cellsOf(box).some((key) => this.cells.get(key)?.some((other) => overlap(box, other)));
  }
}

function cellsOf({ x, y, wide, high }) {
  const keys = [];
  for (let cx = Math.floor(x / CELL); cx <= Math.floor((x + wide) / CELL); cx++)
    for (let cy = Math.floor(y / CELL); cy <= Math.floor((y + high) / CELL); cy++) keys.push(cx * 100003 + cy);
  return keys;
}

function overlap(a, b) {
  return a.x < b.x + b.wide && b.x < a.x + a.wide && a.y < b.y + b.high && b.y < a.y + a.high;
}
