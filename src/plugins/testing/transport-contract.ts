import assert from "node:assert/strict";
import type { Transport } from "../../contracts/network.js";
import type { Awaitable } from "../../contracts/types.js";
import { RequestConflictError } from "../../contracts/network-errors.js";
import { checkOptions } from "../../contracts/validation.js";
import {
  asData,
  endsSoon,
  LONG_MS,
  QUEUE,
  requestNamed,
  resultNamed,
} from "./request-queue-scenario.js";

/** A transport for a test of `transportContract`. */
export interface TransportUnderTest {
  /** Named `kitchen`, without requests. */
  readonly transport: Transport;
  /** The transport of a caller in another process. The suite closes it. */
  readonly another?: (() => Awaitable<Transport>) | undefined;
  /** Closes everything, and removes data on disks and servers. */
  readonly dispose?: (() => Awaitable<void>) | undefined;
}

/** Options of `transportContract`. */
export interface TransportContractOptions {
  /** Called once per test. */
  create(): Awaitable<TransportUnderTest>;
}

interface TransportScenario {
  /** Receives requests. */
  readonly transport: Transport;
  /** Sends requests. */
  readonly caller: Transport;
}
type UseTransport = (body: (scenario: TransportScenario) => Promise<void>) => Promise<void>;

const NOW = { timeoutMs: 0 };
const SOON = { timeoutMs: 10_000 };

async function received(transport: Transport) {
  const lease = await transport.receive({ ...SOON, leaseMs: LONG_MS });
  return lease ?? assert.fail("no request was received");
}

function deliverySuite(use: UseTransport): void {
  it("delivers a request to the ensemble, and its result to the waiting caller", () =>
    use(async ({ transport, caller }) => {
      const request = requestNamed("r1", { inputs: { room: 403 } });
      assert.equal((await caller.send(request)).status, "ACCEPTED");
      const waiting = caller.response("r1", SOON);
      const lease = await received(transport);
      assert.equal(await transport.deliver(lease, resultNamed("r1")), true);
      assert.equal((await endsSoon(waiting))?.result, "done by r1");
      assert.deepEqual(asData(lease.request), asData(request));
      const none = await transport.receive({ timeoutMs: 50, leaseMs: LONG_MS });
      assert.equal(none, undefined, "a delivered request came again");
    }));
  it("returns the same result to a caller that sends again or asks later", () =>
    use(async ({ transport, caller }) => {
      await caller.send(requestNamed("r1"));
      await transport.deliver(await received(transport), resultNamed("r1"));
      assert.equal((await caller.send(requestNamed("r1"))).status, "DUPLICATE");
      for (let n = 0; n < 2; n++)
        assert.equal((await caller.response("r1", SOON))?.result, "done by r1");
      await assert.rejects(caller.send(requestNamed("r1", { context: "other" })), (error) =>
        RequestConflictError.isInstance(error),
      );
    }));
  it("keeps the first of two results", () =>
    use(async ({ transport, caller }) => {
      await caller.send(requestNamed("r1"));
      const lease = await received(transport);
      assert.equal(await transport.deliver(lease, resultNamed("r1", "first")), true);
      assert.equal(await transport.deliver(lease, resultNamed("r1", "second")), false);
      assert.equal((await caller.response("r1", SOON))?.result, "first");
    }));
  it("ends a wait after its time, and immediately when its signal aborts", () =>
    use(async ({ caller }) => {
      await caller.send(requestNamed("r1"));
      assert.equal(await endsSoon(caller.response("r1", NOW)), undefined);
      const controller = new AbortController();
      const { signal } = controller;
      const waiting = caller.response("r1", { timeoutMs: LONG_MS, signal });
      setTimeout(() => controller.abort(), 20);
      assert.equal(await endsSoon(waiting, 2_000), undefined);
      const late = caller.response("r1", { timeoutMs: LONG_MS, signal });
      assert.equal(await endsSoon(late, 2_000), undefined);
    }));
}

function transportCancelSuite(use: UseTransport): void {
  it("cancels a request once, and refuses the result of its execution", () =>
    use(async ({ transport, caller }) => {
      await caller.send(requestNamed("r1"));
      const lease = await received(transport);
      assert.equal(await caller.cancel("r1", "not hungry"), true);
      assert.equal(await caller.cancel("r1"), false);
      const response = await caller.response("r1", SOON);
      assert.deepEqual([response?.status, response?.error], ["CANCELLED", "not hungry"]);
      assert.equal(await transport.deliver(lease, resultNamed("r1")), false);
      assert.equal((await caller.response("r1", SOON))?.status, "CANCELLED");
    }));
  it("cancels a waiting request, and no unknown or finished request", () =>
    use(async ({ transport, caller }) => {
      assert.equal(await caller.cancel("unknown"), false);
      await caller.send(requestNamed("r1"));
      assert.equal(await caller.cancel("r1"), true);
      await transport.deliver(await received(transport), resultNamed("r1"));
      await caller.send(requestNamed("r2"));
      await transport.deliver(await received(transport), resultNamed("r2"));
      assert.equal(await caller.cancel("r2"), false);
      assert.equal((await caller.response("r2", SOON))?.status, "COMPLETED");
    }));
  it("returns no capabilities if no instance runs", () =>
    use(async ({ caller }) => assert.deepEqual(await caller.capabilities(), [])));
}

/**
 * Registers tests with the global `describe` and `it` of any runner that every transport should
 * pass.
 *
 * @example
 * transportContract("mine", { create: () => ({ transport: Transport.of("kitchen", mine()) }) });
 * @throws ValidationError for an unknown option.
 */
export function transportContract(name: string, options: TransportContractOptions): void {
  checkOptions("transportContract()", options, ["create"]);
  const use: UseTransport = async (body) => {
    const subject = await options.create();
    let caller: Transport | undefined;
    try {
      assert.equal(subject.transport.name, QUEUE, "the transport must be named 'kitchen'");
      caller = await subject.another?.();
      await body({ transport: subject.transport, caller: caller ?? subject.transport });
    } finally {
      if (caller !== subject.transport) await caller?.close();
      await subject.transport.close();
      await subject.dispose?.();
    }
  };
  describe(`transport contract: ${name}`, () => {
    deliverySuite(use);
    transportCancelSuite(use);
  });
}
