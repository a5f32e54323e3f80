// Facts by nugget: how full each is, what it knows, and what it answers.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { api } from "./api.js";
import { Menu } from "./dialogs.jsx";
import { Icon } from "./icons.jsx";
import { Gauge, Measure, NoteLink, useLive, Waiting, When } from "./parts.jsx";
import { readSetting, saveSetting } from "./settings.js";
import { attempt, confirmation, loaded, nodes, project, showError, statuses, steps } from "./state.js";
import { count, projectName, short } from "./words.js";

const WAIT_MS = 120;
const MANY = 8; // nuggets; beyond that, those without facts are listed on demand

export function FactsView() {
  const [name, setName] = useState(null);
  const [showsAll, setShowsAll] = useState(false);
  const all = statuses.value;
  const chosen = all.find((s) => s.name === name) ?? [...all].sort((a, b) => b.fact_count - a.fact_count)[0];
  useLayoutEffect(() => setName(chosen?.name ?? null), [chosen?.name]); // it stays, whichever is the fullest later
  const listed = all.length <= MANY || showsAll ? all : all.filter((status) => status.fact_count > 0 || status === chosen);
  const key = (event) => {
    const move = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!move) return;
    event.preventDefault();
    const next = (listed.indexOf(chosen) + move + listed.length) % listed.length;
    setName(listed[next].name);
    event.currentTarget.children[next].focus();
  };
  return (
    <section class="sheet" aria-label="Facts">
      <header class="sheet-head"><h1>Facts</h1><p class="muted">Short keys and their values, answered from a superposition of vectors.</p></header>
      <RecallBox />
      {!loaded.value ? <Waiting /> : all.length === 0 ? <p class="nothing muted">No nugget yet. The first fact creates one.</p> : (
        <div class="gauges" role="tablist" aria-label="Nuggets" onKeyDown={key}>
          {listed.map((status) => (
            <button type="button" role="tab" key={status.name} class="gauge-card" aria-selected={status === chosen} aria-controls="nugget" tabIndex={status === chosen ? 0 : -1} onClick={() => setName(status.name)}>
              <Gauge used={status.fact_count} total={status.capacity} percentage={status.capacity_used_pct} warning={status.capacity_warning} />
              <span><b><bdi>{status.name}</bdi></b><span class="muted"><span>{count(status.fact_count, "fact")} ·</span> <span>{count(status.note_count, "note")}</span></span>
                {status.capacity_warning && <span class="warning">{status.capacity_warning}</span>}</span>
            </button>
          ))}
        </div>
      )}
      {all.length > MANY && all.length > listed.length && <button type="button" class="quiet small" onClick={() => setShowsAll(true)}>{count(all.length - listed.length, "nugget")} without facts</button>}
      <div id="nugget" class="card" role={chosen && "tabpanel"} aria-label={chosen?.name}>
        {chosen && <NuggetHead status={chosen} />}
        {loaded.value && <FactForm nugget={chosen?.name} />}
        {chosen && <FactTable key={chosen.name} nugget={chosen.name} />}
      </div>
    </section>
  );
}

function NuggetHead({ status }) {
  const facts = count(status.fact_count, "fact");
  const archived = [...nodes.value.values()].filter((node) => node.nugget === status.name && node.hidden).length;
  const clear = () => (confirmation.value = { title: `Forget all facts of “${status.name}”?`, yes: "Forget all",
    text: `${facts} will be forgotten. Its notes stay.`, run: () => attempt(() => api.clearNugget(status.name), "Forgotten.") });
  const remove = () => (confirmation.value = { title: `Remove “${status.name}”?`, yes: "Remove",
    text: `This removes ${facts}, ${count(status.note_count, "note")}${archived ? ` and ${archived} archived` : ""}, with their links.`,
    run: () => attempt(() => api.removeNugget(status.name), "Removed.") });
  return (
    <div class="card-head">
      <h2><bdi>{status.name}</bdi></h2>
      <Menu label={`More for ${status.name}`} items={[
        { label: "Forget all facts…", icon: "erase", danger: true, disabled: !status.fact_count, run: clear },
        { label: "Remove nugget…", icon: "trash", danger: true, run: remove },
      ]} />
    </div>
  );
}

function RecallBox() {
  const [text, setText] = useState("");
  const [result, setResult] = useState(null);
  useEffect(() => {
    if (!text.trim()) {
      setResult(null);
      return undefined;
    }
    const stop = new AbortController();
    const timer = setTimeout(() => api.recall(text, undefined, stop.signal).then(setResult, (problem) => problem.name !== "AbortError" && showError(problem)), WAIT_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [text, steps.value]);
  return (
    <div class="recall card">
      <label class="search"><Icon name="search" /><input type="search" value={text} placeholder="Recall a key, even misspelt" aria-label="Recall" spellcheck={false} maxLength={2000} onInput={(event) => setText(event.target.value)} /></label>
      <div aria-live="polite">{result && (result.found ? (
        <div class="answer">
          <p class="answer-text" dir="auto"><bdi>{result.answer}</bdi></p>
          <p class="muted"><NoteLink id={result.noteId} title={result.key} /> in <bdi>{result.nugget}</bdi>{result.project && result.project !== project.value && <> · another project: <bdi>{projectName(result.project)}</bdi></>}{result.note && <> · stored <When at={result.note.updatedAt} /></>}</p>
          <div class="measures"><Measure name="sure" share={result.probability} title="How probable it is that this answer is what you meant" /></div>
          <Doubt result={result} />
        </div>
      ) : <Unanswered notes={result.notes ?? []} />)}</div>
    </div>
  );
}

function Doubt({ result }) {
  if (result.doubt) return <p class="muted small"><bdi>{short(result.doubt, 200)}</bdi></p>;
  return result.also?.length > 0 && <p class="muted small">Others fit as well: {result.also.map((note) => <NoteLink key={note.id} id={note.id} title={note.title} />)}</p>;
}

function Unanswered({ notes }) {
  return (
    <div class="answer">
      <p class="muted">No fact matches.{notes.length > 0 && " These notes may help:"}</p>
      {notes.length > 0 && <p class="session-notes">{notes.map(({ note }) => <NoteLink key={note.id} id={note.id} title={note.title} />)}</p>}
    </div>
  );
}

function readDraft() {
  try {
    return JSON.parse(readSetting("draft.fact", "{}", "sessionStorage"));
  } catch {
    return {}; // someone else wrote it
  }
}

// `nugget`: none until there is one. What is typed stays, whatever happens to the nuggets meanwhile.
function FactForm({ nugget }) {
  const [draft, setDraft] = useState(() => ({ nugget: "project", key: "", value: "", ...readDraft() }));
  useEffect(() => saveSetting("draft.fact", JSON.stringify(draft), "sessionStorage"), [draft]);
  const set = (field) => (event) => {
    const { value } = event.target;
    setDraft((now) => ({ ...now, [field]: value }));
  };
  const add = async (event) => {
    event.preventDefault();
    const { key, value } = draft;
    const made = await attempt(() => api.remember(nugget ?? draft.nugget, key, value), "Remembered.");
    // only what was sent: the next one may be in the making
    if (made) setDraft((now) => ({ ...now, key: now.key === key ? "" : now.key, value: now.value === value ? "" : now.value }));
  };
  return (
    <form class="fact-form" onSubmit={add}>
      {!nugget && <input value={draft.nugget} aria-label="Nugget" onInput={set("nugget")} required />}
      <input value={draft.key} placeholder="key, such as test cmd" aria-label="Key" required maxLength={512} onInput={set("key")} />
      <input value={draft.value} placeholder="value, such as make test" aria-label="Value" required onInput={set("value")} />
      <button type="submit" class="primary">Remember</button>
    </form>
  );
}

function FactTable({ nugget }) {
  const { data, problem } = useLive(() => api.facts(nugget));
  const rows = useRef(null);
  const left = useRef(null); // the row that is being forgotten: whoever does it by keys goes on below it
  useLayoutEffect(() => {
    if (left.current === null || document.activeElement !== document.body) return;
    const buttons = rows.current?.querySelectorAll("button.icon-button") ?? [];
    (buttons[Math.min(left.current, buttons.length - 1)] ?? document.querySelector(".fact-form input"))?.focus();
    left.current = null;
  }, [data]);
  const forget = (fact, row) => {
    left.current = row;
    attempt(() => api.remove(fact.id), "Forgotten.");
  };
  if (!data) return <Waiting problem={problem} />;
  if (!data.length) return <p class="nothing muted">No facts here yet.</p>;
  return (
    <table class="facts">
      <thead><tr><th>Key</th><th>Value</th><th class="number">Hits</th><th><span class="sr-only">Actions</span></th></tr></thead>
      <tbody ref={rows}>
        {data.map((fact, row) => (
          <tr key={fact.id}>
            <td><NoteLink id={fact.id} title={fact.title} /><p class="muted small">{fact.scope}{fact.project && <span title={fact.project}> · <bdi>{short(projectName(fact.project), 40)}</bdi></span>}</p></td>
            <td class="value" dir="auto"><bdi>{fact.content}</bdi></td>
            <td class="number">{fact.hits}</td>
            <td class="action"><button type="button" class="icon-button small" aria-label={`Forget ${short(fact.title)}`} title="Forget" onClick={() => forget(fact, row)}><Icon name="close" /></button></td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
