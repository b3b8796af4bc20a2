import { expect } from "chai";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import type { ChatModel, ChatRequest, ChatResponse } from "../../../src/contracts/chat-model.js";
import { ModelCallError } from "../../../src/contracts/errors.js";
import type { ProviderOptions } from "../../../src/plugins/providers/openai/index.js";
import { FAULT_VENDORS, type FaultVendor } from "../../support/fault-vendors.js";
import { FAULTS, type Fault } from "../../support/faults.js";
import type { ModelServer } from "../../support/model-server.js";
import { readProjectFile } from "../../support/project.js";
import { rejectionOf } from "../../support/rejection.js";
import { SELF_SIGNED } from "../../support/self-signed.js";

type Call = (options: { readonly signal: AbortSignal; onChunk(): void }) => Promise<ChatResponse>;

const REQUEST: ChatRequest = { messages: [{ role: "user", content: "Hi" }] };
const KINDS = ["whole", "stream"] as const;

function callOf(model: ChatModel, kind: (typeof KINDS)[number]): Call {
  if (kind === "whole") return ({ signal }) => model.chat(REQUEST, { signal });
  return async ({ signal, onChunk }) => {
    for await (const chunk of model.stream?.(REQUEST, { signal }) ?? []) {
      if (chunk.type === "finish") return chunk.response;
      onChunk();
    }
    throw new Error("the stream did not finish");
  };
}

async function untrustedServer(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server: Server = createServer(SELF_SIGNED, (_request, response) => response.end("{}"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // it listens on a port
  return {
    url: `https://127.0.0.1:${port}`,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** The URL of the call, and a function that ends its resources. */
async function target(
  fault: Fault,
  server: ModelServer,
): Promise<{ readonly options: ProviderOptions; close(): Promise<void> }> {
  const noMore = (): Promise<void> => Promise.resolve();
  if (fault.instead === "nowhere") {
    const options = { baseURL: server.url };
    await server.close();
    return { options, close: noMore };
  }
  if (fault.instead === "untrusted") {
    const untrusted = await untrustedServer();
    return { options: { baseURL: untrusted.url }, close: () => untrusted.close() };
  }
  if (fault.instead === "unknown host") {
    const cause = Object.assign(new Error("getaddrinfo ENOTFOUND models.invalid"), {
      code: "ENOTFOUND",
    });
    return {
      options: {
        baseURL: "http://models.invalid/v1",
        fetch: () => Promise.reject(new TypeError("fetch failed", { cause })),
      },
      close: noMore,
    };
  }
  return { options: { baseURL: server.url }, close: noMore };
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>(
    (_, reject) => (timer = setTimeout(() => reject(new Error(`not ended within ${ms} ms`)), ms)),
  );
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

async function checkOutcome(fault: Fault, call: Call, server: ModelServer): Promise<void> {
  const controller = new AbortController();
  const reason = new Error("enough");
  const abort = (): void => controller.abort(reason);
  if (fault.abort === "before") abort();
  const outcome = call({
    signal: controller.signal,
    onChunk: () => void (fault.abort === "after a chunk" && abort()),
  });
  // A little later, after the headers of the answer have arrived.
  if (fault.abort === "when received") void server.received().then(() => setTimeout(abort, 30));
  const { outcome: expected } = fault;
  if (expected === "aborted") {
    expect(await outcome.catch((error: unknown) => error)).to.equal(reason);
  } else if ("code" in expected) {
    const error = await rejectionOf(ModelCallError, outcome);
    expect(error).to.include({ code: expected.code, retryable: expected.retryable, attempts: 1 });
    expect(error.retryAfterMs).to.equal(expected.retryAfterMs);
    expect(error.partialText).to.equal(expected.partialText);
    expect(error.message.length).to.be.lessThan(2300);
  } else {
    const { message, usage } = await outcome;
    expect(message.content).to.equal(expected.answer);
    if ("inputTokens" in expected) expect(usage?.inputTokens).to.equal(expected.inputTokens);
    if (expected.toolArguments !== undefined)
      expect(message.toolCalls?.[0]?.arguments).to.equal(expected.toolArguments);
  }
}

async function run(fault: Fault, vendor: FaultVendor, kind: (typeof KINDS)[number]): Promise<void> {
  const server = await vendor.start();
  server.closesConnections = true;
  if (fault.reply !== undefined) server.reply(fault.reply(vendor));
  const { options, close } = await target(fault, server);
  try {
    const call = callOf(vendor.model({ ...options, ...fault.options }), kind);
    await within(fault.withinMs ?? 3000, checkOutcome(fault, call, server));
    expect(server.requests).to.have.lengthOf(fault.requests ?? 1);
    await server.deserted();
  } finally {
    await close();
    if (fault.instead !== "nowhere") await server.close();
  }
}

/** A row of the page. */
function row(fault: Fault): string {
  const calls = fault.only ?? "both";
  if (fault.outcome === "aborted") return `| ${fault.what} | ${calls} | the signal's reason | |`;
  if ("answer" in fault.outcome) return `| ${fault.what} | ${calls} | the answer | |`;
  const { code, retryable, retryAfterMs, partialText } = fault.outcome;
  const more = [
    retryAfterMs === undefined ? "" : `, \`retryAfterMs\` ${retryAfterMs}`,
    partialText === undefined ? "" : ", `partialText`",
  ].join("");
  return `| ${fault.what} | ${calls} | \`${code}\`${more} | ${retryable ? "yes" : "no"} |`;
}

describe("faults", () => {
  for (const vendor of FAULT_VENDORS) {
    describe(vendor.name, () => {
      for (const fault of Object.values(FAULTS).flat()) {
        for (const kind of fault.only === undefined ? KINDS : [fault.only]) {
          it(`handles this when it requests a ${kind === "whole" ? "whole answer" : "stream"}: ${fault.what}`, () =>
            run(fault, vendor, kind));
        }
      }
    });
  }

  it("are at least forty", () => {
    expect(Object.values(FAULTS).flat().length).to.be.at.least(40);
  });

  it("are all listed in docs/faults.md, without others", () => {
    const page = readProjectFile("docs/faults.md").split("\n");
    const start = page.indexOf("## Connections");
    const shown = page.slice(start).filter((line) => /^(## |\| (?!---|fault \|))/.test(line));
    const expected = Object.entries(FAULTS).flatMap(([heading, faults]) => [
      `## ${heading}`,
      ...faults.map(row),
    ]);
    expect(shown).to.deep.equal(expected);
  });
});
