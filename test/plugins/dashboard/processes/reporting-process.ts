import { writeSync } from "node:fs";
import { Ensemble, Kernel, Review, Task } from "../../../../src/index.js";
import { createDashboard } from "../../../../src/plugins/dashboard/dashboard.js";

// A program that reports to the board at the URL of its first argument, under the name of the
// second. It prints the ends of its runs, and ends with them. Its run `job` waits for an answer,
// its run `long` until it is cancelled.

const [url = "", name = ""] = process.argv.slice(2);
const reportTo = { url, token: "token of the worker", process: name };
const limits = { reconnectMs: 50, maxReconnectMs: 100, heartbeatMs: 100 };
const board = createDashboard({ port: false, reportTo }, { limits });
const kernel = new Kernel({ plugins: [board] });
const say = (line: string): number => writeSync(1, `${line}\n`);

function ensemble(task: Task): Ensemble {
  return new Ensemble({ name: "team", kernel, tasks: [task] });
}

async function job(): Promise<void> {
  const review = Review.required(`May ${name} go on?`);
  const task = new Task({ description: "Do it", handler: () => `job of ${name}`, review });
  say((await ensemble(task).run({}, { runId: "job" })).raw);
}

async function long(): Promise<void> {
  const task = new Task({
    description: "Wait",
    handler: ({ signal }) =>
      new Promise<string>((_, reject) => {
        const work = setInterval(() => undefined, 1_000);
        signal.addEventListener("abort", () => {
          clearInterval(work);
          reject(signal.reason as Error);
        });
      }),
  });
  await ensemble(task)
    .run({}, { runId: "long" })
    .catch((error: unknown) => say(`long of ${name}: ${String(error)}`));
}

await Promise.all([job(), long()]);
