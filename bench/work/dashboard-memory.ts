// The memory of the process of a dashboard, with its pages in another process.
import { createServer } from "node:http";
import type { Duplex } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import type { AddressInfo } from "node:net";
import type { HookRun } from "agentensemble";
import { Ensemble, Task } from "agentensemble";
import { dashboard } from "agentensemble/dashboard";
import { collectGarbage } from "../harness/measure.js";
import { Pages } from "./dashboard-pages.js";
import { addingModel } from "./models.js";
import { agentTask } from "./team.js";

const KB = 1_000;
const MIB = 1024 * 1024;

async function heap(): Promise<number> {
  for (let i = 0; i < 3; i++) {
    collectGarbage();
    await pause(20);
  }
  return process.memoryUsage().heapUsed;
}

/** Returns the kB of heap for a connected page that shows no run. */
export async function idlePage(pageCount: number): Promise<number> {
  await using board = dashboard({ port: 0 });
  const url = await board.listen();
  const [first, others] = [new Pages(), new Pages()];
  await first.open(url, pageCount); // V8 compiles the code
  await first.open(url, 3);
  const before = await heap();
  await others.open(url, pageCount);
  const kilobytes = ((await heap()) - before) / pageCount / KB;
  for (const pages of [first, others]) pages.close();
  return kilobytes;
}

/** Returns the kB of heap that the dashboard keeps for a task of an ended run. */
export async function keptTask(tasks: number, runs: number, isAgent: boolean): Promise<number> {
  await using board = dashboard({ port: 0 });
  const team = Array.from({ length: tasks }, (_, n) =>
    isAgent
      ? agentTask(`This is task number ${n}`)
      : new Task({ name: `task-${n}`, description: `Do ${n}`, handler: () => `done ${n}` }),
  );
  const workflow = "PARALLEL";
  const shown = new Ensemble({ tasks: team, model: addingModel, workflow, plugins: [board] });
  for (let i = 0; i < 3; i++) await shown.run();
  const before = await heap();
  for (let i = 0; i < runs; i++) await shown.run();
  return ((await heap()) - before) / tasks / runs / KB;
}

/** Returns the maximum MiB in the socket of a page that does not read, while a run adds entries. */
export async function slowPage(entries: number): Promise<number> {
  await using board = dashboard({ port: false });
  const server = createServer(board.handler);
  let socket: Duplex | undefined;
  server.on("upgrade", (request, opened, head) => {
    socket = opened;
    board.upgrade(request, opened, head);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // it listens on a port
  let begun: (run: HookRun) => void = () => undefined;
  const running = new Promise<HookRun>((resolve) => (begun = resolve));
  let finish = (): void => undefined;
  const held = new Promise<string>((resolve) => (finish = () => resolve("done")));
  const handle = new Ensemble({
    tasks: [new Task({ description: "Wait", handler: () => held })],
    plugins: [
      board,
      { name: "begun", apply: ({ hooks }) => hooks.beforeTask.tap((c) => begun(c.run)) },
    ],
  }).stream();
  const run = await running;
  const pages = new Pages();
  await pages.open(`http://127.0.0.1:${port}/`, 1);
  await pages.look(run.id);
  await pages.stopReading();
  let most = 0;
  for (let sent = 0; sent < entries; sent++) {
    run.warn(`Entry ${sent} of a run that has many ${"x".repeat(140)}`);
    if (sent % 200 > 0) continue;
    await pause(1);
    most = Math.max(most, socket?.writableLength ?? 0);
  }
  finish();
  await handle.output;
  pages.close();
  server.close();
  server.closeAllConnections();
  return most / MIB;
}
