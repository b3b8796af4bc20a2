// The process of a large map-reduce whose map tasks other processes execute immediately. Argument:
// the JSON of `CoordinatorOptions`. Prints its memory and time.
import { durable } from "agentensemble/durability";
import { ScriptedModel } from "agentensemble/testing";
import { openSqlJournal } from "../../../../src/plugins/durability/shared/sql/sql-journal.js";
import type { TaskSpreader } from "../../../../src/plugins/durability/shared/task-spreader.js";
import { TASK_SPREADER } from "../../../../src/plugins/durability/shared/task-spreader.js";
import { digest } from "./digest.js";

export interface CoordinatorOptions {
  readonly url: string;
  readonly schema: string;
  readonly items: number;
  readonly window: number;
}

const KIB_PER_MIB = 1_024;
const { url, schema, items, window } = JSON.parse(process.argv[2] ?? "") as CoordinatorOptions; // written by the test
const usage = { inputTokens: 345, outputTokens: 7 };
const spreader: TaskSpreader = {
  take({ task, taskId }) {
    if (task.context.length > 0) return undefined;
    const message = { role: "assistant", content: "" } as const;
    const response = { message, finishReason: "stop", usage: { ...usage } } as const;
    const call = { provider: "p", modelId: "m", purpose: "map", iteration: 1, response } as const;
    return Promise.resolve({ raw: `Answer of ${taskId}`, toolCallCount: 0, calls: [call] });
  },
};
const journal = openSqlJournal({ url, schema });
await using ensemble = digest(
  "http://127.0.0.1:9/v1",
  { items, unit: 50, units: 8, window },
  {
    model: new ScriptedModel(() => ({ text: "merged", usage })),
    plugins: [durable({ journal })],
  },
);
const { taskOutputs } = await ensemble.run(
  {},
  {
    runId: "all",
    bindings: (bind) => void bind.single(TASK_SPREADER).toConstantValue(spreader),
  },
);
await journal.close();
const mostMiB = Math.round(process.resourceUsage().maxRSS / KIB_PER_MIB);
process.stdout.write(JSON.stringify({ tasks: taskOutputs.length, mostMiB }));
