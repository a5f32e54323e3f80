// Find as you type; with nothing typed, what changed last. Up, Down and Enter go through the list.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { api } from "./api.js";
import { Icon } from "./icons.jsx";
import { Measure, When } from "./parts.jsx";
import { clearFilter, searchResults, isFiltered, isInFilter, loaded, nodes, onlyNuggets, onlyProject, open, project, projects, query, selected, showError, showHidden, steps } from "./state.js";
import { count, ownTags, percent, projectName, short, snippet } from "./words.js";

const WAIT_MS = 90; // between the last key and the question
const RECENT = 60;

export function Finder({ inputRef }) {
  const [chosen, setChosen] = useState(null); // by the arrows; it stays, whoever writes meanwhile
  const [why, setWhy] = useState(null);
  const list = useRef(null);
  const answered = useRef(""); // the query that `searchResults` belongs to
  const enters = useRef(false); // Enter came before the answer
  const text = query.value;
  useLayoutEffect(() => {
    setChosen(null);
    enters.current = false;
  }, [text]);
  useEffect(() => {
    if (!text.trim()) {
      searchResults.value = null;
      return undefined;
    }
    const stop = new AbortController();
    const timer = setTimeout(async () => {
      try {
        searchResults.value = await api.search(text, showHidden.value, stop.signal);
        answered.current = text;
        if (enters.current && searchResults.value.length) open(searchResults.value[0].note.id);
        enters.current = false;
      } catch (problem) {
        if (problem.name === "AbortError") return;
        enters.current = false;
        showError(problem);
      }
    }, WAIT_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [text, steps.value, showHidden.value]);

  const results = text.trim() ? searchResults.value : null;
  const entries = results ? results.map((r) => r.note.id) : recent().map((n) => n.id);
  const at = entries.indexOf(chosen);
  const key = (event) => {
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (move) {
      event.preventDefault();
      const next = Math.max(0, Math.min(entries.length - 1, at + move));
      setChosen(entries[next]);
      list.current?.children[next]?.scrollIntoView({ block: "nearest" });
    } else if (event.key === "Enter") {
      if (at < 0 && text.trim() && answered.current !== text) enters.current = true;
      else if (entries.length) open(entries[Math.max(0, at)]);
    } else if (event.key === "Escape") {
      query.value = "";
      event.target.blur();
    }
  };
  return (
    <aside class="finder" aria-label="Find">
      <label class="search">
        <Icon name="search" />
        <input ref={inputRef} type="search" value={text} placeholder="Search your memory" aria-label="Search your memory" autocomplete="off" spellcheck={false} maxLength={2000}
          onInput={(event) => (query.value = event.target.value)} onKeyDown={key} />
        <kbd>/</kbd>
      </label>
      <div class="finder-list">
        <Filter />
        <p class="finder-head muted" aria-live="polite">{results ? summary(results) : loaded.value && nodes.value.size ? "Recently changed" : ""}</p>
        <ul ref={list} class="entries">
          {results
            ? results.map((result, i) => <Result key={result.note.id} result={result} query={text} active={i === at} open={why === result.note.id} onWhy={() => setWhy(why === result.note.id ? null : result.note.id)} />)
            : recent().map((node, i) => <Recent key={node.id} node={node} active={i === at} />)}
        </ul>
      </div>
    </aside>
  );
}

// What a filter leaves out is counted: a result is never hidden without a word.
function summary(results) {
  if (!results.length) return "No matches.";
  const outside = results.filter((result) => !isInside(result)).length;
  return `${count(results.length, "note")} found${outside ? `, ${outside} outside the filter` : ""}`;
}

function isInside({ note }) {
  return isInFilter({ nugget: note.nuggetName, project: note.project });
}

// Whose notes are shown. A choice of nuggets is made in the legend.
function Filter() {
  if (!projects.value.length && !isFiltered.value) return null;
  return (
    <div class="filter">
      {projects.value.length > 0 && (
        <select aria-label="Project" value={onlyProject.value === null ? "all" : `=${onlyProject.value}`} onChange={(event) => (onlyProject.value = event.target.value === "all" ? null : event.target.value.slice(1))}>
          <option value="all">All projects</option>
          {projects.value.map((path) => <option key={path} value={`=${path}`} title={path}>{projectName(path)}{path === project.value ? " (this project)" : ""}</option>)}
          <option value="=">No project</option>
        </select>
      )}
      {isFiltered.value && <button type="button" class="chip" title="Show everything" onClick={clearFilter}><bdi>{[...onlyNuggets.value].join(", ") || "filtered"}</bdi><Icon name="close" /></button>}
    </div>
  );
}

function recent() {
  return [...nodes.value.values()]
    .filter((node) => (showHidden.value || !node.hidden) && isInFilter(node))
    .sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1))
    .slice(0, RECENT);
}

function Recent({ node, active }) {
  return (
    <li class={active ? "active" : ""}>
      <button type="button" class="entry" aria-current={selected.value === node.id} onClick={() => open(node.id)}>
        <span class="entry-title"><bdi>{short(node.title, 120)}</bdi></span>
        <span class="entry-detail muted"><bdi>{node.nugget}</bdi> · {node.kind}{node.project && node.project !== project.value && ` · ${short(projectName(node.project), 30)}`}{node.hidden ? " · archived" : ""} · <When at={node.updatedAt} /></span>
      </button>
    </li>
  );
}

function Result({ result, query: text, active, open: expanded, onWhy }) {
  const { note } = result;
  return (
    <li class={`${active ? "active" : ""} ${isInside(result) ? "" : "outside"}`}>
      <button type="button" class="entry" aria-current={selected.value === note.id} onClick={() => open(note.id)}>
        <span class="entry-title"><bdi>{short(note.title, 120)}</bdi></span>
        <span class="entry-text"><bdi>{snippet(note.content, text)}</bdi></span>
        {result.caveats?.map((caution) => <span key={caution} class="entry-caution"><Icon name="warning" /> <bdi>{short(caution, 120)}</bdi></span>)}
        <span class="entry-detail muted"><bdi>{note.nuggetName}</bdi>{ownTags(note).slice(0, 3).map((tag) => ` · ${short(tag, 30)}`)}{note.hidden && " · archived"}{note.project && note.project !== project.value && ` · ${short(projectName(note.project), 30)}`}</span>
      </button>
      <button type="button" class="why" aria-expanded={expanded} title="Why this one?" onClick={onWhy}>{percent(result.relevance)}</button>
      {expanded && <Why result={result} query={text} />}
    </li>
  );
}

// Asked for only when someone wants to know: an explanation takes longer than the search.
function Why({ result, query: text }) {
  const [why, setWhy] = useState(null);
  useEffect(() => {
    let wanted = true;
    api.explanation(result.note.id, text, showHidden.value).then((reasons) => wanted && setWhy(reasons), (problem) => wanted && showError(problem));
    return () => (wanted = false);
  }, [result]);
  return (
    <div class="why-box">
      <Measure name="words" share={result.textScore} title="How well its words fit; weighs 48 %" />
      <Measure name="meaning" share={result.vectorScore} title="Nearness of the vectors, 50 % is unrelated; weighs 42 %" />
      <Measure name="relevance" share={result.relevance} title="Both together, and how far the note is trusted" />
      <Measure name="share" share={result.score} title="Among the results shown" />
      <Reasons why={why} />
    </div>
  );
}

const PARTS = { group: "words that stand together", subject: "what it is about", time: "its time", phrase: "the same wording", boost: "how far it is trusted" };

// The words that were found and where; then whatever else speaks for the note.
function Reasons({ why }) {
  if (!why) return null;
  const others = Object.entries(PARTS).filter(([name]) => why[name] > 0.005);
  return (
    <ul class="reasons">
      {why.words?.filter((word) => word.fields.length).slice(0, 6).map((word) => (
        <li key={word.word}><b><bdi>{word.word}</bdi></b> in {word.fields.join(", ")}</li>
      ))}
      {others.length > 0 && <li>also {others.map(([name, label]) => `${label} +${why[name].toFixed(2)}`).join(", ")}</li>}
    </ul>
  );
}
