import { createServer } from "node:http";
import { text } from "node:stream/consumers";

/** By path: a page, a document, or a function of the request body. */
export type Pages = Readonly<Record<string, string | ((body: string) => string)>>;

/** A part of the web, simulated by a server on this machine. */
export interface LoopbackWeb {
  readonly origin: string;
  readonly host: string;
  readonly close: () => void;
}

function contentType(content: string): string {
  if (content.startsWith("<")) return "text/html; charset=utf-8";
  return content.startsWith("{") ? "application/json" : "text/plain; charset=utf-8";
}

/** Starts the server. An example then needs no network. */
export async function startWeb(pagesOf: (origin: string) => Pages): Promise<LoopbackWeb> {
  let pages: Pages = {};
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const page = pages[new URL(request.url ?? "", "http://web").pathname];
      const content = typeof page === "function" ? page(body) : page;
      response
        .writeHead(content === undefined ? 404 : 200, {
          "content-type": contentType(content ?? ""),
        })
        .end(content);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const host = `127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
  pages = pagesOf(`http://${host}`);
  return { origin: `http://${host}`, host, close: () => void server.close() };
}
