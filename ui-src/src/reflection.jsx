// The daily clean-up: what it would do, what it did, and the way back.
import { useState } from "preact/hooks";
import { api } from "./api.js";
import { NoteLink, Step, undoneSteps, useFresh, Waiting } from "./parts.jsx";
import { attempt, nodes, say } from "./state.js";
import { count } from "./words.js";

const KINDS = { rewrite: "tidy up", merge: "merge", hide: "archive", tag: "tag", link: "link" };

// Where a title follows, the id in front of it says nothing to a person.
const withoutIds = (detail) => detail.replace(/\b(?:note|fact)-\S+ (?=')/g, "");

export function ReflectionView() {
  const preview = useFresh(api.preview);
  const past = useFresh(async () => {
    const [passes, activity] = await Promise.all([api.passes(), api.activity()]);
    return { passes, undone: undoneSteps(activity.steps) };
  });
  const [running, setRunning] = useState(false);
  const apply = async () => {
    setRunning(true);
    const result = await attempt(api.reflect);
    setRunning(false);
    if (result) say(result.changes.length ? `Cleaned up: ${count(result.changes.length, "change")}.` : "All is tidy.");
  };
  const changes = preview.data?.changes ?? [];
  return (
    <section class="sheet" aria-label="Reflection">
      <header class="sheet-head"><h1>Reflection</h1><p class="muted">A daily clean-up by fixed rules. Nothing is deleted, and every pass can be taken back.</p></header>
      <div class="card">
        <div class="card-head"><h2>The next pass</h2>
          <button type="button" class="primary" disabled={running || !changes.length} onClick={apply}>Apply now</button>
        </div>
        {!preview.data || preview.problem ? <Waiting problem={preview.problem} /> : changes.length === 0 ? (
          <p class="nothing muted">All is tidy. {count(preview.data.inspected, "note")} would be looked at and nothing changed.</p>
        ) : (
          <>
            <p class="muted small">It would look at {count(preview.data.inspected, "note")} and make {count(changes.length, "change")}.</p>
            <ul class="plan">
              {changes.map((change, i) => (
                <li key={i}><span class={`chip kind-${change.type}`}>{KINDS[change.type] ?? change.type}</span>
                  <div>{nodes.value.has(change.noteId) ? <NoteLink id={change.noteId} /> : <code>{change.noteId}</code>}<p class="muted small"><bdi>{withoutIds(change.detail)}</bdi></p></div></li>
              ))}
            </ul>
          </>
        )}
      </div>
      <div class="card">
        <div class="card-head"><h2>Past passes</h2></div>
        {!past.data ? <Waiting problem={past.problem} /> : past.data.passes.length ? (
          <ol class="steps">{past.data.passes.map((step) => <Step key={step.revision} step={step} undone={past.data.undone.has(step.revision)} />)}</ol>
        ) : <p class="nothing muted">None yet. The first one runs at its hour, while a server or an agent is up, or now.</p>}
      </div>
    </section>
  );
}
