import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createServer } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { SELF_SIGNED } from "./self-signed.js";

/** The reaction of a page of the site to a request; `body` is the request's. */
export type Page = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** A request to a site. */
export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** A web site on 127.0.0.1 (or another loopback address) that records its requests. */
export class LoopbackSite {
  readonly requests: SeenRequest[] = [];
  #connections = 0;
  readonly #server;
  readonly #pages: Readonly<Record<string, Page>>;

  private constructor(pages: Readonly<Record<string, Page>>, isSecure: boolean) {
    this.#pages = pages;
    const listener: RequestListener = (request, response) => void this.#answer(request, response);
    this.#server = isSecure
      ? createSecureServer({ ...SELF_SIGNED }, listener)
      : createServer(listener);
    this.#server.on("connection", () => this.#connections++);
  }

  static async start(
    pages: Readonly<Record<string, Page>>,
    o: { readonly secure?: boolean; readonly address?: string; readonly port?: number } = {},
  ): Promise<LoopbackSite> {
    const site = new LoopbackSite(pages, o.secure === true);
    await new Promise<void>((resolve, reject) => {
      site.#server.once("error", reject);
      site.#server.listen(o.port ?? 0, o.address ?? "127.0.0.1", resolve);
    });
    return site;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port; // it listens on a port, not a pipe
  }

  /** `127.0.0.1:{port}` */
  get host(): string {
    return `127.0.0.1:${this.port}`;
  }

  get connections(): number {
    return this.#connections;
  }

  url(path: string): string {
    return `http://${this.host}${path}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    try {
      for await (const piece of request) pieces.push(piece as Buffer); // no encoding is set
    } catch {
      return; // the client has gone
    }
    const body = Buffer.concat(pieces).toString();
    const { method = "", url = "", headers } = request;
    this.requests.push({ method, url, headers, body });
    const page = this.#pages[new URL(url, "http://site").pathname];
    if (page === undefined)
      response.writeHead(404, { "content-type": "text/plain" }).end("no such page");
    else page(request, response, body);
  }
}

/** A page with this body. */
export function page(
  body: string | Uint8Array,
  contentType = "text/html; charset=utf-8",
  headers: Readonly<Record<string, string>> = {},
): Page {
  return (_request, response) =>
    void response.writeHead(200, { "content-type": contentType, ...headers }).end(body);
}

/** A page that redirects. */
export function redirect(status: number, location: string | (() => string)): Page {
  return (_request, response) =>
    void response
      .writeHead(status, { location: typeof location === "string" ? location : location() })
      .end();
}
