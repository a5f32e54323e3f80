// Bundles the scripts of the page into the Python package, beside its page and its style. Same sources and versions, same bytes:
//   npm install && npm run build
// Every file that is built begins with the digest of the sources, which a test compares.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, "../src/nuggets/interfaces/ui");

function digest() {
  const hash = createHash("sha256");
  const files = ["package.json", "build.mjs", "src"].flatMap(filesOf).sort();
  for (const file of files) {
    hash.update(relative(here, file).replaceAll("\\", "/") + "\0");
    hash.update(readFileSync(file));
    hash.update("\0");
  }
  return hash.digest("hex");
}

function filesOf(name) {
  const path = join(here, name);
  if (/\.\w+$/.test(name)) return [path];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

// What is bundled may be passed on as long as its notice goes with it.
function notices() {
  const { dependencies } = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));
  return Object.entries(dependencies)
    .map(([name, version]) => `${name} ${version}\n\n${readFileSync(join(here, "node_modules", name, "LICENSE"), "utf8").trim()}\n`)
    .join(`\n${"-".repeat(78)}\n\n`);
}

writeFileSync(join(target, "licenses.txt"), notices());
await build({
  entryPoints: { app: join(here, "src/main.jsx"), layout: join(here, "src/graph/layout.js") },
  outdir: target,
  bundle: true,
  minify: true,
  format: "esm",
  target: ["es2022"],
  charset: "utf8",
  legalComments: "none",
  jsx: "automatic",
  jsxImportSource: "preact",
  banner: { js: `/* sources ${digest()}; licenses.txt */` },
});
