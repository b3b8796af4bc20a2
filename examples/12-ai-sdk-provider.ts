// aiSdk(model) adapts any language model of the AI SDK (specification v2 to v4: AI SDK 5 and
// later). This includes Mistral, Google, Bedrock, gateways and every other provider with a package.
// Keys and addresses are options of that package.
// Run it: npm run example -- 12
// With OPENAI_API_KEY, OpenAI answers.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { Ensemble, Task } from "agentensemble";
import { aiSdk } from "agentensemble/providers/ai-sdk";
import { z } from "zod";
import { playVendor } from "./support/loopback-vendor.js";

const apiKey = process.env["OPENAI_API_KEY"] ?? "";
const played = await playVendor(({ path, body }) => {
  console.log(
    `  ${path} for ${String(body["model"])}, held to a schema: ${body["response_format"] !== undefined}`,
  );
  const content = '{"name":"Rialto","city":"Venice","year":1591}';
  return {
    document: {
      choices: [{ message: { role: "assistant", content }, finish_reason: "stop" }],
      usage: { prompt_tokens: 70, completion_tokens: 18 },
    },
  };
});

// You can use any provider of the AI SDK here.
const provider = createOpenAICompatible({
  name: "example",
  baseURL: apiKey === "" ? `${played.url}/v1` : "https://api.openai.com/v1",
  ...(apiKey === "" ? {} : { apiKey }),
  supportsStructuredOutputs: true,
});
const model = aiSdk(provider("gpt-5-mini"), { timeoutMs: 60_000 });
console.log(
  `Model: ${model.provider} ${model.modelId} (${apiKey === "" ? "played by a server on this machine" : "because OPENAI_API_KEY is set"})`,
);

const bridge = new Task({
  description: "Name the oldest bridge over the Grand Canal.",
  outputType: z.strictObject({
    name: z.string(),
    city: z.string(),
    year: z.int().describe("when it was finished"),
  }),
});
const team = new Ensemble({ model, tasks: [bridge] });
try {
  const output = await team.run();
  const parsed = output.getOutput(bridge)?.parsed;
  console.log(`\n${parsed?.name}, ${parsed?.city}, ${parsed?.year}`);
  for (const { modelId, inputTokens, outputTokens } of output.metrics.ledger)
    console.log(`${modelId}: ${inputTokens} tokens in, ${outputTokens} out`);
} finally {
  await team.dispose();
  played.close();
}
