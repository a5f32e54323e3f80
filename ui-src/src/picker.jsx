// Choosing another note by its title: type, Up and Down, Enter.
import { useState } from "preact/hooks";
import { focusOnce } from "./parts.jsx";
import { nodes } from "./state.js";
import { short } from "./words.js";

const CHOICES = 6;

// `near`: ids to offer before anything is typed. `onChoose` gets a node, or null while looking.
export function NotePicker({ not, near = [], chosen, onChoose }) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const choices = chosen ? [] : matchTitles(text, not, near);
  const choose = (node) => {
    setText("");
    setAt(0);
    onChoose(node);
  };
  const key = (event) => {
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!choices.length || (!move && event.key !== "Enter")) return;
    event.preventDefault();
    if (move) setAt((at + move + choices.length) % choices.length);
    else choose(choices[Math.min(at, choices.length - 1)]);
  };
  return (
    <div class="picker">
      <input value={chosen ? short(chosen.title, 200) : text} placeholder="Title of the other note" aria-label="Title of the other note" dir="auto" ref={focusOnce} autocomplete="off"
        role="combobox" aria-expanded={choices.length > 0} aria-controls="choices" aria-autocomplete="list" aria-activedescendant={choices.length ? `choice-${at}` : undefined}
        onKeyDown={key} onInput={(event) => { setAt(0); setText(event.target.value); onChoose(null); }} />
      <ul class="choices" id="choices" role="listbox" aria-label="Notes" hidden={!choices.length}>
        {choices.map((node, i) => (
          <li key={node.id} id={`choice-${i}`} role="option" aria-selected={i === at} onMouseDown={(event) => event.preventDefault()} onClick={() => choose(node)}>
            <bdi>{short(node.title, 80)}</bdi> <span class="muted"><bdi>{node.nugget}</bdi></span>
          </li>
        ))}
      </ul>
      {text.trim() && !chosen && !choices.length && <p class="muted small">No title contains that.</p>}
    </div>
  );
}

function matchTitles(text, not, near) {
  const wanted = text.trim().toLowerCase();
  const all = wanted ? [...nodes.value.values()] : near.map((id) => nodes.value.get(id));
  return all.filter((node) => node && node.id !== not && !node.hidden && node.title.toLowerCase().includes(wanted)).slice(0, CHOICES);
}
