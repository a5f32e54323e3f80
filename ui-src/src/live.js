// Keeping the page current: everything at first, then each change as the server tells it.
import { batch } from "@preact/signals";
import { api } from "./api.js";
import { live, loaded, nodes, project, pulses, revision, showError, showMessage, statuses, steps } from "./state.js";
import { actionName, short } from "./words.js";

const TRIES = 5;
const AGAIN_MS = 3000; // after a load that failed
let lastRevision = 0; // of the last event
let loads = 0; // so far; the last one knows best
let loading = 0; // under way

export async function load() {
  const turn = ++loads;
  loading += 1;
  try {
    const everything = await read();
    if (turn === loads) replaceAll(everything);
  } catch (problem) {
    showError(problem);
    // while the line is lost, whoever finds it again loads
    setTimeout(() => turn === loads && live.value !== "lost" && load(), AGAIN_MS);
  } finally {
    loading -= 1;
  }
}

// Graph and status of one moment, not older than the last event. After some tries it takes what it gets.
async function read() {
  for (let tries = TRIES; ; tries--) {
    const [graph, status] = await Promise.all([api.graph(), api.status()]);
    if (tries === 1 || (graph.revision >= lastRevision && status.revision >= graph.revision)) return [graph, status];
  }
}

function replaceAll([graph, status]) {
  batch(() => {
    nodes.value = new Map(graph.nodes.map((node) => [node.id, node]));
    revision.value = graph.revision;
    statuses.value = status.nuggets;
    project.value = status.project;
    loaded.value = true;
    steps.value += 1;
  });
}

const waiting = []; // changes that arrived and are not applied yet

// All that wait at once: nobody is to ask for a note that is gone again by now.
async function applyChanges() {
  if (!waiting.length) return undefined;
  const status = await api.status().catch(() => null); // first: views ask about the nuggets they know of
  const all = waiting.splice(0).filter((news) => news.revision > revision.value);
  if (!all.length || !loaded.value) return undefined; // it comes, or came, with all the rest
  if (all[0].since > revision.value) return load(); // something is missing in between
  const next = new Map(nodes.value);
  for (const news of all) {
    for (const node of news.put) next.set(node.id, { ...node, changedIn: news.revision });
    for (const node of news.recalled) next.set(node.id, { ...node, changedIn: next.get(node.id)?.changedIn });
    for (const id of news.drop) next.delete(id);
  }
  batch(() => {
    nodes.value = next;
    revision.value = all.at(-1).revision;
    if (status) statuses.value = status.nuggets;
    pulses.value = all.flatMap((news) => news.put.map((node) => node.id));
    steps.value += 1;
  });
  return all.forEach(announce);
}

function announce(news) {
  const others = news.steps.filter((step) => step.client !== "page" && step.notes > 0);
  if (!others.length) return;
  const last = others[others.length - 1];
  const title = news.put.length === 1 ? ` “${short(news.put[0].title)}”` : ` ${last.notes} notes`;
  showMessage(`${last.client || "Someone"}: ${actionName(last.action)}${title}`);
}

let line = null; // to the server
let turn = Promise.resolve(); // one after the other

// A browser has few lines to one server, so a page that nobody sees gives its own back. When someone
// looks again, the first event tells the revision, and what was missed is loaded.
export function connect() {
  line?.close();
  line = document.hidden ? null : openStream();
}
document.addEventListener("visibilitychange", connect);

function openStream() {
  const source = new EventSource("/api/events");
  const listen = (kind, act) => source.addEventListener(kind, (event) => {
    const data = JSON.parse(event.data);
    lastRevision = data.revision;
    act(data);
  });
  listen("hello", () => {
    const wasLost = live.value === "lost"; // and whatever was asked meanwhile got no answer
    live.value = "live";
    if (wasLost || (loaded.value ? lastRevision !== revision.value : !loading)) load();
  });
  listen("change", (news) => {
    waiting.push(news);
    turn = turn.then(applyChanges).catch(showError);
  });
  listen("reload", load);
  source.onerror = () => (live.value = "lost");
  return source;
}
