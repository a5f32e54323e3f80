// Two notes become one: which title stays, and what it will say, before anything is done.
import { useLayoutEffect, useState } from "preact/hooks";
import { api } from "./api.js";
import { Markdown } from "./markdown.jsx";
import { useOneAtATime } from "./parts.jsx";
import { NotePicker } from "./picker.jsx";
import { attempt, nodes, open } from "./state.js";
import { count, LINE, ownTags, short } from "./words.js";

export function MergeForm({ note, onDone }) {
  const [chosen, setChosen] = useState(null);
  const other = nodes.value.get(chosen?.id); // as it is by now, if it still is
  const [keepsThis, setKeepsThis] = useState(true);
  const [preview, setPreview] = useState({});
  const [target, source] = keepsThis ? [note, other] : [other, note];
  useLayoutEffect(() => {
    setPreview({});
    if (!other) return undefined;
    let wanted = true;
    api.mergePreview(target.id, source.id).then((merged) => wanted && setPreview({ merged }), (problem) => wanted && setPreview({ problem }));
    return () => (wanted = false);
  }, [other?.id, other?.updatedAt, keepsThis, note.updatedAt]);
  const [save, saving] = useOneAtATime(async () => {
    if (!preview.merged) return;
    if (!(await attempt(() => api.merge(target.id, source.id), "Merged."))) return;
    onDone();
    open(target.id);
  });
  const key = (event) => {
    if (event.key === "Escape") {
      event.stopPropagation();
      onDone();
    }
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save();
  };
  return (
    <form class="note editor" onSubmit={(event) => { event.preventDefault(); save(); }} onKeyDown={key} aria-label="Merge">
      <header class="panel-head">
        <div class="crumbs muted">Merging</div>
        <div class="tools"><button type="button" class="quiet" onClick={onDone}>Cancel</button><button type="submit" class="primary" disabled={!preview.merged || saving} title="Ctrl+Enter">Merge</button></div>
      </header>
      <h1 dir="auto"><bdi>{short(note.title, 200)}</bdi></h1>
      <div class="field"><span class="label">With</span><NotePicker not={note.id} near={note.links.map((link) => link.to)} chosen={other} onChoose={setChosen} /></div>
      {other && (
        <fieldset class="options">
          <legend class="label">Which one stays?</legend>
          {[[note, true], [other, false]].map(([one, isThis]) => (
            <label class="check" key={one.id}><input type="radio" name="stays" checked={keepsThis === isThis} onChange={() => setKeepsThis(isThis)} /><bdi>{short(one.title, 80)}</bdi></label>
          ))}
        </fieldset>
      )}
      <div aria-live="polite">
        {preview.problem && <p class="hint">{preview.problem.message}</p>}
        {other && preview.merged && <Preview merged={preview.merged} source={source} />}
      </div>
    </form>
  );
}

function Preview({ merged, source }) {
  return (
    <>
      <p class="label">It will say</p>
      <article class="preview" aria-label="Preview" dir="auto">
        <p class="preview-title"><bdi>{short(merged.title, LINE)}</bdi></p>
        <Markdown text={merged.content} />
        <ul class="tags" aria-label="Tags">{ownTags(merged).map((tag) => <li key={tag}><bdi>{short(tag, LINE)}</bdi></li>)}</ul>
      </article>
      <p class="muted small">With {count(merged.links.length, "link")}, recalled in {count(merged.hits, "session")}. “<bdi>{short(source.title, 80)}</bdi>” is archived and linked to it. You can undo this.</p>
    </>
  );
}
