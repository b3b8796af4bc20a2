import { once } from "node:events";
import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { gunzipSync } from "node:zlib";
import { WebSocket } from "ws";
import type { ClientOptions } from "ws";

/** A received answer. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** The options of a request. Headers are sent unchanged; without `host` that of the URL. */
export interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Sends one request on a new connection, without any header that a browser or fetch would add. */
export function ask(url: string, path: string, o: Asked = {}): Promise<Answer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      { host: hostname, port, path, method: o.method ?? "GET", headers: o.headers, agent: false },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () => {
          const bytes = Buffer.concat(chunks);
          const isPacked = response.headers["content-encoding"] === "gzip";
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: (isPacked ? gunzipSync(bytes) : bytes).toString(),
          });
        });
      },
    );
    sent.on("error", reject).end(o.body);
  });
}

/** Asks, and reads the JSON of the answer. */
export async function askJson<T>(url: string, path: string, o: Asked = {}): Promise<T> {
  return JSON.parse((await ask(url, path, o)).text) as T; // the caller names its form
}

/** The headers of a request of the board's own page, with JSON in it. */
export function fromPage(url: string): Readonly<Record<string, string>> {
  return { "content-type": "application/json", origin: new URL(url).origin };
}

/** A received frame. */
export interface Frame {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** A socket that records the received frames. */
export class SocketClient {
  readonly frames: Frame[] = [];
  readonly socket: WebSocket;
  closed: { readonly code: number; readonly reason: string } | undefined;
  #changed: () => void = () => undefined;

  /** `protocols` empty: like the Java viewer. */
  constructor(
    url: string,
    protocols: readonly string[] = ["agentensemble.v1"],
    o: ClientOptions = {},
  ) {
    this.socket = new WebSocket(
      `${url.replace(/^http/, "ws").replace(/#.*$/, "")}ws`,
      [...protocols],
      {
        origin: new URL(url).origin,
        ...o,
      },
    );
    this.socket.on("message", (data) => {
      this.frames.push(JSON.parse((data as Buffer).toString()) as Frame); // a frame of ours
      this.#changed();
    });
    this.socket.on("close", (code, reason) => {
      this.closed = { code, reason: String(reason) };
      this.#changed();
    });
    this.socket.on("error", () => this.#changed());
  }

  /** Waits for the first matching frame. */
  async frame(fits: string | ((frame: Frame) => boolean)): Promise<Frame> {
    const test = typeof fits === "string" ? ({ type }: Frame) => type === fits : fits;
    for (;;) {
      const found = this.frames.find(test);
      if (found !== undefined) return found;
      if (this.closed !== undefined)
        throw new Error(`closed with ${this.closed.code} before the frame came`);
      await new Promise<void>((resolve) => (this.#changed = resolve));
    }
  }

  /** Waits until the socket is closed, and returns the code. */
  async code(): Promise<number> {
    while (this.closed === undefined)
      await new Promise<void>((resolve) => (this.#changed = resolve));
    return this.closed.code;
  }

  send(frame: object): void {
    this.socket.send(JSON.stringify(frame));
  }

  async close(): Promise<void> {
    if (this.socket.readyState === WebSocket.CLOSED) return;
    this.socket.terminate();
    await once(this.socket, "close").catch(() => undefined);
  }
}

/** The status with which the server refuses to open a socket; 101 if it opens one. */
export async function upgradeStatus(
  url: string,
  protocols: readonly string[],
  o: ClientOptions,
): Promise<number> {
  const socket = new WebSocket(
    `${url.replace(/^http/, "ws").replace(/#.*$/, "")}ws`,
    [...protocols],
    o,
  );
  const status = await new Promise<number>((resolve) => {
    socket.on("open", () => resolve(101));
    socket.on("unexpected-response", (_request, response) => resolve(response.statusCode ?? 0));
    socket.on("error", () => undefined);
  });
  socket.on("error", () => undefined);
  socket.terminate();
  return status;
}
