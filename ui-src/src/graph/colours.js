// Colours of nuggets, types, projects and clients: apart from each other, calm on both grounds.
// A name keeps its colour in this browser, whatever other names come and go.
import { readSetting, saveSetting } from "../settings.js";

const HUES = [38, 205, 150, 275, 350, 178, 85, 230, 15, 310, 118, 255];
const slots = new Map(); // kind -> Map of name -> number of its colour

// `names`: the oldest first, so that another browser gives most of them the same colours.
export function palette(kind, names, dark) {
  const numbers = slotsOf(kind);
  const used = new Set(names.filter((name) => numbers.has(name)).map((name) => numbers.get(name)));
  const added = names.filter((name) => !numbers.has(name));
  for (const name of added) {
    let number = 0;
    while (used.has(number)) number += 1;
    used.add(number);
    numbers.set(name, number);
  }
  if (added.length) saveSetting(`colours.${kind}`, JSON.stringify([...numbers]));
  return new Map(names.map((name) => [name, colour(numbers.get(name), dark)]));
}

function slotsOf(kind) {
  if (!slots.has(kind)) slots.set(kind, parse(readSetting(`colours.${kind}`, "[]")));
  return slots.get(kind);
}

function parse(text) {
  try {
    return new Map(JSON.parse(text).filter(([name, number]) => typeof name === "string" && Number.isInteger(number)));
  } catch {
    return new Map(); // someone else wrote it
  }
}

function colour(number, dark) {
  const round = Math.floor(number / HUES.length);
  const hue = HUES[number % HUES.length] + 11 * round;
  return dark ? `oklch(${0.76 - 0.06 * (round % 2)} 0.11 ${hue})` : `oklch(${0.62 - 0.06 * (round % 2)} 0.12 ${hue})`;
}
