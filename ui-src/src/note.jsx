// One note: read it, see what it is linked to and what became of it.
import { useEffect, useRef, useState } from "preact/hooks";
import { api } from "./api.js";
import { Editor, NewNote } from "./editor.jsx";
import { Icon } from "./icons.jsx";
import { Markdown } from "./markdown.jsx";
import { focusOnce, NoteLink, Step, undoneSteps, When } from "./parts.jsx";
import { attempt, focused, nodes, open, revision, say, selected, steps, titleOf } from "./state.js";
import { ownTags, percent, short } from "./words.js";

export function NotePanel() {
  const id = selected.value;
  const [note, setNote] = useState(null);
  const [problem, setProblem] = useState("");
  const [editing, setEditing] = useState(false);
  const [news, setNews] = useState(false); // the note changed while it was being edited
  const panel = useRef(null);
  const writing = useRef(false);
  writing.current = editing;

  useEffect(() => {
    setEditing(false);
    setNews(false);
    setNote((old) => (old?.id === id ? old : null));
    setProblem("");
    panel.current?.scrollTo(0, 0);
  }, [id]);
  const version = nodes.value.get(id);
  useEffect(() => {
    if (!id || id === "new") return undefined;
    if (writing.current) {
      setNews(true);
      return undefined;
    }
    let wanted = true;
    api.note(id).then((found) => wanted && setNote(found), (failure) => wanted && (setNote(null), setProblem(failure.message)));
    return () => (wanted = false);
  }, [id, version]);

  if (!id) return null;
  const close = () => open(null);
  return (
    <aside class="panel" ref={panel} aria-label={id === "new" ? "New note" : "Note"}
      onKeyDown={(event) => event.key === "Escape" && !editing && id !== "new" && close()}>
      {id === "new" ? <NewNote onClose={close} />
        : editing && note ? <Editor note={note} news={news} onDone={(saved) => { setEditing(false); setNews(false); if (saved) setNote(saved); else api.note(id).then(setNote, () => {}); }} />
          : note ? <Reader note={note} onEdit={() => setEditing(true)} onClose={close} />
            : problem ? <div class="panel-head"><p class="muted">{problem}</p><Close onClick={close} /></div> : <div class="panel-head"><Close onClick={close} /></div>}
    </aside>
  );
}

function Close({ onClick }) {
  return <button type="button" class="icon-button" aria-label="Close" title="Close (Esc)" onClick={onClick}><Icon name="close" /></button>;
}

function Reader({ note, onEdit, onClose }) {
  const archive = () => attempt(() => (note.hidden ? api.restore(note.id) : api.archive(note.id)), note.hidden ? "Back in sight." : "Archived.");
  useEffect(() => {
    const key = (event) => {
      if (event.target.closest("input, textarea, select") || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "e") {
        event.preventDefault();
        onEdit();
      }
      if (event.key === "f") focused.value = !focused.value;
    };
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  }, [note.id]);
  return (
    <article class={note.hidden ? "note archived" : "note"}>
      <header class="panel-head">
        <div class="crumbs muted"><bdi>{note.nuggetName}</bdi> · {note.kind}{note.hidden && <b> · archived</b>}</div>
        <div class="tools">
          <button type="button" class="icon-button" aria-label="Edit" title="Edit (E)" onClick={onEdit}><Icon name="edit" /></button>
          <button type="button" class="icon-button" aria-label={note.hidden ? "Restore" : "Archive"} title={note.hidden ? "Bring back" : "Archive; nothing is lost"} onClick={archive}><Icon name={note.hidden ? "restore" : "archive"} /></button>
          <Close onClick={onClose} />
        </div>
      </header>
      <h1 dir="auto"><bdi>{note.title}</bdi></h1>
      <div dir="auto"><Markdown text={note.content} /></div>
      <ul class="tags" aria-label="Tags">{ownTags(note).map((tag) => <li key={tag}><bdi>{tag}</bdi></li>)}</ul>
      <Links note={note} />
      <Metadata note={note} />
      <History note={note} />
    </article>
  );
}

function Links({ note }) {
  const [adding, setAdding] = useState(false);
  return (
    <section>
      <h2>Links <span class="muted">{note.links.length || ""}</span>
        <button type="button" class="quiet small" aria-expanded={adding} onClick={() => setAdding(!adding)}><Icon name="link" /> Link to…</button>
      </h2>
      {adding && <LinkForm note={note} onDone={() => setAdding(false)} />}
      {note.links.length === 0 && !adding && <p class="muted small">Not linked yet. Every link is seen from both of its notes.</p>}
      <ul class="links">
        {note.links.map((link) => (
          <li key={`${link.to} ${link.reason}`}>
            <NoteLink id={link.to} />
            <span class="muted"><bdi>{link.reason}</bdi></span>
            <button type="button" class="icon-button small" aria-label={`Take the link to ${short(titleOf(link.to), 40)} away`} title="Take this link away"
              onClick={() => attempt(() => api.unlink(note.id, link.to, link.reason), "Link taken away.")}><Icon name="close" /></button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function LinkForm({ note, onDone }) {
  const [text, setText] = useState("");
  const [reason, setReason] = useState("");
  const [target, setTarget] = useState(null);
  const choices = text.trim() && !target
    ? [...nodes.value.values()].filter((n) => n.id !== note.id && !n.hidden && n.title.toLowerCase().includes(text.trim().toLowerCase())).slice(0, 6)
    : [];
  const save = async (event) => {
    event.preventDefault();
    const other = target ?? choices[0];
    if (!other) return say("Choose a note to link to.", { tone: "bad" });
    const done = await attempt(() => api.link(note.id, other.id, reason.trim()));
    if (!done) return undefined;
    say(done.added ? "Linked." : "They were linked so already.");
    return onDone();
  };
  return (
    <form class="link-form" onSubmit={save} onKeyDown={(event) => event.key === "Escape" && (event.stopPropagation(), onDone())}>
      <input value={target ? target.title : text} placeholder="Title of the other note" aria-label="Title of the other note"
        ref={focusOnce}
        onInput={(event) => { setTarget(null); setText(event.target.value); }} />
      {choices.length > 0 && (
        <ul class="choices">{choices.map((n) => <li key={n.id}><button type="button" onClick={() => setTarget(n)}><bdi>{short(n.title, 80)}</bdi> <span class="muted">{n.nugget}</span></button></li>)}</ul>
      )}
      <input value={reason} placeholder="How are they related?" aria-label="Reason" maxLength={512} onInput={(event) => setReason(event.target.value)} />
      <div class="row"><button type="submit" class="primary small">Link</button><button type="button" class="quiet small" onClick={onDone}>Cancel</button></div>
    </form>
  );
}

function Metadata({ note }) {
  const rows = [
    ["Scope", note.scope], ["Type", note.type], ["About", note.subject], ["Source", note.source.replaceAll("_", " ")],
    ["Confidence", percent(note.confidence)], ["Stability", note.stability],
    ["Recalled", note.hits ? `in ${note.hits} session${note.hits === 1 ? "" : "s"}` : "never"],
    ["Last seen", <When at={note.lastAccessedAt} />], ["Changed", <When at={note.updatedAt} />], ["Created", <When at={note.createdAt} />],
    ["Id", <code>{note.id}</code>],
  ];
  return (
    <section>
      <h2>Details</h2>
      <dl class="details">{rows.map(([name, value]) => <div key={name}><dt>{name}</dt><dd><bdi>{value}</bdi></dd></div>)}</dl>
    </section>
  );
}

function History({ note }) {
  const [history, setHistory] = useState([]);
  useEffect(() => {
    let wanted = true;
    api.noteHistory(note.id).then((found) => wanted && setHistory(found), () => {});
    return () => (wanted = false);
  }, [note.id, steps.value, revision.value]);
  const undone = undoneSteps(history);
  return (
    <section>
      <h2>History</h2>
      <ol class="steps">{history.map((step) => <Step key={step.revision} step={step} undone={undone.has(step.revision)} brief />)}</ol>
    </section>
  );
}
