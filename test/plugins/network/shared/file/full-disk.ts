// Fills its file up to a limit of the system, and continues with smaller data. Prints its
// observations.
import { AgentEnsembleError } from "agentensemble";
import { NetworkBackend } from "agentensemble/network";
import { rejectionOf } from "../../../../support/rejection.js";

const [folder = ""] = process.argv.slice(2);
const backend = NetworkBackend.file(folder);
const { queue, results } = backend;
const request = { v: 1, requestId: "small", from: "a", to: "q", type: "TASK", task: "t" } as const;
await queue.enqueue("q", request);
const lease = await queue.dequeue("q", { timeoutMs: 0, leaseMs: 60_000 });
const large = { v: 1, requestId: "large", status: "COMPLETED", durationMs: 0 } as const;
const error = await rejectionOf(
  AgentEnsembleError,
  results.store("large", { ...large, result: "x".repeat(300_000) }, 3_600_000),
);
const small = { ...large, requestId: "small", result: "x" };
const stored = await results.store("small", small, 3_600_000).catch(() => false);
console.log(
  JSON.stringify({
    code: error.code,
    message: error.message.includes("could not be written")
      ? "could not be written"
      : error.message,
    attempt: lease?.attempt,
    stored,
  }),
);
process.exit(0);
