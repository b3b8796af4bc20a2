import type { Plugin } from "agentensemble";
import { Ensemble, Kernel, Task } from "agentensemble";
import type { DashboardOptions } from "../../../../src/plugins/dashboard/dashboard-options.js";
import {
  createDashboard,
  type Dashboard,
  type DashboardParts,
} from "../../../../src/plugins/dashboard/dashboard.js";

/** Dashboards and kernels of one test, which ends them. */
export class Boards {
  readonly #ends: (() => Promise<unknown>)[] = [];

  /** A dashboard that listens on a free port, and its address. */
  async listening(
    o: DashboardOptions = {},
    parts: DashboardParts = {},
  ): Promise<{ readonly board: Dashboard; readonly url: string }> {
    const board = this.board({ port: 0, ...o }, parts);
    return { board, url: await board.listen() };
  }

  board(o: DashboardOptions = {}, parts: DashboardParts = {}): Dashboard {
    const board = createDashboard(o, parts);
    this.#ends.push(() => board.close());
    return board;
  }

  kernel(...plugins: readonly Plugin[]): Kernel {
    const kernel = new Kernel({ plugins });
    this.#ends.push(() => kernel.dispose());
    return kernel;
  }

  /** An ensemble of one handler. */
  ensemble(kernel: Kernel, handler: () => string | Promise<string> = () => "done"): Ensemble {
    return new Ensemble({
      name: "team",
      kernel,
      tasks: [new Task({ name: "only", description: "Do it", handler })],
    });
  }

  /** Also ends what a test opened itself. */
  later(end: () => Promise<unknown>): void {
    this.#ends.push(end);
  }

  async end(): Promise<void> {
    for (const end of this.#ends.splice(0).reverse()) await end();
  }
}
