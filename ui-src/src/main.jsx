// The page: its frame, its keys, and where each view stands.
import { render } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { ActivityView } from "./activity.jsx";
import { ConfirmDialog } from "./dialogs.jsx";
import { FactsView } from "./facts.jsx";
import { GraphView } from "./graph/view.jsx";
import { Icon } from "./icons.jsx";
import { connect, load } from "./live.js";
import { MemoryView } from "./memory.jsx";
import { NotePanel } from "./note.jsx";
import { ReflectionView } from "./reflection.jsx";
import { Finder } from "./search.jsx";
import { SessionsView } from "./sessions.jsx";
import { dismiss, focused, live, open, query, confirmation, selected, setTheme, show, theme, toasts, view } from "./state.js";

const VIEWS = [
  ["graph", "Graph"],
  ["facts", "Facts"],
  ["reflection", "Reflection"],
  ["memory", "MEMORY.md"],
  ["activity", "Activity"],
  ["sessions", "Sessions"],
];
const SHEETS = { facts: FactsView, reflection: ReflectionView, memory: MemoryView, activity: ActivityView, sessions: SessionsView };

// While a letter is composed, keys belong to the input method.
addEventListener("keydown", (event) => event.isComposing && event.stopImmediatePropagation(), true);

function Page() {
  const input = useRef(null);
  useEffect(() => {
    const key = (event) => {
      if (confirmation.value || event.target.closest("input, textarea, select")) return;
      const number = Number(event.key);
      const isWriting = document.querySelector(".editor"); // a form, though no field of it has the focus
      if (event.key === "/" || ((event.ctrlKey || event.metaKey) && event.key === "k")) {
        event.preventDefault();
        show("graph");
        queueMicrotask(() => input.current.focus()); // once it is in sight, and before the next key
      } else if (event.ctrlKey || event.metaKey || event.altKey) return;
      else if (event.key === "n" && !isWriting) {
        event.preventDefault();
        open("new");
      } else if (event.key === "Escape" && selected.value && !isWriting) open(null);
      else if (number >= 1 && number <= VIEWS.length) show(VIEWS[number - 1][0]);
    };
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  }, []);
  const Sheet = SHEETS[view.value];
  return (
    <div class={`frame view-${view.value} ${selected.value ? "with-panel" : ""} ${focused.value && view.value === "graph" ? "focusing" : ""} ${query.value ? "asking" : ""}`}>
      <header class="top">
        <a class="brand" href="#/graph" onClick={(event) => { event.preventDefault(); show("graph"); }}><img src="icon.svg" alt="" width="22" height="22" /> Nuggets</a>
        <nav aria-label="Views">
          {VIEWS.map(([name, label], i) => (
            <button type="button" key={name} aria-current={view.value === name ? "page" : undefined} title={`${label} (${i + 1})`} onClick={() => show(name)}><Icon name={name} /><span>{label}</span></button>
          ))}
        </nav>
        <div class="top-tools">
          <span class={`live ${live.value}`} role="status" title={{ live: "Live: changes appear as they are made", lost: "Connection lost; trying again", connecting: "Connecting" }[live.value]}><i /><span class="sr-only">{live.value}</span></span>
          <ThemeButton />
          <button type="button" class="primary" title="New note (N)" onClick={() => open("new")}><Icon name="plus" /><span>New note</span></button>
        </div>
      </header>
      <main>
        <div class="stage" hidden={Boolean(Sheet)}><Finder inputRef={input} /><GraphView /></div>
        {Sheet && <Sheet />}
      </main>
      <NotePanel />
      <Toasts />
      <ConfirmDialog />
    </div>
  );
}

function ThemeButton() {
  const next = { auto: "light", light: "dark", dark: "auto" };
  const icon = { auto: "auto", light: "sun", dark: "moon" }[theme.value];
  return (
    <button type="button" class="icon-button" aria-label={`Colours: ${theme.value}`} title={`Colours: ${theme.value}`} onClick={() => setTheme(next[theme.value])}><Icon name={icon} /></button>
  );
}

function Toasts() {
  return (
    <div class="toasts" role="log" aria-live="polite">
      {toasts.value.map((toast) => (
        <div class={`toast ${toast.tone}`} key={toast.number}>
          <bdi>{toast.text}</bdi>
          {toast.action && <button type="button" onClick={() => { dismiss(toast.number); toast.action.run(); }}>{toast.action.label}</button>}
          <button type="button" aria-label="Dismiss" onClick={() => dismiss(toast.number)}><Icon name="close" /></button>
        </div>
      ))}
    </div>
  );
}

setTheme(theme.value);
render(<Page />, document.getElementById("page"));
load();
connect();
