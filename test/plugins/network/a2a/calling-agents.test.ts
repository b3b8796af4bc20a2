import { expect } from "chai";
import type { AddressInfo } from "node:net";
import type { Remote, WorkRequest, WorkResponse } from "../../../../src/contracts/network.js";
import type { Page } from "../../../support/loopback-site.js";
import type { TestAgent } from "./agent.js";
import { createServer } from "node:net";
import { ValidationError } from "../../../../src/contracts/errors.js";
import { WORK_VERSION } from "../../../../src/contracts/network.js";
import { NetworkError, RequestConflictError } from "../../../../src/contracts/network-errors.js";
import { ReviewDecision } from "../../../../src/contracts/review.js";
import { a2a } from "../../../../src/plugins/network/shared/a2a-client/a2a-remote.js";
import { inMemoryBackend } from "../../../../src/plugins/network/shared/in-memory/in-memory-backend.js";
import { agentCardOf } from "../../../../src/plugins/network/a2a-server/agent-card.js";
import { STATE } from "../../../../src/plugins/network/shared/a2a/protocol.js";
import { storedIdOf } from "../../../../src/plugins/network/shared/stored-ids.js";
import { LoopbackSite } from "../../../support/loopback-site.js";
import { rejection, rejectionOf } from "../../../support/rejection.js";
import { until } from "../../../support/time.js";
import { ECHO, NEVER, startAgent } from "./agent.js";
import { begunTask, finish, foreignAgent } from "./foreign-agent.js";

const AWAIT = { timeoutMs: 30_000 };

function request(fields: Partial<WorkRequest> = {}): WorkRequest {
  return {
    v: WORK_VERSION,
    requestId: "r-1",
    from: "shop",
    to: "kitchen",
    type: "TASK",
    task: "echo",
    context: "soup",
    ...fields,
  };
}

describe("a2a(): a remote ensemble", () => {
  let agent: TestAgent | undefined;
  let site: LoopbackSite | undefined;
  let remote: Remote | undefined;
  afterEach(async () => {
    await remote?.close();
    await agent?.close();
    await site?.close();
    [agent, site, remote] = [undefined, undefined, undefined];
  });

  it("sends a request and returns its result with all reported fields", async () => {
    const usage = [{ provider: "p", modelId: "m", inputTokens: 3, calls: 1, cost: 0.5 }];
    agent = await startAgent({
      work: async ({ inputs }) => ({ result: "done", parsed: { got: inputs }, usage }),
    });
    remote = a2a(agent.url);
    const sent = await remote.send(
      request({ inputs: { a: 1 }, priority: "HIGH", deadlineMs: 9e6 }),
    );
    expect(sent).to.deep.equal({ status: "ACCEPTED" });
    expect(await remote.response("r-1", AWAIT)).to.deep.equal({
      v: 1,
      requestId: "r-1",
      status: "COMPLETED",
      result: "done",
      parsed: { got: { a: 1 } },
      durationMs: 1,
      attempt: 1,
      servedBy: "one",
      usage,
    });
    const [executed] = agent.executed;
    expect(executed).to.include({ from: "local", priority: "HIGH", task: "echo", context: "soup" });
    expect(executed?.deadlineMs).to.be.within(1, 9e6);
  });

  it("returns the stored result of a repeated request, also from another process", async () => {
    agent = await startAgent();
    remote = a2a(agent.url);
    await remote.send(request());
    await remote.response("r-1", AWAIT);
    expect(await remote.send(request())).to.deep.equal({ status: "DUPLICATE" });
    const other = a2a(agent.url);
    expect(await other.response("r-1", AWAIT)).to.include({ result: "echo: soup" });
    await other.close();
    expect(agent.executed).to.have.lengthOf(1);
    const conflict = await rejectionOf(
      RequestConflictError,
      other.send(request()).catch(() => remote?.send(request({ context: "stew" }))),
    );
    expect(conflict.requestId).to.equal("r-1");
  });

  it("delivers progress, and waits no longer than requested", async () => {
    let finishWork = (): void => undefined;
    const released = new Promise<void>((resolve) => (finishWork = resolve));
    agent = await startAgent({
      work: async (_, report) => {
        await report({ step: 1 });
        await released;
        return { result: "done" };
      },
    });
    remote = a2a(agent.url);
    await remote.send(request());
    expect(await remote.response("r-1", { timeoutMs: 1 })).to.equal(undefined);
    expect(await remote.response("r-1", { ...AWAIT, signal: AbortSignal.abort() })).to.equal(
      undefined,
    );
    const seen: unknown[] = [];
    const waiting = remote.response("r-1", { ...AWAIT, onProgress: (p) => seen.push(p) });
    const [executed] = agent.executed;
    await agent.backend.topics.publish(`progress.${executed?.requestId ?? ""}`, { step: 2 });
    await until(() => seen.length > 0);
    finishWork();
    expect(await waiting).to.include({ status: "COMPLETED" });
    expect(seen).to.deep.include({ step: 2 });
  });

  it("cancels a request once", async () => {
    agent = await startAgent({ work: NEVER });
    remote = a2a(agent.url);
    await remote.send(request());
    expect(await remote.cancel("r-1", "no guests")).to.equal(true);
    expect(await remote.response("r-1", AWAIT)).to.include({
      status: "CANCELLED",
      reason: "CANCELLED",
      error: "no guests",
    });
    expect(await remote.cancel("r-1")).to.equal(false);
    expect(await remote.cancel("unknown")).to.equal(false);
  });

  it("passes on the reason of a failed or rejected request", async () => {
    agent = await startAgent({
      work: async () => ({ status: "FAILED", reason: "BUDGET", error: "spent" }),
    });
    remote = a2a(agent.url);
    await remote.send(request());
    expect(await remote.response("r-1", AWAIT)).to.include({
      status: "FAILED",
      reason: "BUDGET",
      error: "spent",
    });
    await remote.send(request({ requestId: "r-2", task: "ecko" }));
    const unknown = await remote.response("r-2", AWAIT);
    expect(unknown).to.include({ status: "REJECTED", reason: "UNKNOWN" });
    expect(unknown?.error).to.contain("Did you mean 'echo'?");
  });

  it("reports a full queue and repeats the request if set", async () => {
    agent = await startAgent({ maxQueued: 1, work: NEVER });
    remote = a2a(agent.url);
    for (let i = 1; i <= 4; i++) {
      await remote.send(request({ requestId: `r-${i}` }));
      await until(() => agent?.executed.length === i);
    }
    await remote.send(request({ requestId: "r-5" }));
    expect(await remote.send(request({ requestId: "r-6" }))).to.deep.equal({ status: "FULL" });
    expect(await remote.send(request({ requestId: "r-6" }))).to.deep.equal({ status: "FULL" });
  });

  it("executes more concurrent requests than the service has streams", async () => {
    agent = await startAgent({ maxStreams: 2 });
    const line = (remote = a2a(agent.url));
    const ids = Array.from({ length: 10 }, (_, i) => `r-${i}`);
    await Promise.all(
      ids.map((requestId) => line.send(request({ requestId, context: requestId }))),
    );
    const results = await Promise.all(ids.map((id) => line.response(id, AWAIT)));
    expect(results.map((one) => one?.result)).to.deep.equal(ids.map((id) => `echo: ${id}`));
  });

  it("fetches a result that is too long for a stream", async () => {
    const parsed = { text: "x".repeat(2_000_000) };
    agent = await startAgent({ work: async () => ({ result: "y".repeat(3_000_000), parsed }) });
    remote = a2a(agent.url);
    await remote.send(request());
    const response = await remote.response("r-1", AWAIT);
    expect(response?.result).to.have.lengthOf(3_000_000);
    expect(response?.parsed).to.deep.equal(parsed);
  });

  it("repeats a request that the service has forgotten", async () => {
    agent = await startAgent({ work: NEVER });
    const { port } = new URL(agent.url);
    remote = a2a(agent.url);
    await remote.send(request());
    const waiting = remote.response("r-1", AWAIT);
    await until(() => agent?.executed.length === 1);
    await agent.close(); // and with it, its memory
    agent = await startAgent({ port: Number(port) });
    expect(await waiting).to.include({ result: "echo: soup" });
    expect(agent.executed).to.have.lengthOf(1);
  });

  it("reads the result of a service that was restarted in the meantime, without another execution", async () => {
    const backend = inMemoryBackend();
    agent = await startAgent({ backend, work: NEVER });
    const { port } = new URL(agent.url);
    remote = a2a(agent.url);
    await remote.send(request());
    const waiting = remote.response("r-1", AWAIT);
    await until(() => agent?.executed.length === 1);
    await agent.close();
    const requestId = storedIdOf("local", "r-1");
    const response: WorkResponse = {
      v: WORK_VERSION,
      requestId,
      status: "COMPLETED",
      result: "kept",
      durationMs: 1,
    };
    await backend.results.store(requestId, response, 60_000);
    agent = await startAgent({ backend, port: Number(port) });
    expect(await waiting).to.include({ result: "kept" });
    expect(agent.executed).to.deep.equal([]);
    await agent.close();
    agent = undefined;
    await backend.close();
  });

  it("repeats a request that an overloaded agent refused, with the same id", async () => {
    const bodies: string[] = [];
    site = await siteWith((exchange) => {
      bodies.push(exchange.body);
      if (bodies.length < 4) return exchange.end([503, 502, 504][bodies.length - 1] ?? 0, "");
      const { id } = JSON.parse(exchange.body) as { readonly id: number };
      const task = { id: "r-1", contextId: "r-1", status: { state: "TASK_STATE_REJECTED" } };
      const event = `data: ${JSON.stringify({ jsonrpc: "2.0", id, result: { task } })}\n\n`;
      exchange.end(200, event, { "Content-Type": "text/event-stream" });
    });
    remote = a2a(site.url("/"));
    await remote.send(request());
    expect(await remote.response("r-1", AWAIT)).to.include({ status: "REJECTED" });
    const ids = bodies.map((body) => /"messageId":"([^"]+)"/.exec(body)?.[1]);
    expect(ids).to.deep.equal(["r-1", "r-1", "r-1", "r-1"]);
  });

  it("fails if the agent stays unavailable", async () => {
    const port = await freePort();
    remote = a2a(`http://127.0.0.1:${port}`, { retryForMs: 1 });
    const error = await rejectionOf(NetworkError, remote.send(request()));
    expect(error.message).to.contain("can't be reached");
    expect(error.isPermanent).to.equal(false);
  });

  it("sends its token to its own origin only, and follows no redirect", async () => {
    const thief = await LoopbackSite.start({ "/": (_, response) => void response.end("{}") });
    site = await LoopbackSite.start({
      "/.well-known/agent-card.json": (_, response) =>
        void response.writeHead(302, { Location: thief.url("/") }).end(),
      "/foreign/.well-known/agent-card.json": (_, response) =>
        void response
          .writeHead(200, { "Content-Type": "application/json" })
          .end(
            JSON.stringify(
              agentCardOf(entry, { baseUrl: thief.url(""), needsToken: true, hasPush: false }),
            ),
          ),
    });
    remote = a2a(site.url("/"), { token: "secret-token" });
    const redirected = await rejectionOf(NetworkError, remote.send(request()));
    expect(redirected.message).to.contain("redirects");
    expect(redirected.isPermanent).to.equal(true);
    const other = a2a(site.url("/foreign/"), { token: "secret-token" });
    const foreign = await rejectionOf(NetworkError, other.send(request()));
    expect(foreign.message).to.contain("another origin");
    expect(site.requests[0]?.headers.authorization).to.equal("Bearer secret-token");
    expect(thief.requests).to.deep.equal([]);
    await thief.close();
  });

  it("sends its token with every request, and reports an invalid token", async () => {
    agent = await startAgent({ callers: { "right-token": { name: "shop", role: "caller" } } });
    remote = a2a(agent.url, { token: "right-token" });
    await remote.send(request());
    expect(await remote.response("r-1", AWAIT)).to.include({ result: "echo: soup" });
    expect(agent.executed[0]?.from).to.equal("shop");
    const wrong = a2a(agent.url, { token: "wrong-token" });
    const error = await rejectionOf(NetworkError, wrong.send(request()));
    expect(error.isPermanent).to.equal(true);
    expect(error.message).to.contain("HTTP 401").and.not.contain("wrong-token");
  });

  it("refuses cards that are too large, invalid, or of version 0.3", async () => {
    const cards: Record<string, string> = {
      large: `"${"x".repeat(300_000)}"`,
      none: "[1]",
      text: "hello",
      old: JSON.stringify({ name: "x", url: "http://x", protocolVersion: "0.3.0", skills: [] }),
      grpc: JSON.stringify({ supportedInterfaces: [{ url: "x", protocolBinding: "GRPC" }] }),
      broken: JSON.stringify({ supportedInterfaces: [null], skills: [null] }),
    };
    site = await LoopbackSite.start(
      Object.fromEntries(
        Object.entries(cards).map(([name, card]): [string, Page] => [
          `/${name}.json`,
          (_, response) => void response.end(card),
        ]),
      ),
    );
    const problems: string[] = [];
    for (const name of [...Object.keys(cards), "absent"]) {
      const one = a2a(site.url(`/${name}.json`), { retryForMs: 0 });
      problems.push((await rejectionOf(NetworkError, one.capabilities())).message);
    }
    const expected = [
      ...["larger than 262144 bytes", "is not an agent card", "is not an agent card"],
      ...[
        "supports A2A 0.3.0",
        "has no interface for JSON-RPC",
        "is not an agent card",
        "HTTP 404",
      ],
    ];
    expected.forEach((text, i) => expect(problems[i]).to.contain(text));
  });

  it("lists the shared functions of an ensemble, and the skills of other agents", async () => {
    agent = await startAgent({ capabilities: [{ ...ECHO, version: "2" }] });
    remote = a2a(agent.url);
    expect(await remote.capabilities()).to.deep.equal([{ ...ECHO, version: "2" }]);
    site = await foreignAgent(async () => undefined);
    const foreign = a2a(site.url("/"));
    expect(await foreign.capabilities()).to.deep.equal([
      { name: "upper", type: "TASK", description: "Writes in capitals", tags: ["text"] },
    ]);
  });

  it("calls the skill of an agent of another framework, with and without streams", async () => {
    for (const streaming of [true, false]) {
      const other = await foreignAgent(
        async (context, bus) => {
          bus.publish({ kind: "task", data: begunTask(context) });
          const [part] = context.userMessage.parts;
          const text = part?.content?.$case === "text" ? part.content.value : "";
          finish(context, bus, text.toUpperCase());
        },
        { streaming },
      );
      const line = a2a(other.url("/"));
      await line.send(request({ task: "upper" }));
      const response = await line.response("r-1", AWAIT);
      expect(response).to.include({ status: "COMPLETED", result: "SOUP", requestId: "r-1" });
      const error = await rejectionOf(NetworkError, line.send(request({ requestId: "r-2" })));
      expect(error.message).to.contain("has no skill 'echo'");
      await line.close();
      await other.close();
    }
  });

  it("reads the message of an agent that creates no task", async () => {
    site = await foreignAgent(async ({ userMessage }, bus) => {
      bus.publish({ kind: "message", data: { ...userMessage, messageId: "answer" } });
      bus.finished();
    });
    remote = a2a(site.url("/"));
    await remote.send(request({ task: "upper" }));
    expect(await remote.response("r-1", AWAIT)).to.include({ result: "soup" });
  });

  it("fails a request of an agent that requests input if no reviewer can provide it", async () => {
    site = await foreignAgent(async (context, bus) => {
      bus.publish({ kind: "task", data: begunTask(context) });
      finish(context, bus, "Which soup?", STATE.INPUT_REQUIRED);
    });
    remote = a2a(site.url("/"));
    await remote.send(request({ task: "upper" }));
    expect(await remote.response("r-1", AWAIT)).to.include({
      status: "FAILED",
      error: "The agent asks for input: Which soup?",
    });
  });

  it("does not repeat a request that an agent of another framework may have received", async () => {
    let sends = 0;
    site = await siteWith(
      (exchange) => {
        sends++;
        exchange.destroy();
      },
      { isForeign: true },
    );
    remote = a2a(site.url("/"));
    const error = await rejectionOf(NetworkError, remote.send(request()));
    expect(error.message).to.contain("may or may not have accepted");
    expect(sends).to.equal(1);
  });

  it("ends waiting calls when it is closed", async () => {
    agent = await startAgent({ work: NEVER });
    remote = a2a(agent.url);
    await remote.send(request());
    const waiting = remote.response("r-1", AWAIT);
    await remote.close();
    expect(await rejection(waiting)).to.be.instanceOf(NetworkError);
    expect(await rejection(remote.send(request()))).to.be.instanceOf(NetworkError);
    expect(await rejection(remote.decide("r-1", "x", ReviewDecision.continue()))).to.be.instanceOf(
      NetworkError,
    );
  });

  it("checks its address and options", () => {
    const problem = (url: string, options?: object): string => {
      try {
        a2a(url, options);
      } catch (error) {
        if (error instanceof ValidationError) return `${error.message} ${error.hint ?? ""}`;
        throw error;
      }
      return "none";
    };
    expect(problem("kitchen")).to.contain("must be an http or https URL, got: kitchen");
    expect(problem("ftp://kitchen")).to.contain("must be an http or https URL");
    expect(problem("http://u:p@kitchen")).to.contain("must not contain a user");
    expect(problem("http://kitchen", { tokn: "x" })).to.contain("token");
    expect(problem("http://kitchen", { token: "a b" }))
      .to.contain("token")
      .and.not.contain("a b");
    expect(problem("http://kitchen", { retryForMs: -1 })).to.contain("retryForMs");
  });
});

const entry = { ensemble: "kitchen", instance: "one", capabilities: [ECHO] };

interface Exchange {
  readonly body: string;
  end(status: number, body: string, headers?: Record<string, string>): void;
  destroy(): void;
}

/** A site with a card whose endpoint returns configured answers. */
async function siteWith(
  answer: (exchange: Exchange) => void,
  { isForeign = false } = {},
): Promise<LoopbackSite> {
  const made: LoopbackSite = await LoopbackSite.start({
    "/.well-known/agent-card.json": (_, response) => {
      const card = agentCardOf(entry, {
        baseUrl: made.url(""),
        needsToken: false,
        hasPush: false,
      }) as {
        capabilities: { extensions: unknown[] };
      };
      if (isForeign) card.capabilities.extensions = [];
      response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(card));
    },
    "/a2a": (_, response, body) =>
      answer({
        body,
        end: (status, text, headers) => void response.writeHead(status, headers).end(text),
        destroy: () => void response.destroy(),
      }),
  });
  return made;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
