// A worker: where the notes lie. Linked ones near each other, nuggets in regions of their own.
// It starts from the same places every time, so the same graph looks the same again. Later only notes that are
// new, newly linked or dragged move, and those right beside them make room: everyone else stays.
import { forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY } from "d3-force";

const TURN_MS = 45; // of thinking between two pictures
const DRAG_MS = 16; // between two pictures while a note is dragged
const RESTING = 0.004; // the heat below which nothing moves that anyone could see
const STIFF = 0.5; // the pull back to its place of a note that makes room
const BESIDE = 34; // between two rims: as near as this, a note makes room
const REACH = 420; // notes farther away than this from all that move have no influence

let graph = null; // positions, radii, centres, groups, ends, distances
let points = new Map(); // number of a note -> its point in the simulation
let simulation = null;
let isWhole = false; // everyone moves
let turning = 0;
let held = -1;

onmessage = ({ data }) => {
  if (data.kind === "graph") arrange(data);
  else if (data.kind === "hold") hold(data);
  else if (data.kind === "release") release(data);
};

// `moving`: the notes that look for their place, or null for all.
function arrange({ moving, ...data }) {
  graph = data;
  held = -1;
  if (moving) simulate(new Set(moving), 0.3, beside(moving));
  else simulate(null, 1);
  report(false);
  start();
}

// `free`: who moves, or null for all. `yielding`: who makes room and stays near its place.
function simulate(free, heat, yielding = new Set()) {
  const { positions, radii, centres, groups, ends, distances } = graph;
  isWhole = !free;
  const many = radii.length > 1500;
  const pull = free ? 0.02 : many ? 0.06 : 0.07; // towards the middle of the nugget
  points = new Map();
  for (const i of free ? surroundings(free) : radii.keys()) {
    const [x, y] = [positions[2 * i], positions[2 * i + 1]];
    const isFixed = free && !free.has(i) && !yielding.has(i);
    const home = yielding.has(i) ? { x, y } : centres[groups[i]];
    points.set(i, { r: radii[i], home, pull: yielding.has(i) ? STIFF : pull, x, y, ...(isFixed ? { fx: x, fy: y } : {}) });
  }
  const links = [];
  for (let k = 0; k < ends.length; k += 2) {
    const [source, target] = [points.get(ends[k]), points.get(ends[k + 1])];
    if (source && target) links.push({ source, target, distance: distances[k / 2] });
  }
  simulation = forceSimulation([...points.values()])
    .force("link", forceLink(links).distance((link) => link.distance).strength(many ? 0.25 : 0.35))
    .force("charge", forceManyBody().strength(many ? -26 : -90).theta(many ? 1.3 : 0.9).distanceMax(many ? 260 : 500))
    .force("x", forceX((p) => p.home.x).strength((p) => p.pull))
    .force("y", forceY((p) => p.home.y).strength((p) => p.pull))
    .force("apart", many && !free ? null : forceCollide((p) => p.r + 7).iterations(1))
    .alpha(heat)
    .alphaDecay(many || free ? 0.045 : 0.028)
    .stop();
}

// Whoever is so near to those that move that it has to make room.
function beside(moving) {
  const near = new Set();
  const { positions, radii } = graph;
  for (const i of moving)
    for (let j = 0; j < radii.length; j++)
      if (Math.hypot(positions[2 * i] - positions[2 * j], positions[2 * i + 1] - positions[2 * j + 1]) < radii[i] + radii[j] + BESIDE) near.add(j);
  for (const i of moving) near.delete(i);
  return near;
}

function* surroundings(free) {
  const { positions, radii } = graph;
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const i of free) {
    left = Math.min(left, positions[2 * i]);
    right = Math.max(right, positions[2 * i]);
    top = Math.min(top, positions[2 * i + 1]);
    bottom = Math.max(bottom, positions[2 * i + 1]);
  }
  for (let i = 0; i < radii.length; i++) {
    const [x, y] = [positions[2 * i], positions[2 * i + 1]];
    if (x > left - REACH && x < right + REACH && y > top - REACH && y < bottom + REACH) yield i;
  }
}

function start() {
  if (!turning) turning = setTimeout(turn);
}

// As many steps as fit into a turn, then a picture; until it rests.
function turn() {
  const until = performance.now() + TURN_MS;
  const isHeld = held >= 0;
  do simulation.tick();
  while (!isHeld && simulation.alpha() > RESTING && performance.now() < until);
  const settled = !isHeld && simulation.alpha() <= RESTING;
  report(settled);
  turning = settled ? 0 : setTimeout(turn, isHeld ? DRAG_MS : 0);
}

// What is dragged takes its linked notes along, and stays where it is let go.
function hold({ index, x, y }) {
  if (!graph || index >= graph.radii.length) return;
  const isResting = simulation.alpha() <= RESTING || !isWhole;
  if (held !== index && isResting) simulate(new Set([index, ...linked(index)]), 0.12);
  held = index;
  const point = points.get(index);
  point.fx = x;
  point.fy = y;
  simulation.alphaTarget(0.12).alpha(Math.max(simulation.alpha(), 0.12));
  start();
}

function release({ index }) {
  const point = points.get(index);
  if (!point) return;
  if (isWhole) point.fx = point.fy = null;
  held = -1;
  simulation.alphaTarget(0);
  start();
}

function linked(index) {
  const neighbours = [];
  for (let k = 0; k < graph.ends.length; k += 2) {
    if (graph.ends[k] === index) neighbours.push(graph.ends[k + 1]);
    if (graph.ends[k + 1] === index) neighbours.push(graph.ends[k]);
  }
  return neighbours;
}

function report(settled) {
  const { positions } = graph;
  for (const [i, point] of points) {
    positions[2 * i] = point.x;
    positions[2 * i + 1] = point.y;
  }
  const copy = positions.slice();
  postMessage({ positions: copy, settled }, [copy.buffer]);
}
