// What was written, by whom, and what was recalled, in which sessions; and the steps behind it.
import { useState } from "preact/hooks";
import { api } from "./api.js";
import { NoteLink, Step, undoneSteps, useFresh, Waiting, When } from "./parts.jsx";
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
  const { data, problem } = useFresh(async () => {
    const [activity, history] = await Promise.all([api.activity(), api.history(60)]);
    return { activity, history, undone: undoneSteps(history) };
  });
  const range = RANGES[name];
  const end = Math.ceil(Date.now() / range.size) * range.size;
  const times = { ...range, start: end - range.bars * range.size };
  return (
    <section class="sheet" aria-label="Activity">
      <header class="sheet-head"><h1>Activity</h1><p class="muted">What was written, by whom, and what was recalled, and when.</p></header>
      <div class="card">
        <div class="card-head"><h2>Over time</h2>
          <div class="segments" role="group" aria-label="Range">{Object.keys(RANGES).map((one) => <button type="button" key={one} aria-pressed={one === name} onClick={() => setName(one)}>{one}</button>)}</div>
        </div>
        {data ? <Plot activity={data.activity} times={times} /> : <div class="plot-space" />}
      </div>
      {data && <Sessions recalls={data.activity.recalls.filter((recall) => Date.parse(recall.at) >= times.start)} />}
      <div class="card">
        <div class="card-head"><h2>Steps</h2></div>
        {!data ? <Waiting problem={problem} /> : data.history.length ? <ol class="steps">{data.history.map((step) => <Step key={step.revision} step={step} undone={data.undone.has(step.revision)} />)}</ol> : <p class="nothing muted">Nothing was done yet.</p>}
      </div>
    </section>
  );
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
      <div class="card-head"><h2>Recalls by session</h2><span class="muted small">A recall shows up at once.</span></div>
      {newest.length === 0 && <p class="nothing muted">Nothing was recalled in this time.</p>}
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
        <div>{session.name ? <code title={session.name}><bdi>{short(session.name, 40)}</bdi></code> : <b title="Looked at by someone who named no session: no hit">without a session</b>} <span class="muted">{count(session.times, "recall")} of {count(session.notes.size, "note")} · <When at={session.at} /></span></div>
      </div>
      <p class="session-notes">{there.slice(0, NOTES).map((id) => <NoteLink key={id} id={id} />)}{more > 0 && <span class="muted small">and {count(more, "more note", "more notes")}</span>}</p>
    </li>
  );
}
