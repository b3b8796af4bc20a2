import type { Worker } from "node:cluster";
import type { OutputTerminal } from "./terminal.js";
import cluster from "node:cluster";
import { constants } from "node:os";
import { backoffMs, clockPause } from "../util/abort/pauses.js";
import { asFields, asList } from "../util/objects.js";
import { ExitCode } from "./exit-codes.js";

/** Delays in ms before a process that ended before it was ready is replaced. */
const AGAIN = { firstMs: 500, mostMs: 30_000 };

/** The message that ends a process of `serve --workers`. */
const STOP = "agentensemble:stop";

/** The report of a process of `serve --workers` when its services are ready. */
export interface ReadyServices {
  readonly ready: readonly unknown[];
}

/** The processes of `agentensemble serve --workers`. They share the listeners. */
export class ServeWorkers {
  readonly #count: number;
  readonly #terminal: OutputTerminal;
  readonly #stopping = new AbortController();
  /** The exit code of a process that ended while the command stopped. */
  #code: number = ExitCode.OK;

  constructor(count: number, terminal: OutputTerminal) {
    this.#count = count;
    this.#terminal = terminal;
  }

  /**
   * Starts the processes, and returns when all have ended. `show` receives the services of the
   * first process when all processes are ready.
   */
  async run(show: (services: readonly unknown[]) => Promise<void>): Promise<number> {
    const leave = this.#stopOnSignals();
    try {
      const first = this.#kept();
      const services = await first.ready; // first alone: a problem of the file is printed once
      if (services === undefined) return await first.ended;
      const others = Array.from({ length: this.#count - 1 }, () => this.#kept(true));
      const starts = await Promise.all(others.map(({ ready }) => ready));
      if (!this.#stopping.signal.aborted && !starts.includes(undefined)) await show(services);
      await Promise.all([first, ...others].map(({ ended }) => ended));
      return this.#code;
    } finally {
      leave();
    }
  }

  /**
   * Keeps one process running. `ready` resolves with the services of the first process that is
   * ready. If no process can be ready, `ready` resolves with `undefined`. `isUsable`: whether the
   * file has already been ready in another process.
   */
  #kept(isUsable = false): {
    readonly ready: Promise<readonly unknown[] | undefined>;
    readonly ended: Promise<number>;
  } {
    let isReady: (services: readonly unknown[] | undefined) => void = () => undefined;
    const ready = new Promise<readonly unknown[] | undefined>((resolve) => (isReady = resolve));
    const ended = this.#fill(isReady, isUsable).finally(() => isReady(undefined));
    return { ready, ended };
  }

  /**
   * Resolves when the command stops and the process has ended. If the file was never ready,
   * resolves with the exit code of the process.
   */
  async #fill(isReady: (services: readonly unknown[]) => void, isUsable: boolean): Promise<number> {
    const { signal } = this.#stopping;
    let wasEverReady = isUsable;
    for (let failures = 0; ;) {
      const { services, code, how } = await this.#process(isReady);
      wasEverReady ||= services;
      if (signal.aborted || !wasEverReady) {
        this.#code ||= code;
        return code;
      }
      failures = services ? 0 : failures + 1;
      await this.#terminal.message(`${how}: another one starts`);
      if (failures > 0) await clockPause({}, backoffMs(failures, AGAIN), signal);
      if (signal.aborted) return ExitCode.OK;
    }
  }

  #process(
    isReady: (services: readonly unknown[]) => void,
  ): Promise<{ readonly services: boolean; readonly code: number; readonly how: string }> {
    const worker = cluster.fork();
    let services = false;
    worker.on("message", (message: unknown) => {
      const ready = asFields(message)?.["ready"];
      if (ready === undefined) return;
      services = true;
      isReady(asList(ready));
      // The first signal may have come too early.
      if (this.#stopping.signal.aborted) worker.send(STOP);
    });
    return new Promise((resolve) => {
      worker.once("exit", (status: number | null, ending: NodeJS.Signals | null) => {
        const code = status ?? 128 + constants.signals[ending ?? "SIGKILL"];
        const how = `process ${String(worker.process.pid)} ended (${ending ?? `exit code ${code}`})`;
        resolve({ services, code, how });
      });
    });
  }

  /** At the first signal, all processes may finish their work. The second signal ends them. */
  #stopOnSignals(): () => void {
    const onSignal = (signal: NodeJS.Signals): void => {
      if (this.#stopping.signal.aborted) {
        for (const worker of workersNow()) worker.process.kill("SIGKILL");
        process.exit(128 + constants.signals[signal]);
      }
      this.#stopping.abort();
      for (const worker of workersNow()) if (worker.isConnected()) worker.send(STOP);
    };
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, onSignal);
    return () => {
      for (const signal of ["SIGTERM", "SIGINT"] as const) process.off(signal, onSignal);
    };
  }
}

function workersNow(): readonly Worker[] {
  return Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
}

/** Calls `stop` when the parent process requests the end of this process and waits for it. */
export function onStopRequest(stop: () => void): void {
  process.on("message", (message) => {
    if (message === STOP) stop();
  });
}
