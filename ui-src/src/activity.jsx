// What was written, by whom, and what was recalled, in which sessions; and the steps behind it.
import { useMemo, useState } from "preact/hooks";
import { activity, history, problem, undoable, undoneRevisions, useHistory } from "./history.js";
import { NoteLink, Step, Waiting, When } from "./parts.jsx";
import { Plot } from "./plot.jsx";
import { nodes } from "./state.js";
import { count, short } from "./words.js";

const HOUR = 3600e3;
const RANGES = {
  "24 hours": { bars: 24, size: HOUR, label: (d) => d.toLocaleTimeString(undefined, { hour: "numeric", minute: "2-digit" }) },
  "7 days": { bars: 28, size: 6 * HOUR, label: (d) => d.toLocaleDateString(undefined, { weekday: "short", day: "numeric" }) },
  "30 days": { bars: 30, size: 24 * HOUR, label: (d) => d.toLocaleDateString(undefined, { month: "short", day: "numeric" }) },
};
const SESSIONS = 12; // the last ones
const NOTES = 5; // of each

export function ActivityView() {
  const [name, setName] = useState("24 hours");
  useHistory();
  const all = activity.value;
  const { undone, actionOf } = useMemo(() => stepsOf(all?.steps ?? []), [all]);
  const range = RANGES[name];
  const end = Math.ceil(Date.now() / range.size) * range.size;
  const times = { ...range, start: end - range.bars * range.size };
  return (
    <section class="sheet" aria-label="Activity">
      <header class="sheet-head"><h1>Activity</h1><p class="muted">What was written and recalled, by whom, and when.</p></header>
      <div class="card">
        <div class="card-head"><h2>Over time</h2>
          <div class="segments" role="group" aria-label="Range">{Object.keys(RANGES).map((one) => <button type="button" key={one} aria-pressed={one === name} onClick={() => setName(one)}>{one}</button>)}</div>
        </div>
        {all ? <Plot activity={all} times={times} /> : <div class="plot-space" />}
      </div>
      {all && <Sessions recalls={all.recalls.filter((recall) => Date.parse(recall.at) >= times.start)} />}
      <div class="card">
        <div class="card-head"><h2>Changes</h2></div>
        {!history.value || problem.value ? <Waiting problem={problem.value} /> : history.value.length ? <ol class="steps">{history.value.map((step) => <Step key={step.revision} step={step} undone={undone.has(step.revision)} canUndo={undoable.value.has(step.revision)} actionOf={actionOf} />)}</ol> : <p class="nothing muted">No changes yet.</p>}
      </div>
    </section>
  );
}

export function stepsOf(steps) {
  const actions = new Map(steps.map((step) => [step.revision, step.action]));
  return { undone: undoneRevisions(steps), actionOf: (revision) => actions.get(revision) };
}

// A recall knows its note, its session and its time. Which program asked, it does not know.
function Sessions({ recalls }) {
  const sessions = new Map();
  for (const recall of recalls) {
    const known = sessions.get(recall.session) ?? { name: recall.session, at: "", times: 0, notes: new Set() };
    if (recall.at > known.at) known.at = recall.at;
    known.times += 1;
    known.notes.add(recall.noteId);
    sessions.set(recall.session, known);
  }
  const newest = [...sessions.values()].sort((a, b) => (a.at < b.at ? 1 : -1));
  return (
    <div class="card">
      <div class="card-head"><h2>Recalls by session</h2></div>
      {newest.length === 0 && <p class="nothing muted">No recalls in this period.</p>}
      <ul class="sessions">{newest.slice(0, SESSIONS).map((session) => <Session key={session.name} session={session} />)}</ul>
      {newest.length > SESSIONS && <p class="muted small">and {count(newest.length - SESSIONS, "earlier session")}</p>}
    </div>
  );
}

function Session({ session }) {
  const there = [...session.notes].filter((id) => nodes.value.has(id));
  const more = session.notes.size - Math.min(there.length, NOTES);
  return (
    <li>
      <div class="step-head">
        <div>{session.name ? <code title={session.name}><bdi>{short(session.name, 40)}</bdi></code> : <b title="Recalled without a session; such a recall counts no hit">without a session</b>} <span class="muted">{count(session.times, "recall")} of {count(session.notes.size, "note")} · <When at={session.at} /></span></div>
      </div>
      <p class="session-notes">{there.slice(0, NOTES).map((id) => <NoteLink key={id} id={id} />)}{more > 0 && <span class="muted small">and {count(more, "more note", "more notes")}</span>}</p>
    </li>
  );
}
