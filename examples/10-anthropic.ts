// A model of Anthropic with a tool and a typed result. Schemas are sent in strict form. The
// beginning of the prompt is marked for the vendor's cache.
// Run it: npm run example -- 10
// With ANTHROPIC_API_KEY, the vendor answers. Without it, a server on this machine answers.
import { Agent, Ensemble, Task, tool } from "agentensemble";
import { anthropic } from "agentensemble/providers/anthropic";
import { z } from "zod";
import { playVendor, type VendorReply } from "./support/loopback-vendor.js";

/** The answers of the simulated vendor, in order, in the format of the Messages API. */
const answers = [
  {
    content: [{ type: "tool_use", id: "toolu_1", name: "tide_table", input: { harbour: "Husum" } }],
    stop_reason: "tool_use",
  },
  {
    content: [{ type: "text", text: '{"harbour":"Husum","leaveAt":"14:10"}' }],
    stop_reason: "end_turn",
  },
];
let answered = 0;
const played = await playVendor(({ path, body }): VendorReply => {
  const { max_tokens, system, output_config } = body;
  const cached = JSON.stringify(system).includes("cache_control");
  console.log(
    `  ${path}: max_tokens ${String(max_tokens)}, system prompt cached: ${cached}, held to a schema: ${output_config !== undefined}`,
  );
  const usage = {
    input_tokens: 60,
    output_tokens: 20,
    cache_read_input_tokens: answered === 0 ? 0 : 200,
  };
  return { document: { type: "message", role: "assistant", ...answers[answered++], usage } };
});

const isReal = (process.env["ANTHROPIC_API_KEY"] ?? "") !== "";
const model = anthropic(
  "claude-sonnet-5",
  isReal
    ? { maxOutputTokens: 1_000 }
    : { apiKey: "example", baseURL: played.url, maxOutputTokens: 1_000 },
);
console.log(
  `Model: anthropic:claude-sonnet-5 (${isReal ? "because ANTHROPIC_API_KEY is set" : "played by a server on this machine"})`,
);

const tideTable = tool({
  name: "tide_table",
  description: "Times of high water today",
  input: z.strictObject({ harbour: z.string() }),
  execute: ({ harbour }) => ({ harbour, highWater: ["01:55", "14:40"] }),
});
const skipper = new Agent({
  role: "Skipper",
  goal: "Leave harbour half an hour before high water",
  tools: [tideTable],
});
const departure = new Task({
  description: "When do we leave Husum this afternoon?",
  agent: skipper,
  outputType: z.strictObject({ harbour: z.string(), leaveAt: z.string().describe("hh:mm") }),
});

const team = new Ensemble({
  model,
  tasks: [departure],
  onToolCall: ({ toolName, toolArguments, toolResult }) =>
    console.log(`${toolName} ${toolArguments} -> ${toolResult}`),
});
try {
  const output = await team.run();
  const plan = output.getOutput(departure)?.parsed;
  console.log(`\nLeave ${plan?.harbour} at ${plan?.leaveAt}`);
  for (const { inputTokens, cachedInputTokens } of output.metrics.ledger)
    console.log(`  ${inputTokens} tokens in, ${cachedInputTokens} of them from the cache`);
} finally {
  await team.dispose();
  played.close();
}
