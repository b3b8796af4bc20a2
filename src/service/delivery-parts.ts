import type { NetworkBackend } from "../contracts/network.js";
import type { TracePropagation } from "../contracts/propagation.js";
import type { ReviewStore } from "../contracts/review.js";
import type { Clock } from "../contracts/runtime.js";
import type { PushNotifications } from "../plugins/network/shared/a2a/push-notifications.js";
import type { WebhookSender } from "../plugins/shared/webhooks/webhook-sender.js";
import type { CallerQuotas } from "./quotas/caller-quotas.js";
import type { QueueGate } from "./queue-gate.js";
import type { ServiceRedactor } from "./secrets.js";
import type { ServiceEvents } from "./service-events.js";
import type { ServiceSettings } from "./service-settings.js";
import type { SharedWork } from "./shared-work.js";

/** The parts of a service that its deliveries use. */
export interface DeliveryParts {
  readonly backend: NetworkBackend;
  readonly clock: Clock;
  readonly events: ServiceEvents;
  readonly settings: ServiceSettings;
  readonly redactor: ServiceRedactor;
  readonly shared: ReadonlyMap<string, SharedWork>;
  /** Sends results to webhooks. `undefined` if the service sends none. */
  readonly webhooks: WebhookSender | undefined;
  /** Sends notifications to callers over A2A. `undefined` without webhooks. */
  readonly push: PushNotifications | undefined;
  readonly trace: TracePropagation | undefined;
  readonly reviews: ReviewStore | undefined;
  /** Limits the requests. `undefined` without limits of all processes. */
  readonly gate?: QueueGate | undefined;
  /** The quotas of callers over HTTP. `undefined` without limits. */
  readonly quotas: CallerQuotas | undefined;
  /** The currency of the ensemble's prices. `undefined` without prices. */
  readonly currency: string | undefined;
}
