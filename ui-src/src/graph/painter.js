// Draws a scene on a canvas. A large one is drawn once, wider than the window, and that picture is
// moved while the hand moves; when the hand rests it is drawn sharp again.
import { drawLabels, drawRegions } from "./labels.js";

const MARGIN = 0.4; // of the window, drawn beyond each edge
export const SMALL = 1200; // notes up to which every frame is drawn anew
const TAU = 2 * Math.PI;

export class Painter {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.stored = document.createElement("canvas");
    this.storedAt = null;
    this.width = 1;
    this.height = 1;
    this.ratio = 1;
  }

  resize(width, height, ratio) {
    this.width = width;
    this.height = height;
    this.ratio = Math.min(ratio, 2);
    this.canvas.width = Math.round(width * this.ratio);
    this.canvas.height = Math.round(height * this.ratio);
    this.storedAt = null;
  }

  stale() {
    this.storedAt = null;
  }

  // `look`: colours, who is shown, lit, chosen, hovered. `moving`: a hand is on it.
  paint(scene, camera, look, moving) {
    if (scene.nodes.length < SMALL) {
      this.draw(this.context, scene, camera, look, this.width, this.height);
      return;
    }
    const usable = this.storedAt && (moving ? covers(this.storedAt, camera, this.width, this.height) : false);
    if (!usable) this.store(scene, camera, look);
    this.showStored(camera);
  }

  store(scene, camera, look) {
    const wide = Math.round(this.width * (1 + 2 * MARGIN));
    const high = Math.round(this.height * (1 + 2 * MARGIN));
    this.stored.width = Math.round(wide * this.ratio);
    this.stored.height = Math.round(high * this.ratio);
    const shifted = { k: camera.k, x: camera.x + this.width * MARGIN, y: camera.y + this.height * MARGIN };
    this.draw(this.stored.getContext("2d"), scene, shifted, look, wide, high);
    this.storedAt = { ...camera };
  }

  showStored(camera) {
    const { context, ratio } = this;
    const scale = camera.k / this.storedAt.k;
    const x = camera.x - (this.storedAt.x + this.width * MARGIN) * scale;
    const y = camera.y - (this.storedAt.y + this.height * MARGIN) * scale;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    context.imageSmoothingEnabled = scale !== 1;
    context.drawImage(this.stored, x, y, (this.stored.width / ratio) * scale, (this.stored.height / ratio) * scale);
  }

  draw(context, scene, camera, look, width, height) {
    const { ratio } = this;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    if (!scene.nodes.length) return;
    const place = project(scene, camera);
    const inside = (i) => place[2 * i] > -60 && place[2 * i] < width + 60 && place[2 * i + 1] > -60 && place[2 * i + 1] < height + 60;
    if (scene.nodes.length < SMALL) drawGround(context, scene, place, look, camera, inside);
    drawLinks(context, scene, place, look, camera, inside);
    drawNodes(context, scene, place, look, camera, inside);
    drawLabels(context, scene, place, look, camera, inside, width);
    if (scene.nodes.length > 150 && camera.k < 0.7 && !look.dims) drawRegions(context, scene, place, look);
  }
}

function covers(from, to, width, height) {
  const scale = to.k / from.k;
  if (scale > 1.8 || scale < 0.6) return false;
  const left = to.x - (from.x + width * MARGIN) * scale;
  const top = to.y - (from.y + height * MARGIN) * scale;
  const over = 1 + 2 * MARGIN;
  return left <= 0 && top <= 0 && left + width * over * scale >= width && top + height * over * scale >= height;
}

function project(scene, { k, x, y }) {
  const place = new Float32Array(scene.positions.length);
  for (let i = 0; i < place.length; i += 2) {
    place[i] = scene.positions[i] * k + x;
    place[i + 1] = scene.positions[i + 1] * k + y;
  }
  return place;
}

// A glow around the notes of a nugget, so that regions are seen before notes are read.
function drawGround(context, scene, place, look, camera, inside) {
  for (let i = 0; i < scene.nodes.length; i++) {
    if (!look.isShown(i) || !inside(i) || (look.dims && !look.isLit(i))) continue;
    const r = (scene.radii[i] + 52) * Math.min(1.4, camera.k);
    context.drawImage(glow(look.colourOf(i)), place[2 * i] - r, place[2 * i + 1] - r, 2 * r, 2 * r);
  }
}

const GLOW = 128;
const glows = new Map();
function glow(colour) {
  if (!glows.has(colour)) {
    const sprite = document.createElement("canvas");
    sprite.width = sprite.height = GLOW;
    const context = sprite.getContext("2d");
    const fade = context.createRadialGradient(GLOW / 2, GLOW / 2, 0, GLOW / 2, GLOW / 2, GLOW / 2);
    for (const [at, alpha] of [[0, 0.2], [0.35, 0.13], [0.7, 0.035], [1, 0]])
      fade.addColorStop(at, colour.replace(")", ` / ${alpha})`));
    context.fillStyle = fade;
    context.fillRect(0, 0, GLOW, GLOW);
    glows.set(colour, sprite);
  }
  return glows.get(colour);
}

function drawLinks(context, scene, place, look, camera, inside) {
  const strong = [];
  context.beginPath();
  for (const link of scene.links) {
    if (!look.isShown(link.a) || !look.isShown(link.b) || (!inside(link.a) && !inside(link.b))) continue;
    if (look.isStrong(link)) {
      strong.push(link);
      continue;
    }
    context.moveTo(place[2 * link.a], place[2 * link.a + 1]);
    context.lineTo(place[2 * link.b], place[2 * link.b + 1]);
  }
  context.lineWidth = Math.max(0.6, Math.min(1.4, camera.k));
  context.strokeStyle = look.colours.link;
  const crowded = Math.max(0.3, Math.min(1, 2500 / scene.links.length)); // or thousands become a fog
  context.globalAlpha = look.dims ? 0.25 : crowded;
  context.stroke();
  context.globalAlpha = 1;
  if (!strong.length) return;
  context.beginPath();
  for (const link of strong) {
    context.moveTo(place[2 * link.a], place[2 * link.a + 1]);
    context.lineTo(place[2 * link.b], place[2 * link.b + 1]);
  }
  context.lineWidth = Math.max(1.2, 1.8 * Math.min(1, camera.k));
  context.strokeStyle = look.colours.strong;
  context.stroke();
}

function drawNodes(context, scene, place, look, camera, inside) {
  const groups = new Map();
  for (let i = 0; i < scene.nodes.length; i++) {
    if (!look.isShown(i) || !inside(i)) continue;
    const faded = look.dims && !look.isLit(i);
    const key = `${look.colourOf(i)}|${scene.nodes[i].hidden ? "h" : ""}${faded ? "f" : ""}`;
    if (!groups.has(key)) groups.set(key, { colour: look.colourOf(i), hidden: scene.nodes[i].hidden, faded, members: [] });
    groups.get(key).members.push(i);
  }
  const ordered = [...groups.values()].sort((a, b) => Number(b.faded) - Number(a.faded));
  for (const { colour, hidden, faded, members } of ordered) {
    context.beginPath();
    for (const i of members) {
      const r = radius(scene, camera, i);
      context.moveTo(place[2 * i] + r, place[2 * i + 1]);
      context.arc(place[2 * i], place[2 * i + 1], r, 0, TAU);
    }
    context.globalAlpha = faded ? 0.16 : 1;
    if (hidden) {
      context.setLineDash([3, 2.5]);
      context.strokeStyle = colour;
      context.lineWidth = 1.4;
      context.stroke();
      context.setLineDash([]);
    } else {
      context.fillStyle = colour;
      context.fill();
      if (scene.nodes.length < SMALL) {
        context.strokeStyle = look.colours.ground;
        context.lineWidth = 1.5;
        context.stroke();
      }
    }
  }
  context.globalAlpha = 1;
  for (const [i, colour, away, width] of look.rings) {
    if (!look.isShown(i)) continue;
    context.beginPath();
    context.arc(place[2 * i], place[2 * i + 1], radius(scene, camera, i) + away, 0, TAU);
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.stroke();
  }
}

export function radius(scene, camera, i) {
  return Math.max(1.6, scene.radii[i] * Math.min(1.6, Math.max(0.45, camera.k)));
}
