// A vendor with failures: too many requests, a server error, then an exhausted quota. Temporary
// failures are retried. After a permanent failure, the next model is used. Every attempt is in the
// ledger.
// Run it: npm run example -- 14
import { createServer } from "node:http";
import { Ensemble, openai, Task } from "agentensemble";
import { fallback, retry } from "agentensemble/resilience";
import { ScriptedModel } from "agentensemble/testing";

/** The vendor's answers, in order: status, headers, body. */
const badDay: readonly (readonly [number, Readonly<Record<string, string>>, unknown])[] = [
  [429, { "retry-after-ms": "150" }, { error: { message: "Slow down" } }],
  [500, {}, { error: { message: "Our disk is full" } }],
  [
    200,
    {},
    {
      choices: [
        { message: { role: "assistant", content: "Oslo, at last." }, finish_reason: "stop" },
      ],
      usage: { prompt_tokens: 40, completion_tokens: 5 },
    },
  ],
  [429, {}, { error: { code: "insufficient_quota", message: "You exceeded your current quota" } }],
];

// A server on this machine simulates the vendor.
let answered = 0;
const server = createServer((request, response) => {
  const [status, headers, body] = badDay[answered++] ?? [503, {}, {}];
  request
    .resume()
    .on("end", () =>
      response
        .writeHead(status, { "content-type": "application/json", ...headers })
        .end(JSON.stringify(body)),
    );
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const address = server.address();
const port = typeof address === "object" && address !== null ? address.port : 0;

const vendor = openai("gpt-5-mini", {
  apiKey: "sk-example",
  baseURL: `http://127.0.0.1:${port}/v1`,
});
const spare = new ScriptedModel(["Stockholm, says the spare model."], { modelId: "spare" });

const team = new Ensemble({
  model: vendor,
  tasks: [Task.of("What is the capital of Norway?"), Task.of("What is the capital of Sweden?")],
  plugins: [retry({ maxAttempts: 3, baseDelayMs: 100 }), fallback([spare])],
  on: (e) => {
    if (e.type === "retry_scheduled")
      console.log(
        `  attempt ${e.attempt} of ${e.taskId} failed, next in ${e.delayMs} ms: ${e.reason}`,
      );
    if (e.type === "task_completed") console.log(`${e.taskId}: ${e.taskOutput.raw}`);
  },
});

try {
  const { metrics } = await team.run();
  console.log("\nLedger:");
  for (const { taskId, attempt, modelId, outcome } of metrics.ledger)
    console.log(`  ${taskId} attempt ${attempt}: ${modelId} ${outcome}`);
} finally {
  await team.dispose();
  server.close();
}
