// A model that reasons before and between its tool calls. The vendor signs each block of its
// reasoning. The next call returns each block unchanged.
// Run it: npm run example -- 71
// With ANTHROPIC_API_KEY, the vendor answers. Without it, a server on this machine answers.
import { Agent, Ensemble, Task, tool } from "agentensemble";
import { anthropic } from "agentensemble/providers/anthropic";
import { z } from "zod";
import { playVendor, type VendorReply } from "./support/loopback-vendor.js";

/** The answers of the simulated vendor, in order, in the format of the Messages API. */
const answers = [
  {
    content: [
      { type: "thinking", thinking: "I need both tides first.", signature: "c2lnbmF0dXJlLTE=" },
      { type: "tool_use", id: "toolu_1", name: "tide_table", input: { harbour: "Husum" } },
    ],
    stop_reason: "tool_use",
  },
  {
    content: [
      { type: "thinking", thinking: "14:40 is too late.", signature: "c2lnbmF0dXJlLTI=" },
      { type: "redacted_thinking", data: "aGlkZGVu" },
      { type: "text", text: "Leave at 01:25, before the night tide." },
    ],
    stop_reason: "end_turn",
  },
];

interface SentMessage {
  readonly role: string;
  readonly content: string | readonly { readonly type: string; readonly signature?: string }[];
}
let answered = 0;
const played = await playVendor(({ body }): VendorReply => {
  const blocks = (body["messages"] as readonly SentMessage[])
    .filter(({ role }) => role === "assistant")
    .flatMap(({ content }) => (typeof content === "string" ? [] : content))
    .map(({ type, signature }) =>
      signature === undefined ? type : `${type} (signed ${signature})`,
    );
  console.log(
    `  sent: thinking ${JSON.stringify(body["thinking"])}, effort ${JSON.stringify(body["output_config"])}`,
  );
  console.log(`  sent back: ${blocks.length === 0 ? "nothing" : blocks.join(", ")}`);
  const usage = { input_tokens: 60, output_tokens: 80 };
  return { document: { type: "message", role: "assistant", ...answers[answered++], usage } };
});

const isReal = (process.env["ANTHROPIC_API_KEY"] ?? "") !== "";
const model = anthropic(
  "claude-sonnet-5",
  isReal ? {} : { apiKey: "example", baseURL: played.url },
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
  modelOptions: { reasoning: { effort: "medium", summary: "auto" } },
});

const team = new Ensemble({
  model,
  tasks: [new Task({ name: "departure", description: "When do we leave Husum?", agent: skipper })],
  captureMode: "FULL",
  traceExporter: (trace) => {
    // Traces of the mode FULL contain the text of the reasoning, but never the signed blocks.
    const messages = trace.taskTraces.flatMap(
      ({ llmInteractions }) => llmInteractions.at(-1)?.messages ?? [],
    );
    for (const { reasoning } of messages)
      if (reasoning !== undefined) console.log(`In the trace: ${reasoning}`);
    console.log(`Signed blocks in the trace: ${trace.toJson().includes("c2lnbmF0dXJl")}`);
  },
  on: (event) => {
    if (event.type === "reasoning_received") console.log(`Reasoning: ${event.reasoning}`);
    if (event.type === "tool_called") console.log(`${event.toolName} ${event.toolArguments}`);
  },
});
try {
  const output = await team.run();
  console.log(`Answer: ${output.raw}`);
} finally {
  await team.dispose();
  played.close();
}
