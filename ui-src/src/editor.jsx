// Writing: a new note, or an old one in a way that overwrites nobody.
import { useState } from "preact/hooks";
import { api } from "./api.js";
import { focusAtStart, focusOnce } from "./parts.jsx";
import { attempt, nuggets, open, say, sayDone } from "./state.js";
import { ownTags, short } from "./words.js";

const SCOPES = ["user", "project", "shared", "self", "session"];
const TYPES = ["note", "fact", "preference", "reflection", "self_model", "project", "relationship", "style"];

function splitTags(text) {
  return text.split(/[,\n]/).map((tag) => tag.trim()).filter(Boolean);
}

export function Editor({ note, news, onDone }) {
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
      sayDone("Saved.");
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
        <textarea value={draft.content} onInput={set("content")} rows={12} dir="auto" ref={focusAtStart} />
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

export function NewNote({ onClose }) {
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
      <label>Title<input value={draft.title} onInput={set("title")} required maxLength={512} dir="auto" ref={focusOnce} /></label>
      <label>Content<textarea value={draft.content} onInput={set("content")} rows={10} dir="auto" placeholder="Markdown, if you like" /></label>
      <label>Tags<input value={draft.tags} onInput={set("tags")} placeholder="comma, separated" /></label>
    </form>
  );
}
