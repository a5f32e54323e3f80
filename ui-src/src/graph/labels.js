// Names in the picture: of notes where there is room, of nuggets from afar.
import { plainLabel, short } from "../words.js";
import { radius } from "./painter.js";

// The most telling notes are named, as many as have room; whoever is pointed at, always.
export function drawLabels(context, scene, place, look, camera, inside, width) {
  const room = new Set();
  const budget = width < 500 ? 24 : 70;
  let drawn = 0;
  context.font = `500 12px ${look.font}`;
  context.textAlign = "center";
  context.textBaseline = "top";
  context.lineJoin = "round";
  context.lineWidth = 3.5;
  for (const i of look.order) {
    if (!look.isShown(i) || !inside(i)) continue;
    const must = look.isNamed(i);
    if (drawn >= budget && !must) break;
    if (look.dims && !look.isLit(i) && !must) continue;
    if (!must && scene.radii[i] * camera.k < look.leastNamed) continue;
    const text = short(plainLabel(scene.nodes[i].title), 30);
    const x = place[2 * i], y = place[2 * i + 1] + radius(scene, camera, i) + (look.isNamed(i) ? 8 : 5);
    if (!claims(room, x, y, text.length * 6.4, must)) continue;
    context.strokeStyle = look.colours.ground;
    context.strokeText(text, x, y);
    context.fillStyle = must ? look.colours.ink : look.colours.soft;
    context.fillText(text, x, y);
    drawn += 1;
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
  for (const [name, { x, y, count }] of regions) {
    const text = short(plainLabel(name), 24);
    context.globalAlpha = 0.85;
    context.strokeStyle = look.colours.ground;
    context.strokeText(text, x / count, y / count);
    context.globalAlpha = 1;
    context.fillStyle = look.colours.ink;
    context.fillText(text, x / count, y / count);
  }
}

const CELL_X = 24;
const CELL_Y = 15;
function claims(room, x, y, wide, must) {
  const cells = [];
  for (let cx = Math.floor((x - wide / 2) / CELL_X); cx <= Math.floor((x + wide / 2) / CELL_X); cx++)
    for (let cy = Math.floor((y - 2) / CELL_Y); cy <= Math.floor((y + 11) / CELL_Y); cy++) cells.push(cx * 100003 + cy);
  if (!must && cells.some((cell) => room.has(cell))) return false;
  for (const cell of cells) room.add(cell);
  return true;
}
