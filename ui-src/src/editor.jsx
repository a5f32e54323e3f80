// Writing: a new note, or an old one in a way that overwrites nobody.
import { useEffect, useState } from "preact/hooks";
import { api } from "./api.js";
import { focusAtStart, focusOnce, useOneAtATime } from "./parts.jsx";
import { attempt, complain, nuggets, openCreated, say, sayDone, selected } from "./state.js";
import { ownTags, short } from "./words.js";

const SCOPES = ["user", "project", "shared", "self", "session"];
const TYPES = ["note", "fact", "preference", "reflection", "self_model", "project", "relationship", "style"];

function splitTags(text) {
  return text.split(/[,\n]/).map((tag) => tag.trim()).filter(Boolean);
}

// What was typed is kept, wherever else the reader goes meanwhile, until it is saved or dropped.
const kept = new Map(); // id, or "new" -> { base, draft }

// `base`: the note that the draft began with, which it is compared with when it is saved.
function useDraft(id, note, begin) {
  const [{ base, draft, isOld }, setState] = useState(() => (kept.has(id) ? { ...kept.get(id), isOld: true } : { base: note, draft: begin() }));
  const set = (field) => (event) => {
    const typed = { base, draft: { ...(kept.get(id)?.draft ?? draft), [field]: event.target.value } };
    kept.set(id, typed);
    setState({ ...typed, isOld });
  };
  useEffect(() => () => kept.has(id) && say("What you typed is kept here, but not saved yet."), [id]);
  return { base, draft, isOld, set, drop: () => kept.delete(id) };
}

function Kept() {
  return <p class="hint" role="status">This is what you typed before. It is not saved yet; Cancel drops it.</p>;
}

// Esc leaves a form as it is; Ctrl+Enter saves what the browser lets pass.
function formKeys(leave) {
  return (event) => {
    if (event.key === "Escape") {
      event.stopPropagation();
      leave();
    }
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit();
  };
}

// `version`: what the graph knows of the note by now; none once it is deleted.
export function Editor({ note, version, gone, onDone }) {
  const { base, draft, isOld, set, drop } = useDraft(note.id, note, () => ({ title: note.title, content: note.content, tags: ownTags(note).join(", "), scope: note.scope, type: note.type, stability: note.stability, confidence: note.confidence }));
  const [theirs, setTheirs] = useState(null); // the note as someone else left it meanwhile
  const leave = (saved) => {
    drop();
    onDone(saved);
  };
  const [save, saving] = useOneAtATime(async (expected) => {
    const own = splitTags(draft.tags);
    const changes = { expected };
    for (const field of ["title", "content", "scope", "type", "stability"]) if (draft[field] !== base[field]) changes[field] = draft[field];
    if (draft.confidence !== "" && Number(draft.confidence) !== base.confidence) changes.confidence = Number(draft.confidence);
    if (own.join() !== ownTags(base).join()) changes.tags = own;
    try {
      const saved = await api.edit(note.id, changes);
      leave(saved);
      sayDone("Saved.", saved);
    } catch (problem) {
      const current = problem.status === 409 && (await api.note(note.id).catch(() => null));
      if (current && current.updatedAt !== expected) setTheirs(current);
      else complain(problem);
    }
  });
  const news = gone ? "This note was deleted meanwhile. Copy what you need." : version?.updatedAt > base.updatedAt ? "This note has just been changed elsewhere. You will be asked before anything is overwritten." : "";
  return (
    <form class="note editor" onSubmit={(event) => { event.preventDefault(); save(base.updatedAt); }} onKeyDown={formKeys(() => onDone(null))}>
      <header class="panel-head">
        <div class="crumbs muted">Editing</div>
        <div class="tools">
          <button type="button" class="quiet" onClick={() => leave(null)}>Cancel</button>
          <button type="submit" class="primary" disabled={saving} title="Ctrl+Enter">Save</button>
        </div>
      </header>
      {theirs && (
        <div class="conflict" role="alert">
          <b>Someone else changed this note meanwhile.</b>
          <blockquote dir="auto"><bdi>{short(theirs.content, 600)}</bdi></blockquote>
          <div class="row">
            <button type="button" class="primary small" onClick={() => save(theirs.updatedAt)}>Save mine over it</button>
            <button type="button" class="quiet small" onClick={() => leave(theirs)}>Take theirs</button>
          </div>
        </div>
      )}
      {isOld && <Kept />}
      {news && !theirs && <p class="hint" role="status">{news}</p>}
      <label>{note.kind === "fact" ? "Key" : "Title"}<input value={draft.title} onInput={set("title")} required maxLength={512} dir="auto" /></label>
      <label>{note.kind === "fact" ? "Value" : "Content"}
        <textarea value={draft.content} onInput={set("content")} rows={12} dir="auto" ref={focusAtStart} />
      </label>
      <label>Tags<input value={draft.tags} onInput={set("tags")} placeholder="comma, separated" /></label>
      <div class="fields">
        <label>Scope<select value={draft.scope} onChange={set("scope")}>{SCOPES.map((s) => <option key={s}>{s}</option>)}</select></label>
        <label>Type<select value={draft.type} onChange={set("type")}>{TYPES.map((t) => <option key={t}>{t}</option>)}</select></label>
        <label>Stability<select value={draft.stability} onChange={set("stability")}><option>durable</option><option>temporary</option></select></label>
        <label>Confidence<input type="number" min="0" max="1" step={Number.isInteger(base.confidence * 100) ? 0.01 : "any"} required value={draft.confidence} onInput={set("confidence")} /></label>
      </div>
    </form>
  );
}

export function NewNote({ onClose }) {
  const { draft, isOld, set, drop } = useDraft("new", null, () => ({ nugget: nuggets.value[0] ?? "project", title: "", content: "", tags: "" }));
  const [save, saving] = useOneAtATime(async () => {
    const made = await attempt(() => api.create({ nugget: draft.nugget.trim(), title: draft.title, content: draft.content, tags: splitTags(draft.tags) }), "Remembered.");
    if (!made) return;
    drop();
    if (selected.value === "new") openCreated(made);
  });
  const cancel = () => {
    drop();
    onClose();
  };
  return (
    <form class="note editor" onSubmit={(event) => { event.preventDefault(); save(); }} onKeyDown={formKeys(onClose)}>
      <header class="panel-head">
        <div class="crumbs muted">New note</div>
        <div class="tools"><button type="button" class="quiet" onClick={cancel}>Cancel</button><button type="submit" class="primary" disabled={saving} title="Ctrl+Enter">Save</button></div>
      </header>
      {isOld && <Kept />}
      <label>Nugget<input value={draft.nugget} onInput={set("nugget")} list="nugget-names" required maxLength={64} /></label>
      <datalist id="nugget-names">{nuggets.value.map((name) => <option key={name} value={name} />)}</datalist>
      <label>Title<input value={draft.title} onInput={set("title")} required maxLength={512} dir="auto" ref={focusOnce} /></label>
      <label>Content<textarea value={draft.content} onInput={set("content")} rows={10} dir="auto" placeholder="Markdown, if you like" /></label>
      <label>Tags<input value={draft.tags} onInput={set("tags")} placeholder="comma, separated" /></label>
    </form>
  );
}
