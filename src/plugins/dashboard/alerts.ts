import { createHash } from "node:crypto";
import type { EventStream, EventType } from "../../contracts/events.js";
import type { Clock, IdGenerator } from "../../contracts/runtime.js";
import type { RunSummary } from "../../contracts/run-store.js";
import type { RunFeed } from "./feed/run-feed.js";
import type { RunLog } from "./feed/run-log.js";
import type { AllowedTargets } from "../shared/fetch/host-rules.js";
import { ValidationError } from "../../contracts/errors.js";
import { checkOptions, preview, requireArray, requireOneOf } from "../../contracts/validation.js";
import { emitProcessWarning } from "../../util/process-warning.js";
import { WebhookSender } from "../shared/webhooks/webhook-sender.js";
import { checkWebhookOptions } from "../shared/webhooks/webhook-target.js";

/** The reason of an alert: a run failed, exceeded its budget, or waits for a person. */
export type AlertReason = "failed" | "over-budget" | "waiting";

/** A receiver of alerts, which are signed POST requests with JSON. */
export interface AlertOptions {
  /** An `https` or `http` URL. Its host must have a public address, unless `allow` names it. */
  readonly url: string;
  /** The secret that signs the messages, with at least 16 characters. */
  readonly secret: string;
  /** The reasons for which alerts are sent. Default: all. */
  readonly on?: readonly AlertReason[] | undefined;
  /** Names of ensembles whose runs cause alerts. Default: all runs. */
  readonly ensembles?: readonly string[] | undefined;
  /** Hosts and networks that are allowed even though they are not public. Default: none. */
  readonly allow?: AllowedTargets | undefined;
  /** Time limit of one attempt in milliseconds. Default 10,000. */
  readonly timeoutMs?: number | undefined;
  /** Limit of attempts to send an alert. Default 5. */
  readonly maxAttempts?: number | undefined;
}

/** The body of an alert. */
interface AlertBody {
  readonly type: AlertReason;
  readonly at: string;
  readonly runId: string;
  readonly ensemble: string;
  readonly state: RunSummary["state"];
  readonly tags: RunSummary["tags"];
  /** The process that reports the run. Absent for this process. */
  readonly process?: string | undefined;
  /** The page of the run. */
  readonly link: string;
  readonly error?: RunSummary["error"];
  /** The limit. Set for `over-budget`. */
  readonly limit?: string | undefined;
  /** The review, if a person is asked. Set for `waiting`. */
  readonly reviewId?: string | undefined;
}

/** An alert with the id of its delivery. */
interface Alert {
  readonly body: AlertBody;
  readonly deliveryId: string;
}

/** The source of an alert. */
interface AlertedEvent {
  readonly type: EventType;
  readonly runId: string;
  readonly at: string;
  readonly reviewId?: string;
  readonly limit?: string;
  /** The id of the delivery. Default: a new one. */
  readonly id?: string;
}

const OPTIONS = ["url", "secret", "on", "ensembles", "allow", "timeoutMs", "maxAttempts"];
const REASONS: readonly AlertReason[] = ["failed", "over-budget", "waiting"];
const EVENTS: readonly EventType[] = [
  "ensemble_completed",
  "budget_exceeded",
  "review_requested",
  "run_suspended",
];
/**
 * Maximum age in milliseconds of an event of another process that causes an alert. When a board
 * starts, it receives the runs of several hours.
 */
const LATE_MS = 60 * 60_000;
/** Maximum number of undelivered alerts per receiver. Further alerts are dropped. */
const MAX_PENDING = 100;

/** @throws ValidationError */
export function checkAlerts(alerts: readonly AlertOptions[] | undefined): void {
  requireArray("dashboard alerts", alerts);
  alerts?.forEach((alert, i) => {
    const what = `dashboard alerts[${i}]`;
    checkOptions(what, alert, OPTIONS);
    hostOf(what, alert.url);
    checkWebhookOptions(what, webhookOf(what, alert));
    requireArray(`${what} on`, alert.on);
    alert.on?.forEach((reason: unknown, n) =>
      requireOneOf(`${what} on[${n}]`, reason ?? null, REASONS),
    );
    requireArray(`${what} ensembles`, alert.ensembles);
  });
}

function webhookOf(
  what: string,
  { url, secret, allow, timeoutMs, maxAttempts }: AlertOptions,
): ConstructorParameters<typeof WebhookSender>[0] {
  return { hosts: [hostOf(what, url)], secret, allow, timeoutMs, maxAttempts };
}

/**
 * Returns the host of an address, without its port.
 * @throws ValidationError for an invalid address
 */
function hostOf(what: string, url: unknown): string {
  const parsed = typeof url === "string" && URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol) || parsed.username !== "")
    throw new ValidationError(
      `${what} url must be an address like https://hooks.example.com/runs, got: ${preview(url)}`,
    );
  return parsed.hostname;
}

/** The functions of the board that alerts use. */
interface AlertParts {
  readonly feed: RunFeed;
  readonly clock: Clock;
  readonly ids: Pick<IdGenerator, "next">;
  /** Returns the address of a page of the board. */
  readonly link: (page: string) => string;
}

/** Sends alerts to one receiver. */
class AlertReceiver {
  readonly #options: AlertOptions;
  readonly #sender: WebhookSender;
  #pending = 0;
  #isFailing = false;

  constructor(options: AlertOptions, clock: Clock) {
    this.#options = options;
    this.#sender = new WebhookSender(webhookOf("dashboard alerts", options), clock);
  }

  /** Sends an alert if the receiver subscribes to it. Never throws. Callers do not wait for it. */
  send({ body, deliveryId }: Alert, signal: AbortSignal): void {
    const { on = REASONS, ensembles, url } = this.#options;
    if (!on.includes(body.type)) return;
    if (ensembles !== undefined && !ensembles.includes(body.ensemble)) return;
    if (this.#pending >= MAX_PENDING) return this.#failed(`${MAX_PENDING} alerts have not arrived`);
    this.#pending++;
    const message = { url, deliveryId, body: JSON.stringify(body) };
    void this.#sender.send(message, signal).then((outcome) => {
      this.#pending--;
      if (outcome.isDelivered) this.#isFailing = false;
      else this.#failed(outcome.problem);
    });
  }

  /** Warns once until the next successful delivery. */
  #failed(problem: string): void {
    if (this.#isFailing) return;
    this.#isFailing = true;
    const { url } = this.#options;
    const { href, origin } = new URL(url);
    // The path may contain a secret.
    const shown = problem.replaceAll(url, origin).replaceAll(href, origin);
    emitProcessWarning(`dashboard: an alert to ${origin} was not delivered: ${shown}`);
  }
}

/** Sends alerts about runs to their receivers. */
export class Alerts {
  readonly #parts: AlertParts;
  readonly #receivers: readonly AlertReceiver[];
  readonly #closing = new AbortController();

  /** `checkAlerts` has checked the options. */
  constructor(options: readonly AlertOptions[], parts: AlertParts) {
    this.#parts = parts;
    this.#receivers = options.map((one) => new AlertReceiver(one, parts.clock));
    if (options.length > 0) parts.feed.listen({ onEntry: (log) => this.#received(log) });
  }

  /**
   * Subscribes to the runs of a kernel, after the feed. Returns a function that ends the
   * subscription.
   */
  attach(events: EventStream): () => void {
    if (this.#receivers.length === 0) return () => undefined;
    return events.on(
      (event) => {
        const { type, runId, at } = event;
        this.#take({
          type,
          runId,
          at,
          ...(event.type === "review_requested" && { reviewId: event.reviewId }),
          ...(event.type === "budget_exceeded" && { limit: event.limit }),
        });
      },
      { only: EVENTS },
    );
  }

  /** Called when a run of another process has received an entry. */
  #received(log: RunLog): void {
    if (log.origin === undefined) return;
    const { type, at } = log.entry(log.n, "slim");
    const isLate = this.#parts.clock.now().getTime() - Date.parse(at) > LATE_MS;
    if (isLate || !(EVENTS as readonly string[]).includes(type)) return;
    const { reviewId, limit } = log.entry(log.n, "full");
    this.#take({
      type: type as EventType, // one of the list
      runId: log.runId,
      at,
      ...(typeof reviewId === "string" && { reviewId: `${log.origin.process}/${reviewId}` }),
      ...(typeof limit === "string" && { limit }),
      // the id is the same when a restarted board receives the entry again
      id: createHash("sha256")
        .update(JSON.stringify([log.runId, log.n, at]))
        .digest("hex"),
    });
  }

  /** Stops the repetition of undelivered alerts. */
  close(): void {
    this.#closing.abort();
  }

  #take(event: AlertedEvent): void {
    const summary = this.#parts.feed.get(event.runId)?.summary;
    const reason = summary && reasonFor(event.type, summary);
    if (summary === undefined || reason === undefined) return;
    const { runId, ensemble, state, tags, error, process } = summary;
    const { reviewId } = event;
    const body: AlertBody = {
      type: reason,
      at: event.at,
      runId,
      ensemble,
      state,
      tags,
      ...(process !== undefined && { process }),
      link: this.#parts.link(
        reviewId === undefined
          ? `runs/${encodeURIComponent(runId)}`
          : `reviews/${encodeURIComponent(reviewId)}`,
      ),
      ...(reason === "failed" && error !== undefined && { error }),
      ...(event.limit !== undefined && { limit: event.limit }),
      ...(reviewId !== undefined && { reviewId }),
    };
    const alert = { body, deliveryId: event.id ?? this.#parts.ids.next() };
    for (const receiver of this.#receivers) receiver.send(alert, this.#closing.signal);
  }
}

function reasonFor(type: EventType, { state }: RunSummary): AlertReason | undefined {
  if (type === "budget_exceeded") return "over-budget";
  if (type === "review_requested" || type === "run_suspended") return "waiting";
  return state === "failed" ? "failed" : undefined;
}
