import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { ChaosPlace } from "./chaos-place.js";

/** The step at which a process ends itself, in its first delivery. */
export const CHAOS_STEPS = [
  "taken",
  "before the result",
  "after the result",
  "before the acknowledgement",
  "after the acknowledgement",
] as const;
export type ChaosStep = (typeof CHAOS_STEPS)[number];

export interface ChaosWorkerOptions {
  readonly place: ChaosPlace;
  /** The name of the service and of its queue. */
  readonly ensemble: string;
  /** The file to which all processes append their records. */
  readonly log: string;
  readonly leaseMs: number;
  /** Concurrent requests. */
  readonly slots: number;
  readonly step?: ChaosStep | undefined;
  /** The address of the journal of the runs. Default: no journal. */
  readonly journal?: string | undefined;
}

/** The output of the shared task of the workers. */
export function sumIn(inputs: Readonly<Record<string, unknown>> | undefined): string {
  return `sum ${Number(inputs?.["a"]) + Number(inputs?.["b"])}`;
}

const PROGRAM = fileURLToPath(new URL("./chaos-worker.js", import.meta.url));

/** A service in another process. Its problems are written to standard error. */
export class WorkerProcess {
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown>;

  constructor(o: ChaosWorkerOptions) {
    this.#child = spawn(process.execPath, [PROGRAM, JSON.stringify(o)], {
      stdio: ["ignore", "ignore", "inherit"],
    });
    this.#closed = once(this.#child, "close");
  }

  /** Resolves with the signal that ended the process. */
  async ended(): Promise<NodeJS.Signals | null> {
    await this.#closed;
    return this.#child.signalCode;
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#closed;
  }
}
