// The map that people know by heart: where each note lies is kept in this browser.
import { readSetting, saveSetting } from "../settings.js";

export function storePositions(ids, positions) {
  saveSetting("positions", JSON.stringify({ ids, at: Array.from(positions, Math.round) }));
}

// Gives every note of the scene the place that it had when it was last seen here.
export function restorePositions({ index, positions }) {
  try {
    const { ids, at } = JSON.parse(readSetting("positions", '{"ids": [], "at": []}'));
    ids.forEach((id, k) => {
      const i = index.get(id);
      if (i === undefined || !Number.isFinite(at[2 * k]) || !Number.isFinite(at[2 * k + 1])) return;
      positions[2 * i] = at[2 * k];
      positions[2 * i + 1] = at[2 * k + 1];
    });
  } catch {
    // someone else wrote it
  }
}
