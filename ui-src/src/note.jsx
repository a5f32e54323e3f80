// One note: read it, see what it is linked to and what became of it.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { api } from "./api.js";
import { Menu } from "./dialogs.jsx";
import { Editor, NewNote } from "./editor.jsx";
import { Icon } from "./icons.jsx";
import { Markdown } from "./markdown.jsx";
import { MergeForm } from "./merge.jsx";
import { undoneRevisions, useUndoable } from "./history.js";
import { NoteLink, Step, useOneAtATime, When } from "./parts.jsx";
import { NotePicker } from "./picker.jsx";
import { attempt, confirmation, focused, isGone, nodes, open, selected, showDone, showMessage, titleOf } from "./state.js";
import { count, LINE, moment, ownTags, percent, projectName, short } from "./words.js";

export function NotePanel() {
  const id = selected.value;
  const [note, setNote] = useState(null);
  const [problem, setProblem] = useState("");
  const [doing, setDoing] = useState("reading"); // reading | editing | merging
  const panel = useRef(null);

  useLayoutEffect(() => {
    setDoing("reading");
    setNote((old) => (old?.id === id ? old : null));
    setProblem("");
    panel.current?.scrollTo(0, 0);
  }, [id]);
  const version = nodes.value.get(id);
  const isNote = Boolean(id) && id !== "new";
  const gone = isNote && isGone(id);
  useLayoutEffect(() => {
    if (!isNote || gone) return undefined;
    let wanted = true;
    api.note(id).then((found) => wanted && (setNote(found), setProblem("")), (failure) => wanted && setProblem(failure.message));
    return () => (wanted = false);
  }, [id, version, gone]);
  useFocusReturn(Boolean(id));
  useLayoutEffect(() => {
    // whoever leaves a form by its keys goes on by keys
    if (isNote && doing === "reading" && document.activeElement === document.body) panel.current.querySelector(".edit")?.focus();
  }, [doing]);
  useLayoutEffect(() => {
    if (!isNote || gone || doing !== "reading") return undefined;
    const key = (event) => {
      if (confirmation.value || event.target.closest("input, textarea, select") || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "f") focused.value = !focused.value;
      const start = { e: "editing", m: version?.hidden ? null : "merging" }[event.key];
      if (!start) return;
      event.preventDefault();
      setDoing(start); // once the note is there
    };
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  }, [id, doing, version, gone]);

  if (!id) return null;
  const close = () => open(null);
  const read = (saved) => {
    if (selected.value !== id) return; // another note is open by now
    setDoing("reading");
    if (saved) setNote(saved);
  };
  return (
    <aside class="panel" ref={panel} aria-label={id === "new" ? "New note" : "Note"}
      onKeyDown={(event) => event.key === "Escape" && doing === "reading" && id !== "new" && close()}>
      {id === "new" ? <NewNote onClose={close} />
        : (gone && doing !== "editing") || note?.id !== id ? <Loading title={version?.title ?? ""} problem={gone ? "This note was deleted." : problem} onClose={close} />
          : doing === "editing" ? <Editor note={note} version={version} gone={gone} onDone={read} />
            : doing === "merging" ? <MergeForm note={note} onDone={() => read(null)} />
              : <Reader note={note} onDo={setDoing} onClose={close} />}
    </aside>
  );
}

// Whoever closes the panel goes on where they were before it opened.
function useFocusReturn(isOpen) {
  const before = useRef(null);
  useEffect(() => {
    if (isOpen) before.current = document.activeElement;
    else if (document.activeElement === document.body) before.current?.focus?.();
  }, [isOpen]);
}

// Until the note is there, what the graph knows of it; or why it never will be.
function Loading({ title, problem, onClose }) {
  return (
    <article class="note">
      <header class="panel-head"><div class="crumbs muted" role="status">{problem}</div><div class="tools"><Close onClick={onClose} /></div></header>
      {!problem && <h1 dir="auto"><bdi>{short(title, 2000)}</bdi></h1>}
    </article>
  );
}

function Close({ onClick }) {
  return <button type="button" class="icon-button" aria-label="Close" title="Close (Esc)" onClick={onClick}><Icon name="close" /></button>;
}

function Reader({ note, onDo, onClose }) {
  const archive = () => attempt(() => (note.hidden ? api.restore(note.id) : api.archive(note.id)), note.hidden ? "Restored." : "Archived.");
  const gone = async (act, done) => {
    if (await attempt(act, done)) onClose();
  };
  const name = `“${short(note.title, 80)}”`;
  const remove = () => (confirmation.value = { title: `Delete ${name}?`, yes: "Delete", run: () => gone(() => api.remove(note.id), "Deleted."),
    text: `The note is removed from the graph${note.links.length ? ` with ${count(note.links.length, "link")}` : ""}. The history keeps it.` });
  // Nothing goes that was not named before.
  const purge = async () => {
    const preview = await attempt(() => api.purgePreview(note.id));
    if (!preview) return;
    confirmation.value = { title: `Erase ${name} for good?`, yes: "Erase", final: true,
      run: () => gone(async () => (tellErased(await api.purge(note.id)), true)),
      text: "It is erased from the graph, the whole history and all backups here. This goes:",
      lists: [
        ["", preview.erased],
        ["These stay, and may say the same:", preview.mergedWith.map((other) => other.title)],
        ["It may remain where no program can look:", preview.notReached],
      ] };
  };
  return (
    <article class={note.hidden ? "note archived" : "note"}>
      <header class="panel-head">
        <div class="crumbs muted"><bdi>{note.nuggetName}</bdi> · {note.kind}{note.project && <span title={note.project}> · <bdi>{short(projectName(note.project), 40)}</bdi></span>}{note.hidden && <b> · archived</b>}</div>
        <div class="tools">
          <button type="button" class="icon-button in-graph" aria-label="Show its neighbourhood" title="Only its neighbourhood in the graph (F)" aria-pressed={focused.value} onClick={() => (focused.value = !focused.value)}><Icon name="focus" /></button>
          <button type="button" class="icon-button edit" aria-label="Edit" title="Edit (E)" onClick={() => onDo("editing")}><Icon name="edit" /></button>
          <button type="button" class="icon-button" aria-label={note.hidden ? "Restore" : "Archive"} title={note.hidden ? "Restore" : "Archive; nothing is lost"} onClick={archive}><Icon name={note.hidden ? "restore" : "archive"} /></button>
          <Menu label="More" items={[
            { label: "Merge with…", icon: "merge", disabled: note.hidden, run: () => onDo("merging") },
            { label: "Delete…", icon: "trash", danger: true, run: remove },
            { label: "Erase for good…", icon: "erase", danger: true, run: purge },
          ]} />
          <Close onClick={onClose} />
        </div>
      </header>
      <h1 dir="auto"><bdi>{note.title}</bdi></h1>
      <div class="note-body">
        <Cautions note={note} />
        <div dir="auto"><Markdown text={note.content} /></div>
        <ul class="tags" aria-label="Tags">{ownTags(note).map((tag) => <li key={tag}><bdi>{short(tag, LINE)}</bdi></li>)}</ul>
        <Links note={note} />
        <Metadata note={note} />
        <History note={note} />
      </div>
    </article>
  );
}

function tellErased({ backups }) {
  const unread = backups.length ? ` These backups could not be read and may still hold it: ${backups.join(", ")}` : "";
  showMessage(`Erased.${unread}`, unread ? { tone: "bad" } : {});
}

// What speaks against believing the note, before its text.
function Cautions({ note }) {
  const over = note.validUntil && new Date(note.validUntil) < new Date();
  const cautions = [...(note.caveats ?? []), ...(over ? [`It was valid until ${moment(note.validUntil)}.`] : [])];
  if (!cautions.length) return null;
  return (
    <ul class="cautions" aria-label="Cautions">
      {cautions.map((caution) => <li key={caution}><Icon name="warning" /><span><bdi>{caution}</bdi></span></li>)}
    </ul>
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
      {note.links.length === 0 && !adding && <p class="muted small">No links yet. A link shows on both notes.</p>}
      <ul class="links">
        {note.links.map((link) => (
          <li key={`${link.to} ${link.reason}`}>
            <NoteLink id={link.to} />
            <span class="muted"><bdi>{short(link.reason, LINE)}</bdi></span>
            <button type="button" class="icon-button small" aria-label={`Remove the link to ${short(titleOf(link.to), 40)}`} title="Remove this link"
              onClick={() => attempt(() => api.unlink(note.id, link.to, link.reason), "Link removed.")}><Icon name="close" /></button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function LinkForm({ note, onDone }) {
  const [reason, setReason] = useState("");
  const [target, setTarget] = useState(null);
  const [save] = useOneAtATime(async () => {
    if (!target) return showMessage("Choose a note to link to.", { tone: "bad" });
    const done = await attempt(() => api.link(note.id, target.id, reason.trim()));
    if (!done) return undefined;
    showDone(done.added ? "Linked." : "Already linked.", done);
    return onDone();
  });
  return (
    <form class="link-form" onSubmit={(event) => { event.preventDefault(); save(); }} onKeyDown={(event) => event.key === "Escape" && (event.stopPropagation(), onDone())}>
      <NotePicker not={note.id} chosen={target} onChoose={setTarget} />
      <input value={reason} placeholder="How are they related?" aria-label="Reason" maxLength={512} dir="auto" onInput={(event) => setReason(event.target.value)} />
      <div class="row"><button type="submit" class="primary small">Link</button><button type="button" class="quiet small" onClick={onDone}>Cancel</button></div>
    </form>
  );
}

function validity({ validFrom, validUntil }) {
  if (!validFrom && !validUntil) return "always";
  return [validFrom && `from ${moment(validFrom)}`, validUntil && `until ${moment(validUntil)}`].filter(Boolean).join(" ");
}

function Metadata({ note }) {
  const rows = [
    ["Scope", note.scope], ["Project", note.project ? <span title={note.project}>{short(projectName(note.project), LINE)}</span> : "none: valid everywhere"], ["Type", note.type], ["About", short(note.subject, LINE)], ["Source", note.source.replaceAll("_", " ")],
    ["Confidence", percent(note.confidence)], ["Stability", note.stability],
    ["Valid", validity(note)],
    ["Recalled", note.hits ? `in ${count(note.hits, "session")}` : "never"],
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
  const changedIn = nodes.value.get(note.id)?.changedIn;
  useLayoutEffect(() => {
    let wanted = true;
    api.noteHistory(note.id).then((steps) => wanted && setHistory(steps), () => {});
    return () => (wanted = false);
  }, [note.id, changedIn, note.updatedAt]);
  const undone = undoneRevisions(history);
  const undoable = useUndoable(history);
  const actions = new Map(history.map((step) => [step.revision, step.action]));
  return (
    <section>
      <h2>History</h2>
      <ol class="steps">{history.map((step) => <Step key={step.revision} step={step} undone={undone.has(step.revision)} canUndo={undoable.has(step.revision)} actionOf={(revision) => actions.get(revision)} brief />)}</ol>
    </section>
  );
}
