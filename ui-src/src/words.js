// How times, numbers and actions are put for people.

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "long" });
const STEPS = [
  [60, "second"],
  [60, "minute"],
  [24, "hour"],
  [7, "day"],
  [4.35, "week"],
  [12, "month"],
  [Infinity, "year"],
];

export function ago(iso, now = Date.now()) {
  let amount = (Date.parse(iso) - now) / 1000;
  if (!Number.isFinite(amount)) return "";
  if (Math.abs(amount) < 10) return "just now";
  for (const [size, unit] of STEPS) {
    if (Math.abs(amount) < size) return relative.format(Math.round(amount), unit);
    amount /= size;
  }
  return "";
}

export function moment(iso) {
  const date = new Date(iso);
  return Number.isNaN(date.getTime())
    ? iso
    : date.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}

export const percent = (share) => `${Math.round(share * 100)} %`;

const ACTIONS = {
  create: "new nugget",
  remember: "remembered",
  forget: "forgotten",
  clear: "facts cleared",
  remove: "nugget removed",
  create_note: "created",
  edit_note: "edited",
  delete_note: "archived",
  restore_note: "restored",
  add_link: "linked",
  remove_link: "unlinked",
  merge_notes: "merged",
  recall: "recalled",
  save: "written together",
  adopt: "edited by hand",
  reflect: "cleaned up",
  keep_session: "session noted",
};

// The revision that a step took back, or undefined.
export function undoneBy(action) {
  const [, revision] = /^undo (\d+)$/.exec(action) ?? [];
  return revision && Number(revision);
}

// `actionOf`: from a revision to its action. An undo of an undo is a redo.
export function actionName(action, actionOf = () => "") {
  const undone = undoneBy(action);
  if (undone) {
    const first = undoneBy(actionOf(undone) ?? "");
    return first ? `redone: #${first}` : `undone: #${undone}`;
  }
  return ACTIONS[action] ?? (action.replaceAll("_", " ") || "changed");
}

// Signs that turn the direction of text around have no business in a label.
export const plainLabel = (text) => text.replace(/[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]/g, "");

// Tags that only repeat the metadata are shown there. The shelf adds them anew with every save.
export function ownTags(note) {
  const nugget = (note.nuggetName ?? note.nugget).normalize("NFC").toLowerCase().trim().replace(/\s+/g, "-");
  return note.tags.filter((tag) => tag !== nugget && !/^(scope|type):/.test(tag));
}

export function count(number, one, many = `${one}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

export const LINE = 160; // characters of a title or a reason in a list: a hand may have written any number

// A project goes by the name of its folder; the whole path is for the tooltip. A repository is known by its `.git`.
export function projectName(path) {
  const [place] = path.split("//"); // behind that stands what tells two apart that lay in one place
  return place.split(/[\\/]/).filter((part) => part && part !== ".git").at(-1) ?? "no project";
}

const WORD = /[\p{L}\p{N}]{3,}/gu;
const LEAD = 40; // characters before the first word that was found

// What a note says where it has a word of the query, letter for letter; only spaces and line breaks are joined.
export function snippet(content, query, length = 160) {
  const text = content.slice(0, 20_000).replace(/\s+/g, " ").trim();
  const folded = text.toLowerCase();
  const places = (query.toLowerCase().match(WORD) ?? []).map((word) => folded.indexOf(word)).filter((at) => at >= 0);
  const first = places.length ? Math.min(...places) : 0;
  if (first <= LEAD || text.length <= length) return short(text, length);
  const from = text.indexOf(" ", first - LEAD) + 1;
  return `…${short(text.slice(from > 0 && from <= first ? from : first), length - 1)}`;
}

export function short(text, length = 60) {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}
