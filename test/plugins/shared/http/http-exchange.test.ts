import { once } from "node:events";
import { createServer, request as httpRequest, type IncomingMessage, type Server } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { expect } from "chai";
import {
  BodyTooLargeError,
  bodyText,
  peerOf,
  sendResponse,
  webRequest,
} from "../../../../src/plugins/shared/http/http-exchange.js";

type Handler = Parameters<typeof createServer>[1];

/** A server on loopback that answers by `handler`, for one piece of work. */
async function served<T>(handler: Handler, work: (port: number) => Promise<T>): Promise<T> {
  const server: Server = createServer(handler);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    return await work((server.address() as AddressInfo).port); // of a TCP server
  } finally {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  }
}

/** The fields of a request that `webRequest` reads. */
function incoming(fields: object): IncomingMessage {
  const whole = { method: "GET", url: "/", headers: {}, socket: {}, ...fields };
  return whole as unknown as IncomingMessage; // only these fields are read
}

describe("a request for fetch handlers", () => {
  it("has the complete requested URL", () => {
    const host = { host: "board.example:8080" };
    for (const [fields, address] of [
      [{ url: "/a?b=1", headers: host }, "http://board.example:8080/a?b=1"],
      [{ url: "/a", headers: host, socket: { encrypted: true } }, "https://board.example:8080/a"],
      [
        { url: "/b", originalUrl: "/mounted/b", headers: host },
        "http://board.example:8080/mounted/b",
      ],
      [{ url: "//evil.example/a", headers: host }, "http://board.example:8080/evil.example/a"],
      [{ url: "/a", headers: { host: "x/path" } }, "http://localhost/a"],
      [{ url: "/a", headers: { host: "%%" } }, "http://localhost/a"],
      [{ url: "/a" }, "http://localhost/a"],
      [{ url: "http://proxy.example/a" }, "http://proxy.example/a"],
      [{ url: undefined }, "http://localhost/"],
    ] as const)
      expect(webRequest(incoming(fields)).url).to.equal(address);
    expect(() => webRequest(incoming({ url: "http://[" }))).to.throw(TypeError);
  });

  it("has the headers, each value of repeated headers, and the address of the client", () => {
    const headers = { accept: "text/html", "set-cookie": ["a=1", "b=2"], missing: undefined };
    const socket = { remoteAddress: "127.0.0.9" };
    const request = webRequest(incoming({ headers, socket, method: undefined }));
    expect(request.method).to.equal("GET");
    expect(request.headers.get("accept")).to.equal("text/html");
    expect(request.headers.getSetCookie()).to.deep.equal(["a=1", "b=2"]);
    expect(request.headers.has("missing")).to.equal(false);
    expect(peerOf(request)).to.equal("127.0.0.9");
    expect(peerOf(new Request("http://localhost"))).to.equal(undefined);
  });

  it("has the given body", async () => {
    const request = webRequest(incoming({ method: "POST" }), undefined, "text");
    expect(await request.text()).to.equal("text");
  });

  it("is aborted when the client disconnects, and not when the answer is sent", async () => {
    const ended: boolean[] = [];
    let heard = (): void => undefined;
    const signals = new Promise<void>((resolve) => (heard = resolve));
    const handler: Handler = (request, response) => {
      const { signal } = webRequest(request, response);
      response.once("close", () => {
        ended.push(signal.aborted);
        if (ended.length === 2) heard();
      });
      if (request.url === "/answered") response.end("yes");
      else request.socket.destroy();
    };
    await served(handler, async (port) => {
      await (await fetch(`http://127.0.0.1:${port}/answered`)).text();
      await fetch(`http://127.0.0.1:${port}/cut`).catch(() => undefined);
      await signals;
    });
    expect(ended).to.deep.equal([false, true]);
  });
});

describe("the text of a body", () => {
  /** The result of `bodyText` for a body in these chunks. */
  async function read(
    chunks: readonly string[],
    o: {
      readonly maxBytes: number;
      readonly headers?: Record<string, string>;
      readonly inspect?: () => void;
    },
  ): Promise<unknown> {
    let settle: (value: unknown) => void = () => undefined;
    const result = new Promise((resolve) => (settle = resolve));
    const handler: Handler = (request, response) => {
      bodyText(request, o.maxBytes, o.inspect)
        .then(settle, settle)
        .finally(() => response.end());
    };
    return served(handler, async (port) => {
      const sent = httpRequest({ port, host: "127.0.0.1", method: "POST", headers: o.headers });
      sent.on("error", () => undefined).on("response", (response) => response.resume());
      for (const chunk of chunks) sent.write(chunk);
      sent.end();
      return result;
    });
  }

  it("is read completely, up to its limit", async () => {
    expect(await read(["One ", "dé", "ux"], { maxBytes: 9 })).to.equal("One déux");
    expect(await read([], { maxBytes: 0 })).to.equal("");
  });

  it("is refused by its announced size, and by the size received", async () => {
    const headers = { "content-length": "5" };
    expect(await read(["12345"], { maxBytes: 4, headers })).to.be.instanceOf(BodyTooLargeError);
    expect(await read(["123", "45"], { maxBytes: 4 })).to.be.instanceOf(BodyTooLargeError);
  });

  it("is refused by a function that inspects it", async () => {
    const inspect = (): never => {
      throw new RangeError("no");
    };
    expect(await read(["1"], { maxBytes: 4, inspect })).to.be.instanceOf(RangeError);
  });
});

describe("an answer that is sent", () => {
  it("has its status, its headers with those of the server, every cookie and the body", async () => {
    const handler: Handler = (_request, response) => {
      const headers = new Headers({ "x-own": "1" });
      headers.append("set-cookie", "a=1");
      headers.append("set-cookie", "b=2");
      void sendResponse(new Response("text", { status: 201, headers }), response, {
        "x-more": "2",
      });
    };
    await served(handler, async (port) => {
      const answer = await fetch(`http://127.0.0.1:${port}/`);
      expect([answer.status, await answer.text()]).to.deep.equal([201, "text"]);
      expect([answer.headers.get("x-own"), answer.headers.get("x-more")]).to.deep.equal(["1", "2"]);
      expect(answer.headers.getSetCookie()).to.deep.equal(["a=1", "b=2"]);
    });
  });

  it("may have no body", async () => {
    const handler: Handler = (_request, response) =>
      void sendResponse(new Response(null, { status: 204 }), response, {});
    await served(handler, async (port) => {
      expect((await fetch(`http://127.0.0.1:${port}/`)).status).to.equal(204);
    });
  });

  it("waits for a client that reads slowly", async () => {
    const size = 8 << 20;
    const handler: Handler = (_request, response) =>
      void sendResponse(new Response(Buffer.alloc(size)), response, {});
    await served(handler, async (port) => {
      const answer = await fetch(`http://127.0.0.1:${port}/`);
      expect((await answer.arrayBuffer()).byteLength).to.equal(size);
    });
  });

  it("ends when its client disconnects, and its body is cancelled", async () => {
    let cancelled = (): void => undefined;
    const isCancelled = new Promise<void>((resolve) => (cancelled = resolve));
    const handler: Handler = (_request, response) => {
      const endless = new ReadableStream<Uint8Array>({
        pull: (controller) => controller.enqueue(Buffer.alloc(1 << 16)),
        cancel: () => cancelled(),
      });
      void sendResponse(new Response(endless), response, {});
    };
    await served(handler, async (port) => {
      const socket = connect(port, "127.0.0.1");
      socket.on("error", () => undefined);
      socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
      await once(socket, "data");
      socket.destroy();
      await isCancelled;
    });
  });

  it("is not begun after its client has disconnected", async () => {
    let cancelled = false;
    let done = (): void => undefined;
    const over = new Promise<void>((resolve) => (done = resolve));
    const handler: Handler = (_request, response) => {
      const body = new ReadableStream<Uint8Array>({ cancel: () => void (cancelled = true) });
      response.once("close", () => {
        void sendResponse(new Response(body), response, {}).then(done);
      });
      response.destroy();
    };
    await served(handler, async (port) => {
      await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined);
      await over;
    });
    expect(cancelled).to.equal(true);
  });
});
