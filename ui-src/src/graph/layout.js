// A worker: where the notes lie. Linked ones near each other, nuggets in regions of their own.
// It starts from the same places every time, so the same graph looks the same again.
import { forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY } from "d3-force";
import { regions } from "./places.js";

const TURN_MS = 45; // of thinking between two pictures
const DRAG_MS = 16; // between two pictures while a note is dragged
const RESTING = 0.004; // the heat below which nothing moves that anyone could see

let points = [];
let simulation = null;
let turning = 0;
let held = false;

onmessage = ({ data }) => {
  if (data.kind === "graph") arrange(data);
  else if (data.kind === "hold") hold(data);
  else if (data.kind === "release") release(data);
};

function arrange({ positions, groups, radii, ends, distances, fresh, tall }) {
  const centres = regions(groups, radii, tall);
  points = Array.from(groups, (group, i) => ({ index: i, group, r: radii[i], x: positions[2 * i], y: positions[2 * i + 1] }));
  const links = [];
  for (let i = 0; i < ends.length; i += 2) links.push({ source: ends[i], target: ends[i + 1], distance: distances[i / 2] });
  const many = points.length > 1500;
  simulation = forceSimulation(points)
    .force("link", forceLink(links).distance((link) => link.distance).strength(many ? 0.25 : 0.35))
    .force("charge", forceManyBody().strength(many ? -26 : -90).theta(many ? 1.3 : 0.9).distanceMax(many ? 260 : 500))
    .force("x", forceX((p) => centres[p.group].x).strength(many ? 0.06 : 0.07))
    .force("y", forceY((p) => centres[p.group].y).strength(many ? 0.06 : 0.07))
    .force("apart", many ? null : forceCollide((p) => p.r + 7).iterations(1))
    .alpha(fresh ? 1 : 0.25)
    .alphaDecay(many ? 0.045 : 0.028)
    .stop();
  held = false;
  report(false);
  go();
}

function go() {
  if (!turning) turning = setTimeout(turn);
}

// As many steps as fit into a turn, then a picture; until it rests.
function turn() {
  const until = performance.now() + TURN_MS;
  do simulation.tick();
  while (!held && simulation.alpha() > RESTING && performance.now() < until);
  const settled = !held && simulation.alpha() <= RESTING;
  report(settled);
  turning = settled ? 0 : setTimeout(turn, held ? DRAG_MS : 0);
}

function hold({ index, x, y }) {
  const point = points[index];
  if (!point) return;
  point.fx = x;
  point.fy = y;
  held = true;
  simulation.alphaTarget(0.12).alpha(Math.max(simulation.alpha(), 0.12));
  go();
}

function release({ index }) {
  const point = points[index];
  if (!point) return;
  point.fx = null;
  point.fy = null;
  held = false;
  simulation.alphaTarget(0);
  go();
}

function report(settled) {
  const positions = new Float32Array(2 * points.length);
  points.forEach((p, i) => {
    positions[2 * i] = p.x;
    positions[2 * i + 1] = p.y;
  });
  postMessage({ positions, settled }, [positions.buffer]);
}
