import { expect } from "chai";
import { getEventListeners } from "node:events";
import type { ChatModel, ChatRequest } from "../../../src/contracts/chat-model.js";
import { ModelCallError } from "../../../src/contracts/errors.js";
import type { ModelErrorCode } from "../../../src/contracts/model-error-code.js";
import { FAULT_VENDORS, type FaultVendor } from "../../support/fault-vendors.js";
import type { ModelServer, Reply } from "../../support/model-server.js";

const REQUEST: ChatRequest = { messages: [{ role: "user", content: "Hi" }] };
const COUNT = 100;

/** The number of timers that keep the process alive. */
function timers(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
}

async function drain(model: ChatModel, signal: AbortSignal, isStream: boolean): Promise<void> {
  if (!isStream) return void (await model.chat(REQUEST, { signal }));
  for await (const chunk of model.stream?.(REQUEST, { signal }) ?? [])
    if (chunk.type === "finish") return;
}

/** A hundred concurrent calls, half of them streams. */
function calls(model: ChatModel, signal: AbortSignal): Promise<readonly unknown[]> {
  return Promise.all(
    Array.from({ length: COUNT }, (_, index) =>
      drain(model, signal, index % 2 === 0).then(
        () => "answered",
        (error: unknown) => error,
      ),
    ),
  );
}

function allFailed(outcomes: readonly unknown[], code: ModelErrorCode): boolean {
  return outcomes.every((error) => ModelCallError.isInstance(error) && error.code === code);
}

async function misuse(vendor: FaultVendor, server: ModelServer): Promise<void> {
  const stalled: Reply = { kind: "events", events: vendor.begin("Once"), end: "stall" };
  const model = vendor.model({ baseURL: server.url });

  const controller = new AbortController();
  server.reply(stalled);
  const aborted = calls(model, controller.signal);
  await server.received(COUNT);
  expect(getEventListeners(controller.signal, "abort").length).to.be.greaterThan(0);
  controller.abort("enough");
  expect(new Set(await aborted)).to.deep.equal(new Set(["enough"]));

  const patient = new AbortController();
  server.reply({ kind: "status", status: 500 });
  expect(allFailed(await calls(model, patient.signal), "AE_MODEL_SERVER")).to.equal(true);

  server.reply(stalled);
  const hasty = vendor.model({ baseURL: server.url, idleTimeoutMs: 100 });
  expect(allFailed(await calls(hasty, patient.signal), "AE_MODEL_TIMEOUT")).to.equal(true);

  for (const { signal } of [controller, patient])
    expect(getEventListeners(signal, "abort")).to.deep.equal([]);
  await server.deserted();
}

describe("calls that fail", () => {
  it(`leave no timer, listener or socket: ${COUNT} that are aborted, ${COUNT} that fail, ${COUNT} that take too long, of each vendor`, async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error): void => void warnings.push(warning);
    process.on("warning", onWarning);
    await new Promise((resolve) => setImmediate(resolve)); // mocha sets its own timer when a test waits
    const before = timers();
    const servers = await Promise.all(FAULT_VENDORS.map((vendor) => vendor.start()));
    try {
      for (const [index, vendor] of FAULT_VENDORS.entries()) {
        const server = servers[index];
        if (server === undefined) throw new Error("every vendor has a server");
        server.closesConnections = true;
        await misuse(vendor, server);
      }
      for (const server of servers) await server.emptied();
      expect(timers()).to.equal(before);
      expect(warnings).to.deep.equal([]);
    } finally {
      process.off("warning", onWarning);
      for (const server of servers) await server.close();
    }
  });
});
