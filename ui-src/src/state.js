// What the page knows: the graph's nodes, what is chosen, and what to say. Views only read it.
import { batch, computed, effect, signal } from "@preact/signals";
import { api, stepOf } from "./api.js";
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
  return location.hash.replace(/^#\/?/, "").split("/").map(decoded);
}
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // a bare % was typed by hand
  }
}
function viewFromAddress() {
  const name = parts()[0];
  return ["graph", "facts", "reflection", "memory", "activity"].includes(name) ? name : "graph";
}
function noteFromAddress() {
  return parts()[1] || null;
}
function address() {
  return `#/${view.value}${selected.value ? `/${encodeURIComponent(selected.value)}` : ""}`;
}
function writeAddress() {
  if (location.hash !== address()) history.pushState(null, "", address());
}
addEventListener("popstate", () => {
  batch(() => {
    view.value = viewFromAddress();
    selected.value = noteFromAddress();
    if (!selected.value) focused.value = false;
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

// A note that was made here is open a moment before the graph has it.
let created = {};
export function openCreated(note) {
  created = { id: note.id, step: stepOf(note) };
  open(note.id);
}
export function isGone(id) {
  return loaded.value && !nodes.value.has(id) && !(created.id === id && revision.value < created.step);
}

// A note may be addressed by its title as well; from then on it goes by its id.
effect(() => {
  const wanted = selected.value;
  if (!wanted || wanted === "new" || nodes.value.has(wanted)) return;
  const titled = [...nodes.value.values()].find((node) => node.title === wanted);
  if (!titled) return;
  selected.value = titled.id;
  history.replaceState(null, "", address());
});

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
  const others = toasts.value.filter((other) => other.text !== text || other.action); // once is enough
  toasts.value = [...others.slice(-2), toast];
  setTimeout(() => dismiss(toast.number), tone === "bad" || action ? 10000 : 5000);
}
export function dismiss(number) {
  toasts.value = toasts.value.filter((toast) => toast.number !== number);
}
export async function attempt(action, done) {
  try {
    const result = await action();
    if (done) sayDone(done, result);
    return result;
  } catch (problem) {
    complain(problem);
    return undefined;
  }
}

// Says what was done, with the way back from exactly that; where nothing changed there is none.
export function sayDone(text, answer) {
  const step = stepOf(answer);
  say(text, step ? { action: { label: "Undo", run: () => attempt(() => api.undo(step), "Undone.") } } : {});
}

export function complain(problem) {
  say(problem.message, { tone: "bad" });
}

// --- what follows from the rest ---------------------------------------------------------------

// A filter on a nugget that is gone would hide everything.
effect(() => {
  const kept = [...onlyNuggets.value].filter((name) => nuggets.value.includes(name));
  if (loaded.value && kept.length < onlyNuggets.peek().size) onlyNuggets.value = new Set(kept);
});

effect(() => {
  const chosen = nodes.value.get(selected.value);
  document.title = chosen ? `${short(plainLabel(chosen.title))} · Nuggets` : "Nuggets";
});
