// Written by `assent connect opencode --hook`, and removed by it: asks Assent before opencode uses a tool.
// Whatever goes wrong in here throws, and opencode then does not use the tool.
import { spawn } from "node:child_process"

const FAILED = "Assent did not answer; nothing was run."

function answer(asked) {
  return new Promise((resolve, reject) => {
    const child = spawn("/bin/sh", ["-c", COMMAND], { stdio: ["pipe", "pipe", "pipe"] })
    let out = ""
    let err = ""
    child.stdout.on("data", (data) => { out += data })
    child.stderr.on("data", (data) => { err += data })
    child.on("error", reject)
    child.on("close", (code) => {
      if (code !== 0) return reject(new Error(err.trim() || FAILED))
      resolve(out.trim())
    })
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(asked))
  })
}

function fixed(value) {
  if (value !== null && typeof value === "object") {
    Object.values(value).forEach(fixed)
    Object.freeze(value)
  }
}

export const Assent = async ({ directory }) => ({
  "tool.execute.before": async (input, output) => {
    // First, so that no other plugin changes it while a person reads, or later.
    fixed(output)
    const said = await answer({
      hook_event_name: "PreToolUse",
      tool_name: input.tool,
      tool_input: output.args,
      cwd: directory,
      tool_use_id: input.callID,
    })
    // Nothing is said of a tool that nobody is asked about.
    const { decision, reason } = said ? JSON.parse(said) : { decision: "allow" }
    if (decision !== "allow") throw new Error(reason || FAILED)
  },
})
