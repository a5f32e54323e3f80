// What was done, loaded once and from then on only what is new: a large shelf has a long history.
import { signal } from "@preact/signals";
import { useLayoutEffect, useState } from "preact/hooks";
import { api } from "./api.js";
import { revision, steps as changes } from "./state.js";
import { undoneBy } from "./words.js";

const STEPS = 60; // of the history, shown with what they changed
const LARGE_MS = 5000; // between two checks of large steps, which take the server a while

export const activity = signal(null); // { steps, recalls }: who wrote and recalled what, oldest first
export const history = signal(null); // the last steps, newest first
export const undoable = signal(new Set()); // revisions
export const problem = signal(null); // why it could not be loaded

let covered = 0; // the revision up to which all this is known
let loading = false;
let isOutdated = false;

// Keeps all of it current while a view that shows it is open.
export function useHistory() {
  useLayoutEffect(() => void refresh(), [revision.value, changes.value]);
}

async function refresh() {
  isOutdated = true;
  if (loading) return; // once more when this is done
  loading = true;
  try {
    while (isOutdated) {
      isOutdated = false;
      await loadNew();
    }
    problem.value = null;
  } catch (failure) {
    problem.value = failure;
  } finally {
    loading = false;
  }
}

async function loadNew() {
  const isFirst = !activity.value;
  const since = isFirst ? 0 : covered;
  const [later, steps] = await Promise.all([api.activity(since), api.history(STEPS, since)]);
  if (!isFirst && (later.revision < covered || later.steps.some((step) => step.action === "purge"))) {
    activity.value = null; // something was erased, or an earlier backup is back: load it all anew
    return loadNew();
  }
  const old = isFirst ? { steps: [], recalls: [] } : activity.value;
  activity.value = { steps: after(old.steps, later.steps), recalls: [...old.recalls, ...later.recalls] };
  const known = isFirst ? [] : history.value.filter((step) => !steps.some((other) => other.revision === step.revision));
  history.value = [...steps, ...known].slice(0, STEPS);
  covered = later.revision;
  return checkUndo(steps, known);
}

function after(old, later) {
  const known = new Set(old.map((step) => step.revision));
  return [...old, ...later.filter((step) => !known.has(step.revision))];
}

// --- which steps can be undone ------------------------------------------------------------------

const isLarge = (step) => step.noteCount > step.notes.length; // not all of its notes are known here
let largeCheckedAt = 0;
let waiting = 0;

// A later change of the same notes, keys or nuggets may stand in the way of an undo, or no longer do so.
async function checkUndo(fresh, known) {
  const names = new Set(fresh.flatMap(namesIn));
  const isAny = fresh.some((step) => isLarge(step) || step.nuggets.length || step.removedNuggets.length);
  const affected = known.filter((step) => !isLarge(step) && (isAny || namesIn(step).some((name) => names.has(name))));
  const large = known.filter(isLarge);
  const isDue = Date.now() - largeCheckedAt > LARGE_MS;
  await check([...fresh, ...affected, ...(isDue ? large : [])]);
  if (isDue) largeCheckedAt = Date.now();
  else if (large.length && !waiting)
    waiting = setTimeout(() => {
      waiting = 0;
      largeCheckedAt = Date.now();
      check(history.value.filter(isLarge)).catch(() => {}); // the next change asks again
    }, LARGE_MS);
}

function namesIn(step) {
  return step.notes.flatMap(({ id, before, after: now }) => [id, before?.title, now?.title].filter(Boolean));
}

async function check(steps) {
  const revisions = steps.map((step) => step.revision);
  const possible = await whichUndoable(revisions);
  undoable.value = new Set([...[...undoable.value].filter((number) => !revisions.includes(number)), ...possible]);
}

export async function whichUndoable(revisions) {
  return revisions.length ? (await api.undoable(revisions)).revisions : [];
}

// --- undone and redone --------------------------------------------------------------------------

// Which steps are undone: an undo that was itself undone counts for nothing.
export function undoneRevisions(steps) {
  const undone = new Set();
  for (const step of [...steps].sort((a, b) => b.revision - a.revision)) {
    const other = undoneBy(step.action);
    if (other && !undone.has(step.revision)) undone.add(other);
  }
  return undone;
}

// Is it an undo, so that taking it back is a redo? An undo of an undo is none.
export function isUndo(step, actionOf) {
  const other = undoneBy(step.action);
  return Boolean(other) && !undoneBy(actionOf(other) ?? "");
}

// Of one note's history: asked again when it changes; and, where a step changed other notes too, when anything does.
export function useUndoable(steps) {
  const [possible, setPossible] = useState(new Set());
  const depends = steps.some(isLarge) ? revision.value : 0;
  useLayoutEffect(() => {
    let wanted = true;
    whichUndoable(steps.map((step) => step.revision)).then((revisions) => wanted && setPossible(new Set(revisions)), () => {});
    return () => (wanted = false);
  }, [steps, depends]);
  return possible;
}
