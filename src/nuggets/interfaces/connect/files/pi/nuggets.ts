// Memory for Pi: graph tools for the agent, recall before each prompt, capture after each tool.
// The tools are those of `nuggets mcp`, which decides what an agent may write and fences what it
// reads; the moments are those of `nuggets hook`. This file only carries words there and back.

import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

const NUGGETS = ["nuggets"]; // how to call it; `nuggets connect` fills this in
const PATIENCE_MS = 10_000;

type Given = Record<string, string>;
type Reply = { id?: number; result?: { content?: { text?: string }[]; isError?: boolean } };

function run(args: string[], input: string, cwd: string): Promise<string> {
  return new Promise((resolve) => {
    const [program, ...words] = [...NUGGETS, ...args];
    const child = spawn(program, words, { cwd, stdio: ["pipe", "pipe", "ignore"] });
    const timer = setTimeout(() => child.kill(), PATIENCE_MS);
    let said = "";
    child.stdout.on("data", (part) => (said += part));
    child.on("error", () => resolve(""));
    child.on("close", () => {
      clearTimeout(timer);
      resolve(said.trim());
    });
    child.stdin.on("error", () => {});
    child.stdin.end(input);
  });
}

// One server for as long as the session lasts: it knows which notes the agent has read.
function server() {
  let child: ChildProcess | undefined;
  let ready: Promise<unknown> = Promise.resolve();
  let asked = 0;
  const waiting = new Map<number, (reply: Reply) => void>();

  function send(message: object) {
    child?.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  function ask(method: string, params: object): Promise<Reply> {
    const id = ++asked;
    if (!child) return Promise.resolve({}); // it could not be started
    return new Promise((resolve) => {
      const timer = setTimeout(() => waiting.get(id)?.({}), PATIENCE_MS);
      waiting.set(id, (reply) => {
        clearTimeout(timer);
        waiting.delete(id);
        resolve(reply);
      });
      send({ id, method, params });
    });
  }

  function start(cwd: string) {
    const [program, ...words] = [...NUGGETS, "mcp"];
    const started = spawn(program, words, { cwd, stdio: ["pipe", "pipe", "ignore"] });
    const gone = () => {
      if (child !== started) return;
      child = undefined;
      for (const settle of [...waiting.values()]) settle({});
    };
    started.on("error", gone);
    started.on("close", gone);
    started.stdin.on("error", () => {});
    createInterface({ input: started.stdout }).on("line", (line) => {
      try {
        const reply = JSON.parse(line) as Reply;
        if (reply.id !== undefined) waiting.get(reply.id)?.(reply);
      } catch {
        // no message, and nobody waits for it
      }
    });
    child = started;
    const clientInfo = { name: "pi", version: "1" };
    const hello = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
    ready = ask("initialize", hello).then(() => send({ method: "notifications/initialized" }));
  }

  return {
    async call(name: string, given: object, session: string, cwd: string): Promise<string> {
      if (!child) start(cwd);
      await ready;
      const _meta = session ? { "nuggets/session": session } : {};
      const { result } = await ask("tools/call", { name, arguments: given, _meta });
      const text = result?.content?.[0]?.text;
      if (!text) throw new Error("nuggets did not answer; see `nuggets doctor`");
      if (result?.isError) throw new Error(text);
      return text;
    },
    end() {
      child?.stdin?.end(); // it ends with its input
    },
  };
}

function text(properties: Record<string, string>, optional: string[] = []) {
  const described = Object.entries(properties).map(([name, description]) => [
    name,
    { type: "string", description },
  ]);
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: "object", properties: Object.fromEntries(described), required };
}

export default function (pi: ExtensionAPI) {
  const memory = server();
  let session = "";
  let transcript = ""; // Pi's own file of the session

  async function hook(event: string, sent: Record<string, unknown>, cwd: string): Promise<string> {
    const payload = JSON.stringify({
      session_id: session,
      transcript_path: transcript,
      cwd,
      ...sent,
    });
    const answer = await run(["hook", event, "--host", "pi"], payload, cwd);
    if (!answer) return "";
    try {
      return JSON.parse(answer).hookSpecificOutput?.additionalContext ?? "";
    } catch {
      return "";
    }
  }

  function tool(
    name: string,
    label: string,
    description: string,
    parameters: ReturnType<typeof text>,
    call: (given: Given) => [name: string, given: object],
  ) {
    pi.registerTool({
      name,
      label,
      description,
      parameters,
      async execute(_id, given, _signal, _onUpdate, ctx) {
        const said = await memory.call(...call(given as Given), session, ctx.cwd);
        return { content: [{ type: "text", text: said }], details: {} };
      },
    });
  }

  tool(
    "recall",
    "Recall",
    "Ask memory first: before searching files, guessing, or asking the user.",
    text({ query: "a few key words" }),
    ({ query }) => ["recall", { query }],
  );
  tool(
    "remember",
    "Remember",
    "Store one short fact that the next session would need; createNote says when a note is better.",
    text({ nugget: "topic, e.g. project", key: "what to ask for", value: "the answer" }),
    ({ nugget, key, value }) => ["remember", { nugget, key, value }],
  );
  tool(
    "createNote",
    "Create note",
    "Store a decision and its reason, a lesson, how a part works. Prefer createNote over remember " +
      "when the information has more than one sentence of context, when it should link to other " +
      "notes, or when it is likely to be rewritten or merged later by the daily reflection pass.",
    text({ title: "its name", content: "what it says", nugget: "topic; default project" }, ["nugget"]),
    ({ title, content, nugget }) => ["create_note", { nugget: nugget || "project", title, content }],
  );
  tool(
    "addLink",
    "Link notes",
    "Connect two notes, by title or id, and say why.",
    text({ note1: "title or id", note2: "title or id", reason: "how they are related" }),
    ({ note1, note2, reason }) => ["add_link", { a: note1, b: note2, reason }],
  );
  tool(
    "editNote",
    "Edit note",
    "Replace what a note says when it has changed; getNote first. Or archive it, bring it back, or " +
      "say which memory it takes the place of.",
    text(
      {
        noteId: "title or id",
        newContent: "the whole new content",
        hidden: "true archives it, false brings it back",
        supersedes: "title or id of the memory that no longer holds",
      },
      ["newContent", "hidden", "supersedes"],
    ),
    ({ noteId, newContent: content, hidden, supersedes }) => [
      "edit_note",
      { note: noteId, content, supersedes, hidden: hidden ? hidden === "true" : undefined },
    ],
  );
  tool(
    "searchNotes",
    "Search notes",
    "Find notes by what they are about; open what matters with getNote.",
    text({ query: "in your own words" }),
    ({ query }) => ["search_notes", { query }],
  );
  tool(
    "getNote",
    "Read note",
    "Read a whole note and its links.",
    text({ noteId: "title or id", offset: "where to go on in a long one" }, ["offset"]),
    ({ noteId, offset }) => ["get_note", { note: noteId, offset: Number(offset || 0) }],
  );
  tool(
    "sessions",
    "Earlier sessions",
    "See what earlier sessions here were about, when the user asks where you were or to continue something.",
    text(
      {
        query: "what it was about; without it the last ones",
        session: "id: only this one",
        all: "true: of all projects",
        limit: "how many at most",
      },
      ["query", "session", "all", "limit"],
    ),
    ({ query, session, all, limit }) => [
      "sessions",
      {
        query: query || undefined,
        session: session || undefined,
        all: all === "true",
        limit: Number(limit) || undefined,
      },
    ],
  );

  let beginning = "startup"; // why the context is without what memory holds; "" once it is told
  pi.on("session_start", async (event, ctx) => {
    session = ctx.sessionManager.getSessionId();
    beginning = event.reason === "resume" ? "resume" : "startup";
  });

  pi.on("before_agent_start", async (event, ctx) => {
    transcript = ctx.sessionManager.getSessionFile() ?? "";
    const parts = beginning ? [await hook("session-start", { source: beginning }, ctx.cwd)] : [];
    beginning = "";
    parts.push(await hook("user-prompt", { prompt: event.prompt }, ctx.cwd));
    const content = parts.filter(Boolean).join("\n");
    if (!content) return undefined;
    return { message: { customType: "nuggets-memory", content, display: false } };
  });

  pi.on("tool_result", async (event, ctx) => {
    void hook("post-tool", { tool_name: event.toolName, tool_input: event.input }, ctx.cwd);
    return undefined;
  });

  pi.on("session_before_compact", async (_event, ctx) => {
    await hook("pre-compact", {}, ctx.cwd);
    return undefined;
  });

  pi.on("session_compact", async () => {
    beginning = "compact";
  });

  pi.on("agent_end", async (_event, ctx) => {
    void hook("stop", {}, ctx.cwd);
  });

  pi.on("session_shutdown", async () => memory.end());
}
