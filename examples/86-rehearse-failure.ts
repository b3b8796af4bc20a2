// Rehearses the failures of vendors. A team with retries runs 20 times with injected faults, and no
// guarantee is violated.
// Run it: npm run example -- 86
import { Ensemble, Task } from "agentensemble";
import { rehearse } from "agentensemble/chaos";
import { retry } from "agentensemble/resilience";
import { ScriptedModel } from "agentensemble/testing";

const model = new ScriptedModel(() => ({
  text: "A lighthouse for sale",
  usage: { inputTokens: 40, outputTokens: 5 },
}));

const report = await rehearse({
  team: (plugin) =>
    new Ensemble({
      model,
      plugins: [plugin, retry({ maxAttempts: 5, baseDelayMs: 1 })],
      tasks: [
        new Task({ description: "Write a headline" }),
        new Task({ description: "Write a text" }),
      ],
    }),
  faults: [
    { kind: "vendor error", chance: 0.2, code: "AE_MODEL_RATE_LIMITED" },
    { kind: "cut stream", chance: 0.1 },
    { kind: "wrong JSON", chance: 0.1 },
  ],
  runs: 20,
  maxTokens: 2_000,
});

console.log(`${report.finished} finished, ${report.refused} refused`);
for (const [kind, count] of Object.entries(report.injected)) console.log(`${kind}: ${count}`);
console.log(`violations: ${report.violations.length}`);
