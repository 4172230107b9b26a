// dapeer's relay. `dapeer opencode install` has put it here, `dapeer opencode remove` takes it away.
//
// It adds a provider whose only model is none: it calls the one tool that it is told to call. So dapeer has OpenCode
// run a tool, in a session of its own and under the rules that hold there. It opens no port, keeps no secret, and
// asks nobody.
//
// dapeer prompts it with JSON: {"dapeer":{"tool":"read","arguments":{…}}}, or {"dapeer":{"list":true}}.

const PROVIDER = "dapeer"
// dapeer asks for this model. Count it up when what is said here changes.
const MODEL = "relay-1"
const NO_MODEL = "This is no model: dapeer runs OpenCode's tools with it. Choose another model."

const texts = ({ content }) =>
  typeof content === "string" ? [content] : (content ?? []).flatMap(({ text }) => text ?? [])

// OpenCode adds texts of its own to a prompt, so each is tried.
function told(message) {
  for (const text of texts(message)) {
    try {
      const { dapeer } = JSON.parse(text)
      if (dapeer) return dapeer
    } catch {}
  }
}

function step(messages, tools) {
  // Not the last one: OpenCode shows what a tool has drawn as if the user had sent it.
  const prompt = messages.findLastIndex((message) => message.role === "user" && told(message))
  if (prompt < 0) return { content: NO_MODEL }
  const { list, tool: name, arguments: given } = told(messages[prompt])
  if (list) return { content: JSON.stringify(tools) }
  if (messages.slice(prompt).some(({ role }) => role === "assistant")) return { content: "Done." }
  if (!tools.some((tool) => tool.name === name))
    return { content: `OpenCode does not offer ${name} here.` }
  const call = { name, arguments: JSON.stringify(given ?? {}) }
  return { tool_calls: [{ index: 0, id: "call_dapeer", type: "function", function: call }] }
}

// What OpenCode takes for the answer of a server.
async function answer(_url, { body }) {
  const { messages = [], tools = [] } = JSON.parse(body)
  const delta = { role: "assistant", ...step(messages, tools.map((tool) => tool.function)) }
  const usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }
  const ended = { delta: {}, finish_reason: delta.tool_calls ? "tool_calls" : "stop" }
  const chunks = [{ choices: [{ index: 0, delta }] }, { choices: [{ index: 0, ...ended }], usage }]
  const named = { id: PROVIDER, object: "chat.completion.chunk", created: 0, model: MODEL }
  const lines = chunks.map((chunk) => `data: ${JSON.stringify({ ...named, ...chunk })}\n\n`)
  return new Response(lines.join("") + "data: [DONE]\n\n", {
    headers: { "content-type": "text/event-stream" },
  })
}

const provider = {
  npm: "@ai-sdk/openai-compatible",
  name: "dapeer (no model)",
  options: { baseURL: "http://dapeer.invalid", apiKey: "none", fetch: answer },
  models: {
    [MODEL]: {
      name: "runs OpenCode's tools for dapeer",
      tool_call: true,
      limit: { context: 10000000, output: 8192 },
    },
  },
}

export const Dapeer = async () => {
  let loaded = () => {}
  const hooks = {
    config: async (config) => {
      const others = config.provider ?? {}
      // Who has chosen no model gets one of a provider that is configured, if any is. Ours must not be that one, so
      // where it is the only one, it is taken out again as soon as OpenCode has read it.
      if (Object.keys(others).length === 0) loaded = () => delete config.provider[PROVIDER]
      config.provider = { ...others, [PROVIDER]: provider }
      if (config.enabled_providers) config.enabled_providers = [...config.enabled_providers, PROVIDER]
      // OpenCode asks for the models of this one while it reads the providers; any one will do that it knows.
      const disabled = config.disabled_providers ?? []
      hooks.provider.id = ["opencode", "openai", "anthropic"].find((id) => !disabled.includes(id))
    },
    provider: {
      id: "opencode",
      models: async ({ models }) => {
        loaded()
        return models
      },
    },
  }
  return hooks
}
