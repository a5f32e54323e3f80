// Small pieces that several views are made of.
import { signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { isUndo } from "./history.js";
import { nodes, open, steps, titleOf, undo } from "./state.js";
import { Icon } from "./icons.jsx";
import { actionName, ago, count, LINE, moment, percent, short } from "./words.js";

export function Command({ text }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      setTimeout(() => setCopied(false), 1500);
    } catch {
      // no permission: the text can still be selected
    }
  };
  return (
    <div class="command"><code>{text}</code><button type="button" class="icon-button" aria-label="Copy" title="Copy" onClick={copy}><Icon name={copied ? "check" : "copy"} /></button></div>
  );
}

const minute = signal(0);
setInterval(() => (minute.value += 1), 60_000);

export function When({ at }) {
  minute.value; // "just now" becomes "a minute ago"
  return <time dateTime={at} title={moment(at)}>{ago(at)}</time>;
}

export function Bar({ share, label }) {
  return (
    <div class="bar" role="meter" aria-valuemin={0} aria-valuemax={100} aria-valuenow={Math.round(share * 100)} aria-label={label}>
      <span style={{ width: `${Math.max(0, Math.min(1, share)) * 100}%` }} />
    </div>
  );
}

export function Measure({ name, share, title }) {
  return (
    <div class="measure" title={title}>
      <span>{name}</span><Bar share={share} label={name} /><b>{percent(share)}</b>
    </div>
  );
}

export function Gauge({ used, total, percentage, warning }) {
  const share = Math.min(1, percentage / 100);
  const round = 2 * Math.PI * 34;
  const tone = percentage >= 90 ? "full" : percentage >= 80 ? "filling" : "";
  return (
    <figure class={`gauge ${tone}`} title={warning || `${used} of ${total} facts`}>
      <svg viewBox="0 0 84 84" role="img" aria-label={`${percentage} % of its capacity used`}>
        <circle class="gauge-all" cx="42" cy="42" r="34" />
        {share > 0 && <circle class="gauge-used" cx="42" cy="42" r="34" stroke-dasharray={`${share * round} ${round}`} />}
        <text x="42" y="46">{percentage > 0 && percentage < 10 ? percentage.toFixed(1) : Math.round(percentage)}%</text>
      </svg>
    </figure>
  );
}

export function NoteLink({ id, title }) {
  const name = <bdi>{short(title ?? titleOf(id), LINE)}</bdi>;
  if (!nodes.value.has(id)) return name; // it was deleted
  return <button type="button" class="note-link" onClick={() => open(id)}>{name}</button>;
}

// Shown while data loads, or instead of it after an error.
export function Waiting({ problem }) {
  return <p class="nothing muted">{problem?.message ?? "Loading…"}</p>;
}

// One at a time, however often it is asked for: [run, whether it is under way].
export function useOneAtATime(run) {
  const [busy, setBusy] = useState(false);
  const isBusy = useRef(false); // at once, while a second key may already be down
  const set = (value) => {
    isBusy.current = value;
    setBusy(value);
  };
  const start = async (...values) => {
    if (isBusy.current) return;
    set(true);
    try {
      await run(...values);
    } finally {
      set(false);
    }
  };
  return [start, busy];
}

// Loads again whenever something changed anywhere, one request at a time: a server that is busy with one gets no more.
export function useLive(load) {
  const [state, setState] = useState({ data: null, problem: null });
  const busy = useRef(false);
  const outdated = useRef(false);
  const isOpen = useRef(true);
  useEffect(() => () => (isOpen.current = false), []);
  useLayoutEffect(() => {
    outdated.current = true;
    if (!busy.current) run();
  }, [steps.value]);
  async function run() {
    busy.current = true;
    while (outdated.current && isOpen.current) {
      outdated.current = false;
      const next = await load().then((data) => ({ data, problem: null }), (problem) => ({ problem }));
      if (isOpen.current) setState((old) => ({ ...old, ...next }));
    }
    busy.current = false;
  }
  return state;
}

// As a ref: whoever opened a form wants to write in it.
export function focusOnce(element) {
  if (!element || element.dataset.seen) return;
  element.dataset.seen = "yes";
  element.focus();
}

export function focusAtBeginning(element) {
  if (!element || element.dataset.seen) return;
  element.setSelectionRange(0, 0);
  focusOnce(element);
}

const SHOWN = 6;

// One step of the history: its number, what, who, when, the notes it changed; and undo, where that works.
export function Step({ step, undone, canUndo, actionOf = () => "", brief = false }) {
  const [all, setAll] = useState(false);
  const entries = all ? step.notes : step.notes.slice(0, SHOWN);
  return (
    <li class={`step ${undone ? "undone" : ""}`}>
      <div class="step-head">
        <div><b>{actionName(step.action, actionOf)}</b> <span class="muted"><span class="revision" title={`Revision ${step.revision}`}>#{step.revision}</span> · {step.client && <>by <bdi>{step.client}</bdi> · </>}<When at={step.at} />{brief && step.noteCount > 2 && ` · ${count(step.noteCount, "note")}`}</span></div>
        {undone ? <span class="chip">undone</span> : canUndo && <UndoButton step={step} isRedo={isUndo(step, actionOf)} />}
      </div>
      <ul class="differences">
        {entries.map((entry) => <Difference key={entry.id} entry={entry} brief={brief} />)}
      </ul>
      {!brief && step.noteCount > entries.length && (
        all || step.notes.length <= SHOWN ? <p class="muted small">and {count(step.noteCount - entries.length, "more note", "more notes")}</p>
          : <button type="button" class="quiet small" onClick={() => setAll(true)}>Show all {step.noteCount}</button>
      )}
    </li>
  );
}

function UndoButton({ step, isRedo }) {
  const [start, busy] = useOneAtATime(() => undo(step.revision, isRedo));
  const what = isRedo ? "Brings the undone change back" : "Undoes this change";
  return <button type="button" class="quiet small" disabled={busy} title={step.noteCount > 1 ? `${what}: ${count(step.noteCount, "note")}` : what} onClick={start}><Icon name={isRedo ? "redo" : "undo"} /> {isRedo ? "Redo" : "Undo"}</button>;
}

function Difference({ entry: { id, before, after }, brief }) {
  const note = after ?? before;
  const sign = !before ? "+" : !after ? "−" : "~";
  return (
    <li class="difference">
      <span class="sign" aria-hidden="true">{sign}</span>
      <div>
        {!brief && <NoteLink id={id} title={note.title} />}
        <ContentChange before={before} after={after} />
      </div>
    </li>
  );
}

function ContentChange({ before, after }) {
  if (!before) return <p class="line muted">{firstLine(after.content)}</p>;
  if (!after) return <p class="line muted">{firstLine(before.content)}</p>;
  if (before.content !== after.content) {
    const [removed, added] = lineDifference(before.content, after.content);
    return (
      <>
        {removed.slice(0, 3).map((line) => <p class="line gone">{line}</p>)}
        {added.slice(0, 3).map((line) => <p class="line come">{line}</p>)}
      </>
    );
  }
  return <p class="line muted">{firstLine(describeFields(before, after))}</p>;
}

function firstLine(text) {
  return short(text.trim().split("\n")[0], LINE);
}

function lineDifference(before, after) {
  const old = before.split("\n"), now = after.split("\n");
  const olds = new Set(old), nows = new Set(now);
  const cut = (line) => short(line, LINE);
  return [old.filter((l) => l.trim() && !nows.has(l)).map(cut), now.filter((l) => l.trim() && !olds.has(l)).map(cut)];
}

function describeFields(before, after) {
  if (before.title !== after.title) return `renamed from “${firstLine(before.title)}”`;
  if (before.hidden !== after.hidden) return after.hidden ? "archived" : "restored";
  const tags = after.tags.filter((tag) => !before.tags.includes(tag));
  if (tags.length) return `tagged ${tags.join(", ")}`;
  if (after.links.length > before.links.length) return `linked: ${after.links.at(-1).reason}`;
  if (after.links.length < before.links.length) return "link removed";
  const changed = ["scope", "type", "source", "stability", "confidence", "subject", "project"].filter((f) => before[f] !== after[f]);
  return changed.length ? changed.map((f) => `${f}: ${before[f]} → ${after[f]}`).join(", ") : before.tags.length > after.tags.length ? "tags removed" : "metadata changed";
}
