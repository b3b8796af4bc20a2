import { Agent, Ensemble, Task } from "agentensemble";
import { z } from "zod";
import { model } from "./model.js";

const clerk = new Agent({ role: "Clerk", goal: "Sum up messages of customers for the team" });

/**
 * A service. Programs request its tasks over HTTP. Requests wait in a queue, and results are
 * stored.
 */
export default function createService(): Ensemble {
  return new Ensemble({
    name: "desk",
    model,
    shareTasks: {
      summarize: new Task({
        description: "Sum up this message of a customer in one sentence:\n---\n{message}\n---",
        agent: clerk,
      }),
      count: new Task({
        description: "Count the words of {message}",
        outputType: z.object({ words: z.number() }),
        handler: ({ inputs }) => ({ words: String(inputs["message"]).trim().split(/\s+/).length }),
      }),
    },
    maxConcurrentRequests: 4,
    drainTimeoutMs: 30_000,
  });
}
