// Memory for opencode: recall before each prompt, capture after each tool. The MCP server in
// opencode.json gives the tools; this plugin calls `nuggets hook` at the right moments.

import { spawn } from "node:child_process";

const PATIENCE_MS = 3_000;

function hook(event: string, sent: Record<string, unknown>): Promise<string> {
  return new Promise((resolve) => {
    const child = spawn("nuggets", ["hook", event, "--host", "opencode"], {
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

export const Nuggets = async ({ directory }: { directory: string }) => {
  const greeted = new Set<string>();
  return {
    "chat.message": async (input: any, output: any) => {
      const session = input?.sessionID ?? "";
      const said = (output?.parts ?? []).filter((part: any) => part.type === "text");
      const prompt = said.map((part: any) => part.text).join("\n");
      const about = { session_id: session, cwd: directory };
      const parts: string[] = [];
      if (!greeted.has(session)) {
        greeted.add(session);
        parts.push(await hook("session-start", { ...about, source: "startup" }));
      }
      parts.push(await hook("user-prompt", { ...about, prompt }));
      const context = parts.filter(Boolean).join("\n");
      if (context && said.length > 0) said[0].text = `${context}\n\n${said[0].text}`;
    },
    "tool.execute.after": async (input: any) => {
      void hook("post-tool", {
        session_id: input?.sessionID ?? "",
        cwd: directory,
        tool_name: input?.tool ?? "",
        tool_input: input?.args ?? {},
      });
    },
    event: async ({ event }: { event: any }) => {
      const about = { session_id: event?.properties?.sessionID ?? "", cwd: directory };
      if (event?.type === "session.idle") void hook("stop", about);
      if (event?.type === "session.compacted") greeted.delete(about.session_id);
    },
    "experimental.session.compacting": async (input: any) => {
      await hook("pre-compact", { session_id: input?.sessionID ?? "", cwd: directory });
    },
  };
};
