// Runs that pages of a dashboard show, with the pages in another process.
import { fork } from "node:child_process";
import { once } from "node:events";
import type { HookRun, Plugin } from "agentensemble";
import { Ensemble, Task } from "agentensemble";
import { dashboard, type Dashboard } from "agentensemble/dashboard";
import { spentBy } from "./durable-runs.js";
import { addingModel } from "./models.js";
import { agentTask } from "./team.js";

const PAGES = new URL("../processes/page-clients.js", import.meta.url);
const BATCH = 500;

/** Pages in another process. */
export class Pages {
  readonly #child = fork(PAGES);

  constructor() {
    this.#child.unref();
    this.#child.channel?.unref();
    process.once("exit", () => this.#child.kill());
  }

  open(url: string, pages: number): Promise<void> {
    return this.#order({ url, pages });
  }

  look(runId: string): Promise<void> {
    return this.#order({ runId });
  }

  /** Waits until all pages have the entry with this number. */
  reach(last: number): Promise<void> {
    return this.#order({ last });
  }

  /** Stops the reading of all pages. */
  stopReading(): Promise<void> {
    return this.#order({ isReading: false });
  }

  close(): void {
    this.#child.kill();
  }

  async #order(order: object): Promise<void> {
    const done = once(this.#child, "message");
    this.#child.channel?.ref();
    this.#child.send(order);
    await done;
    this.#child.channel?.unref();
  }
}

interface Numbered {
  readonly n: number;
}

/** Returns the number of the last entry of the newest run. */
async function lastEntry(board: Dashboard): Promise<number> {
  const answer = await fetch(`${board.url ?? ""}api/runs?limit=1`);
  const { runs } = (await answer.json()) as { readonly runs: readonly Numbered[] };
  return runs[0]?.n ?? -1;
}

/**
 * Returns the additional CPU microseconds per task with one page, relative to the same run without
 * a dashboard.
 */
export function pageCost(tasks: number): () => Promise<number> {
  const team = Array.from({ length: tasks }, (_, n) => agentTask(`This is task number ${n}`));
  const board = dashboard({ port: 0 });
  const bare = new Ensemble({ tasks: team, model: addingModel, workflow: "PARALLEL" });
  const shown = new Ensemble({
    tasks: team,
    model: addingModel,
    workflow: "PARALLEL",
    plugins: [board],
  });
  const pages = new Pages();
  let isOpen = false;
  return async () => {
    if (!isOpen) await pages.open(await board.listen(), 1);
    isOpen = true;
    const micros: [number[], number[]] = [[], []];
    for (let i = 0; i < 5; i++) {
      micros[0].push((await spentBy(() => bare.run())).cpuMs * 1_000);
      const { cpuMs } = await spentBy(async () => {
        const run = shown.stream();
        await pages.look(run.id);
        await run.output;
        await pages.reach(await lastEntry(board));
      });
      micros[1].push(cpuMs * 1_000);
    }
    const [without = 0, withPage = 0] = micros.map((all) => all.sort((a, b) => a - b)[2] ?? 0);
    return (withPage - without) / tasks;
  };
}

/**
 * Returns the entries per second that each of several pages receives, and the server's CPU
 * microseconds per entry.
 */
export function pagesRate(
  pageCount: number,
  entries: number,
): () => Promise<{ readonly perSecond: number; readonly micros: number }> {
  const board = dashboard({ port: 0 });
  const pages = new Pages();
  let begun: (run: HookRun) => void = () => undefined;
  const chatty: Plugin = {
    name: "chatty",
    apply: ({ hooks }) => hooks.beforeTask.tap(({ run }) => begun(run)),
  };
  let finish = (): void => undefined;
  const ensemble = new Ensemble({
    tasks: [
      new Task({
        description: "Wait",
        handler: () => new Promise<string>((resolve) => (finish = () => resolve("done"))),
      }),
    ],
    plugins: [board, chatty],
  });
  let isOpen = false;
  return async () => {
    if (!isOpen) await pages.open(await board.listen(), pageCount);
    isOpen = true;
    const running = new Promise<HookRun>((resolve) => (begun = resolve));
    const handle = ensemble.stream();
    const run = await running;
    await pages.look(run.id);
    const { wallMs, cpuMs } = await spentBy(async () => {
      for (let sent = 0; sent < entries; sent += BATCH) {
        for (let i = 0; i < BATCH; i++) run.warn(`Entry ${sent + i} of a run that has many`);
        await new Promise(setImmediate);
      }
      await pages.reach(await lastEntry(board));
    });
    finish();
    await handle.output;
    return { perSecond: (entries / wallMs) * 1_000, micros: (cpuMs * 1_000) / entries };
  };
}

/** Returns the milliseconds until a late page has the state of a run of many tasks as an object. */
export function lateJoin(tasks: number): () => Promise<number> {
  const board = dashboard({ port: 0 });
  const team = Array.from(
    { length: tasks },
    (_, n) => new Task({ name: `task-${n}`, description: `Do ${n}`, handler: () => "done" }),
  );
  const ensemble = new Ensemble({ tasks: team, workflow: "PARALLEL", plugins: [board] });
  let runId: string | undefined;
  return async () => {
    runId ??= (await ensemble.run()).runId;
    const { wallMs } = await spentBy(async () => {
      const answer = await fetch(`${board.url ?? ""}api/runs/${runId}`);
      const { snapshot } = (await answer.json()) as { readonly snapshot: Numbered };
      if (snapshot.n < tasks) throw new Error("The state of the run is not whole");
    });
    return wallMs;
  };
}
