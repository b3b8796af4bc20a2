// One dashboard for several processes. This program serves the board and starts two workers. The
// run of each worker waits for a review. The program answers one review and cancels the other run,
// as a person does on the page.
// Run it: npm run example -- 72
import { fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Ensemble, Review, Task } from "agentensemble";
import { dashboard } from "agentensemble/dashboard";

const [, , url, name = ""] = process.argv;
if (url === undefined) await serveBoard();
else await work(url);

/** A worker without a listener. The board shows all its runs. */
async function work(url: string): Promise<void> {
  const reportTo = { url, token: "a secret of the workers", process: name };
  await using board = dashboard({ port: false, reportTo });
  const task = new Task({
    name: "publish",
    description: "Publish the report",
    handler: () => `${name} has published it`,
    review: Review.required("May this be published?"),
  });
  await using team = new Ensemble({ name: "reports", tasks: [task], plugins: [board] });
  const end = await team.run().then(
    ({ raw }) => raw,
    () => `${name} was cancelled`,
  );
  process.send?.(end);
}

async function serveBoard(): Promise<void> {
  await using board = dashboard({
    port: 0,
    users: [
      { name: "anna", role: "operator", token: "a secret of Anna" },
      { name: "workers", role: "reporter", token: "a secret of the workers" },
    ],
  });
  const address = await board.listen();
  const api = async <T>(path: string, body?: object): Promise<T> => {
    const answer = await fetch(`${address}api/${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: "Bearer a secret of Anna", "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return (await answer.json()) as T; // the format of the dashboard protocol
  };

  const program = fileURLToPath(import.meta.url);
  const workers = ["worker-1", "worker-2"].map((worker) => fork(program, [address, worker]));
  const exits = workers.map((worker) => once(worker, "exit"));
  type Reviews = { readonly reviews: readonly { reviewId: string; runId: string }[] };
  let { reviews } = await api<Reviews>("reviews?state=waiting");
  for (; reviews.length < 2; await sleep(50))
    ({ reviews } = await api<Reviews>("reviews?state=waiting"));

  const ofWorker = (worker: string) => reviews.find(({ runId }) => runId.startsWith(`${worker}/`));
  const [first, second] = [ofWorker("worker-1"), ofWorker("worker-2")];
  console.log(`On the board: reviews of ${workers.length} processes`);
  const ends = workers.map(async (worker) => String((await once(worker, "message"))[0]));
  await api(`reviews/${encodeURIComponent(first?.reviewId ?? "")}`, { decision: "approve" });
  await api(`runs/${encodeURIComponent(second?.runId ?? "")}/cancel`, { reason: "Not today" });
  for (const end of await Promise.all(ends)) console.log(end);
  await Promise.all(exits);

  type Runs = { readonly runs: readonly { process: string; state: string }[] };
  const { runs } = await api<Runs>("runs");
  for (const run of runs.toSorted((a, b) => a.process.localeCompare(b.process)))
    console.log(`${run.process}: ${run.state}`);
}
