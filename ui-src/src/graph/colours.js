// Colours of nuggets and types: apart from each other, calm on both grounds, the same every time.

const HUES = [38, 205, 150, 275, 350, 178, 85, 230, 15, 310, 118, 255];

export function palette(names, dark) {
  const colours = new Map();
  names.forEach((name, i) => {
    const round = Math.floor(i / HUES.length);
    const hue = HUES[i % HUES.length] + 11 * round;
    colours.set(name, dark ? `oklch(${0.76 - 0.06 * (round % 2)} 0.11 ${hue})` : `oklch(${0.62 - 0.06 * (round % 2)} 0.12 ${hue})`);
  });
  return colours;
}
