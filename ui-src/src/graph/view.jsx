// The graph's place on the page: canvas, legend, controls, tips.
import { effect } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { Icon } from "../icons.jsx";
import { colourBy, focused, loaded, nodes, nuggets, onlyNuggets, remember, selected, showHidden, types } from "../state.js";
import { count, plainLabel, short } from "../words.js";
import { palette } from "./colours.js";
import { EmptyState } from "./empty.jsx";
import { Graph } from "./graph.js";
import { isDark } from "./look.js";

export function GraphView() {
  const canvas = useRef(null);
  const graph = useRef(null);
  const [hover, setHover] = useState(null);
  useEffect(() => {
    graph.current = new Graph(canvas.current, setHover);
    const stop = effect(() => {
      const id = selected.value;
      if (graph.current.scene.nodes.length) requestAnimationFrame(() => graph.current?.show(id));
    });
    const stopFocus = effect(() => {
      focused.value;
      if (graph.current.scene.nodes.length) requestAnimationFrame(() => graph.current?.compose());
    });
    const stopFilter = effect(() => {
      onlyNuggets.value;
      showHidden.value;
      if (graph.current.fitted) requestAnimationFrame(() => graph.current?.compose());
    });
    return () => {
      stop();
      stopFocus();
      stopFilter();
      graph.current.end();
      graph.current = null;
    };
  }, []);
  const size = nodes.value.size;
  return (
    <section class="graph" aria-label="Graph of notes">
      <h1 class="sr-only">Graph</h1>
      <canvas ref={canvas} tabIndex={0} role="img" aria-label={`${count(size, "note")} and their links. Arrow keys move, plus and minus zoom, 0 shows all.`} />
      {loaded.value && size === 0 && <EmptyState />}
      {size > 0 && <Legend />}
      {size > 0 && <Controls graph={graph} />}
      {hover && <Tip {...hover} />}
    </section>
  );
}

function Tip({ point, title, detail }) {
  return (
    <div class="tip" style={{ transform: `translate(${Math.round(point[0] + 14)}px, ${Math.round(point[1] + 14)}px)` }} aria-hidden="true">
      <strong><bdi>{short(plainLabel(title), 120)}</bdi></strong>
      <span><bdi>{detail}</bdi></span>
    </div>
  );
}

function Controls({ graph }) {
  return (
    <div class="controls" role="toolbar" aria-label="Graph">
      <button type="button" title="Zoom in (+)" aria-label="Zoom in" onClick={() => graph.current.zoom(1.35)}><Icon name="plus" /></button>
      <button type="button" title="Zoom out (-)" aria-label="Zoom out" onClick={() => graph.current.zoom(0.74)}><Icon name="minus" /></button>
      <button type="button" title="Show all (0)" aria-label="Show all" onClick={() => graph.current.fit()}><Icon name="frame" /></button>
      <button type="button" title="Only the neighbourhood of the open note (F)" aria-label="Focus on the open note" aria-pressed={focused.value} disabled={!selected.value || selected.value === "new"} onClick={() => (focused.value = !focused.value)}><Icon name="focus" /></button>
    </div>
  );
}

function Legend() {
  const byType = colourBy.value === "type";
  const names = byType ? types.value : nuggets.value;
  const colours = palette(names, isDark());
  const toggle = (name) => {
    const next = new Set(onlyNuggets.value);
    if (!next.delete(name)) next.add(name);
    onlyNuggets.value = next;
  };
  return (
    <div class="legend" role="group" aria-label="Legend">
      <div class="legend-head">
        <button type="button" class="quiet" title={`Colour by ${byType ? "nugget" : "type"} instead`} onClick={() => { colourBy.value = byType ? "nugget" : "type"; remember("colourBy", colourBy.value); }}>
          Coloured by <b>{colourBy.value}</b>
        </button>
        <label class="check"><input type="checkbox" checked={showHidden.value} onChange={(e) => { showHidden.value = e.target.checked; remember("showHidden", e.target.checked ? "yes" : "no"); }} /> show archived</label>
      </div>
      <div class="chips">
        {names.slice(0, 14).map((name) =>
          byType ? (
            <span class="chip" key={name}><i style={{ background: colours.get(name) }} /><bdi>{name}</bdi></span>
          ) : (
            <button type="button" class="chip" key={name} aria-pressed={onlyNuggets.value.has(name)} onClick={() => toggle(name)} title={`Show only ${name}`}>
              <i style={{ background: colours.get(name) }} /><bdi>{name}</bdi>
            </button>
          ),
        )}
        {names.length > 14 && <span class="chip more">and {names.length - 14} more</span>}
      </div>
    </div>
  );
}
