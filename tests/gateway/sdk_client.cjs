// A client of the TypeScript SDK that does what lines on its standard input say, one JSON object a line, and answers
// each with a line. Use: node sdk_client.cjs {1|2} {http|stdio}, with ADDRESS and TOKEN, or COMMAND, in the environment.
const [version, transport] = process.argv.slice(2)
const old = version === "1"
const { Client } = old ? require("@modelcontextprotocol/sdk/client/index.js") : require("@modelcontextprotocol/client")

function connection() {
  if (transport === "stdio") {
    const { StdioClientTransport } = old
      ? require("@modelcontextprotocol/sdk/client/stdio.js")
      : require("@modelcontextprotocol/client/stdio")
    const [command, ...args] = JSON.parse(process.env.COMMAND)
    return new StdioClientTransport({ command, args, env: JSON.parse(process.env.VARIABLES) })
  }
  const { StreamableHTTPClientTransport } = old
    ? require("@modelcontextprotocol/sdk/client/streamableHttp.js")
    : require("@modelcontextprotocol/client")
  const headers = { Authorization: `Bearer ${process.env.TOKEN}` }
  return new StreamableHTTPClientTransport(new URL(process.env.ADDRESS), { requestInit: { headers } })
}

function asked(client, { tool, given }, options = {}) {
  const params = { name: tool, arguments: given }
  return old ? client.callTool(params, undefined, options) : client.callTool(params, options)
}

async function main() {
  const client = new Client({ name: "typescript", version: "1" }, old ? {} : { versionNegotiation: { mode: "auto" } })
  await client.connect(connection())
  let calling, controller
  const deeds = {
    list: async () => (await client.listTools()).tools.map((tool) => tool.name),
    call: async (message) => (await asked(client, message)).content[0].text,
    start: async (message) => {
      controller = new AbortController()
      calling = asked(client, message, { signal: controller.signal }).then(() => "answered", () => "aborted")
      return "started"
    },
    abort: async () => {
      controller.abort()
      return calling
    },
  }
  for await (const line of require("node:readline").createInterface({ input: process.stdin })) {
    const message = JSON.parse(line)
    const answer = await deeds[message.do](message).catch((error) => `failed: ${error.message}`)
    process.stdout.write(JSON.stringify(answer) + "\n")
  }
  await client.close()
}

main().then(() => process.exit(0), (error) => { process.stderr.write(String(error)); process.exit(1) })
