// Small pieces that several views are made of.
import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { attempt, nodes, open, steps, titleOf } from "./state.js";
import { api } from "./api.js";
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
  minute.value; // what was just now is not for ever
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
  if (!nodes.value.has(id)) return name; // it is gone
  return <button type="button" class="note-link" onClick={() => open(id)}>{name}</button>;
}

// In place of what is not there yet, or could not be had.
export function Waiting({ problem }) {
  return <p class="nothing muted">{problem?.message ?? "Looking…"}</p>;
}

// One at a time, however often it is asked for: [run, whether it is under way].
export function useOneAtATime(run) {
  const [busy, setBusy] = useState(false);
  const isBusy = useRef(false); // at once, while a second key may already be down
  const set = (value) => {
    isBusy.current = value;
    setBusy(value);
  };
  const start = async (...given) => {
    if (isBusy.current) return;
    set(true);
    try {
      await run(...given);
    } finally {
      set(false);
    }
  };
  return [start, busy];
}

// Loads again whenever something changed anywhere.
export function useFresh(load, dependencies = []) {
  const [state, setState] = useState({ data: null, problem: null });
  useEffect(() => {
    let wanted = true;
    load().then(
      (data) => wanted && setState({ data, problem: null }),
      (problem) => wanted && setState((old) => ({ data: old.data, problem })),
    );
    return () => (wanted = false);
  }, [steps.value, ...dependencies]);
  return state;
}

// As a ref: whoever opened a form wants to write in it.
export function focusOnce(element) {
  if (!element || element.dataset.seen) return;
  element.dataset.seen = "yes";
  element.focus();
}

export function focusAtStart(element) {
  if (!element || element.dataset.seen) return;
  element.setSelectionRange(0, 0);
  focusOnce(element);
}

const SHOWN = 6;

// One step of the history: what, who, when, the notes it changed, and the way back.
export function Step({ step, undone, brief = false }) {
  const [all, setAll] = useState(false);
  const entries = all ? step.notes : step.notes.slice(0, SHOWN);
  return (
    <li class={`step ${undone ? "undone" : ""}`}>
      <div class="step-head">
        <div><b>{actionName(step.action)}</b> <span class="muted">{step.client && <>by <bdi>{step.client}</bdi> · </>}<When at={step.at} />{brief && step.noteCount > 2 && ` · ${count(step.noteCount, "note")}`}</span></div>
        {undone ? <span class="chip">undone</span> : (
          <button type="button" class="quiet small" title={step.noteCount > 1 ? `Takes the whole step back: ${count(step.noteCount, "note")}` : "Takes this step back"} onClick={() => attempt(() => api.undo(step.revision), "Undone.")}><Icon name="undo" /> Undo</button>
        )}
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

function Difference({ entry: { id, before, after }, brief }) {
  const note = after ?? before;
  const sign = !before ? "+" : !after ? "−" : "~";
  return (
    <li class="difference">
      <span class="sign" aria-hidden="true">{sign}</span>
      <div>
        {!brief && <NoteLink id={id} title={note.title} />}
        <Changed before={before} after={after} />
      </div>
    </li>
  );
}

function Changed({ before, after }) {
  if (!before) return <p class="line muted">{firstLine(after.content)}</p>;
  if (!after) return <p class="line muted">{firstLine(before.content)}</p>;
  if (before.content !== after.content) {
    const [gone, come] = lineDifference(before.content, after.content);
    return (
      <>
        {gone.slice(0, 3).map((line) => <p class="line gone">{line}</p>)}
        {come.slice(0, 3).map((line) => <p class="line come">{line}</p>)}
      </>
    );
  }
  return <p class="line muted">{firstLine(fields(before, after))}</p>;
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

function fields(before, after) {
  if (before.title !== after.title) return `renamed from “${firstLine(before.title)}”`;
  if (before.hidden !== after.hidden) return after.hidden ? "archived" : "back in sight";
  const tags = after.tags.filter((tag) => !before.tags.includes(tag));
  if (tags.length) return `tagged ${tags.join(", ")}`;
  if (after.links.length > before.links.length) return `linked: ${after.links.at(-1).reason}`;
  if (after.links.length < before.links.length) return "a link was taken away";
  const changed = ["scope", "type", "source", "stability", "confidence", "subject", "project"].filter((f) => before[f] !== after[f]);
  return changed.length ? changed.map((f) => `${f}: ${before[f]} → ${after[f]}`).join(", ") : before.tags.length > after.tags.length ? "tags taken away" : "looked after";
}

// Which steps were taken back: an undo that was itself undone counts for nothing.
export function undoneSteps(history) {
  const undone = new Set();
  for (const step of [...history].sort((a, b) => b.revision - a.revision)) {
    const [, revision] = /^undo (\d+)$/.exec(step.action) ?? [];
    if (revision && !undone.has(step.revision)) undone.add(Number(revision));
  }
  return undone;
}
