// Accepts and executes requests until it is killed. Prints a line for each fact that must remain
// true.
import { NetworkBackend } from "agentensemble/network";

const [folder = "", start = "0"] = process.argv.slice(2);
const backend = NetworkBackend.file(folder, { agingMs: 1_000 });
const { queue, results } = backend;
const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function accept(): Promise<void> {
  for (let n = Number(start); ; n++) {
    const requestId = `r${n}`;
    const request = { v: 1, requestId, from: "a", to: "q", type: "TASK", task: "t" } as const;
    if ((await queue.enqueue("q", request)).status === "ACCEPTED") say(`accepted ${requestId}`);
  }
}

async function work(): Promise<void> {
  for (;;) {
    const lease = await queue.dequeue("q", { timeoutMs: 1_000, leaseMs: 60_000 });
    if (lease === undefined) continue;
    const { requestId } = lease.request;
    const result = `by ${process.pid}`;
    const response = { v: 1, requestId, status: "COMPLETED", result, durationMs: 0 } as const;
    if (await results.store(requestId, response, 3_600_000)) say(`result ${requestId} ${result}`);
    if (await queue.acknowledge(lease)) say(`done ${requestId}`);
  }
}

await Promise.all([accept(), accept(), work(), work()]);
