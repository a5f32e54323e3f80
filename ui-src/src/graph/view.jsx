// The graph's place on the page: canvas, legend, controls, tips.
import { effect } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Icon } from "../icons.jsx";
import { colourBy, focused, loaded, nodes, nuggets, onlyNuggets, remember, selected, showHidden, types } from "../state.js";
import { count, plainLabel, short } from "../words.js";
import { palette } from "./colours.js";
import { AllArchived, EmptyState } from "./empty.jsx";
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
  const isOut = size > 0 && !showHidden.value && [...nodes.value.values()].every((node) => node.hidden);
  return (
    <section class="graph" aria-label="Graph of notes">
      <h1 class="sr-only">Graph</h1>
      <canvas ref={canvas} tabIndex={0} role="img" aria-label={`${count(size, "note")} and their links. Arrow keys move, plus and minus zoom, 0 shows all.`} />
      {loaded.value && size === 0 && <EmptyState />}
      {isOut && <AllArchived onShow={() => setShowHidden(true)} />}
      {size > 0 && <Legend />}
      {size > 0 && <Controls graph={graph} />}
      {hover && <Tip {...hover} />}
    </section>
  );
}

const AWAY = 14; // of a tip from the hand

function Tip({ point: [x, y], title, detail }) {
  const box = useRef(null);
  useLayoutEffect(() => {
    const { offsetWidth, offsetHeight, offsetParent, style } = box.current;
    const within = (at, size, room) => Math.round(Math.max(0, Math.min(at + AWAY, room - size)));
    style.transform = `translate(${within(x, offsetWidth, offsetParent.clientWidth)}px, ${within(y, offsetHeight, offsetParent.clientHeight)}px)`;
  });
  return (
    <div class="tip" ref={box} aria-hidden="true">
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

function setShowHidden(value) {
  showHidden.value = value;
  remember("showHidden", value ? "yes" : "no");
}

const NAMED = 14;

function Legend() {
  const byType = colourBy.value === "type";
  const names = byType ? types.value : nuggets.value;
  const shown = names.filter((name, i) => i < NAMED || (!byType && onlyNuggets.value.has(name)));
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
        <label class="check"><input type="checkbox" checked={showHidden.value} onChange={(e) => setShowHidden(e.target.checked)} /> show archived</label>
      </div>
      <div class="chips">
        {shown.map((name) =>
          byType ? (
            <span class="chip" key={name}><i style={{ background: colours.get(name) }} /><bdi>{name}</bdi></span>
          ) : (
            <button type="button" class="chip" key={name} aria-pressed={onlyNuggets.value.has(name)} onClick={() => toggle(name)} title={`Show only ${name}`}>
              <i style={{ background: colours.get(name) }} /><bdi>{name}</bdi>
            </button>
          ),
        )}
        {names.length > shown.length && <span class="chip more">and {names.length - shown.length} more</span>}
      </div>
    </div>
  );
}
