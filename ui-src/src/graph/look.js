// How a scene looks: colours, who is shown, who is lit, named and ringed. Decides, draws nothing.
import { colourBy, focused, searchResults, isInFilter, selected, showHidden, theme, values } from "../state.js";
import { palette } from "./colours.js";

const PULSE_MS = 1800;

export function isDark() {
  return theme.value === "dark" || (theme.value === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
}

// `pointed`: what the hand is at, `hovered` and `hoveredLink`.
export function lookAt(scene, pointed) {
  const dark = isDark();
  const css = getComputedStyle(document.documentElement);
  const colour = (name) => css.getPropertyValue(name).trim();
  const chosen = scene.index.get(selected.peek()) ?? -1;
  const hits = searchResults.peek() ? new Map(searchResults.peek().map((r) => [scene.index.get(r.note.id), r])) : null;
  const near = chosen >= 0 ? new Set([chosen, ...scene.neighbours[chosen]]) : null;
  const around = focused.peek() && chosen >= 0 ? scene.around(chosen) : null;
  const field = colourBy.peek();
  const kinds = palette(field, values[field].peek(), dark);
  const hidden = showHidden.peek();
  const isLit = (i) => (hits ? hits.has(i) || i === chosen : around ? around.has(i) : near ? near.has(i) : true);
  const rank = (i) => (i === chosen ? 3 : hits?.has(i) ? 2 : near?.has(i) ? 1 : 0); // who is named first
  return {
    colours: { link: colour("--graph-link"), strong: colour("--accent"), ground: colour("--ground"), ink: colour("--ink"), soft: colour("--soft") },
    font: css.fontFamily || "sans-serif",
    dims: Boolean(hits || (near && !around)),
    isLit,
    isShown: (i) =>
      (hidden || !scene.nodes[i].hidden || i === chosen) && (hits?.has(i) || i === chosen || isInFilter(scene.nodes[i])) && (!around || around.has(i)),
    isStrong: (link) => link === pointed.hoveredLink || link.a === chosen || link.b === chosen,
    isNamed: (i) => i === chosen || (hits ?? near)?.has(i),
    colourOf: (i) => kinds.get(scene.nodes[i][field]),
    leastNamed: scene.nodes.length > 300 ? 4.5 : 1.2,
    order: scene.nodes.map((_, i) => i).sort((a, b) => rank(b) - rank(a) || scene.radii[b] - scene.radii[a]),
    hits,
    chosen,
    rings: [],
  };
}

export function rings(scene, look, pointed) {
  const { colours } = look;
  const rings = [];
  if (look.hits) for (const [i, result] of look.hits) if (i !== undefined) rings.push([i, colours.strong, 3.5, 1 + 2 * result.relevance]);
  if (look.chosen >= 0) rings.push([look.chosen, colours.strong, 4, 2.5]);
  if (pointed.hovered >= 0 && pointed.hovered !== look.chosen) rings.push([pointed.hovered, colours.soft, 3.5, 1.5]);
  const now = performance.now();
  for (const [id, since] of pointed.pulsing) {
    const share = (now - since) / PULSE_MS;
    const i = scene.index.get(id);
    if (share >= 1 || i === undefined) pointed.pulsing.delete(id);
    else rings.push([i, colours.strong, 4 + 22 * share, 3 * (1 - share)]);
  }
  return rings;
}
