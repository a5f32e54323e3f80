// Memory for Pi: graph tools for the agent, recall before each prompt, capture after each tool.
// Everything is done by the `nuggets` command; this file only carries words to it and back.

import { spawn } from "node:child_process";
import type { ExtensionAPI } from "@mariozechner/pi-coding-agent";

const PATIENCE_MS = 10_000;

function run(args: string[], input: string, cwd: string): Promise<string> {
  return new Promise((resolve) => {
    const child = spawn("nuggets", args, { cwd, stdio: ["pipe", "pipe", "ignore"] });
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
  return { type: "object", properties: Object.fromEntries(described), required } as any;
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
    parameters: any,
    call: (given: any) => { args: string[]; input?: string },
  ) {
    pi.registerTool({
      name,
      label,
      description,
      parameters,
      async execute(_id: string, given: any) {
        const { args, input } = call(given);
        const said = await run(args, input ?? "", process.cwd());
        const shown = said || '{"error":{"code":"error","message":"nuggets did not answer"}}';
        const fenced = `<nuggets-memory>\n${shown.replace(/<(?=\s*\/?\s*nuggets-memory)/gi, "&lt;")}\n</nuggets-memory>`;
        return { content: [{ type: "text", text: fenced }], details: {} };
      },
    } as any);
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
    ({ nugget, key, value }) => ({ args: ["remember", "--json", "--", nugget, key, "-"], input: value }),
  );
  tool(
    "createNote",
    "Create note",
    "Store what needs more than a sentence: a decision and its reason, a lesson, how a part works.",
    text({ title: "its name", content: "what it says", nugget: "topic; default project" }, ["nugget"]),
    ({ title, content, nugget }) => ({
      args: ["note", "add", "--json", "--", nugget || "project", title, "-"],
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

  pi.on("session_start", async (_event: any, ctx: any) => {
    session = ctx?.sessionManager?.getSessionFile?.() ?? `pi-${process.pid}-${Date.now()}`;
  });

  let greeted = false;
  pi.on("before_agent_start", async (event: any, ctx: any) => {
    const cwd = ctx?.cwd ?? process.cwd();
    const parts = greeted ? [] : [await hook("session-start", { source: "startup" }, cwd)];
    greeted = true;
    parts.push(await hook("user-prompt", { prompt: event?.prompt ?? "" }, cwd));
    const content = parts.filter(Boolean).join("\n");
    if (!content) return undefined;
    return { message: { customType: "nuggets-memory", content, display: false } };
  });

  pi.on("tool_result", async (event: any, ctx: any) => {
    const sent = { tool_name: event?.toolName ?? "", tool_input: event?.input ?? {} };
    void hook("post-tool", sent, ctx?.cwd ?? process.cwd());
    return undefined;
  });

  pi.on("session_before_compact", async (_event: any, ctx: any) => {
    await hook("pre-compact", {}, ctx?.cwd ?? process.cwd());
    greeted = false;
    return undefined;
  });

  pi.on("agent_end", async (_event: any, ctx: any) => {
    void hook("stop", {}, ctx?.cwd ?? process.cwd());
  });
}
