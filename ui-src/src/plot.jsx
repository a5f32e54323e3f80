// Two rows of bars over one time: changes upwards, by client; recalls downwards, on a scale of their own.
import { palette } from "./graph/colours.js";
import { isDark } from "./graph/look.js";
import { count } from "./words.js";

const UP = 130; // heights
const AXIS = 24;
const DOWN = 62;
const TOP = 8;
const LEFT = 34;

export function Plot({ activity, times }) {
  const columns = tally(activity, times);
  const who = [...new Set(columns.flatMap((column) => [...column.by.keys()]))].sort();
  const colours = palette("client", who, isDark());
  const narrow = innerWidth < 820;
  const wide = narrow ? 340 : 760;
  const step = (wide - LEFT) / columns.length;
  const written = roundUp(Math.max(...columns.map(total)));
  const recalled = roundUp(Math.max(...columns.map((column) => column.recalls.length)));
  const up = (value) => TOP + UP * (1 - value / written);
  const down = TOP + UP + AXIS;
  const every = Math.ceil(columns.length / (narrow ? 3 : 6));
  const all = columns.flatMap((column) => column.recalls);
  const changes = columns.reduce((sum, column) => sum + total(column), 0);
  const recallSummary = `${count(all.length, "recall")} of ${count(new Set(all.map((r) => r.noteId)).size, "note")} in ${sessions(all)}`;
  return (
    <>
      <svg class="plot" viewBox={`0 0 ${wide} ${down + DOWN + 4}`} role="img" aria-label={`${count(changes, "change")}; ${recallSummary}`}>
        {[written / 2, written].map((tick) => <Line key={tick} y={up(tick)} wide={wide} tick={tick} />)}
        <Line y={up(0)} wide={wide} />
        <Line y={down} wide={wide} />
        <Line y={down + DOWN} wide={wide} tick={recalled} />
        {columns.map((column, i) => {
          const x = LEFT + i * step;
          const when = times.label(new Date(column.at));
          let base = 0;
          return (
            <g key={column.at}>
              {who.filter((name) => column.by.has(name)).map((name) => {
                const value = column.by.get(name);
                base += value;
                return <Bar key={name} x={x} step={step} y={up(base)} height={(UP * value) / written} fill={colours.get(name)} title={`${when}: ${count(value, "change")} by ${name}`} />;
              })}
              {column.recalls.length > 0 && <Bar x={x} step={step} y={down} height={(DOWN * column.recalls.length) / recalled} title={`${when}: ${count(column.recalls.length, "recall")} in ${sessions(column.recalls)}`} />}
              {i % every === 0 && <text class="tick" x={i ? x + step / 2 : x} y={TOP + UP + 16} text-anchor={i ? "middle" : "start"}>{when}</text>}
            </g>
          );
        })}
      </svg>
      <div class="chips">
        {who.map((name) => <span class="chip" key={name}><i style={{ background: colours.get(name) }} /><bdi>written by {name}</bdi></span>)}
        {all.length > 0 && <span class="chip"><i class="recalled" />{recallSummary}</span>}
        {!who.length && !all.length && <span class="muted small">No activity in this period; {count(activity.steps.length, "change")} before it.</span>}
      </div>
    </>
  );
}

function Line({ y, wide, tick }) {
  return <g><line class="grid" x1={LEFT} x2={wide} y1={y} y2={y} />{tick !== undefined && <text class="tick" x={LEFT - 6} y={y + 3.5} text-anchor="end">{tick}</text>}</g>;
}

function Bar({ x, step, y, height, fill, title }) {
  return <rect class={fill ? "" : "recalled"} x={x + step * 0.14} y={y} width={step * 0.72} height={Math.max(1, height - 0.75)} rx={Math.min(2.5, height / 2)} fill={fill}><title>{title}</title></rect>;
}

function tally({ steps, recalls }, { bars, size, start }) {
  const columns = Array.from({ length: bars }, (_, i) => ({ at: start + i * size, by: new Map(), recalls: [] }));
  const at = (time) => columns[Math.floor((Date.parse(time) - start) / size)];
  for (const step of steps) {
    const by = at(step.at)?.by;
    const name = step.client || "unknown";
    by?.set(name, (by.get(name) ?? 0) + 1);
  }
  for (const recall of recalls) at(recall.at)?.recalls.push(recall);
  return columns;
}

const total = (column) => [...column.by.values()].reduce((a, b) => a + b, 0);

function sessions(recalls) {
  return count(new Set(recalls.map((recall) => recall.session).filter(Boolean)).size, "session");
}

// A number that reads well, as its half does, and is at least as large.
function roundUp(most) {
  const unit = 10 ** Math.floor(Math.log10(Math.max(1, most)));
  const shares = unit > 1 ? [1, 1.2, 1.6, 2, 3, 4, 6, 8, 10] : [2, 4, 6, 8, 10];
  return shares.map((share) => Math.round(share * unit)).find((value) => value >= most);
}
