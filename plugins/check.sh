#!/usr/bin/env bash
# Checks every connection against the real programs: installs the hosts from npm and this package
# into a scratch directory, connects each host in two ways, and runs whole turns of it against a
# stand-in for its model. Needs node, npm and pip with a registry, and Python >= 3.11 as python3 (or
# PYTHON=...); touches nothing outside of the scratch directory.
#
#     plugins/check.sh [DIRECTORY]     (a directory given is kept, and spares the next installation)
set -euo pipefail

plugins=$(cd "$(dirname "$0")" && pwd)
repository=$(cd "$plugins/.." && pwd)
files=$repository/src/nuggets/interfaces/connect/files
command -v npm >/dev/null || { echo "npm is needed" >&2; exit 1; }
if [ $# -gt 0 ]; then mkdir -p "$1" && scratch=$(cd "$1" && pwd); else scratch=$(mktemp -d); fi
model_pid=
leave() {
  [ -z "$model_pid" ] || kill "$model_pid" 2>/dev/null || true
  [ $# -gt 0 ] || rm -rf "$scratch"
}
if [ $# -gt 0 ]; then trap 'leave keep' EXIT; else trap leave EXIT; fi
ok() { echo "ok    $*"; }
fail() { echo "FAIL  $*" >&2; exit 1; }

echo "installing into $scratch"
cd "$scratch"
[ -f package.json ] || npm init -y >/dev/null 2>&1
[ -d node_modules/typescript ] || npm install --no-audit --no-fund --silent \
  @anthropic-ai/claude-code @openai/codex @google/gemini-cli opencode-ai @opencode-ai/plugin \
  @earendil-works/pi-coding-agent typescript@5 @types/node
[ -x venv/bin/pip ] || "${PYTHON:-python3}" -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check -c "$repository/constraints.txt" \
  "$repository[mcp]"
rm -rf try && mkdir -p try/bin try/js try/project
ln -s "$scratch/venv/bin/nuggets" try/bin/nuggets # as pipx does: a command that every shell finds
printf 'hello\n' >try/project/auth.py
git init -q try/project
git -C try/project add auth.py

# --- the extensions: types, then life ---------------------------------------------------------
cp -r "$files/pi" "$files/opencode" try/js
echo '{"type": "module"}' >try/js/package.json
node_modules/.bin/tsc --strict --skipLibCheck --target es2022 --module nodenext --types node \
  --outDir try/js/out try/js/pi/*.ts try/js/opencode/*.ts
ok "extensions fit the types of pi and opencode"

# Runs a command as its host would: no settings, credentials or variables of yours.
# What the agents under test may write to is the scratch home alone.
clean() {
  env -i HOME="$home" TERM=dumb NO_COLOR=1 CI=1 \
    PATH="$found_in$scratch/node_modules/.bin:$(dirname "$(command -v node)"):/usr/bin:/bin" \
    NUGGETS_HOOK_SECONDS=5 DISABLE_AUTOUPDATER=1 CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 \
    MCP_CONNECTION_NONBLOCKING=0 MCP_TIMEOUT=60000 \
    GEMINI_CLI_TRUST_WORKSPACE=true OPENCODE_DISABLE_AUTOUPDATE=1 PI_OFFLINE=1 "$@"
}
nuggets() { clean "$scratch/venv/bin/nuggets" "$@" ${shelf[@]+"${shelf[@]}"}; }
says() { # says PATTERN COMMAND...
  local pattern=$1 said && shift
  said=$("$@" 2>&1 | sed 's/\x1b\[[0-9;]*m//g') || true # in words, not in colours
  grep -iqE "$pattern" <<<"$said"
}
new_home() { home=$scratch/try/$1 && mkdir -p "$home"; }
found_in=$scratch/try/bin:
shelf=()

new_home extensions
out=$scratch/try/js/out
clean node "$plugins/check/extensions.mjs" "$out/pi/nuggets.js" "$out/pi/proactive.js" \
  "$out/opencode/nuggets.js" "$scratch/try/project" >/dev/null
ok "extensions of pi and opencode work against nuggets"

# --- the plugins: what the hosts say about them -----------------------------------------------
new_home plugins
cd try/project
clean claude plugin validate "$repository" --strict >/dev/null
clean claude plugin validate "$plugins/nuggets" --strict >/dev/null
clean claude plugin marketplace add "$repository" >/dev/null
clean claude plugin install nuggets@nuggets >/dev/null
says "\bconnected\b" clean claude mcp list || fail "claude: the plugin's server"
ok "claude installs the plugin ($(clean claude --version))"
clean codex plugin marketplace add "$repository" >/dev/null 2>&1
clean codex plugin add nuggets@nuggets >/dev/null 2>&1
says "nuggets .*enabled" clean codex mcp list || fail "codex: the plugin's server"
ok "codex installs the plugin ($(clean codex --version 2>/dev/null))"
clean gemini extensions validate "$plugins/gemini" >/dev/null 2>&1 || fail "gemini: the extension"
ok "gemini takes the extension ($(clean gemini --version 2>/dev/null))"

# --- whole turns ------------------------------------------------------------------------------
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
log=$scratch/try/asked.jsonl
python3 "$plugins/check/model.py" "$port" "$log" "$scratch/try/project/auth.py" &
model_pid=$!
service=http://127.0.0.1:$port
question="what is the deploy command? I prefer tabs over spaces."

turn() { # turn HOST SERVER-COMMAND... -- RUN-COMMAND...
  local host=$1 servers=() && shift
  while [ "$1" != -- ]; do servers+=("$1") && shift; done
  shift
  : >"$log"
  printf 'hello\n' >auth.py
  rm -rf made
  nuggets remember project "deploy command" "make ship-it-zebra" >/dev/null
  nuggets connect "$host" >/dev/null
  if [ ${#servers[@]} -gt 0 ]; then
    local pattern="\b(connected|enabled)\b" # a host waits some seconds, which a busy machine needs
    says "$pattern" clean "${servers[@]}" || says "$pattern" clean "${servers[@]}" ||
      says "$pattern" clean "${servers[@]}" || fail "$host: the server is not up"
  fi
  clean "$@" >"$home/said" 2>&1 </dev/null || { cat "$home/said" >&2; fail "$host: the turn"; }
  grep -q "ship-it-zebra" "$log" || fail "$host: memory did not reach the model"
  # only tools say either; Codex is asked for a patch alone
  [ "$host" = codex ] || grep -qE '<nuggets-memory id=|quoted\\*":\\*"<nuggets-memory>' "$log" ||
    fail "$host: what a tool recalled reached the model without its mark"
  says "tabs" nuggets recall "tabs over spaces" || fail "$host: no preference was kept"
  printf '{"cwd": "%s"}' "$PWD" | nuggets hook stop # hosts may end before theirs is done
  says "file: auth.py" nuggets note list || fail "$host: no file was seen"
  # a host in print mode may end before its hooks; the next start keeps the note of the session
  printf '{"cwd": "%s", "session_id": "next", "source": "startup"}' "$PWD" |
    nuggets hook session-start >/dev/null
  says "goal: what is the deploy command" nuggets sessions show ||
    fail "$host: no note of the session was kept"
  says "failed, then passed: mkdir made/inner" nuggets sessions show ||
    { nuggets sessions show >&2; fail "$host: the commands in its transcript are not understood"; }
  # a server that was asked may have done the daily clean-up, and says so
  ! grep -v ": inspected " "$kept_in/hooks/log" 2>/dev/null || fail "$host: see above"
  [ "$kept_in" = "$home/.nuggets" ] || [ ! -e "$home/.nuggets" ] || fail "$host: another shelf"
  nuggets disconnect "$host" >/dev/null
  says "already" nuggets disconnect "$host" || fail "$host: something of it is left"
  ok "$host $way: ${servers[0]:+server, }recall, preference, file, session, disconnection"
}

turns() { # turns WAY
  way=$1
  host_home claude
  turn claude-code claude mcp list -- env ANTHROPIC_BASE_URL="$service" ANTHROPIC_API_KEY=none \
    claude -p "$question" --allowedTools Read Bash mcp__nuggets__recall

  host_home codex
  mkdir -p "$home/.codex"
  printf '[model_providers.standin]\nname = "standin"\nbase_url = "%s/v1"\nwire_api = "responses"\n' \
    "$service" >"$home/.codex/config.toml"
  turn codex codex mcp list -- codex exec -c model_provider=standin \
    --dangerously-bypass-hook-trust -s workspace-write "$question"

  host_home gemini
  mkdir -p "$home/.gemini"
  echo '{"security": {"auth": {"selectedType": "gemini-api-key"}}}' >"$home/.gemini/settings.json"
  turn gemini gemini mcp list -- env GEMINI_API_KEY=none GOOGLE_GEMINI_BASE_URL="$service" \
    gemini --skip-trust --approval-mode yolo -m gemini-2.5-flash -p "$question"

  host_home opencode
  cat >"$home/standin.json" <<JSON
{"model": "standin/m", "small_model": "standin/m", "provider": {"standin": {
  "npm": "@ai-sdk/openai-compatible", "models": {"m": {"tool_call": true}},
  "options": {"baseURL": "$service/v1", "apiKey": "none"}}}}
JSON
  turn opencode opencode mcp list -- env OPENCODE_CONFIG="$home/standin.json" \
    opencode run "$question"

  host_home pi
  mkdir -p "$home/.pi/agent"
  cat >"$home/.pi/agent/models.json" <<JSON
{"providers": {"standin": {"baseUrl": "$service/v1", "apiKey": "none", "api": "openai-completions",
  "models": [{"id": "m", "name": "m", "reasoning": false, "input": ["text"],
    "contextWindow": 128000, "maxTokens": 4096,
    "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}}]}}}
JSON
  turn pi -- pi --provider standin --model m -p "$question"
}

host_home() { new_home "$way $1" && kept_in=$home/.nuggets; }
turns "found by every shell"

# what a shell that did not activate the environment finds, and a shelf whose name needs quotes
host_home() {
  new_home "$way $1"
  kept_in="$home/it's \"our\" shelf"
  shelf=(--dir "$kept_in")
}
found_in=
turns "from an environment, with --dir"

echo "every connection works with the real programs"
