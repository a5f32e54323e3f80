// The one way to the server. Every failure is an ApiError that says what to tell a person.

export class ApiError extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const revisions = new WeakMap(); // the answer to a write -> the step of the history that it is

export const revisionOf = (answer) => revisions.get(answer);

async function ask(method, path, { query, body, signal } = {}) {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {}))
    if (value !== undefined && value !== null && value !== "") parameters.set(name, value);
  const search = parameters.size ? `?${parameters}` : "";
  let response;
  try {
    response = await fetch(`/api/${path}${search}`, {
      method,
      signal,
      headers: body === undefined ? {} : { "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (problem) {
    if (problem.name === "AbortError") throw problem;
    throw new ApiError(0, "offline", "The server is not running. Start it with: nuggets ui");
  }
  const answer = await response.json().catch(() => ({}));
  if (response.status === 401) throw new ApiError(401, "no_session", "Your session has ended. Open the link that the server prints in its terminal.");
  if (!response.ok)
    throw new ApiError(response.status, answer.error?.code, answer.error?.message ?? response.statusText);
  const step = response.headers.get("Nuggets-Revision"); // none when there was nothing to change
  if (step) revisions.set(answer, Number(step));
  return answer;
}

const part = encodeURIComponent;

export const api = {
  graph: () => ask("GET", "graph"),
  status: () => ask("GET", "status"),
  note: (id) => ask("GET", `notes/${part(id)}`),
  noteHistory: (id) => ask("GET", `notes/${part(id)}/history`),
  search: (query, include_hidden, signal) => ask("GET", "search", { query: { query, limit: 20, include_hidden }, signal }),
  explanation: (id, query, include_hidden) => ask("GET", `notes/${part(id)}/explanation`, { query: { query, include_hidden } }),
  create: (note) => ask("POST", "notes", { body: note }),
  edit: (id, changes) => ask("PATCH", `notes/${part(id)}`, { body: changes }),
  mergePreview: (target, source) => ask("GET", `notes/${part(target)}/merge`, { query: { source } }),
  merge: (target, source) => ask("POST", `notes/${part(target)}/merge`, { body: { source } }),
  purgePreview: (id) => ask("GET", `notes/${part(id)}/purge`),
  purge: (id) => ask("POST", `notes/${part(id)}/purge`, { body: {} }),
  archive: (id) => ask("DELETE", `notes/${part(id)}`),
  restore: (id) => ask("POST", `notes/${part(id)}/restore`, { body: {} }),
  link: (a, b, reason) => ask("POST", "links", { body: { a, b, reason } }),
  unlink: (a, b, reason) => ask("DELETE", "links", { query: { a, b, reason } }),
  facts: (nugget) => ask("GET", `nuggets/${part(nugget)}/facts`),
  remember: (nugget, key, value) => ask("POST", `nuggets/${part(nugget)}/facts`, { body: { key, value } }),
  remove: (id) => ask("DELETE", `notes/${part(id)}`, { query: { hard: true } }), // facts by id too: two projects may share a key
  clearNugget: (nugget) => ask("POST", `nuggets/${part(nugget)}/clear`, { body: {} }),
  removeNugget: (nugget) => ask("DELETE", `nuggets/${part(nugget)}`),
  recall: (query, nugget, signal) => ask("GET", "recall", { query: { query, nugget }, signal }),
  history: (limit, since) => ask("GET", "history", { query: { limit, since } }),
  undoable: (revisions) => ask("GET", "undoable", { query: { revisions: revisions.join(",") } }),
  undo: (revision) => ask("POST", "undo", { body: revision ? { revision } : {} }),
  preview: () => ask("GET", "reflection"),
  reflect: () => ask("POST", "reflection", { body: {} }),
  passes: () => ask("GET", "reflections"),
  promotion: () => ask("GET", "promotion"),
  promote: () => ask("POST", "promotion", { body: {} }),
  sessions: (all, limit, signal) => ask("GET", "sessions", { query: { all, limit }, signal }),
  searchSessions: (query, all, signal) => ask("GET", "sessions/search", { query: { query, all, limit: 20 }, signal }),
  activity: (since) => ask("GET", "activity", { query: { since } }),
};
