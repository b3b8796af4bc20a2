import type { RequestQueue } from "../../contracts/network.js";
import type { RequestQueueContractOptions, UseQueue } from "./request-queue-scenario.js";
import { checkOptions, requireDuration, requireInteger } from "../../contracts/validation.js";
import {
  queueAcceptingSuite,
  queueKeepingSuite,
  queueOrderSuite,
} from "./request-queue-accepting.js";
import {
  queueLeaseSuite,
  queueReopeningSuite,
  queueReportSuite,
  queueReturnSuite,
  queueWaitingSuite,
} from "./request-queue-deliveries.js";

const CAPABILITIES = ["priorities", "ageing", "exactCapacity", "consumersPerProcess"];
const LEASE_MS = 100;
/** Milliseconds. The default is so long that the order does not change during a test. */
const AGING_MS = 60_000;

/**
 * Registers tests with the global `describe` and `it` of any runner that every request queue should
 * pass. A test takes several lease durations. Raise the time limit of the runner for long leases.
 *
 * @example
 * requestQueueContract("mine", {
 *   create: async () => ({ queue: await openMine(), another: () => openMine() }),
 *   leaseMs: 2_000,
 *   capabilities: { priorities: false },
 * });
 * @throws ValidationError for an unknown or invalid option.
 */
export function requestQueueContract(name: string, options: RequestQueueContractOptions): void {
  const { capabilities = {}, leaseMs = LEASE_MS, reopens = false } = options;
  checkOptions("requestQueueContract()", options, ["create", "reopens", "leaseMs", "capabilities"]);
  checkOptions("requestQueueContract() capabilities", capabilities, CAPABILITIES);
  requireDuration("requestQueueContract() leaseMs", leaseMs);
  const { consumersPerProcess } = capabilities;
  requireInteger("requestQueueContract() consumersPerProcess", consumersPerProcess, 1);
  const use: UseQueue = async (body, settings = { agingMs: AGING_MS }) => {
    const subject = await options.create(settings);
    let other: RequestQueue | undefined;
    try {
      other = await subject.another?.();
      const { queue } = subject;
      const otherConsumer = consumersPerProcess === 1 ? queue : (other ?? queue);
      await body({ ...subject, other: other ?? queue, otherConsumer, leaseMs });
    } finally {
      if (other !== subject.queue) await other?.close?.();
      await subject.queue.close?.();
      await subject.dispose?.();
    }
  };
  describe(`request queue contract: ${name}`, () => {
    queueAcceptingSuite(use);
    queueKeepingSuite(use);
    queueOrderSuite(use, capabilities);
    queueWaitingSuite(use);
    queueLeaseSuite(use);
    queueReturnSuite(use);
    queueReportSuite(use);
    if (reopens) queueReopeningSuite(use);
  });
}
