// MEMORY.md: what stands in it, what is close to it, and why.
import { api } from "./api.js";
import { Markdown } from "./markdown.jsx";
import { Command, NoteLink, useLive, Waiting } from "./parts.jsx";
import { attempt, nodes, showMessage } from "./state.js";
import { count } from "./words.js";

const MOST_DOTS = 10; // more are no longer counted at a glance
const WRITTEN = ["kept", "updated", "changed"];

export function MemoryView() {
  const { data, problem } = useLive(api.promotion);
  const promote = async () => {
    const done = await attempt(api.promote);
    if (done) showMessage(done.promoted ? `${count(done.promoted, "new entry", "new entries")} in MEMORY.md.` : "MEMORY.md is up to date.");
  };
  const trouble = data?.problem;
  const needed = data?.promoteAfter ?? 0; // distinct sessions
  const notes = data?.notes ?? [];
  const written = notes.filter((note) => WRITTEN.includes(note.outcome));
  const rest = notes.filter((note) => !WRITTEN.includes(note.outcome));
  return (
    <section class="sheet" aria-label="MEMORY.md">
      <header class="sheet-head"><h1>MEMORY.md</h1><p class="muted">Memories recalled in {data ? count(needed, "session") : "enough sessions"} are written to the file that your agent reads when it starts.</p></header>
      {trouble && (
        <div class="card hint-card"><p>{trouble}</p><Command text="NUGGETS_MEMORY_FILE=./MEMORY.md nuggets ui" /></div>
      )}
      {!trouble && data && (
        <div class="card">
          <div class="card-head"><h2>In the file <span class="muted">{written.length || ""}</span></h2><button type="button" class="primary" onClick={promote}>Write now</button></div>
          {written.length ? <Entries list={written} needed={needed} /> : <p class="nothing muted">Nothing yet.</p>}
        </div>
      )}
      <div class="card">
        <div class="card-head"><h2>Not yet in the file</h2></div>
        {!data ? <Waiting problem={problem} /> : rest.length || trouble ? <Entries list={trouble ? byHits(needed) : rest} needed={needed} /> : <p class="nothing muted">Nothing else has been recalled yet.</p>}
      </div>
      {data?.text && (
        <details class="card"><summary><h2>The file after the next write</h2><code class="muted">{data.path}</code></summary><Markdown text={data.text.replace(/<!--[^]*?-->/g, "")} /></details>
      )}
    </section>
  );
}

// Without a file there is still something to see: who would be first.
function byHits(needed) {
  return [...nodes.value.values()]
    .filter((node) => node.hits > 0 && !node.hidden)
    .sort((a, b) => b.hits - a.hits)
    .slice(0, 50)
    .map((node) => ({ noteId: node.id, title: node.title, hits: node.hits, reason: node.hits >= needed ? "recalled often enough" : `${count(needed - node.hits, "more session", "more sessions")} to go` }));
}

function Entries({ list, needed }) {
  return (
    <ul class="promotions">
      {list.map((entry) => (
        <li key={entry.noteId}>
          <Dots hits={entry.hits} needed={needed} />
          <div><NoteLink id={entry.noteId} title={entry.title} /> <span class="muted small"><bdi>{nodes.value.get(entry.noteId)?.nugget}</bdi></span>
            {entry.outcome !== "kept" && <p class="muted small">{entry.outcome && entry.outcome !== "out" && <span class={`chip outcome-${entry.outcome.replace(" ", "-")}`}>{entry.outcome === "new" ? "next to be written" : entry.outcome}</span>} <bdi>{entry.reason}</bdi></p>}</div>
        </li>
      ))}
    </ul>
  );
}

function Dots({ hits, needed }) {
  return (
    <span class="dots" role="img" aria-label={`recalled in ${hits} sessions`} title={`recalled in ${hits} sessions`}>
      {Array.from({ length: Math.min(needed, MOST_DOTS) }, (_, i) => <i key={i} class={i < hits ? "on" : ""} />)}
      {hits > Math.min(needed, MOST_DOTS) && <small>{hits}</small>}
    </span>
  );
}
