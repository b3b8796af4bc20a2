import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
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

  /** A dashboard on a server of the test, and the sockets of its pages. */
  async served(
    parts: DashboardParts,
  ): Promise<{ readonly board: Dashboard; readonly url: string; readonly sockets: Duplex[] }> {
    const board = this.board({ port: false }, parts);
    const sockets: Duplex[] = [];
    const server = createServer(board.handler).on("upgrade", (request, socket, head) => {
      sockets.push(socket);
      board.upgrade(request, socket, head);
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    this.later(async () => void server.close());
    const { port } = server.address() as AddressInfo; // it listens on a port
    return { board, url: `http://127.0.0.1:${port}/`, sockets };
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

  /** Also ends the resources that a test opened. */
  later(end: () => Promise<unknown>): void {
    this.#ends.push(end);
  }

  async end(): Promise<void> {
    for (const end of this.#ends.splice(0).reverse()) await end();
  }
}
