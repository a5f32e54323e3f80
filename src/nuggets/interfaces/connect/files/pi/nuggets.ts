// Memory for Pi: graph tools for the agent, recall before each prompt, capture after each tool.
// Everything is done by the `nuggets` command; this file only carries words to it and back.

import { spawn } from "node:child_process";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

const NUGGETS = ["nuggets"]; // how to call it; `nuggets connect` fills this in
const learnt = ["--source", "agent_reflection"]; // by the agent, unless a person says so
const PATIENCE_MS = 10_000;

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

function text(properties: Record<string, string>, optional: string[] = []) {
  const described = Object.entries(properties).map(([name, description]) => [
    name,
    { type: "string", description },
  ]);
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: "object", properties: Object.fromEntries(described), required };
}

export default function (pi: ExtensionAPI) {
  let session = "";

  async function hook(event: string, sent: Record<string, unknown>, cwd: string): Promise<string> {
    const payload = JSON.stringify({ session_id: session, cwd, ...sent });
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
    call: (given: Record<string, string>) => { args: string[]; input?: string },
  ) {
    pi.registerTool({
      name,
      label,
      description,
      parameters,
      async execute(_id, given, _signal, _onUpdate, ctx) {
        const { args, input } = call(given as Record<string, string>);
        const said = await run(args, input ?? "", ctx.cwd);
        const shown = said || '{"error":{"code":"error","message":"nuggets did not answer"}}';
        const fenced = `<nuggets-memory>\n${shown.replace(/<(?=\s*\/?\s*nuggets-memory)/gi, "&lt;")}\n</nuggets-memory>`;
        return { content: [{ type: "text", text: fenced }], details: {} };
      },
    });
  }

  tool(
    "recall",
    "Recall",
    "Ask memory first: before searching files, guessing, or asking the user.",
    text({ query: "a few key words" }),
    ({ query }) => ({ args: ["recall", "--json", "--session", session || "pi", "--", query] }),
  );
  tool(
    "remember",
    "Remember",
    "Store one short fact that the next session would need.",
    text({ nugget: "topic, e.g. project", key: "what to ask for", value: "the answer" }),
    ({ nugget, key, value }) => ({ args: ["remember", "--json", ...learnt, "--", nugget, key, "-"], input: value }),
  );
  tool(
    "createNote",
    "Create note",
    "Store what needs more than a sentence: a decision and its reason, a lesson, how a part works.",
    text({ title: "its name", content: "what it says", nugget: "topic; default project" }, ["nugget"]),
    ({ title, content, nugget }) => ({
      args: ["note", "add", "--json", ...learnt, "--", nugget || "project", title, "-"],
      input: content,
    }),
  );
  tool(
    "addLink",
    "Link notes",
    "Connect two notes, by title or id, and say why.",
    text({ note1: "title or id", note2: "title or id", reason: "how they are related" }),
    ({ note1, note2, reason }) => ({ args: ["link", "--json", "--", note1, note2, reason] }),
  );
  tool(
    "editNote",
    "Edit note",
    "Replace what a note says when it has changed.",
    text({ noteId: "title or id", newContent: "the whole new content" }),
    ({ noteId, newContent }) => ({
      args: ["note", "edit", "--json", "--", noteId, "-"],
      input: newContent,
    }),
  );
  tool(
    "searchNotes",
    "Search notes",
    "Find notes by what they are about.",
    text({ query: "in your own words" }),
    ({ query }) => ({ args: ["search", "--json", "--session", session || "pi", "--", query] }),
  );

  let beginning = "startup"; // why the context is without what memory holds; "" once it is told
  pi.on("session_start", async (event, ctx) => {
    session = ctx.sessionManager.getSessionId();
    beginning = event.reason === "resume" ? "resume" : "startup";
  });

  pi.on("before_agent_start", async (event, ctx) => {
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
}
