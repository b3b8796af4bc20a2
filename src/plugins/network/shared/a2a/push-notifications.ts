import type * as core from "@a2a-js/sdk";
import type { NetworkBackend, WorkRequest, WorkResponse } from "../../../../contracts/network.js";
import type { Clock } from "../../../../contracts/runtime.js";
import type { WebhookSender } from "../../../shared/webhooks/webhook-sender.js";
import type { AskedReview } from "./review-message.js";
import type { PushConfig, PushConfigs } from "./push-configs.js";
import { messageOf } from "../../../../util/errors.js";
import { asText } from "../../../../util/objects.js";
import { cutText } from "../../../../util/text.js";
import { loadOptionalPackage } from "../../../shared/optional-package.js";
import { undeliveredReason } from "../../../shared/webhooks/webhook-sender.js";
import { withCancelledUsage } from "../cancelled-usage.js";
import { A2A_TASK } from "./push-configs.js";
import { taskNameOf } from "./task-ids.js";
import { endedWorkTask, reviewEvent, taskEvent, type TaskSight } from "./work-task.js";

/** The header with the token of a configuration. */
const TOKEN_HEADER = "X-A2A-Notification-Token";
/** Maximum number of characters of an output under review. */
const MOST_OUTPUT = 50_000;

interface PushParts {
  readonly backend: NetworkBackend;
  readonly clock: Pick<Clock, "now">;
  readonly webhooks: WebhookSender;
  readonly configs: PushConfigs;
}

/**
 * Sends the questions and the ends of tasks to the addresses that their callers have configured.
 */
export class PushNotifications {
  readonly configs: PushConfigs;
  readonly #parts: PushParts;

  constructor(parts: PushParts) {
    this.configs = parts.configs;
    this.#parts = parts;
  }

  /**
   * Checks an address.
   * @throws AccessDeniedError for an address that is not allowed; FetchError; ValidationError.
   */
  check(url: string, signal: AbortSignal): Promise<void> {
    return this.#parts.webhooks.check(url, signal);
  }

  /**
   * Returns the configurations of a request. Returns none for a request that A2A has not accepted.
   */
  async configsOf(request: WorkRequest): Promise<readonly PushConfig[]> {
    return taskIdIn(request) === "" ? [] : this.configs.of(request.requestId);
  }

  /**
   * Sends the ended task, and removes the configurations that have received it. Returns the reason
   * of a failure.
   */
  async ended(
    request: WorkRequest,
    configs: readonly PushConfig[],
    o: { readonly response: WorkResponse; readonly signal: AbortSignal },
  ): Promise<string | undefined> {
    const response = await withCancelledUsage(this.#parts.backend, o.response);
    const event = taskEvent(endedWorkTask(this.#sightOf(request), response));
    const problems = await Promise.all(
      configs.map(async (config) => {
        const problem = await this.#send(request, config, event, o.signal);
        if (problem === undefined) await this.configs.remove(request.requestId, config.id);
        return problem;
      }),
    );
    return problems.find((problem) => problem !== undefined);
  }

  /** Sends that a task waits for input. Returns the reason of a failure. */
  async asked(
    request: WorkRequest,
    review: AskedReview,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const configs = await this.configsOf(request);
    const taskOutput = cutText(review.taskOutput, MOST_OUTPUT, "...");
    const event = reviewEvent(this.#sightOf(request), { ...review, taskOutput });
    const problems = await Promise.all(
      configs.map((config) => this.#send(request, config, event, signal)),
    );
    return problems.find((problem) => problem !== undefined);
  }

  async #send(
    { requestId }: WorkRequest,
    { url, token, scheme, credentials }: PushConfig,
    event: core.StreamResponse,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const headers = {
      "content-type": "application/a2a+json",
      ...(token !== "" && { [TOKEN_HEADER]: token }),
      ...(scheme !== "" && { authorization: `${scheme} ${credentials}` }),
    };
    let body: string;
    try {
      const sdk = await loadOptionalPackage<typeof core>("@a2a-js/sdk", "A2A needs");
      body = JSON.stringify(sdk.StreamResponse.toJSON(event));
    } catch (error) {
      return messageOf(error); // a repetition in this instance would also fail
    }
    const message = { url, deliveryId: requestId, body, headers };
    return undeliveredReason(await this.#parts.webhooks.send(message, signal));
  }

  #sightOf(request: WorkRequest): TaskSight {
    const id = taskIdIn(request);
    const at = this.#parts.clock.now().toISOString();
    return { id, contextId: taskNameOf(id).contextId, at };
  }
}

function taskIdIn(request: WorkRequest): string {
  return asText(request[A2A_TASK]);
}
