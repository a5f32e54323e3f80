// The daily reflection of memory as a tool of Pi, for its maintenance window or when asked.
// It tells how much was done, and nothing that memory holds.

import { spawn } from "node:child_process";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

const NUGGETS = ["nuggets"]; // how to call it; `nuggets connect` fills this in
const PATIENCE_MS = 60_000;

function run(args: string[], cwd: string): Promise<string> {
  return new Promise((resolve) => {
    const [program, ...words] = [...NUGGETS, ...args];
    const child = spawn(program, words, { cwd, stdio: ["ignore", "pipe", "ignore"] });
    const timer = setTimeout(() => child.kill(), PATIENCE_MS);
    let said = "";
    child.stdout.on("data", (part) => (said += part));
    child.on("error", () => resolve(""));
    child.on("close", () => {
      clearTimeout(timer);
      resolve(said.trim());
    });
  });
}

export default function (pi: ExtensionAPI) {
  pi.registerTool({
    name: "reflectAndCleanMemory",
    label: "Reflect and clean memory",
    description:
      "Tidy memory: merge near-duplicates, tag, link, archive rubbish. Nothing is deleted and " +
      "`nuggets undo` takes it back. Use it in the daily maintenance window or when asked.",
    parameters: {
      type: "object",
      properties: {
        nugget: { type: "string", description: "only this topic" },
        limit: { type: "integer", description: "notes to inspect at most" },
      },
    },
    async execute(_id, given, _signal, _onUpdate, ctx) {
      const { nugget, limit } = given as { nugget?: string; limit?: number };
      const args = ["reflect", "--json"];
      if (nugget) args.push("--nugget", nugget);
      if (limit) args.push("--limit", String(limit));
      const { changes, error, ...counts } = JSON.parse((await run(args, ctx.cwd)) || '{"error":{}}');
      if (error) throw new Error(`nothing was cleaned up: ${error.code ?? "nuggets did not answer"}`);
      return { content: [{ type: "text", text: JSON.stringify(counts) }], details: {} };
    },
  });
}
