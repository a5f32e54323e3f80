// The graph's place on the page: canvas, legend, controls, tips.
import { effect } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Icon } from "../icons.jsx";
import { colourBy, focused, isFiltered, loaded, nodes, nuggets, onlyNuggets, onlyProject, selected, showHidden, values } from "../state.js";
import { saveSetting } from "../settings.js";
import { count, plainLabel, projectName, short } from "../words.js";
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
      onlyProject.value;
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
      <button type="button" title="Arrange all notes anew" aria-label="Arrange anew" onClick={() => graph.current.arrangeAnew()}><Icon name="arrange" /></button>
      <button type="button" title="Only the neighbourhood of the open note (F)" aria-label="Focus on the open note" aria-pressed={focused.value} disabled={!selected.value || selected.value === "new"} onClick={() => (focused.value = !focused.value)}><Icon name="focus" /></button>
    </div>
  );
}

function setShowHidden(value) {
  showHidden.value = value;
  saveSetting("showHidden", value ? "yes" : "no");
}

const NAMED = 7; // nuggets listed before "more" is pressed
const FIELDS = ["nugget", "type", "scope", "project"]; // that notes can be coloured by

// On a phone it is one line until it is opened, so that the map has the room.
function Legend() {
  const [isOpen, setOpen] = useState(false);
  const [showsAll, setShowsAll] = useState(false);
  const field = colourBy.value;
  const colours = palette(field, values[field].value, isDark());
  const names = [...values[field].value].sort();
  const listed = names.filter((name, i) => showsAll || i < NAMED || (field === "nugget" && onlyNuggets.value.has(name)));
  const toggle = (name) => {
    const next = new Set(onlyNuggets.value);
    if (!next.delete(name)) next.add(name);
    onlyNuggets.value = next;
  };
  const choose = (event) => {
    colourBy.value = event.target.value;
    saveSetting("colourBy", colourBy.value);
  };
  return (
    <div class={`legend ${isOpen ? "open" : ""}`} role="group" aria-label="Legend">
      <button type="button" class="legend-toggle quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name="legend" /> Legend{isFiltered.value && " · filtered"}
      </button>
      <div class="legend-body">
        <div class="legend-head">
          <label class="inline">Colour by <select aria-label="Colour by" value={field} onChange={choose}>{FIELDS.map((name) => <option key={name}>{name}</option>)}</select></label>
          <label class="check"><input type="checkbox" checked={showHidden.value} onChange={(e) => setShowHidden(e.target.checked)} /> show archived</label>
        </div>
        <div class="chips">
          {listed.map((name) =>
            field === "nugget" ? (
              <button type="button" class="chip" key={name} aria-pressed={onlyNuggets.value.has(name)} onClick={() => toggle(name)} title={`Show only ${name}`}>
                <i style={{ background: colours.get(name) }} /><bdi>{name}</bdi>
              </button>
            ) : (
              <span class="chip" key={name} title={name}><i style={{ background: colours.get(name) }} /><bdi>{field === "project" ? projectName(name) : name}</bdi></span>
            ),
          )}
          {names.length > NAMED && <button type="button" class="chip more" aria-expanded={showsAll} onClick={() => setShowsAll(!showsAll)}>{showsAll ? "fewer" : `${names.length - listed.length} more`}</button>}
        </div>
      </div>
    </div>
  );
}
