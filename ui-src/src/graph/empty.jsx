// A graph with nothing to see. On the first visit: what this is, and three ways to begin.
import { open } from "../state.js";
import { Command } from "../parts.jsx";

export function EmptyState() {
  return (
    <div class="empty">
      <svg viewBox="0 0 240 130" aria-hidden="true">
        <g class="empty-links"><path d="M56 84 118 44 186 72M118 44l8 62M56 84l70 22" /></g>
        <g class="empty-nodes"><circle cx="118" cy="44" r="15" /><circle cx="56" cy="84" r="9" /><circle cx="186" cy="72" r="11" /><circle cx="126" cy="106" r="7" /><circle cx="212" cy="30" r="4" /><circle cx="24" cy="36" r="5" /></g>
      </svg>
      <h1>Nothing remembered yet</h1>
      <p>Facts and notes will appear here the moment they are written: by you, by a command, or by your agent.</p>
      <button type="button" class="primary" onClick={() => open("new")}>Write the first note</button>
      <p class="or">or from a terminal</p>
      <Command text={'nuggets remember project "test cmd" "make test"'} />
      <Command text={'nuggets note add project "Auth" "JWT, checked in src/auth.py"'} />
    </div>
  );
}

export function AllArchived({ onShow }) {
  return (
    <div class="empty">
      <p>All notes are archived.</p>
      <button type="button" class="plain" onClick={onShow}>Show archived</button>
    </div>
  );
}
