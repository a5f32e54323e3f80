// Runs the extensions of Pi and opencode against a real `nuggets`, with as much of a host as they
// touch: what they register is called as the host would call it.
//
//     node extensions.mjs PI_NUGGETS.js PI_PROACTIVE.js OPENCODE_NUGGETS.js PROJECT

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { pathToFileURL } from "node:url";

const [notes, care, opencode, project] = process.argv.slice(2);
const load = (path) => import(pathToFileURL(path).href);
const nuggets = (...args) => execFileSync("nuggets", args, { cwd: project, encoding: "utf8" });
const filesSeen = () => JSON.parse(nuggets("note", "list", "--json"));

async function eventually(what, holds) {
  for (let left = 100; left > 0; left--) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.fail(`${what} did not happen`);
}

async function pi() {
  const tools = new Map();
  const handlers = new Map();
  const api = {
    registerTool: (tool) => tools.set(tool.name, tool),
    on: (event, handler) => handlers.set(event, handler),
  };
  const sessionManager = { getSessionId: () => "pi-session", getSessionFile: () => undefined };
  const ctx = { cwd: project, sessionManager };
  (await load(notes)).default(api);
  (await load(care)).default(api);
  const call = async (name, given) => {
    const answer = await tools.get(name).execute("id", given, undefined, undefined, ctx);
    return answer.content[0].text;
  };
  const idIn = (said) => said.match(/note-project-[0-9a-f]{8}/)[0];
  const emit = (event, sent = {}) => handlers.get(event)({ type: event, ...sent }, ctx);
  const prompted = async (prompt) =>
    (await emit("before_agent_start", { prompt }))?.message.content ?? "";

  await emit("session_start", { reason: "startup" });
  await call("remember", { nugget: "project", key: "deploy command", value: "make zebra" });
  const recalled = await call("recall", { query: "deploy command" });
  assert.match(recalled, /<nuggets-memory [^>]*source="agent_reflection"[^>]*>\nmake zebra\n/);
  const first = idIn(await call("createNote", { title: "Why zebra", content: "Stripes sort well." }));
  const second = idIn(await call("createNote", { title: "Release", content: "On Fridays never." }));
  await call("addLink", { note1: first, note2: second, reason: "both about shipping" });
  await call("editNote", { noteId: second, newContent: "Releases happen on Mondays." });
  assert.match(await call("searchNotes", { query: "release on mondays" }), /Mondays[^]*with getNote/);
  await call("editNote", { noteId: second, hidden: "true" });
  assert.match(await call("getNote", { noteId: second }), /editNote with hidden=false/);
  await call("editNote", { noteId: second, hidden: "false" });
  assert.match(await call("getNote", { noteId: first }), /both about shipping/);
  assert.match(nuggets("note", "show", first), /Release/);
  assert.ok(JSON.parse(await call("reflectAndCleanMemory", { limit: 10 })).inspected >= 1);

  const secret = { nugget: "project", key: "token", value: `ghp_${"a1B2".repeat(9)}` };
  await assert.rejects(call("remember", secret), /looks like a credential/);
  await assert.rejects(call("remember", { ...secret, value: recalled }), /shown by memory/);
  nuggets("note", "add", "project", "Theirs", "a person's own words, ".repeat(20));
  await assert.rejects(call("editNote", { noteId: "Theirs", newContent: "mine" }), /have read 160/);

  assert.match(await prompted("what is the deploy command?"), /make zebra/);
  assert.equal(await prompted("what is the deploy command?"), "", "each memory once");
  await emit("session_before_compact");
  await emit("session_compact");
  const after = await prompted("and then?");
  assert.match(after, /make zebra/, "what was shown is gone after a compaction");
  assert.match(after, /Goal: what is the deploy command/);
  await emit("tool_result", { toolName: "read", input: { path: "seen-by-pi.py" } });
  await eventually("the sighting of a file in Pi", async () => {
    await emit("agent_end", { messages: [] });
    return JSON.stringify(filesSeen()).includes("seen-by-pi.py");
  });
  await emit("session_shutdown", { reason: "quit" });
}

async function openCode() {
  const hooks = await (await load(opencode)).Nuggets({ directory: project });
  const said = async (text) => {
    const parts = [{ id: "prt_1", sessionID: "oc", messageID: "msg_1", type: "text", text }];
    await hooks["chat.message"]({ sessionID: "oc" }, { message: {}, parts });
    assert.equal(parts[0].text, text, "the person's words stay as they are");
    assert.ok(parts.slice(1).every((part) => part.synthetic && part.id.startsWith("prt_")));
    return parts.slice(1).map((part) => part.text).join("\n");
  };
  assert.match(await said("what is the deploy command?"), /make zebra/);
  assert.equal(await said("what is the deploy command?"), "", "each memory once");
  await hooks["experimental.session.compacting"]({ sessionID: "oc" }, { context: [] });
  await hooks.event({ event: { type: "session.compacted", properties: { sessionID: "oc" } } });
  assert.match(await said("and then?"), /Goal: what is the deploy command/);
  const args = { filePath: `${project}/seen-by-opencode.py` };
  await hooks["tool.execute.after"]({ tool: "read", sessionID: "oc", callID: "c", args }, {});
  await eventually("the sighting of a file in opencode", async () => {
    await hooks.event({ event: { type: "session.idle", properties: { sessionID: "oc" } } });
    return JSON.stringify(filesSeen()).includes("seen-by-opencode.py");
  });
}

await pi();
await openCode();
console.log("extensions: ok");
