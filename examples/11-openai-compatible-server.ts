// Servers compatible with OpenAI: Ollama, vLLM, LM Studio, llama.cpp. Any server with Chat
// Completions is a model of openai() with another baseURL. The text is streamed. If the server does
// not support a feature, it returns an error.
// Run it: npm run example -- 11
// With your own server:
// OPENAI_BASE_URL=http://localhost:11434/v1 AGENTENSEMBLE_MODEL=openai:llama3.2 npm run example --
// 11
import { Agent, Ensemble, ModelCallError, openai, Task, tool } from "agentensemble";
import { playVendor, type VendorReply } from "./support/loopback-vendor.js";

const WORDS = ["A ", "server ", "at ", "home ", "keeps ", "its ", "letters ", "at ", "home."];

/** A small server like those of local models. It streams, and its model accepts no tools. */
function play(body: Readonly<Record<string, unknown>>): VendorReply {
  if (body["tools"] !== undefined)
    return {
      status: 400,
      document: { error: { message: `${String(body["model"])} does not support tools` } },
    };
  const events = WORDS.map((content) => ({ choices: [{ delta: { content } }] }));
  return {
    events: [
      ...events,
      { choices: [{ delta: {}, finish_reason: "stop" }] },
      { choices: [], usage: { prompt_tokens: 30, completion_tokens: 9 } },
    ],
  };
}

const played = await playVendor(({ body }) => play(body));
const own = process.env["OPENAI_BASE_URL"] ?? "";
const baseURL = own === "" ? `${played.url}/v1` : own;
const named = process.env["AGENTENSEMBLE_MODEL"] ?? "";
const modelId = named.startsWith("openai:") ? named.slice("openai:".length) : "llama3.2";

// A server other than OpenAI's needs no key. Local models may need a long time before they answer.
const model = openai(modelId, { baseURL, idleTimeoutMs: 120_000 });
console.log(
  `Model: openai:${modelId} (${own === "" ? "played by a server on this machine" : own})\n`,
);

const team = new Ensemble({
  model,
  tasks: [Task.of("Say in one sentence what is good about a server at home.")],
});
const clock = tool({
  name: "clock",
  description: "Tells the time",
  input: { type: "object" },
  execute: () => "12:00",
});
const toolTeam = new Ensemble({
  model,
  tasks: [
    new Task({
      description: "What time is it?",
      agent: new Agent({ role: "Clerk", goal: "Help", tools: [clock] }),
    }),
  ],
});

try {
  const handle = team.stream();
  for await (const event of handle.events)
    if (event.type === "token") process.stdout.write(event.token);
  const { metrics } = await handle.output;
  console.log(`\n\n${metrics.totalTokens} tokens, in ${metrics.llmCallCount} call`);

  const answer = await toolTeam.run().then(
    ({ raw }) => raw,
    (error: unknown) => {
      const refusal = ModelCallError.find(error);
      if (refusal?.code !== "AE_MODEL_BAD_REQUEST") throw error;
      return `${refusal.code}, ${refusal.message}`;
    },
  );
  console.log(`With a tool: ${answer}`);
} finally {
  await team.dispose();
  await toolTeam.dispose();
  played.close();
}
