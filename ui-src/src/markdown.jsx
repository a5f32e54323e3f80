// Markdown as elements. Nothing is ever handed to the browser as HTML, so content stays content.

const SAFE = /^(https?:|mailto:)/i;
const INLINE =
  /(`{1,3})([^`]|[^`].{0,1000}?[^`])\1(?!`)|\*\*(?=\S)(.{1,1000}?)\*\*|(?<![\w*])[*_](?=\S)(.{1,1000}?)(?<=\S)[*_](?![\w*])|~~(?=\S)(.{1,1000}?)~~|\[([^\]\n]{1,500})\]\(([^()\s]{1,2000})\)|(https?:\/\/[^\s<>()"'`]{3,2000})/;
const DEEPEST = 6; // of emphasis inside emphasis, or quotes inside quotes: what is deeper is shown as it is written
const LONGEST = 20000; // characters of one block that are looked through for marks

export function Markdown({ text }) {
  return <div class="markdown">{renderBlocks(text)}</div>;
}

function renderBlocks(text, depth = 0) {
  const lines = text.split("\n");
  const elements = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at];
    const fence = /^\s*(`{3,}|~{3,})/.exec(line);
    if (!line.trim()) {
      at += 1;
    } else if (fence) {
      const end = lines.findIndex((l, i) => i > at && l.trim().startsWith(fence[1]));
      const stop = end < 0 ? lines.length : end;
      elements.push(<pre><code>{lines.slice(at + 1, stop).join("\n")}</code></pre>);
      at = stop + 1;
    } else if (/^#{1,6}\s/.test(line)) {
      const level = /^#+/.exec(line)[0].length;
      elements.push(<p class={`heading level-${Math.min(level, 3)}`} role="heading" aria-level={level + 2}>{renderInline(line.slice(level).trim())}</p>);
      at += 1;
    } else if (/^\s*([-*_])(\s*\1){2,}\s*$/.test(line)) {
      elements.push(<hr />);
      at += 1;
    } else if (/^\s*>/.test(line) && depth < DEEPEST) {
      const [quoted, next] = takeWhile(lines, at, (l) => /^\s*>/.test(l));
      elements.push(<blockquote>{renderBlocks(quoted.map((l) => l.replace(/^\s*> ?/, "")).join("\n"), depth + 1)}</blockquote>);
      at = next;
    } else if (ITEM.test(line)) {
      const [items, next] = takeWhile(lines, at, (l) => l.trim() && (ITEM.test(l) || /^\s{2,}/.test(l)));
      elements.push(renderList(items));
      at = next;
    } else {
      const [words, next] = takeWhile(lines, at, (l) => l.trim() && !(depth < DEEPEST ? /^\s*(>|`{3,}|~{3,}|#{1,6}\s)/ : /^\s*(`{3,}|~{3,}|#{1,6}\s)/).test(l) && !ITEM.test(l));
      elements.push(<p>{renderLines(words)}</p>);
      at = next;
    }
  }
  return elements;
}

const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+/;

function takeWhile(lines, from, belongs) {
  let at = from + 1;
  while (at < lines.length && belongs(lines[at])) at += 1;
  return [lines.slice(from, at), at];
}

function renderList(lines) {
  const items = [];
  for (const line of lines) {
    const mark = ITEM.exec(line);
    if (mark) items.push({ depth: Math.min(4, Math.floor(mark[1].length / 2)), text: line.slice(mark[0].length) });
    else items[items.length - 1].text += ` ${line.trim()}`;
  }
  const Kind = /\d/.test(ITEM.exec(lines[0])[2]) ? "ol" : "ul";
  return <Kind>{items.map((item) => <li class={`depth-${item.depth}`}>{renderItem(item.text)}</li>)}</Kind>;
}

function renderItem(text) {
  const box = /^\[([ xX])\]\s+/.exec(text);
  return box ? [box[1] === " " ? "☐ " : "☑ ", ...renderInline(text.slice(box[0].length))] : renderInline(text);
}

function renderLines(lines) {
  return lines.flatMap((line, number) => (number ? [<br />, ...renderInline(line)] : renderInline(line)));
}

export function renderInline(text, depth = 0) {
  if (depth > DEEPEST || text.length > LONGEST) return [text];
  const elements = [];
  let rest = text;
  for (let match = INLINE.exec(rest); match; match = INLINE.exec(rest)) {
    if (match.index) elements.push(rest.slice(0, match.index));
    elements.push(renderMark(match, depth + 1));
    rest = rest.slice(match.index + match[0].length);
  }
  if (rest) elements.push(rest);
  return elements;
}

function renderMark([whole, ticks, code, strong, emphasis, gone, label, address, bare], depth) {
  if (ticks) return <code>{code.trim() || code}</code>;
  if (strong) return <strong>{renderInline(strong, depth)}</strong>;
  if (emphasis) return <em>{renderInline(emphasis, depth)}</em>;
  if (gone) return <del>{renderInline(gone, depth)}</del>;
  const to = bare ?? address;
  if (!SAFE.test(to)) return whole;
  return <a href={to} target="_blank" rel="noopener noreferrer">{bare ?? renderInline(label, depth)}</a>;
}
