// What sessions with agents were about: the last one open, the others by their goals, and a search through all.
import { useEffect, useState } from "preact/hooks";
import { api } from "./api.js";
import { Icon } from "./icons.jsx";
import { Command, NoteLink, Waiting, When } from "./parts.jsx";
import { loaded, nodes, project, steps } from "./state.js";
import { ownTags, projectName, short } from "./words.js";

const WAIT_MS = 90; // between the last key and the question
const PAGE = 30;
const PREVIOUS = "previous session"; // reason of the link to it
const AS_WRITTEN = ["Files changed", "Commits", "Failed, then passed"]; // headings over paths and commands

export function SessionsView() {
  const [text, setText] = useState("");
  const [choice, setEverywhere] = useState(null);
  const everywhere = choice ?? !project.value; // of no project nobody wants the sessions alone
  const [limit, setLimit] = useState(PAGE);
  const { notes, problem } = useSessions(text.trim(), everywhere, limit);
  const isSearch = Boolean(text.trim());
  return (
    <section class="sheet" aria-label="Sessions">
      <header class="sheet-head"><h1>Sessions</h1><p class="muted">What each session with an agent was about, from its transcript, by fixed rules. “Where were we?” finds them in every agent.</p></header>
      <div class="session-tools">
        <label class="search"><Icon name="search" /><input type="search" value={text} placeholder="Search sessions" aria-label="Search sessions" autocomplete="off" spellcheck={false} maxLength={2000} onInput={(event) => setText(event.target.value)} /></label>
        {project.value && (
          <div class="segments" role="group" aria-label="Projects">
            <button type="button" aria-pressed={!everywhere} title={project.value} onClick={() => setEverywhere(false)}><bdi>{short(projectName(project.value), 24)}</bdi></button>
            <button type="button" aria-pressed={everywhere} onClick={() => setEverywhere(true)}>All projects</button>
          </div>
        )}
      </div>
      {!notes || problem ? <Waiting problem={problem} /> : notes.length ? (
        <ol class="session-list" aria-label="Sessions, the last one first">
          {notes.map((note, i) => <SessionCard key={note.id} note={note} isFirst={i === 0} showsProject={everywhere} />)}
        </ol>
      ) : isSearch ? <p class="nothing muted">No session is about that.</p> : <NoSessions everywhere={everywhere} />}
      {!isSearch && notes?.length === limit && <button type="button" class="plain more" onClick={() => setLimit(limit + PAGE)}>Show earlier ones</button>}
    </section>
  );
}

// Asked anew when the question or anything else changes; an answer that was overtaken is dropped.
function useSessions(text, everywhere, limit) {
  const [state, setState] = useState({ notes: null, problem: null });
  useEffect(() => {
    if (!loaded.value) return undefined; // until then nobody knows the project
    const stop = new AbortController();
    const ask = async () => {
      try {
        const notes = text ? (await api.searchSessions(text, everywhere, stop.signal)).map((result) => result.note) : await api.sessions(everywhere, limit, stop.signal);
        setState({ notes, problem: null });
      } catch (problem) {
        if (problem.name !== "AbortError") setState((old) => ({ ...old, problem }));
      }
    };
    const timer = setTimeout(ask, text ? WAIT_MS : 0);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [text, everywhere, limit, loaded.value, steps.value]);
  return state;
}

function NoSessions({ everywhere }) {
  return (
    <div class="card hint-card">
      <p>No session was noted {everywhere ? "yet" : "in this project yet"}. The hooks of a connected agent note each one when it stops.</p>
      <Command text="nuggets connect claude-code" />
    </div>
  );
}

function SessionCard({ note, isFirst, showsProject }) {
  const [choice, setChoice] = useState(null); // until someone chooses, the first one is open
  const isOpen = choice ?? isFirst;
  const [agent] = ownTags(note);
  const before = note.links.find((link) => link.reason === PREVIOUS && nodes.value.get(link.to)?.updatedAt < note.updatedAt);
  const [, date, goal] = /^(\d{4}-\d\d-\d\d) ([^]*)$/.exec(note.title) ?? [null, "", note.title];
  return (
    <li class="card session-card">
      <button type="button" class="session-head" aria-expanded={isOpen} onClick={() => setChoice(!isOpen)}>
        <b><bdi>{goal}</bdi></b>
        <span class="muted small">{date && <>{date} · </>}<When at={note.updatedAt} />{agent && <> · <bdi>{agent}</bdi></>}{showsProject && note.project && <span title={note.project}> · <bdi>{short(projectName(note.project), 40)}</bdi></span>}</span>
      </button>
      {isOpen && (
        <>
          <dl class="session-text">{sectionsOf(note.content).filter(({ heading, lines }) => heading !== "Goal" || !goal.startsWith(lines[0])).map((section, i) => <Section key={i} section={section} />)}</dl>
          <p class="session-foot small muted"><NoteLink id={note.id} title="Note, history, undo" />{before && <span>before it: <NoteLink id={before.to} /></span>}</p>
        </>
      )}
    </li>
  );
}

function Section({ section: { heading, lines } }) {
  const asWritten = AS_WRITTEN.includes(heading);
  const parts = heading === "Files changed" ? lines.flatMap((line) => line.split(", ")) : lines;
  return (
    <div>
      {heading && <dt>{heading}</dt>}
      {parts.map((line, i) => <dd key={i} dir="auto">{asWritten ? <code><bdi>{line}</bdi></code> : <bdi>{line}</bdi>}</dd>)}
    </div>
  );
}

// The text of a session has sections: "Heading: line", or "Heading:" with a list below. Whatever else a person wrote stays as it is.
function sectionsOf(content) {
  const sections = [];
  for (const line of content.split("\n")) {
    const [, heading, rest] = /^([A-Z][^:]{2,30}):(?: (.*))?$/.exec(line) ?? [];
    if (heading) sections.push({ heading, lines: rest ? [rest] : [] });
    else if (line.trim()) {
      if (!sections.length) sections.push({ heading: "", lines: [] });
      sections.at(-1).lines.push(line.replace(/^- /, ""));
    }
  }
  return sections;
}
