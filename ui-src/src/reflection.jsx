// The daily clean-up: what it would do, what it did, and the way back.
import { useState } from "preact/hooks";
import { stepsOf } from "./activity.jsx";
import { api } from "./api.js";
import { activity, useHistory, whichUndoable } from "./history.js";
import { NoteLink, Step, useLive, Waiting } from "./parts.jsx";
import { attempt, nodes, showMessage } from "./state.js";
import { count } from "./words.js";

const KINDS = { rewrite: "tidy up", merge: "merge", hide: "archive", tag: "tag", link: "link" };

// Where a title follows, the id in front of it says nothing to a person.
const withoutIds = (detail) => detail.replace(/\b(?:note|fact)-\S+ (?=')/g, "");

export function ReflectionView() {
  const preview = useLive(api.preview);
  const past = useLive(async () => {
    const passes = await api.passes();
    return { passes, undoable: new Set(await whichUndoable(passes.map((step) => step.revision))) };
  });
  useHistory();
  const { undone } = stepsOf(activity.value?.steps ?? []);
  const [running, setRunning] = useState(false);
  const apply = async () => {
    setRunning(true);
    const result = await attempt(api.reflect);
    setRunning(false);
    if (result) showMessage(result.changes.length ? `Cleaned up: ${count(result.changes.length, "change")}.` : "Nothing to clean up.");
  };
  const changes = preview.data?.changes ?? [];
  return (
    <section class="sheet" aria-label="Reflection">
      <header class="sheet-head"><h1>Reflection</h1><p class="muted">A daily clean-up by fixed rules. It deletes nothing, and every pass can be undone.</p></header>
      <div class="card">
        <div class="card-head"><h2>The next pass</h2>
          <button type="button" class="primary" disabled={running || !changes.length} onClick={apply}>Apply now</button>
        </div>
        {!preview.data || preview.problem ? <Waiting problem={preview.problem} /> : changes.length === 0 ? (
          <p class="nothing muted">Nothing to clean up in {count(preview.data.inspected, "note")}.</p>
        ) : (
          <>
            <p class="muted small">{count(changes.length, "change")}; {count(preview.data.inspected, "note")} inspected.</p>
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
          <ol class="steps">{past.data.passes.map((step) => <Step key={step.revision} step={step} undone={undone.has(step.revision)} canUndo={past.data.undoable.has(step.revision)} />)}</ol>
        ) : <p class="nothing muted">None yet. A pass runs daily while a server or an agent runs.</p>}
      </div>
    </section>
  );
}
