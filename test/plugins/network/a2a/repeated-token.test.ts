import { expect } from "chai";
import { inspect } from "node:util";
import type { WorkRequest } from "../../../../src/contracts/network.js";
import type { Page } from "../../../support/loopback-site.js";
import { AgentCard } from "@a2a-js/sdk";
import { WORK_VERSION } from "../../../../src/contracts/network.js";
import { a2a } from "../../../../src/plugins/network/shared/a2a-client/a2a-remote.js";
import { LoopbackSite } from "../../../support/loopback-site.js";

const TOKEN = 'a-token"with\\every+kind/of=sign';
const REQUEST: WorkRequest = {
  v: WORK_VERSION,
  requestId: "r-1",
  from: "shop",
  to: "kitchen",
  type: "TASK",
  task: "upper",
  context: "soup",
};

/** The answer of an agent that repeats the header with the token. */
type Answering = (id: unknown, header: string) => string;

const task = (id: unknown, text: string): object => ({
  jsonrpc: "2.0",
  id,
  result: {
    task: {
      id: "t-1",
      contextId: "c-1",
      status: { state: "TASK_STATE_COMPLETED" },
      artifacts: [{ artifactId: "a", parts: [{ text }, { data: { got: [text] } }] }],
    },
  },
});
const failure = (id: unknown, message: string): object => ({
  jsonrpc: "2.0",
  id,
  error: { code: -32_602, message, data: [{ metadata: { message } }] },
});
const json = (value: object): string => JSON.stringify(value);
const event = (value: object): string => `data: ${json(value)}\n\n`;

/** Sends a request to such an agent. Returns all data for its caller. */
async function callersView(answer: Answering, streaming: boolean): Promise<string> {
  const rpc: Page = ({ headers }, response, body) => {
    const { id } = JSON.parse(body) as { readonly id: unknown };
    const type = streaming ? "text/event-stream" : "application/json";
    response.writeHead(200, { "Content-Type": type });
    response.end(answer(id, headers.authorization ?? ""));
  };
  const site = await LoopbackSite.start({
    "/rpc": rpc,
    "/.well-known/agent-card.json": ({ headers }, response) => {
      const card = AgentCard.fromJSON({
        name: "foreign",
        description: `You sent ${headers.authorization ?? ""}`,
        version: "1",
        supportedInterfaces: [
          { url: site.url("/rpc"), protocolBinding: "JSONRPC", protocolVersion: "1.0" },
        ],
        capabilities: { streaming },
        skills: [{ id: "upper", name: "U", description: headers.authorization, tags: [] }],
      });
      response.writeHead(200, { "Content-Type": "application/json" });
      response.end(json(AgentCard.toJSON(card) as object));
    },
  });
  const remote = a2a(site.url("/"), { token: TOKEN, retryForMs: 0 });
  try {
    const seen: unknown[] = [await remote.capabilities()];
    try {
      await remote.send(REQUEST);
      const onProgress = (progress: unknown): void => void seen.push(progress);
      seen.push(await remote.response("r-1", { timeoutMs: 30_000, onProgress }));
    } catch (error) {
      seen.push(error);
    }
    expect(site.requests.at(-1)?.headers.authorization).to.equal(`Bearer ${TOKEN}`);
    return inspect(seen, { depth: 20 });
  } finally {
    await remote.close();
    await site.close();
  }
}

describe("the token of a2a()", () => {
  const answers: readonly (readonly [string, boolean, Answering])[] = [
    ["the result of a task", false, (id, text) => json(task(id, text))],
    ["the result in a stream", true, (id, text) => event(task(id, text))],
    ["an error", false, (id, text) => json(failure(id, text))],
    ["an error in a stream", true, (id, text) => event(failure(id, text))],
    ["a body that is not JSON", false, (_id, text) => `${text} is not JSON`],
    ["an event that is not JSON", true, (_id, text) => `data: ${text} is not JSON\n\n`],
  ];
  for (const [what, streaming, answer] of answers)
    it(`is removed from ${what} of an agent that repeats it`, async () => {
      const seen = await callersView(answer, streaming);
      expect(seen).to.contain("[redacted]");
      const shown = TOKEN.replaceAll("\\", "\\\\"); // by inspect()
      const escaped = JSON.stringify(TOKEN).slice(1, -1);
      for (const form of [TOKEN, shown, escaped, encodeURIComponent(TOKEN)])
        expect(seen).not.to.contain(form);
    });
});
