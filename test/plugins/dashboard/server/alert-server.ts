import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AlertOptions } from "../../../../src/plugins/dashboard/alerts.js";
import type { Boards } from "./boards.js";

export const SECRET = "a secret of 16 or more";

export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A server that receives alerts, and answers with one status after the other. */
export class AlertServer {
  readonly received: Received[] = [];
  url = "";
  #wake: () => void = () => undefined;

  static async open(boards: Boards, ...statuses: readonly number[]): Promise<AlertServer> {
    const alerts = new AlertServer();
    const left = [...statuses];
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const text = Buffer.concat(chunks).toString();
        const body = JSON.parse(text) as Received["body"];
        alerts.received.push({ headers: request.headers, text, body });
        response.writeHead(left.shift() ?? 204).end();
        alerts.#wake();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    boards.later(
      () =>
        new Promise((resolve) => {
          server.close(resolve);
          server.closeAllConnections();
        }),
    );
    const address = server.address();
    alerts.url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/hook`;
    return alerts;
  }

  /** The options of an alert to this server. */
  options(more: Partial<AlertOptions> = {}): AlertOptions {
    const { host } = new URL(this.url);
    return { url: this.url, secret: SECRET, allow: { hosts: [host] }, ...more };
  }

  async arrived(count: number): Promise<readonly Received[]> {
    while (this.received.length < count)
      await new Promise<void>((resolve) => (this.#wake = resolve));
    return this.received;
  }
}
