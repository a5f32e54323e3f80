// A dialog that asks before something is deleted, and a menu for rare actions. Both work by keys.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Icon } from "./icons.jsx";
import { confirmation } from "./state.js";
import { LINE, short } from "./words.js";

// The browser's own dialog keeps the focus inside, closes with Esc, and gives the focus back.
export function ConfirmDialog() {
  const box = useRef(null);
  const asked = confirmation.value;
  useLayoutEffect(() => {
    if (asked) box.current.showModal();
  }, [asked]);
  if (!asked) return null;
  const close = () => box.current.close();
  const go = () => {
    close();
    asked.run();
  };
  return (
    <dialog class="question" ref={box} aria-labelledby="question" aria-describedby="consequence" onClose={() => (confirmation.value = null)}
      onKeyDown={(event) => event.stopPropagation()} onClick={(event) => event.target === box.current && close()}>
      <div>
        <h2 id="question" dir="auto"><bdi>{asked.title}</bdi></h2>
        <div id="consequence">
          <p>{asked.text}</p>
          {asked.lists?.filter(([, items]) => items.length).map(([heading, items]) => (
            <section class="named" key={heading}>
              {heading && <h3>{heading}</h3>}
              <ul tabIndex={0}>{items.map((item) => <li key={item}><bdi>{short(item, LINE)}</bdi></li>)}</ul>
            </section>
          ))}
          <p class={asked.final ? "final" : "muted"}><Icon name={asked.final ? "warning" : "undo"} /> {asked.final ? "This cannot be undone." : "You can undo this, here or in Activity."}</p>
        </div>
        <div class="row">
          <button type="button" class="plain" autofocus onClick={close}>Cancel</button>
          <button type="button" class="danger" onClick={go}>{asked.yes}</button>
        </div>
      </div>
    </dialog>
  );
}

// `items`: { label, icon, run, danger, disabled }.
export function Menu({ label, items }) {
  const [open, setOpen] = useState(false);
  const list = useRef(null);
  const button = useRef(null);
  const enabled = () => [...list.current.querySelectorAll("button:not(:disabled)")];
  useLayoutEffect(() => {
    if (open) enabled()[0]?.focus();
  }, [open]);
  const close = () => {
    setOpen(false);
    button.current.focus();
  };
  const key = (event) => {
    const all = enabled();
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const to = move ? all.indexOf(document.activeElement) + move : { Home: 0, End: -1 }[event.key];
    if (event.key === "Escape") close();
    else if (to === undefined) return;
    else all.at(to % all.length).focus();
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="menu" onFocusOut={(event) => open && !event.currentTarget.contains(event.relatedTarget) && setOpen(false)}>
      <button type="button" class="icon-button" ref={button} aria-haspopup="menu" aria-expanded={open} aria-label={label} title={label} onClick={() => setOpen(!open)}><Icon name="more" /></button>
      {open && (
        <ul role="menu" aria-label={label} ref={list} onKeyDown={key}>
          {items.map((item) => (
            <li role="none" key={item.label}>
              <button type="button" role="menuitem" tabIndex={-1} class={item.danger ? "dangerous" : ""} disabled={item.disabled} onClick={() => { close(); item.run(); }}><Icon name={item.icon} />{item.label}</button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
