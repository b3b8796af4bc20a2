import { Agent, Ensemble, Task } from "agentensemble";
import { z } from "zod";
import { model } from "./model.js";

const clerk = new Agent({ role: "Clerk", goal: "Sum up messages of customers for the team" });

/** A service: programs request its tasks over HTTP, requests wait in a queue, results are kept. */
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
