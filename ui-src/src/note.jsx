// One note: read it, change it, see what it is linked to and what became of it.
import { useEffect, useRef, useState } from "preact/hooks";
import { api } from "./api.js";
import { Icon } from "./icons.jsx";
import { Markdown } from "./markdown.jsx";
import { NoteLink, Step, undoneSteps, When } from "./parts.jsx";
import { attempt, focused, nodes, nuggets, open, revision, say, selected, steps, titleOf } from "./state.js";
import { ownTags, percent, short } from "./words.js";

const SCOPES = ["user", "project", "shared", "self", "session"];
const TYPES = ["note", "fact", "preference", "reflection", "self_model", "project", "relationship", "style"];

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
      <input value={target ? target.title : text} placeholder="Title of the other note" aria-label="Title of the other note" autofocus
        ref={(element) => element && !element.dataset.seen && ((element.dataset.seen = "1"), element.focus())}
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

function splitTags(text) {
  return text.split(/[,\n]/).map((tag) => tag.trim()).filter(Boolean);
}

function Editor({ note, news, onDone }) {
  const [draft, setDraft] = useState({ title: note.title, content: note.content, tags: ownTags(note).join(", "), scope: note.scope, type: note.type, stability: note.stability, confidence: note.confidence });
  const [theirs, setTheirs] = useState(null); // the note as someone else left it meanwhile
  const [saving, setSaving] = useState(false);
  const set = (field) => (event) => setDraft({ ...draft, [field]: event.target.value });

  const save = async (expected) => {
    setSaving(true);
    const own = splitTags(draft.tags);
    const changes = { expected };
    for (const field of ["title", "content", "scope", "type", "stability"]) if (draft[field] !== note[field]) changes[field] = draft[field];
    if (Number(draft.confidence) !== note.confidence) changes.confidence = Number(draft.confidence);
    if (own.join() !== ownTags(note).join()) changes.tags = own;
    try {
      onDone(await api.edit(note.id, changes));
      say("Saved.", { action: { label: "Undo", run: () => attempt(() => api.undo(), "Undone.") } });
    } catch (problem) {
      if (problem.status === 409) {
        const current = await api.note(note.id).catch(() => null);
        if (current && current.updatedAt !== expected) setTheirs(current);
        else say(problem.message, { tone: "bad" });
      } else say(problem.message, { tone: "bad" });
    } finally {
      setSaving(false);
    }
  };
  const key = (event) => {
    if (event.key === "Escape") {
      event.stopPropagation();
      onDone(null);
    }
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save(note.updatedAt);
  };
  return (
    <form class="note editor" onSubmit={(event) => { event.preventDefault(); save(note.updatedAt); }} onKeyDown={key}>
      <header class="panel-head">
        <div class="crumbs muted">Editing</div>
        <div class="tools">
          <button type="button" class="quiet" onClick={() => onDone(null)}>Cancel</button>
          <button type="submit" class="primary" disabled={saving} title="Ctrl+Enter">Save</button>
        </div>
      </header>
      {theirs && (
        <div class="conflict" role="alert">
          <b>Someone else changed this note meanwhile.</b>
          <blockquote dir="auto"><bdi>{short(theirs.content, 600)}</bdi></blockquote>
          <div class="row">
            <button type="button" class="primary small" onClick={() => save(theirs.updatedAt)}>Save mine over it</button>
            <button type="button" class="quiet small" onClick={() => onDone(theirs)}>Take theirs</button>
          </div>
        </div>
      )}
      {news && !theirs && <p class="hint" role="status">This note has just been changed elsewhere. You will be asked before anything is overwritten.</p>}
      <label>{note.kind === "fact" ? "Key" : "Title"}<input value={draft.title} onInput={set("title")} required maxLength={512} dir="auto" /></label>
      <label>{note.kind === "fact" ? "Value" : "Content"}
        <textarea value={draft.content} onInput={set("content")} rows={12} dir="auto" ref={(element) => element && !element.dataset.seen && ((element.dataset.seen = "1"), element.focus())} />
      </label>
      <label>Tags<input value={draft.tags} onInput={set("tags")} placeholder="comma, separated" /></label>
      <div class="fields">
        <label>Scope<select value={draft.scope} onChange={set("scope")}>{SCOPES.map((s) => <option key={s}>{s}</option>)}</select></label>
        <label>Type<select value={draft.type} onChange={set("type")}>{TYPES.map((t) => <option key={t}>{t}</option>)}</select></label>
        <label>Stability<select value={draft.stability} onChange={set("stability")}><option>durable</option><option>temporary</option></select></label>
        <label>Confidence<input type="number" min="0" max="1" step="0.01" value={draft.confidence} onInput={set("confidence")} /></label>
      </div>
    </form>
  );
}

function NewNote({ onClose }) {
  const [draft, setDraft] = useState({ nugget: nuggets.value[0] ?? "project", title: "", content: "", tags: "" });
  const set = (field) => (event) => setDraft({ ...draft, [field]: event.target.value });
  const save = async (event) => {
    event?.preventDefault();
    const made = await attempt(() => api.create({ nugget: draft.nugget.trim(), title: draft.title, content: draft.content, tags: splitTags(draft.tags) }), "Remembered.");
    if (made) open(made.id);
  };
  const key = (event) => {
    if (event.key === "Escape") onClose();
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save(event);
  };
  return (
    <form class="note editor" onSubmit={save} onKeyDown={key}>
      <header class="panel-head">
        <div class="crumbs muted">New note</div>
        <div class="tools"><button type="button" class="quiet" onClick={onClose}>Cancel</button><button type="submit" class="primary" title="Ctrl+Enter">Save</button></div>
      </header>
      <label>Nugget<input value={draft.nugget} onInput={set("nugget")} list="nugget-names" required maxLength={64} /></label>
      <datalist id="nugget-names">{nuggets.value.map((name) => <option key={name} value={name} />)}</datalist>
      <label>Title<input value={draft.title} onInput={set("title")} required maxLength={512} dir="auto" ref={(element) => element && !element.dataset.seen && ((element.dataset.seen = "1"), element.focus())} /></label>
      <label>Content<textarea value={draft.content} onInput={set("content")} rows={10} dir="auto" placeholder="Markdown, if you like" /></label>
      <label>Tags<input value={draft.tags} onInput={set("tags")} placeholder="comma, separated" /></label>
    </form>
  );
}
