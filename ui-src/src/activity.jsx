// What was written and recalled, by whom, over time: a small plot, and the steps behind it.
import { useState } from "preact/hooks";
import { api } from "./api.js";
import { palette } from "./graph/colours.js";
import { isDark } from "./graph/look.js";
import { Step, undoneSteps, useFresh } from "./parts.jsx";
import { count } from "./words.js";

const HOUR = 3600e3;
const RANGES = {
  "24 hours": { bars: 24, size: HOUR, label: (d) => d.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" }) },
  "7 days": { bars: 28, size: 6 * HOUR, label: (d) => d.toLocaleDateString(undefined, { weekday: "short", day: "numeric" }) },
  "30 days": { bars: 30, size: 24 * HOUR, label: (d) => d.toLocaleDateString(undefined, { month: "short", day: "numeric" }) },
};
const RECALLED = "recalls";

export function ActivityView() {
  const [range, setRange] = useState("24 hours");
  const { data } = useFresh(async () => {
    const [activity, history] = await Promise.all([api.activity(), api.history(60)]);
    return { activity, history, undone: undoneSteps(history) };
  });
  return (
    <section class="sheet" aria-label="Activity">
      <header class="sheet-head"><h1>Activity</h1><p class="muted">Who wrote and recalled what, and when.</p></header>
      <div class="card">
        <div class="card-head"><h2>Over time</h2>
          <div class="segments" role="radiogroup" aria-label="Range">{Object.keys(RANGES).map((name) => <button type="button" role="radio" key={name} aria-checked={name === range} onClick={() => setRange(name)}>{name}</button>)}</div>
        </div>
        {data && <Plot activity={data.activity} range={RANGES[range]} />}
      </div>
      <div class="card">
        <div class="card-head"><h2>Steps</h2></div>
        {data?.history.length ? <ol class="steps">{data.history.map((step) => <Step key={step.revision} step={step} undone={data.undone.has(step.revision)} />)}</ol> : <p class="nothing muted">Nothing was done yet.</p>}
      </div>
    </section>
  );
}

function tally({ steps, recalls }, { bars, size }) {
  const end = Math.ceil(Date.now() / size) * size;
  const start = end - bars * size;
  const columns = Array.from({ length: bars }, (_, i) => ({ at: start + i * size, by: new Map() }));
  const add = (at, who) => {
    const column = columns[Math.floor((Date.parse(at) - start) / size)];
    if (column) column.by.set(who, (column.by.get(who) ?? 0) + 1);
  };
  for (const step of steps) add(step.at, step.client || "unknown");
  for (const recall of recalls) add(recall.at, RECALLED);
  return columns;
}

function Plot({ activity, range }) {
  const columns = tally(activity, range);
  const who = [...new Set(columns.flatMap((c) => [...c.by.keys()]))].sort((a, b) => (a === RECALLED) - (b === RECALLED) || a.localeCompare(b));
  const colours = palette(who, isDark());
  const most = Math.max(4, ...columns.map((c) => [...c.by.values()].reduce((a, b) => a + b, 0)));
  const narrow = innerWidth < 820;
  const [wide, high, left, foot] = [narrow ? 340 : 760, 190, 30, 22];
  const step = (wide - left) / columns.length;
  const y = (value) => (high - foot) * (1 - value / most) + 6 * (value / most);
  const ticks = [0, Math.round(most / 2), most];
  const every = Math.ceil(columns.length / (narrow ? 3 : 6));
  return (
    <>
      <svg class="plot" viewBox={`0 0 ${wide} ${high}`} role="img" aria-label={`${activity.steps.length} changes and ${activity.recalls.length} recalls`}>
        {ticks.map((tick) => <g key={tick}><line class="grid" x1={left} x2={wide} y1={y(tick)} y2={y(tick)} /><text class="tick" x={left - 6} y={y(tick) + 3.5} text-anchor="end">{tick}</text></g>)}
        {columns.map((column, i) => {
          let base = 0;
          const x = left + i * step;
          return (
            <g key={column.at}>
              {who.filter((name) => column.by.has(name)).map((name) => {
                const value = column.by.get(name);
                const top = y(base + value), height = y(base) - top;
                base += value;
                return <rect key={name} x={x + step * 0.14} y={top} width={step * 0.72} height={Math.max(1, height - 0.75)} rx={Math.min(2.5, height / 2)} fill={colours.get(name)}><title>{`${range.label(new Date(column.at))}: ${name} ${value}`}</title></rect>;
              })}
              {i % every === 0 && <text class="tick" x={x + step / 2} y={high - 5} text-anchor="middle">{range.label(new Date(column.at))}</text>}
            </g>
          );
        })}
      </svg>
      <div class="chips">{who.map((name) => <span class="chip" key={name}><i style={{ background: colours.get(name) }} /><bdi>{name === RECALLED ? "recalls" : `written by ${name}`}</bdi></span>)}
        {!who.length && <span class="muted small">Quiet in this time. {count(activity.steps.length, "step")} before.</span>}</div>
    </>
  );
}
