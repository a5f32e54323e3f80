// Writing: a new note, or an old one in a way that overwrites nobody.
import { useEffect, useRef, useState } from "preact/hooks";
import { api } from "./api.js";
import { focusAtBeginning, focusOnce, useOneAtATime } from "./parts.jsx";
import { readSetting, saveSetting } from "./settings.js";
import { attempt, nodes, nuggets, onlyNuggets, openCreated, project, projects, selected, showDone, showError, showMessage } from "./state.js";
import { ownTags, projectName, short } from "./words.js";

const SCOPES = ["user", "project", "shared", "self", "session"];
const TYPES = ["note", "fact", "preference", "reflection", "self_model", "project", "relationship", "style"];

function splitTags(text) {
  return text.split(/[,\n]/).map((tag) => tag.trim()).filter(Boolean);
}

// A draft is kept in this tab until it is saved or discarded, whatever else is opened and when the page is loaded again.
const drafts = {
  get: (id) => parse(readSetting(`draft.${id}`, "null", "sessionStorage")),
  set: (id, draft) => saveSetting(`draft.${id}`, JSON.stringify(draft), "sessionStorage"),
  delete: (id) => saveSetting(`draft.${id}`, null, "sessionStorage"),
};

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null; // someone else wrote it
  }
}

// `base`: the note that the draft began with, which it is compared with when it is saved.
function useDraft(id, note, begin) {
  const [{ base, draft, isOld }, setState] = useState(() => {
    const kept = drafts.get(id);
    return kept ? { ...kept, draft: { ...begin(), ...kept.draft }, isOld: true } : { base: note, draft: begin() };
  });
  const latest = useRef(draft); // two fields may change before the next picture
  const set = (field) => (event) => {
    latest.current = { ...latest.current, [field]: event.target.value };
    const typed = { base, draft: latest.current };
    drafts.set(id, typed);
    setState({ ...typed, isOld });
  };
  useEffect(() => () => drafts.get(id) && showMessage("Your draft is kept; it is not saved yet."), [id]);
  return { base, draft, isOld, set, drop: () => drafts.delete(id) };
}

function DraftHint() {
  return <p class="hint" role="status">This draft is not saved yet. Cancel discards it.</p>;
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
  const { base, draft, isOld, set, drop } = useDraft(note.id, note, () => ({ title: note.title, content: note.content, tags: ownTags(note).join(", "), scope: note.scope, project: note.project, type: note.type, stability: note.stability, confidence: note.confidence }));
  const [theirs, setTheirs] = useState(null); // the note as someone else left it meanwhile
  const leave = (saved) => {
    drop();
    onDone(saved);
  };
  const [save, saving] = useOneAtATime(async (expected) => {
    const own = splitTags(draft.tags);
    const changes = { expected };
    for (const field of ["title", "content", "scope", "project", "type", "stability"]) if (draft[field] !== base[field]) changes[field] = draft[field];
    if (draft.confidence !== "" && Number(draft.confidence) !== base.confidence) changes.confidence = Number(draft.confidence);
    if (own.join() !== ownTags(base).join()) changes.tags = own;
    try {
      const saved = await api.edit(note.id, changes);
      leave(saved);
      showDone("Saved.", saved);
    } catch (problem) {
      const current = problem.status === 409 && (await api.note(note.id).catch(() => null));
      if (current && current.updatedAt !== expected) setTheirs(current);
      else showError(problem);
    }
  });
  const news = gone ? "This note was deleted. Copy what you need." : version?.updatedAt > base.updatedAt ? "This note was changed elsewhere. You will be asked before anything is overwritten." : "";
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
            <button type="button" class="primary small" onClick={() => save(theirs.updatedAt)}>Overwrite with mine</button>
            <button type="button" class="quiet small" onClick={() => leave(theirs)}>Keep theirs</button>
          </div>
        </div>
      )}
      {isOld && <DraftHint />}
      {news && !theirs && <p class="hint" role="status">{news}</p>}
      <label>{note.kind === "fact" ? "Key" : "Title"}<input value={draft.title} onInput={set("title")} required maxLength={512} dir="auto" /></label>
      <label>{note.kind === "fact" ? "Value" : "Content"}
        <textarea value={draft.content} onInput={set("content")} rows={12} dir="auto" ref={focusAtBeginning} />
      </label>
      <label>Tags<input value={draft.tags} onInput={set("tags")} placeholder="comma, separated" /></label>
      <div class="fields">
        <label>Scope<select aria-label="Scope" value={draft.scope} onChange={set("scope")}>{SCOPES.map((s) => <option key={s}>{s}</option>)}</select></label>
        <label>Project<ProjectSelect value={draft.project} onChange={set("project")} /></label>
        <label>Type<select aria-label="Type" value={draft.type} onChange={set("type")}>{TYPES.map((t) => <option key={t}>{t}</option>)}</select></label>
        <label>Stability<select aria-label="Stability" value={draft.stability} onChange={set("stability")}><option>durable</option><option>temporary</option></select></label>
        <label>Confidence<input type="number" min="0" max="1" step={Number.isInteger(base.confidence * 100) ? 0.01 : "any"} required value={draft.confidence} onInput={set("confidence")} /></label>
      </div>
    </form>
  );
}

// `automatic`: the choice that leaves it to the shelf, if there is one.
function ProjectSelect({ value, onChange, automatic }) {
  const paths = [...new Set([...projects.value, value])].filter((path) => path && path !== AUTOMATIC);
  return (
    <select aria-label="Project" value={value} onChange={onChange}>
      {automatic && <option value={AUTOMATIC}>automatic</option>}
      <option value="">none: valid everywhere</option>
      {paths.map((path) => <option key={path} value={path} title={path}>{projectName(path)}{path === project.value ? " (this project)" : ""}</option>)}
    </select>
  );
}

const AUTOMATIC = "automatic";

function lastUsedNugget() {
  const [chosen] = onlyNuggets.value.size === 1 ? onlyNuggets.value : [];
  const newest = [...nodes.value.values()].reduce((last, node) => (last && last.updatedAt > node.updatedAt ? last : node), null);
  return chosen ?? newest?.nugget ?? "project";
}

export function NewNote({ onClose }) {
  const { draft, isOld, set, drop } = useDraft("new", null, () => ({ nugget: lastUsedNugget(), title: "", content: "", tags: "", scope: AUTOMATIC, project: AUTOMATIC }));
  const [save, saving] = useOneAtATime(async () => {
    const chosen = Object.fromEntries(["scope", "project"].filter((field) => draft[field] !== AUTOMATIC).map((field) => [field, draft[field]]));
    const note = await attempt(() => api.create({ nugget: draft.nugget.trim(), title: draft.title, content: draft.content, tags: splitTags(draft.tags), ...chosen }), "Remembered.");
    if (!note) return;
    drop();
    if (selected.value === "new") openCreated(note);
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
      {isOld && <DraftHint />}
      <label>Nugget<input value={draft.nugget} onInput={set("nugget")} list="nugget-names" required maxLength={64} /></label>
      <datalist id="nugget-names">{nuggets.value.map((name) => <option key={name} value={name} />)}</datalist>
      <label>Title<input value={draft.title} onInput={set("title")} required maxLength={512} dir="auto" ref={focusOnce} /></label>
      <label>Content<textarea value={draft.content} onInput={set("content")} rows={10} dir="auto" placeholder="Markdown, if you like" /></label>
      <label>Tags<input value={draft.tags} onInput={set("tags")} placeholder="comma, separated" /></label>
      <div class="fields">
        <label>Scope<select aria-label="Scope" value={draft.scope} onChange={set("scope")}>{[AUTOMATIC, ...SCOPES].map((s) => <option key={s}>{s}</option>)}</select></label>
        <label>Project<ProjectSelect value={draft.project} onChange={set("project")} automatic /></label>
      </div>
    </form>
  );
}
