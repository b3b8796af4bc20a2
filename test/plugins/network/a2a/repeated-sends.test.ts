import { expect } from "chai";
import type { ServerResponse } from "node:http";
import type { CallEnd } from "../../../../src/plugins/network/calling/remote-call.js";
import type { Remote, WorkRequest } from "../../../../src/contracts/network.js";
import { NetworkError } from "../../../../src/contracts/network-errors.js";
import { WORK_VERSION } from "../../../../src/contracts/network.js";
import { callRemote } from "../../../../src/plugins/network/calling/remote-call.js";
import { a2a } from "../../../../src/plugins/network/shared/a2a-client/a2a-remote.js";
import { systemClock } from "../../../../src/util/runtime.js";
import { LoopbackSite } from "../../../support/loopback-site.js";
import { rejectionOf } from "../../../support/rejection.js";

const AWAIT = { timeoutMs: 30_000 };
const REQUEST: WorkRequest = {
  ...{ v: WORK_VERSION, requestId: "r-1", from: "shop", to: "kitchen" },
  ...{ type: "TASK", task: "echo", context: "soup" },
};
const SENDS = ["SendMessage", "SendStreamingMessage"];
const NOT_FOUND = { error: { code: -32001, message: "Task not found" } };

/** One call of the agent of a test. */
interface Exchange {
  /** The number of messages that the agent has received, with this one. */
  readonly sends: number;
  /** Answers with events of a stream, or with one answer. */
  answer(...answers: readonly object[]): void;
  readonly response: ServerResponse;
}

type Handlers = Readonly<Record<string, (exchange: Exchange) => void>>;

const task = (state: string, artifacts: readonly object[] = []): object => ({
  ...{ id: "t-1", contextId: "c-1", status: { state: `TASK_STATE_${state}` }, artifacts },
});
const BEGUN = { result: { task: task("WORKING") } };
const DONE = task("COMPLETED", [{ artifactId: "a", parts: [{ text: "served" }] }]);

describe("a message to an agent of another framework", () => {
  let site: LoopbackSite | undefined;
  let remote: Remote | undefined;
  afterEach(async () => {
    await remote?.close();
    await site?.close();
    [site, remote] = [undefined, undefined];
  });

  /** An agent without the extension of this framework, and a connection to it. */
  async function agentWith(
    handlers: Handlers,
    o: { readonly streaming?: boolean; readonly retryForMs?: number } = {},
  ): Promise<Remote> {
    site = await LoopbackSite.start({
      "/.well-known/agent-card.json": (_, response) =>
        void response.end(
          JSON.stringify({
            ...{ name: "other", description: "An agent", version: "1" },
            supportedInterfaces: [
              { url: site?.url("/rpc"), protocolBinding: "JSONRPC", protocolVersion: "1.0" },
            ],
            capabilities: { streaming: o.streaming !== false },
            skills: [{ id: "echo", name: "echo", description: "Repeats", tags: [] }],
          }),
        ),
      "/rpc": (_, response, body) => {
        const { id, method } = JSON.parse(body) as { id: number; method: string }; // of the client
        const texts = (answers: readonly object[]): string[] =>
          answers.map((one) => JSON.stringify({ jsonrpc: "2.0", id, ...one }));
        const isStream = method === "SendStreamingMessage" || method === "SubscribeToTask";
        handlers[method]?.({
          sends: sends(),
          response,
          answer: (...answers) =>
            void response
              .writeHead(200, {
                "Content-Type": isStream ? "text/event-stream" : "application/json",
              })
              .end(
                isStream
                  ? texts(answers).map((text) => `data: ${text}\n\n`).join("") // prettier-ignore
                  : texts(answers)[0],
              ),
        });
      },
    });
    remote = a2a(site.url("/"), { retryForMs: o.retryForMs ?? 30_000 });
    return remote;
  }

  const sends = (): number =>
    (site?.requests ?? []).filter(({ body }) => SENDS.some((name) => body.includes(`"${name}"`)))
      .length;

  const called = (to: Remote): Promise<CallEnd> =>
    callRemote({
      ...{ remote: to, request: REQUEST, timeoutMs: 20_000, clock: systemClock },
      signal: new AbortController().signal,
    });

  it("is not sent again if the agent has lost the task that it accepted", async () => {
    for (const streaming of [true, false]) {
      const line = await agentWith(
        {
          SendStreamingMessage: ({ answer }) => answer(BEGUN),
          SendMessage: ({ answer }) => answer(BEGUN),
          GetTask: ({ answer }) => answer(NOT_FOUND),
        },
        { streaming },
      );
      await line.send(REQUEST);
      const error = await rejectionOf(NetworkError, line.response("r-1", AWAIT));
      expect(error.message).to.contain("has lost task 't-1' of request 'r-1'");
      expect(error.isPermanent).to.equal(true);
      expect(sends()).to.equal(1);
      const again = await rejectionOf(NetworkError, line.send(REQUEST));
      expect(again.message).to.equal(error.message);
      expect((await rejectionOf(NetworkError, called(line))).message).to.equal(error.message);
      expect(sends()).to.equal(1);
      await line.close();
      await site?.close();
    }
  });

  it("is not sent again after an interruption longer than retryForMs, and its task is continued", async () => {
    let reads = 0;
    const line = await agentWith(
      {
        SendStreamingMessage: ({ answer }) => answer(BEGUN),
        GetTask: ({ answer, response }) =>
          ++reads < 3 ? response.destroy() : answer({ result: DONE }),
      },
      { retryForMs: 0 },
    );
    const end = await called(line);
    expect(end).to.have.nested.property("response.result", "served");
    expect([reads, sends()]).to.eql([3, 1]);
  });

  it("is not sent again by a call if the agent may have accepted it", async () => {
    const answers: Handlers[string][] = [
      ({ response }) => void response.destroy(),
      ({ response }) => void response.writeHead(502).end(),
      ({ answer }) => answer(),
      ({ answer }) => answer({ error: { code: -32603, message: "out of gas" } }),
    ];
    const problems: string[] = [];
    for (const SendStreamingMessage of answers) {
      const line = await agentWith({ SendStreamingMessage });
      const error = await rejectionOf(NetworkError, called(line));
      expect(error.isPermanent).to.equal(true);
      problems.push(error.message);
      expect(sends()).to.equal(1);
      await line.close();
      await site?.close();
    }
    expect(problems.slice(0, 3).filter((text) => text.includes("may or may not"))).to.have.length(
      3,
    );
    expect(problems[3]).to.contain("out of gas");
  });

  it("is not sent again by a call whose connection was closed", async () => {
    const line = await agentWith({
      SendStreamingMessage: ({ answer }) => answer(BEGUN),
      GetTask: ({ answer }) => answer({ result: task("WORKING") }),
    });
    await line.send(REQUEST);
    const calling = called(line);
    await line.close();
    expect((await rejectionOf(NetworkError, calling)).isPermanent).to.equal(true);
    expect(sends()).to.equal(1);
  });

  it("is followed without a stream if the agent refuses the stream of its task", async () => {
    for (const refusal of [NOT_FOUND, { error: { code: -32004, message: "No stream" } }]) {
      let reads = 0;
      const line = await agentWith({
        SendStreamingMessage: ({ answer }) => answer(BEGUN),
        SubscribeToTask: ({ answer }) => answer(refusal),
        GetTask: ({ answer }) => answer({ result: ++reads < 3 ? task("WORKING") : DONE }),
      });
      await line.send(REQUEST);
      expect(await line.response("r-1", AWAIT)).to.include({ result: "served" });
      expect(sends()).to.equal(1);
      await line.close();
      await site?.close();
    }
  });

  it("is sent again after the answer 503", async () => {
    const line = await agentWith({
      SendStreamingMessage: ({ sends: count, response, answer }) =>
        count === 1 ? void response.writeHead(503).end() : answer({ result: { task: DONE } }),
    });
    expect(await called(line)).to.have.nested.property("response.result", "served");
    expect(sends()).to.equal(2);
  });
});
