import { expect } from "chai";
import { getEventListeners } from "node:events";
import type { ChatModel, ChatRequest } from "../../../src/contracts/chat-model.js";
import { ModelCallError } from "../../../src/contracts/errors.js";
import { FAULT_VENDORS, type FaultVendor } from "../../support/fault-vendors.js";
import type { ModelServer, Reply } from "../../support/model-server.js";

const REQUEST: ChatRequest = { messages: [{ role: "user", content: "Hi" }] };
const COUNT = 100;

/** What keeps the process alive, by kind. */
function timers(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
}

async function drain(model: ChatModel, signal: AbortSignal, isStream: boolean): Promise<void> {
  if (!isStream) return void (await model.chat(REQUEST, { signal }));
  for await (const chunk of model.stream?.(REQUEST, { signal }) ?? []) if (chunk.type === "finish") return;
}

async function outcomes(calls: readonly Promise<void>[]): Promise<readonly unknown[]> {
  return (await Promise.allSettled(calls)).map((result) => (result.status === "rejected" ? result.reason : "answered"));
}

describe("calls that went wrong", () => {
  for (const vendor of FAULT_VENDORS) {
    describe(vendor.name, () => {
      let server: ModelServer;
      beforeEach(async () => {
        server = await vendor.start();
        server.closesConnections = true;
      });
      afterEach(() => server.close());

      const stalled = (v: FaultVendor): Reply => ({ kind: "events", events: v.begin("Once"), end: "stall" });

      it(`leave no timer, listener or socket: ${COUNT} that were aborted, ${COUNT} that failed, ${COUNT} that took too long`, async function () {
        this.timeout(30_000);
        const before = timers();
        const controller = new AbortController();
        const model = vendor.model({ baseURL: server.url });

        server.reply(stalled(vendor));
        const aborted = Array.from({ length: COUNT }, (_, index) => drain(model, controller.signal, index % 2 === 0));
        await server.received(COUNT);
        expect(getEventListeners(controller.signal, "abort").length).to.be.greaterThan(0);
        controller.abort("enough");
        expect(new Set(await outcomes(aborted))).to.deep.equal(new Set(["enough"]));
        expect(getEventListeners(controller.signal, "abort")).to.deep.equal([]);

        const patient = new AbortController();
        server.reply({ kind: "status", status: 500 });
        const failed = await outcomes(Array.from({ length: COUNT }, (_, index) => drain(model, patient.signal, index % 2 === 0)));
        expect(failed.every((error) => ModelCallError.isInstance(error) && error.code === "AE_MODEL_SERVER")).to.equal(true);

        server.reply(stalled(vendor));
        const hasty = vendor.model({ baseURL: server.url, idleTimeoutMs: 100 });
        const late = await outcomes(Array.from({ length: COUNT }, (_, index) => drain(hasty, patient.signal, index % 2 === 0)));
        expect(late.every((error) => ModelCallError.isInstance(error) && error.code === "AE_MODEL_TIMEOUT")).to.equal(true);

        expect(getEventListeners(patient.signal, "abort")).to.deep.equal([]);
        await server.deserted();
        await server.emptied();
        expect(timers()).to.be.at.most(before);
      });
    });
  }
});
