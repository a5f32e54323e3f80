// Memory for opencode: recall before each prompt, capture after each tool. The MCP server in
// opencode.json gives the tools; this plugin calls `nuggets hook` at the right moments.

import { spawn } from "node:child_process";
import type { Plugin } from "@opencode-ai/plugin";

const NUGGETS = ["nuggets"]; // how to call it; `nuggets connect` fills this in
const PATIENCE_MS = 3_000;
const MESSAGES = 400; // the last ones of a session, for its note

function hook(event: string, sent: Record<string, unknown>): Promise<string> {
  return new Promise((resolve) => {
    const [program, ...words] = [...NUGGETS, "hook", event, "--host", "opencode"];
    const child = spawn(program, words, {
      stdio: ["pipe", "pipe", "ignore"],
    });
    const timer = setTimeout(() => child.kill(), PATIENCE_MS);
    let said = "";
    child.stdout.on("data", (part) => (said += part));
    child.on("error", () => resolve(""));
    child.on("close", () => {
      clearTimeout(timer);
      try {
        resolve(JSON.parse(said).hookSpecificOutput?.additionalContext ?? "");
      } catch {
        resolve("");
      }
    });
    child.stdin.on("error", () => {});
    child.stdin.end(JSON.stringify(sent));
  });
}

export const Nuggets: Plugin = async ({ client, directory }) => {
  const greeted = new Set<string>();
  const compacted = new Set<string>();

  async function start(session: string): Promise<string> {
    if (greeted.has(session)) return "";
    greeted.add(session);
    const source = compacted.delete(session) ? "compact" : "startup";
    return hook("session-start", { session_id: session, cwd: directory, source });
  }

  // What the note of a session is made of; without it memory knows the prompts alone.
  async function withMessages(session: string): Promise<Record<string, unknown>> {
    const sent = { session_id: session, cwd: directory };
    try {
      const { data } = await client.session.messages({ path: { id: session } });
      return { ...sent, messages: (data ?? []).slice(-MESSAGES) };
    } catch {
      return sent;
    }
  }

  return {
    "chat.message": async ({ sessionID }, { parts }) => {
      const said = parts.filter((part) => part.type === "text" && !part.synthetic);
      const words = said.map((part) => (part.type === "text" ? part.text : "")).join("\n");
      const prompt = words.replace(/^"([^"]*)"\s*$/, "$1"); // `opencode run` puts it in quotes
      const told = [
        await start(sessionID),
        await hook("user-prompt", { session_id: sessionID, cwd: directory, prompt }),
      ];
      const text = told.filter(Boolean).join("\n");
      const last = said.at(-1);
      // a part of its own, which the model reads and the person's words do not show; ids sort
      if (text && last?.type === "text")
        parts.push({ ...last, id: `${last.id}n`, text, synthetic: true });
    },
    "tool.execute.after": async ({ sessionID, tool, args }) => {
      void hook("post-tool", {
        session_id: sessionID,
        cwd: directory,
        tool_name: tool,
        tool_input: args ?? {},
      });
    },
    event: async ({ event }) => {
      if (event.type === "session.idle")
        void withMessages(event.properties.sessionID).then((sent) => hook("stop", sent));
      if (event.type === "session.compacted") {
        greeted.delete(event.properties.sessionID);
        compacted.add(event.properties.sessionID);
      }
    },
    "experimental.session.compacting": async ({ sessionID }) => {
      await hook("pre-compact", await withMessages(sessionID));
    },
  };
};
