import type { Ingress, IngressPort, IngressWork } from "../../contracts/ingress.js";
import type { EnqueueReceipt, SharedCapability } from "../../contracts/network.js";
import type { Service } from "../../contracts/service.js";
import type { DeliveryParts } from "../delivery-parts.js";
import { ValidationError } from "../../contracts/errors.js";
import { ServiceStateError } from "../../contracts/network-errors.js";
import { WORK_VERSION } from "../../contracts/network.js";
import { checkOptions, knownNames, preview } from "../../contracts/validation.js";
import { checkWorkRequest } from "../../plugins/network/shared/work-request.js";

const FIELDS = [
  ...["task", "context", "inputs", "priority", "deadlineMs", "budget", "delivery", "version"],
];

type AcceptingService = Pick<Service, "state" | "backend" | "entry">;

/** Accepts the requests of an ingress for a service. */
export function ingressPort(
  { name: from }: Pick<Ingress, "name">,
  service: AcceptingService,
  { settings, clock, events }: Pick<DeliveryParts, "settings" | "clock" | "events">,
): IngressPort {
  const { name: ensemble, maxMessageBytes, maxQueuedRequests: maxQueued } = settings;
  return Object.freeze({
    ensemble,
    clock,
    maxMessageBytes,
    warn: (message: string) => events.warn(message),
    submit: async (requestId: string, work: IngressWork): Promise<EnqueueReceipt> => {
      if (service.state !== "READY")
        throw new ServiceStateError(`Service '${ensemble}' does not accept requests now`);
      checkOptions(`the request of ingress '${from}'`, work, FIELDS);
      const { type } = sharedAs(work.task, service);
      const request = { ...work, v: WORK_VERSION, requestId, from, to: ensemble, type } as const;
      checkWorkRequest(request);
      return service.backend.queue.enqueue(ensemble, request, { maxQueued });
    },
  });
}

function sharedAs(task: unknown, service: AcceptingService): SharedCapability {
  const { capabilities } = service.entry();
  const found = capabilities.find(({ name }) => name === task);
  if (found !== undefined) return found;
  const names = capabilities.map(({ name }) => name);
  throw new ValidationError(
    `Nothing is shared as ${preview(task)}. ${knownNames(String(task), names)}`,
  );
}
