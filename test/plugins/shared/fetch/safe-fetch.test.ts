import { expect } from "chai";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import type { SafeFetchOptions } from "../../../../src/plugins/shared/fetch/safe-fetch-options.js";
import { ValidationError } from "../../../../src/contracts/errors.js";
import { AccessDeniedError, FetchError } from "../../../../src/contracts/state-errors.js";
import type { SafeRequestInit } from "../../../../src/plugins/shared/fetch/safe-fetch.js";
import { safeFetch } from "../../../../src/plugins/shared/fetch/safe-fetch.js";
import { LoopbackSite, page, redirect } from "../../../support/loopback-site.js";
import { rejection, rejectionOf } from "../../../support/rejection.js";
import { SELF_SIGNED } from "../../../support/self-signed.js";
import { until } from "../../../support/time.js";
import { setEnvironment } from "../../../support/environment.js";

const TEXT = "What is said here. ".repeat(50);

describe("safeFetch", () => {
  let site: LoopbackSite;
  let other: LoopbackSite;
  let secure: LoopbackSite;

  before(async () => {
    other = await LoopbackSite.start({ "/landing": page("landed"), "/plain": page("plain") });
    secure = await LoopbackSite.start(
      { "/down": redirect(302, () => site.url("/")), "/": page("over TLS") },
      { secure: true },
    );
    site = await LoopbackSite.start({
      "/": page("hello"),
      "/json": page('{"a":1}', "application/json"),
      "/type": page("x", "image/png"),
      "/feed": page("<x/>", "application/atom+xml"),
      "/no-type": (_request, response) => void response.writeHead(200).end("x"),
      "/gzip": page(gzipSync(TEXT), "text/plain", { "content-encoding": "gzip" }),
      "/deflate": page(deflateSync(TEXT), "text/plain", { "content-encoding": "deflate" }),
      "/raw-deflate": page(deflateRawSync(TEXT), "text/plain", { "content-encoding": "deflate" }),
      "/br": page(brotliCompressSync(TEXT), "text/plain", { "content-encoding": "br" }),
      "/twice": page(gzipSync(gzipSync(TEXT)), "text/plain", { "content-encoding": "gzip, gzip" }),
      "/zstd": page("x", "text/plain", { "content-encoding": "zstd" }),
      "/broken-gzip": page(gzipSync(TEXT).subarray(0, 30), "text/plain", {
        "content-encoding": "gzip",
      }),
      "/not-gzip": page("this is no gzip", "text/plain", { "content-encoding": "gzip" }),
      "/bomb": page(gzipSync(Buffer.alloc(50_000_000)), "text/plain", {
        "content-encoding": "gzip",
      }),
      "/br-bomb": page(brotliCompressSync(Buffer.alloc(50_000_000)), "text/plain", {
        "content-encoding": "br",
      }),
      "/deflate-bomb": page(deflateSync(Buffer.alloc(50_000_000)), "text/plain", {
        "content-encoding": "deflate",
      }),
      "/big": page("x".repeat(100_000), "text/plain"),
      "/big-chunked": (_request, response) => {
        response.writeHead(200, { "content-type": "text/plain" });
        for (let i = 0; i < 100; i++) response.write("x".repeat(1_000));
        response.end();
      },
      "/endless": (_request, response) => {
        response.writeHead(200, { "content-type": "text/plain" });
        const pour = (): void =>
          void response.write("x".repeat(10_000), (error) => error ?? setImmediate(pour));
        pour();
      },
      "/silent": () => undefined,
      "/stalls": (_request, response) =>
        void response.writeHead(200, { "content-type": "text/plain" }).write("half"),
      "/drips": (_request, response) => {
        response.writeHead(200, { "content-type": "text/plain" });
        const timer = setInterval(() => response.write("."), 20);
        response.on("close", () => clearInterval(timer));
      },
      "/short": (_request, response) => {
        response.writeHead(200, { "content-type": "text/plain", "content-length": "100" });
        response.write("half", () => response.destroy());
      },
      "/reset": (request) => void request.socket.destroy(),
      "/big-head": (_request, response) =>
        void response.writeHead(200, { "x-large": "x".repeat(40_000) }).end("x"),
      "/upgrade": (request) =>
        void request.socket.end(
          "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n",
        ),
      "/nonsense": (request) => void request.socket.end("SSH-2.0-OpenSSH_9.6\r\n"),
      "/latin": page(Buffer.from("caf\xe9", "latin1"), "text/html; charset=ISO-8859-1"),
      "/meta": page(Buffer.from('<meta charset="windows-1252"><p>caf\xe9', "latin1"), "text/html"),
      "/bom": page(Buffer.from("\ufeffcafé", "utf16le"), "text/html"),
      "/odd-charset": page("café", "text/html; charset=klingon"),
      "/empty": (_request, response) => void response.writeHead(204).end(),
      "/error": (_request, response) =>
        void response.writeHead(500, { "content-type": "image/png" }).end("broken"),
      "/loop": redirect(302, "/loop"),
      "/chain": (request, response) => {
        const n = Number(new URL(request.url ?? "", "http://x").searchParams.get("n"));
        response.writeHead(302, { location: n === 0 ? "/" : `/chain?n=${n - 1}` }).end();
      },
      "/away": redirect(302, () => other.url("/landing")),
      "/away-307": redirect(307, () => other.url("/landing")),
      "/metadata": redirect(302, "http://127.0.0.3/latest/meta-data/"),
      "/to-file": redirect(302, "file:///etc/passwd"),
      "/to-user": redirect(302, "http://user:pass@127.0.0.1/"),
      "/to-spelled": redirect(301, "http://0x7f.1/"),
      "/to-mapped": redirect(308, "http://[::ffff:127.0.0.3]/"),
      "/to-port": redirect(302, "http://127.0.0.1:6379/"),
      "/to-nothing": redirect(302, "http://"),
      "/no-location": (_request, response) =>
        void response.writeHead(302, { "content-type": "text/plain" }).end("moved, but where?"),
      ...Object.fromEntries(
        [301, 302, 303, 307, 308].map((status) => [`/r${status}`, redirect(status, "/echo")]),
      ),
      "/echo": (request, response, body) =>
        void response
          .writeHead(200, { "content-type": "text/plain" })
          .end(`${request.method} ${body}`),
    });
  });

  after(async () => {
    await Promise.all([site.close(), other.close(), secure.close()]);
  });

  beforeEach(() => {
    site.requests.length = 0;
    other.requests.length = 0;
  });

  const trusting = (o: SafeFetchOptions = {}): ReturnType<typeof safeFetch> =>
    safeFetch({ allow: { hosts: [site.host, other.host] }, ...o });
  const failure = async (path: string, o: SafeFetchOptions = {}): Promise<string> =>
    (await rejectionOf(FetchError, trusting(o)(site.url(path)))).reason;

  describe("without anything allowed", () => {
    it("refuses this machine, and opens no connection", async () => {
      const before = site.connections;
      for (const url of [
        site.url("/"),
        `http://localhost:${site.port}/`,
        `http://[::ffff:127.0.0.1]:${site.port}/`,
      ]) {
        await rejectionOf(AccessDeniedError, safeFetch({ ports: [site.port] })(url));
      }
      expect(site.connections).to.equal(before);
    });

    it("refuses names that resolve to this machine", async () => {
      const fetchPage = safeFetch({ ports: [site.port], lookup: () => ["127.0.0.1"] });
      const error = await rejectionOf(
        AccessDeniedError,
        fetchPage(`http://public.example:${site.port}/`),
      );
      expect(error.message).to.include("loopback").and.not.include("127.0.0.1");
    });
  });

  describe("allow", () => {
    it("permits hosts with their port, and no other port", async () => {
      expect((await trusting()(site.url("/"))).text()).to.equal("hello");
      await rejectionOf(
        AccessDeniedError,
        safeFetch({ allow: { hosts: [`127.0.0.1:${other.port}`] } })(site.url("/")),
      );
      await rejectionOf(
        AccessDeniedError,
        safeFetch({ allow: { hosts: ["127.0.0.1"] } })(site.url("/")),
      );
      expect(
        (await safeFetch({ allow: { hosts: ["127.0.0.1"] }, ports: [site.port] })(site.url("/")))
          .status,
      ).to.equal(200);
    });

    it("permits networks, by number and by name", async () => {
      const fetchPage = safeFetch({
        allow: { addresses: ["127.0.0.0/8"] },
        ports: [site.port],
        lookup: () => ["127.0.0.1"],
      });
      expect((await fetchPage(site.url("/"))).status).to.equal(200);
      expect((await fetchPage(`http://localhost:${site.port}/`)).status).to.equal(200);
      await rejectionOf(
        AccessDeniedError,
        safeFetch({ allow: { addresses: ["127.0.0.2"] }, ports: [site.port] })(site.url("/")),
      );
    });

    it("permits the subdomains of a name", async () => {
      const lookup = (): readonly string[] => ["127.0.0.1"];
      const fetchPage = safeFetch({
        allow: { hosts: ["*.corp.example"] },
        ports: [site.port],
        lookup,
      });
      expect((await fetchPage(`http://wiki.corp.example:${site.port}/`)).status).to.equal(200);
      for (const host of ["corp.example", "evilcorp.example", "wiki.corp.example.com"])
        await rejectionOf(AccessDeniedError, fetchPage(`http://${host}:${site.port}/`));
    });

    it("permits nothing outside onlyHosts or within denyHosts", async () => {
      await rejectionOf(AccessDeniedError, trusting({ onlyHosts: ["example.com"] })(site.url("/")));
      await rejectionOf(AccessDeniedError, trusting({ denyHosts: ["127.0.0.1"] })(site.url("/")));
      expect(
        (await trusting({ onlyHosts: ["127.0.0.1"], denyHosts: ["example.com"] })(site.url("/")))
          .status,
      ).to.equal(200);
    });
  });

  describe("names", () => {
    it("are resolved by the system, and any of their addresses is sufficient", async () => {
      expect(
        (
          await safeFetch({ allow: { hosts: [`localhost:${site.port}`] } })(
            `http://localhost.:${site.port}/`,
          )
        ).text(),
      ).to.equal("hello");
    });

    it("are resolved once, and only checked addresses are connected to", async () => {
      const twin = await LoopbackSite.start(
        { "/": page("twin") },
        { address: "127.0.0.2", port: site.port },
      );
      const answers = [["127.0.0.1"], ["127.0.0.2"]];
      let asked = 0;
      const fetchPage = safeFetch({
        allow: { addresses: ["127.0.0.1"] },
        ports: [site.port],
        lookup: () => answers[asked++] ?? [],
      });
      try {
        expect((await fetchPage(`http://rebinding.example:${site.port}/`)).text()).to.equal(
          "hello",
        );
        expect(asked).to.equal(1);
        expect(site.requests[0]?.headers.host).to.equal(`rebinding.example:${site.port}`);
        await rejectionOf(AccessDeniedError, fetchPage(`http://rebinding.example:${site.port}/`));
        expect(twin.connections).to.equal(0);
      } finally {
        await twin.close();
      }
    });

    it("are checked again at each redirect", async () => {
      let asked = 0;
      const fetchPage = safeFetch({
        allow: { addresses: ["127.0.0.1"] },
        ports: [site.port],
        lookup: () => (asked++ === 0 ? ["127.0.0.1"] : ["127.0.0.3"]),
      });
      await rejectionOf(AccessDeniedError, fetchPage(`http://rebinding.example:${site.port}/r302`));
      expect([asked, site.requests.length]).to.deep.equal([2, 1]);
    });

    it("that are not found, or whose resolver fails, count as a failed connection", async () => {
      for (const lookup of [
        (): readonly string[] => [],
        (): never => {
          throw new Error("SERVFAIL");
        },
      ]) {
        const error = await rejectionOf(
          FetchError,
          safeFetch({ lookup })("http://missing.example/"),
        );
        expect(error.reason).to.equal("connection");
      }
    });

    it("are resolved within the time limit and the caller's signal", async () => {
      const never = (): Promise<readonly string[]> => new Promise(() => undefined);
      expect(
        (
          await rejectionOf(
            FetchError,
            safeFetch({ lookup: never, timeoutMs: 30 })("http://slow.example/"),
          )
        ).reason,
      ).to.equal("timeout");
      const controller = new AbortController();
      const reason = new Error("enough");
      setTimeout(() => controller.abort(reason), 10);
      expect(
        await rejection(
          safeFetch({ lookup: never })("http://slow.example/", { signal: controller.signal }),
        ),
      ).to.equal(reason);
    });
  });

  describe("redirects", () => {
    for (const path of [
      "/metadata",
      "/to-file",
      "/to-user",
      "/to-spelled",
      "/to-mapped",
      "/to-port",
    ]) {
      it(`are refused: ${path}`, async () => {
        await rejectionOf(AccessDeniedError, trusting()(site.url(path)));
        expect(site.requests).to.have.length(1);
      });
    }

    it("are followed up to maxRedirects, five by default", async () => {
      expect((await trusting()(site.url("/chain?n=4"))).text()).to.equal("hello");
      expect(await failure("/chain?n=5")).to.equal("redirect");
      expect(await failure("/loop")).to.equal("redirect");
      expect(await failure("/chain?n=1", { maxRedirects: 1 })).to.equal("redirect");
      expect(await failure("/to-nothing")).to.equal("redirect");
    });

    it("are returned unchanged with redirect: manual, and without a location", async () => {
      const response = await trusting({ redirect: "manual" })(site.url("/away"));
      expect([response.status, response.ok, response.headers.get("location")]).to.deep.equal([
        302,
        false,
        other.url("/landing"),
      ]);
      expect(other.requests).to.have.length(0);
      expect((await trusting()(site.url("/no-location"))).text()).to.equal("moved, but where?");
    });

    const expected: Readonly<Record<string, string>> = {
      r301: "GET ",
      r302: "GET ",
      r303: "GET ",
      r307: "POST data",
      r308: "POST data",
    };
    for (const [path, text] of Object.entries(expected)) {
      it(`turn a POST into ${text} after ${path}`, async () => {
        const response = await trusting()(site.url(`/${path}`), {
          method: "POST",
          body: "data",
          headers: { "content-type": "text/plain" },
        });
        expect(response.text()).to.equal(text);
        expect(response.url).to.equal(site.url("/echo"));
        expect(site.requests[1]?.headers["content-type"]).to.equal(
          text.startsWith("POST") ? "text/plain" : undefined,
        );
      });
    }

    it("keep a PUT after 302, and change it to a GET after 303", async () => {
      expect(
        (await trusting()(site.url("/r302"), { method: "PUT", body: "data" })).text(),
      ).to.equal("PUT data");
      expect(
        (await trusting()(site.url("/r303"), { method: "PUT", body: "data" })).text(),
      ).to.equal("GET ");
    });

    it("send no credentials to another origin", async () => {
      const headers = {
        Authorization: "Bearer secret",
        Cookie: "session=secret",
        "X-Api-Key": "secret",
        "X-Custom": "secret",
        Accept: "text/html",
      };
      const response = await trusting({ headers: { "x-default": "secret" } })(site.url("/away"), {
        headers,
      });
      expect(response.text()).to.equal("landed");
      expect(site.requests[0]?.headers).to.include({
        authorization: "Bearer secret",
        "x-default": "secret",
        cookie: "session=secret",
      });
      expect(JSON.stringify(other.requests)).to.not.include("secret");
      expect(other.requests[0]?.headers.accept).to.equal("text/html");
    });

    it("keep credentials within an origin", async () => {
      await trusting()(site.url("/r302"), { headers: { authorization: "Bearer secret" } });
      expect(site.requests[1]?.headers.authorization).to.equal("Bearer secret");
    });

    it("send no body to another origin", async () => {
      await rejectionOf(
        AccessDeniedError,
        trusting()(site.url("/away-307"), { method: "POST", body: "secret" }),
      );
      expect(other.requests).to.have.length(0);
    });

    it("never lead from https to http", async () => {
      const fetchPage = safeFetch({
        allow: { hosts: [site.host, `localhost:${secure.port}`] },
        lookup: () => ["127.0.0.1"],
        ca: SELF_SIGNED.cert,
      });
      expect((await fetchPage(`https://localhost:${secure.port}/`)).text()).to.equal("over TLS");
      await rejectionOf(AccessDeniedError, fetchPage(`https://localhost:${secure.port}/down`));
      expect(site.requests).to.have.length(0);
    });
  });

  it("checks certificates", async () => {
    const fetchPage = safeFetch({
      allow: { hosts: [`localhost:${secure.port}`] },
      lookup: () => ["127.0.0.1"],
    });
    expect(
      (await rejectionOf(FetchError, fetchPage(`https://localhost:${secure.port}/`))).reason,
    ).to.equal("connection");
  });

  describe("bodies", () => {
    for (const path of ["/gzip", "/deflate", "/raw-deflate", "/br"]) {
      it(`are decompressed: ${path}`, async () =>
        expect((await trusting()(site.url(path))).text()).to.equal(TEXT));
    }

    for (const path of [
      "/twice",
      "/zstd",
      "/broken-gzip",
      "/not-gzip",
      "/nonsense",
      "/upgrade",
      "/big-head",
    ]) {
      it(`are refused as broken answers: ${path}`, async () =>
        expect(await failure(path)).to.equal("bad_response"));
    }

    for (const path of ["/bomb", "/br-bomb", "/deflate-bomb"]) {
      it(`do not expand without limit: ${path}`, async () => {
        expect(await failure(path)).to.equal("bad_response");
        expect(await failure(path, { overflow: "cut", maxBytes: 200_000_000 })).to.equal(
          "bad_response",
        );
        expect(await failure(path, { maxBytes: 500_000 })).to.equal("too_large");
        expect(
          (await trusting({ maxBytes: 500_000, overflow: "cut" })(site.url(path))).bytes.byteLength,
        ).to.equal(500_000);
      });
    }

    for (const path of ["/big", "/big-chunked", "/endless"]) {
      it(`are refused when they are too large, or truncated: ${path}`, async () => {
        expect(await failure(path, { maxBytes: 50_000 })).to.equal("too_large");
        const cut = await trusting({ maxBytes: 50_000, overflow: "cut" })(site.url(path));
        expect([cut.bytes.byteLength, cut.truncated]).to.deep.equal([50_000, true]);
      });
    }

    it("of exactly maxBytes are complete", async () => {
      for (const overflow of ["fail", "cut"] as const) {
        const response = await trusting({ maxBytes: 100_000, overflow })(site.url("/big-chunked"));
        expect([response.bytes.byteLength, response.truncated]).to.deep.equal([100_000, false]);
      }
    });

    for (const path of ["/silent", "/stalls", "/drips"]) {
      it(`are limited in time: ${path}`, async () => {
        const error = await rejectionOf(
          FetchError,
          trusting({ timeoutMs: 80 })(`${site.url(path)}?token=secret`),
        );
        expect(error.reason).to.equal("timeout");
        expect(error.message).to.include(path).and.not.include("secret");
      });

      it(`end with the caller's signal: ${path}`, async () => {
        const controller = new AbortController();
        const reason = new Error("enough");
        setTimeout(() => controller.abort(reason), 30);
        expect(await rejection(trusting()(site.url(path), { signal: controller.signal }))).to.equal(
          reason,
        );
      });
    }

    for (const path of ["/short", "/reset"])
      it(`are failures when they are incomplete: ${path}`, async () =>
        expect(await failure(path)).to.equal("connection"));

    it("are absent after HEAD and 204", async () => {
      expect(
        (await trusting({ maxBytes: 10 })(site.url("/big"), { method: "HEAD" })).bytes.byteLength,
      ).to.equal(0);
      expect((await trusting()(site.url("/empty"))).bytes.byteLength).to.equal(0);
    });
  });

  describe("texts", () => {
    for (const [path, text] of [
      ["/latin", "café"],
      ["/meta", '<meta charset="windows-1252"><p>café'],
      ["/bom", "café"],
      ["/odd-charset", "café"],
    ] as const) {
      it(`are decoded: ${path}`, async () =>
        expect((await trusting()(site.url(path))).text()).to.equal(text));
    }

    it("may be JSON", async () => {
      expect((await trusting()(site.url("/json"))).json()).to.deep.equal({ a: 1 });
      const response = await trusting()(`${site.url("/")}?key=secret`);
      expect(() => response.json())
        .to.throw(FetchError)
        .with.property("message")
        .that.does.not.include("secret");
    });
  });

  describe("content types", () => {
    it("are limited to the requested ones", async () => {
      expect(await failure("/type", { contentTypes: ["text/*"] })).to.equal("content_type");
      expect(await failure("/no-type", { contentTypes: ["text/*"] })).to.equal("content_type");
      expect(await failure("/json", { contentTypes: ["application/*+json"] })).to.equal(
        "content_type",
      );
      expect(
        (await trusting({ contentTypes: ["application/*+xml"] })(site.url("/feed"))).contentType,
      ).to.equal("application/atom+xml");
      expect((await trusting({ contentTypes: ["*/*"] })(site.url("/type"))).contentType).to.equal(
        "image/png",
      );
    });

    it("do not apply to errors, which are also answers", async () => {
      const response = await trusting({ contentTypes: ["text/*"] })(site.url("/error"));
      expect([response.status, response.ok, response.text()]).to.deep.equal([500, false, "broken"]);
    });
  });

  it("reads heads up to maxHeaderBytes", async () => {
    expect(
      (await trusting({ maxHeaderBytes: 100_000 })(site.url("/big-head"))).headers.get("x-large"),
    ).to.have.length(40_000);
    expect(await failure("/", { maxHeaderBytes: 50 })).to.equal("bad_response");
  });

  it("uses no proxy of the environment", async () => {
    setEnvironment({ http_proxy: other.url("/"), HTTP_PROXY: other.url("/") });
    expect((await trusting()(site.url("/"))).text()).to.equal("hello");
    expect(other.requests).to.have.length(0);
  });

  it("reports a port without a listener", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as AddressInfo; // it listens on a port
    await new Promise((resolve) => server.close(resolve));
    const error = await rejectionOf(
      FetchError,
      safeFetch({ allow: { hosts: [`127.0.0.1:${port}`] } })(`http://127.0.0.1:${port}/`),
    );
    expect(error.reason).to.equal("connection");
  });

  it("reports an unreachable address, by name and by number", async () => {
    const nowhere = "255.255.255.255"; // the system refuses to connect to it, at once
    const fetchAny = safeFetch({ allow: { addresses: [nowhere] }, lookup: () => [nowhere] });
    for (const url of [`http://${nowhere}/`, "http://a.test/", "https://a.test/"])
      expect((await rejectionOf(FetchError, fetchAny(url))).reason).to.equal("connection");
  });

  it("does not begin after its signal was aborted", async () => {
    const reason = new Error("too late");
    expect(
      await rejection(trusting()(site.url("/"), { signal: AbortSignal.abort(reason) })),
    ).to.equal(reason);
    expect(site.requests).to.have.length(0);
  });

  it("leaves no open connection", async () => {
    for (const path of ["/", "/away", "/stalls", "/endless", "/bomb"])
      await trusting({ timeoutMs: 200, maxBytes: 10_000 })(site.url(path)).catch(() => undefined);
    const sockets = (): number =>
      process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length;
    await until(() => sockets() === 0);
  });

  describe("options", () => {
    const wrong: readonly (readonly [string, unknown])[] = [
      ["an unknown option", { timeout: 1 }],
      ["a header that is derived from the request", { headers: { Host: "x" } }],
      ["a header with a line break", { headers: { "x-a": "1\r\nhost: evil" } }],
      ["a header without a text", { headers: { "x-a": 1 } }],
      ["invalid headers", { headers: ["x"] }],
      ["an invalid network", { allow: { addresses: ["10.0.0.0/33"] } }],
      ["a name in the place of a network", { allow: { addresses: ["example.com"] } }],
      ["an unknown kind of target", { allow: { host: ["x"] } }],
      ["a URL in the place of a host", { allow: { hosts: ["http://example.com/"] } }],
      ["an invalid host", { onlyHosts: [1] }],
      ["a wildcard within a host", { denyHosts: ["a.*.example"] }],
      ["an invalid port", { ports: [0] }],
      ["an invalid type", { contentTypes: ["html"] }],
      ["a limit of 0 bytes", { maxBytes: 0 }],
      ["a limit of 0 bytes for the head", { maxHeaderBytes: 0 }],
      ["a time limit of 0", { timeoutMs: 0 }],
      ["a fractional number of redirects", { maxRedirects: 0.5 }],
      ["an unknown value of redirect", { redirect: "error" }],
      ["an unknown value of overflow", { overflow: "drop" }],
      ["an invalid resolver", { lookup: "8.8.8.8" }],
      ["an invalid certificate", { ca: "x" }],
      ["no options", null],
    ];
    for (const [what, options] of wrong) {
      it(`is refused: ${what}`, () =>
        expect(() => safeFetch(options as SafeFetchOptions)).to.throw(ValidationError)); // wrong on purpose
    }

    for (const [what, url, init] of [
      ["a relative URL", "/page", {}],
      ["a URL with a zone", "http://[fe80::1%25eth0]/", {}],
      ["an endless URL", `http://127.0.0.3/${"x".repeat(10_000)}`, {}],
      ["nothing", undefined, {}],
      ["an invalid method", "http://127.0.0.3/", { method: "GET /x" }],
      ["CONNECT", "http://127.0.0.3/", { method: "CONNECT" }],
      ["an invalid body", "http://127.0.0.3/", { body: {} }],
      ["an invalid signal", "http://127.0.0.3/", { signal: {} }],
      ["an unknown field", "http://127.0.0.3/", { redirect: "follow" }],
      ["transfer-encoding", "http://127.0.0.3/", { headers: { "Transfer-Encoding": "chunked" } }],
    ] as const) {
      it(`is refused for a request: ${what}`, async () => {
        await rejectionOf(ValidationError, safeFetch()(url as string, init as SafeRequestInit)); // wrong on purpose
      });
    }

    it("is reported without its secrets", async () => {
      for (const url of [
        "http://user:secret@127.0.0.1/",
        "http://127.0.0.1/?key=secret",
        "//user:secret@",
        "http://user:secret@[",
        "x?secret",
      ]) {
        expect(String(await rejection(safeFetch()(url)))).to.not.include("secret");
      }
    });

    it("apply to the request: headers and a default agent only", async () => {
      await trusting({ headers: { "X-Team": "a" } })(site.url("/echo"), {
        method: "post",
        headers: { "x-team": "b" },
        body: "data",
      });
      expect(site.requests[0]).to.deep.include({ method: "POST", body: "data" });
      expect(Object.keys(site.requests[0]?.headers ?? {}).sort()).to.deep.equal([
        "accept",
        "accept-encoding",
        "connection",
        "content-length",
        "host",
        "user-agent",
        "x-team",
      ]);
      expect(site.requests[0]?.headers["x-team"]).to.equal("b");
    });
  });
});
