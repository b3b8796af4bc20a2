import type { HttpOptions, RunHandlerOptions } from "agentensemble/http";
import { Ensemble, Task } from "agentensemble";
import { reviewsHandler, runHandler } from "agentensemble/http";
import { reviewInbox } from "agentensemble/review";
import { expect } from "chai";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { authenticate, serve, type Ask, type Service } from "./service.js";

/** Sends bytes unchanged and returns all received data until the connection ends. */
function raw(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(text));
    let answer = "";
    socket.setEncoding("latin1").on("data", (part: string) => (answer += part));
    socket.on("error", reject).on("close", () => resolve(answer));
  });
}

describe("handlers of requests refuse", () => {
  const made: AsyncDisposable[] = [];
  let started = 0;
  const open = async (o: Partial<RunHandlerOptions> = {}): Promise<Service> => {
    started = 0;
    const task = new Task({
      description: "x",
      handler: ({ inputs }) => `${Object.keys(inputs).join()} ${++started}`,
    });
    const team = new Ensemble({ tasks: [task] });
    const service = await serve(runHandler(team, { authenticate, ...o }));
    made.push(service, team);
    return service;
  };
  afterEach(async () => {
    for (const one of made.splice(0)) await one[Symbol.asyncDispose]();
  });
  const post = async (service: Service, body: unknown, o: Ask = {}): Promise<number> =>
    (await service.ask("/api/run", { body, ...o })).status;

  it("a body that is not a JSON object", async () => {
    const service = await open();
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""])
      expect(await post(service, "{}", { headers: { "content-type": type } }), type).to.equal(415);
    const kept = "application/JSON; charset=utf-8";
    expect(await post(service, "{}", { headers: { "content-type": kept } })).to.equal(200);
    for (const body of ["", "{", "[]", "null", "7", '"text"', '{"a":1}x'])
      expect(await post(service, body), body).to.equal(400);
    const message = `POST /api/run HTTP/1.1\r\nHost: 127.0.0.1\r\nx-user: ada\r\nConnection: close\r\nContent-Type: application/json\r\n`;
    const broken = await raw(service.port, `${message}Content-Length: 9\r\n\r\n{"a":"\xff"}`);
    expect(broken).to.match(/^HTTP\/1.1 400 /);
    expect(started).to.equal(1);
  });

  it("keys that refer to prototypes, and bodies that are nested too deeply", async () => {
    const service = await open();
    for (const body of [
      '{"__proto__":{"polluted":true}}',
      '{"a":{"constructor":{"prototype":{}}}}',
      '{"\\u005f_proto__":1}',
      `{"a":${"[".repeat(100)}${"]".repeat(100)}}`,
      `{"a":${"[".repeat(1_000_000)}`,
    ])
      expect(await post(service, body), body.slice(0, 40)).to.equal(400);
    expect(({} as { polluted?: unknown }).polluted).to.equal(undefined);
    expect(started).to.equal(0);
  });

  it("bodies beyond the limit during the upload, and end the connection", async () => {
    const service = await open({ maxBodyBytes: 1_000 });
    expect(await post(service, { a: "x".repeat(900) })).to.equal(200);
    expect(await post(service, { a: "x".repeat(1_000) })).to.equal(413);
    const head = `POST /api/run HTTP/1.1\r\nHost: 127.0.0.1\r\nx-user: ada\r\nContent-Type: application/json\r\n`;
    const announced = await raw(service.port, `${head}Content-Length: 99999999999\r\n\r\n{`);
    expect(announced).to.match(/^HTTP\/1.1 413 .*Connection: close/s);
    const chunk = `400\r\n${"x".repeat(1_024)}\r\n`;
    const endless = await raw(service.port, `${head}Transfer-Encoding: chunked\r\n\r\n${chunk}`);
    expect(endless).to.match(/^HTTP\/1.1 413 .*Connection: close/s);
    expect(started).to.equal(1);
  });

  it("bodies that do not arrive in time", async () => {
    const service = await open({ bodyTimeoutMs: 30 });
    const head = `POST /api/run HTTP/1.1\r\nHost: 127.0.0.1\r\nx-user: ada\r\nContent-Type: application/json\r\n`;
    const slow = await raw(service.port, `${head}Content-Length: 100\r\n\r\n{"a":`);
    expect(slow).to.match(/^HTTP\/1.1 408 .*BODY_TIMEOUT/s);
    expect(started).to.equal(0);
  });

  it("pages of other sites, unless they are allowed", async () => {
    const service = await open({ allowedOrigins: ["https://app.example"] });
    const from = (headers: Record<string, string>): Promise<number> =>
      post(service, {}, { headers });
    expect(await from({ origin: "https://evil.example" })).to.equal(403);
    expect(await from({ origin: "null" })).to.equal(403);
    expect(await from({ "sec-fetch-site": "cross-site" })).to.equal(403);
    expect(await from({ origin: `http://127.0.0.1:${service.port + 1}` })).to.equal(403);
    expect(started).to.equal(0);
    expect(await from({ origin: service.url, "sec-fetch-site": "same-origin" })).to.equal(200);
    expect(await from({ origin: `https://127.0.0.1:${service.port}` })).to.equal(200);
    const allowed = { origin: "https://app.example", "sec-fetch-site": "cross-site" };
    const answer = await service.fetch("/api/run", { body: {}, headers: allowed });
    expect(answer.status).to.equal(200);
    expect(answer.headers.get("access-control-allow-origin")).to.equal("https://app.example");
    expect(answer.headers.get("vary")).to.equal("Origin");
    const asked = { ...allowed, "access-control-request-method": "POST" };
    const question = await service.fetch("/api/run", {
      by: null,
      method: "OPTIONS",
      headers: asked,
    });
    expect(question.status).to.equal(204);
    expect(question.headers.get("access-control-allow-headers")).to.include("content-type");
    const evil = await service.fetch("/api/run", {
      method: "OPTIONS",
      headers: { origin: "https://evil.example" },
    });
    expect(evil.status).to.equal(403);
    expect(evil.headers.has("access-control-allow-origin")).to.equal(false);
  });

  it("other methods and other paths", async () => {
    const service = await open();
    for (const [path, method, status, allow] of [
      ["/api/run", "GET", 405, "POST"],
      ["/api/run", "PUT", 405, "POST"],
      ["/api/run", "HEAD", 405, "POST"],
      ["/api/run/x", "POST", 405, "DELETE"],
      ["/api/run/x/stream", "DELETE", 405, "GET"],
      ["/api/runner", "GET", 404, null],
      ["/api", "GET", 404, null],
      ["/api/run/x/stream/y", "GET", 404, null],
      ["/api/run/x/other", "GET", 404, null],
    ] as const) {
      const answer = await service.fetch(path, { method });
      expect(answer.status, `${method} ${path}`).to.equal(status);
      expect(answer.headers.get("allow"), `${method} ${path}`).to.equal(allow);
      await answer.arrayBuffer();
    }
  });

  it("ids that are paths or invalid ids of runs, and write none of them into a header", async () => {
    const service = await open();
    for (const id of [
      "..%2f..%2fetc%2fpasswd",
      "%2e%2e",
      "a%0d%0aset-cookie:%20a=b",
      "%00",
      "%zz",
      "%ff",
      "x".repeat(201),
      "%F0%9F%98%80",
      "__proto__",
      "constructor",
    ])
      for (const [path, method] of [
        [`/api/run/${id}`, "DELETE"],
        [`/api/run/${id}/stream`, "GET"],
      ] as const) {
        const status = await new Promise<number | undefined>((resolve, reject) => {
          const sent = httpRequest(
            { port: service.port, path, method, headers: { "x-user": "ada" } },
            (answer) => {
              expect(answer.headers).to.not.have.property("set-cookie");
              answer.resume().on("end", () => resolve(answer.statusCode));
            },
          );
          sent.on("error", reject).end();
        });
        expect(status, `${method} ${id}`).to.equal(404);
      }
  });

  it("reviews with invalid ids", async () => {
    const store = reviewInbox();
    const service = await serve(reviewsHandler({ store, authenticate }));
    made.push(service);
    for (const id of ["__proto__", "%00", "a%2fb", "x".repeat(500)])
      expect(
        (await service.ask(`/api/chat/reviews/${id}`, { body: { decision: "continue" } })).status,
        id,
      ).to.equal(404);
  });

  it("no request because of an error that an answer throws", async () => {
    const seen: string[] = [];
    const onError: HttpOptions["onError"] = ({ message }) => {
      seen.push(message);
      throw new Error("and again");
    };
    const service = await open({
      onError,
      output: () => {
        throw new Error("no output");
      },
    });
    const warned = new Promise<Error>((resolve) => process.once("warning", resolve));
    expect(await service.ask("/api/run", { body: {} })).to.deep.equal({
      status: 500,
      body: { error: { code: "INTERNAL", message: "An error occurred." } },
    });
    expect(seen).to.deep.equal(["no output"]);
    expect((await warned).message).to.include("and again");
  });
});
