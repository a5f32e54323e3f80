// What the page knows: the graph's nodes, what is chosen, and what to say. Views only read it.
import { batch, computed, effect, signal } from "@preact/signals";
import { api } from "./api.js";
import { plainLabel, short } from "./words.js";

export const nodes = signal(new Map()); // id -> node; a new Map with every change
export const loaded = signal(false);
export const revision = signal(0);
export const statuses = signal([]);
export const live = signal("connecting"); // connecting | live | lost
export const view = signal(viewFromAddress());
export const selected = signal(noteFromAddress()); // id of the open note, "new", or null
export const query = signal("");
export const found = signal(null); // search results, or null when nothing is asked
export const focused = signal(false); // only the neighbourhood of the open note
export const colourBy = signal(remembered("colourBy", "nugget"));
export const showHidden = signal(remembered("showHidden", "no") === "yes");
export const onlyNuggets = signal(new Set()); // empty: all
export const toasts = signal([]);
export const question = signal(null); // { title, text, yes, final, run }: what is asked before it is done
export const pulses = signal([]); // ids that have just changed, for the graph to point at
export const steps = signal(0); // grows with every change that arrives; views reload on it
export const theme = signal(remembered("theme", "auto"));

export const nuggets = computed(() => [...new Set([...nodes.value.values()].map((n) => n.nugget))].sort());
export const types = computed(() => [...new Set([...nodes.value.values()].map((n) => n.type))].sort());

export function titleOf(id) {
  return nodes.value.get(id)?.title ?? id;
}

// --- the address bar: what is shown can be bookmarked, and Back works -------------------------

function parts() {
  return location.hash.replace(/^#\/?/, "").split("/").map(decodeURIComponent);
}
function viewFromAddress() {
  const name = parts()[0];
  return ["graph", "facts", "reflection", "memory", "activity"].includes(name) ? name : "graph";
}
function noteFromAddress() {
  return parts()[1] || null;
}
function writeAddress() {
  const address = `#/${view.value}${selected.value ? `/${encodeURIComponent(selected.value)}` : ""}`;
  if (location.hash !== address) history.pushState(null, "", address);
}
addEventListener("popstate", () => {
  batch(() => {
    view.value = viewFromAddress();
    selected.value = noteFromAddress();
  });
});

export function setTheme(name) {
  if (name === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  theme.value = name;
  remember("theme", name);
}

export function show(name) {
  view.value = name;
  writeAddress();
}
export function open(id) {
  batch(() => {
    selected.value = id;
    if (!id) focused.value = false;
  });
  writeAddress();
}

// --- small things kept in this browser --------------------------------------------------------

function remembered(name, otherwise) {
  try {
    return localStorage.getItem(`nuggets.${name}`) ?? otherwise;
  } catch {
    return otherwise;
  }
}
export function remember(name, value) {
  try {
    localStorage.setItem(`nuggets.${name}`, value);
  } catch {
    // a browser that keeps nothing still shows everything
  }
}

// --- telling people ---------------------------------------------------------------------------

let toastNumber = 0;
export function say(text, { tone = "calm", action } = {}) {
  const toast = { number: ++toastNumber, text, tone, action };
  toasts.value = [...toasts.value.slice(-2), toast];
  setTimeout(() => dismiss(toast.number), tone === "bad" || action ? 10000 : 5000);
}
export function dismiss(number) {
  toasts.value = toasts.value.filter((toast) => toast.number !== number);
}
export async function attempt(action, done) {
  try {
    const result = await action();
    if (done) sayDone(done);
    return result;
  } catch (problem) {
    say(problem.message, { tone: "bad" });
    return undefined;
  }
}

// Says what was done, with the way back from exactly that, whoever else writes meanwhile.
export async function sayDone(text) {
  const own = await api.history(OWN_AMONG).then((steps) => steps.find((step) => step.client === "page"), () => null);
  say(text, own ? { action: { label: "Undo", run: () => attempt(() => api.undo(own.revision), "Undone.") } } : {});
}
const OWN_AMONG = 8; // newest steps: agents do not write more in the moment between

// --- the graph, and keeping it current --------------------------------------------------------

let heard = 0; // the newest revision that the server has spoken of

export async function load() {
  const [graph, status] = await Promise.all([api.graph(), api.status()]);
  if (graph.revision < heard) return load();
  batch(() => {
    nodes.value = new Map(graph.nodes.map((node) => [node.id, node]));
    revision.value = graph.revision;
    statuses.value = status.nuggets;
    loaded.value = true;
    steps.value += 1;
  });
  return undefined;
}

async function take(news) {
  const status = await api.status().catch(() => null); // first: views ask about the nuggets they know of
  if (news.revision <= revision.value) return;
  const next = new Map(nodes.value);
  for (const node of [...news.put, ...news.recalled]) next.set(node.id, node);
  for (const id of news.drop) next.delete(id);
  batch(() => {
    nodes.value = next;
    revision.value = news.revision;
    if (status) statuses.value = status.nuggets;
    pulses.value = news.put.map((node) => node.id);
    steps.value += 1;
  });
  announce(news);
}

function announce(news) {
  const others = news.steps.filter((step) => step.client !== "page" && step.notes > 0);
  if (!others.length) return;
  const last = others[others.length - 1];
  const title = news.put.length === 1 ? ` “${short(news.put[0].title)}”` : ` ${last.notes} notes`;
  say(`${last.client || "Someone"}: ${last.action.replaceAll("_", " ")}${title}`);
}

// A filter on a nugget that is gone would hide everything.
effect(() => {
  const kept = [...onlyNuggets.value].filter((name) => nuggets.value.includes(name));
  if (loaded.value && kept.length < onlyNuggets.peek().size) onlyNuggets.value = new Set(kept);
});

effect(() => {
  const chosen = nodes.value.get(selected.value);
  document.title = chosen ? `${short(plainLabel(chosen.title))} · Nuggets` : "Nuggets";
});

export function follow() {
  const source = new EventSource("/api/events");
  source.addEventListener("hello", (event) => {
    live.value = "live";
    heard = JSON.parse(event.data).revision;
    if (loaded.value && heard !== revision.value) load().catch(complain);
  });
  let turn = Promise.resolve(); // one change after the other
  source.addEventListener("change", (event) => (turn = turn.then(() => take(JSON.parse(event.data)))));
  source.addEventListener("reload", () => load().catch(complain));
  source.onerror = () => (live.value = "lost");
}

function complain(problem) {
  say(problem.message, { tone: "bad" });
}
