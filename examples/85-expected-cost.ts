// Estimates time and cost before a key is used. Simulates 1,000 runs of a team under a rate limit,
// in a few seconds and without a model.
// Run it: npm run example -- 85
import { Agent, Ensemble, RateLimit, Task, openai } from "agentensemble";
import { simulate } from "agentensemble/chaos";

const researcher = new Agent({ role: "Researcher", goal: "Find facts" });
const markets = ["Norway", "Spain", "Japan"].map(
  (country) => new Task({ description: `Study the market of ${country}`, agent: researcher }),
);
const report = await simulate({
  team: (plugin) =>
    new Ensemble({
      model: openai("gpt-5-mini"),
      workflow: "PARALLEL",
      rateLimit: RateLimit.of(2, 10_000),
      costConfiguration: { inputTokenRate: 0.25e-6, outputTokenRate: 2e-6 },
      plugins: [plugin],
      tasks: [...markets, new Task({ description: "Compare the markets", context: markets })],
    }),
  runs: 1_000,
  defaults: { outputTokens: 400, msPerOutputToken: 12 },
});

const { durationMs, cost, rateLimitWaitMs, currency } = report;
for (const part of ["p50", "p90", "p99"] as const)
  console.log(
    `${part}: ${(durationMs[part] / 1_000).toFixed(1)} s, ${cost?.[part].toFixed(4)} ${currency}`,
  );
console.log(`waits for the rate limit: ${(rateLimitWaitMs.p50 / 1_000).toFixed(1)} s`);
