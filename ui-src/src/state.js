// What the page knows: the graph's nodes, what is chosen, and what to say. Views only read it.
import { batch, computed, effect, signal } from "@preact/signals";
import { api, revisionOf } from "./api.js";
import { readSetting, saveSetting } from "./settings.js";
import { plainLabel, short } from "./words.js";

export const nodes = signal(new Map()); // id -> node; a new Map with every change
export const loaded = signal(false);
export const revision = signal(0);
export const statuses = signal([]);
export const live = signal("connecting"); // connecting | live | lost
export const view = signal(viewFromAddress());
export const selected = signal(noteFromAddress()); // id of the open note, "new", or null
export const query = signal("");
export const searchResults = signal(null); // search results, or null when nothing is asked
export const focused = signal(false); // only the neighbourhood of the open note
export const colourBy = signal(["type", "scope", "project"].find((field) => field === readSetting("colourBy", "")) ?? "nugget");
export const showHidden = signal(readSetting("showHidden", "no") === "yes");
export const onlyNuggets = signal(new Set()); // empty: all
export const onlyProject = signal(null); // null: all; "": notes of no project
export const project = signal(""); // that the server runs in
export const toasts = signal([]);
export const confirmation = signal(null); // { title, text, lists, yes, final, run }: what is asked before it is done
export const pulses = signal([]); // ids that have just changed, for the graph to point at
export const steps = signal(0); // grows with every change that arrives; views reload on it
export const theme = signal(readSetting("theme", "auto"));

// Values of a field that notes have, those of the oldest notes first.
const valuesOf = (field) => computed(() => [...new Set([...nodes.value.values()].map((node) => node[field]))]);
export const values = { nugget: valuesOf("nugget"), type: valuesOf("type"), scope: valuesOf("scope"), project: valuesOf("project") };
export const nuggets = computed(() => [...values.nugget.value].sort());
export const projects = computed(() => [...new Set([project.value, ...values.project.value])].filter(Boolean).sort());

export const isFiltered = computed(() => onlyNuggets.value.size > 0 || onlyProject.value !== null);
export function isInFilter({ nugget, project: owner }) {
  return (!onlyNuggets.value.size || onlyNuggets.value.has(nugget)) && (onlyProject.value === null || onlyProject.value === owner);
}
export function clearFilter() {
  batch(() => {
    onlyNuggets.value = new Set();
    onlyProject.value = null;
  });
}

export function titleOf(id) {
  return nodes.value.get(id)?.title ?? id;
}

// --- the address bar: what is shown can be bookmarked, and Back works -------------------------

function parts() {
  return location.hash.replace(/^#\/?/, "").split("/").map(decodePart);
}
function decodePart(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // a bare % was typed by hand
  }
}
function viewFromAddress() {
  const name = parts()[0];
  return ["graph", "facts", "reflection", "memory", "activity", "sessions"].includes(name) ? name : "graph";
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
  saveSetting("theme", name);
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

// A member of a team has a private shelf too: one number holds the revisions of both (nuggets/team/revisions.py).
const PRIVATE = 1e9;
const hasReached = (step) => (step < PRIVATE ? revision.value % PRIVATE : revision.value) >= step;

// A note that was made here is open a moment before the graph has it.
let created = {};
export function openCreated(note) {
  created = { id: note.id, step: revisionOf(note) };
  open(note.id);
}
export function isGone(id) {
  return loaded.value && !nodes.value.has(id) && !(created.id === id && !hasReached(created.step));
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

// --- telling people ---------------------------------------------------------------------------

let toastNumber = 0;
export function showMessage(text, { tone = "calm", action } = {}) {
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
    if (done) showDone(done, result);
    return result;
  } catch (problem) {
    showError(problem);
    return undefined;
  }
}

// Says what was done and offers to undo exactly that; where nothing changed there is nothing to undo.
export function showDone(text, answer) {
  const step = revisionOf(answer);
  const undoing = step ? { action: { label: "Undo", run: () => undo(step) } } : {};
  const others = answer?.contradicts ?? [];
  if (!others.length) return showMessage(text, undoing);
  const titles = others.map((other) => `“${short(other.title, 60)}”`).join(", ");
  return showMessage(`${text} But it contradicts ${titles}; both are there now.`, { ...undoing, tone: "bad" });
}

// Takes a step back and offers to bring it back; `isRedo`: the step is itself an undo.
export async function undo(step, isRedo = false) {
  const answer = await attempt(() => api.undo(step));
  const undone = answer && revisionOf(answer);
  if (answer) showMessage(isRedo ? "Redone." : "Undone.", undone ? { action: { label: isRedo ? "Undo" : "Redo", run: () => undo(undone, !isRedo) } } : {});
}

export function showError(problem) {
  showMessage(problem.message, { tone: "bad" });
}

// --- what follows from the rest ---------------------------------------------------------------

// A filter on a nugget or project that is gone would hide everything.
effect(() => {
  if (loaded.value && onlyProject.value && !projects.value.includes(onlyProject.value)) onlyProject.value = null;
});
effect(() => {
  const kept = [...onlyNuggets.value].filter((name) => nuggets.value.includes(name));
  if (loaded.value && kept.length < onlyNuggets.peek().size) onlyNuggets.value = new Set(kept);
});

effect(() => {
  const chosen = nodes.value.get(selected.value);
  document.title = chosen ? `${short(plainLabel(chosen.title))} · Nuggets` : "Nuggets";
});
