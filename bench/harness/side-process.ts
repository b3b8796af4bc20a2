import type { ChildProcess } from "node:child_process";
import { fork } from "node:child_process";
import { once } from "node:events";
import type { Scenario, SideName } from "./scenario.js";

const SCRIPT = new URL("../side.js", import.meta.url);

/**
 * A message of a side's process: without values if it is ready, else with the values of one round.
 */
export interface SideMessage {
  readonly values: readonly number[];
}

/**
 * One side of a scenario, in a separate process. The heap, the compiled code and the promise hooks
 * of one side must not slow down another side.
 */
export class SideProcess {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** Starts the process and waits until it is warm. */
  static async start(
    scenario: Scenario,
    side: SideName,
    environment: Readonly<Record<string, string>> = {},
  ): Promise<SideProcess> {
    const started = new SideProcess(
      fork(SCRIPT, [scenario.id, side], { env: { ...process.env, ...environment } }),
    );
    await started.#answer();
    return started;
  }

  async round(): Promise<readonly number[]> {
    this.#child.send("round");
    return this.#answer();
  }

  async stop(): Promise<void> {
    const ended = once(this.#child, "exit");
    this.#child.disconnect();
    await ended;
  }

  /** @throws Error if the process ends without an answer. The process has printed the reason. */
  async #answer(): Promise<readonly number[]> {
    const controller = new AbortController();
    const ended = once(this.#child, "exit", controller).then(([code]: unknown[]): never => {
      throw new Error(`A side ended with exit code ${String(code)} instead of answering`);
    });
    ended.catch(() => undefined); // reported by the race, or ignored
    try {
      const [message] = (await Promise.race([once(this.#child, "message", controller), ended])) as [
        SideMessage,
      ]; // from side.ts
      return message.values;
    } finally {
      controller.abort();
    }
  }
}
