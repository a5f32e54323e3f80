// The daily clean-up of memory as a tool of Pi, for its maintenance window or when asked.

import { spawn } from "node:child_process";
import type { ExtensionAPI } from "@mariozechner/pi-coding-agent";

const PATIENCE_MS = 60_000;

function run(args: string[]): Promise<string> {
  return new Promise((resolve) => {
    const child = spawn("nuggets", args, { stdio: ["ignore", "pipe", "ignore"] });
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
    } as any,
    async execute(_id: string, given: any) {
      const args = ["reflect", "--json"];
      if (given?.nugget) args.push("--nugget", String(given.nugget));
      if (given?.limit) args.push("--limit", String(given.limit));
      const said = await run(args);
      return { content: [{ type: "text", text: said || "nuggets did not answer" }], details: {} };
    },
  } as any);
}
