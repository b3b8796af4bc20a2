import type { EnsembleEvent, EventStream, EventType } from "../../contracts/events.js";
import type { Clock, IdGenerator } from "../../contracts/runtime.js";
import type { RunSummary } from "../../contracts/run-store.js";
import type { RunFeed } from "./feed/run-feed.js";
import type { AllowedTargets } from "../shared/fetch/host-rules.js";
import { ValidationError } from "../../contracts/errors.js";
import { checkOptions, preview, requireArray, requireOneOf } from "../../contracts/validation.js";
import { emitProcessWarning } from "../../util/process-warning.js";
import { WebhookSender } from "../shared/webhooks/webhook-sender.js";
import { checkWebhookOptions } from "../shared/webhooks/webhook-target.js";

/** What an alert is about: a run failed, exceeded a limit of its budget, or waits for a person. */
export type AlertReason = "failed" | "over-budget" | "waiting";

/** A receiver of alerts: signed POST requests with JSON. */
export interface AlertOptions {
  /** An `https` or `http` address. Its host must have a public address, unless `allow` names it. */
  readonly url: string;
  /** Signs the messages: at least 16 characters. */
  readonly secret: string;
  /** Default: all reasons. */
  readonly on?: readonly AlertReason[] | undefined;
  /** Names of ensembles. Default: all runs. */
  readonly ensembles?: readonly string[] | undefined;
  /** Hosts and networks that are allowed although they are not public. Default: none. */
  readonly allow?: AllowedTargets | undefined;
  /** Milliseconds for one attempt. Default 10,000. */
  readonly timeoutMs?: number | undefined;
  /** Attempts to send an alert. Default 5. */
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
  /** The page of the run. */
  readonly link: string;
  readonly error?: RunSummary["error"];
  /** Of `over-budget`: the limit. */
  readonly limit?: string | undefined;
  /** Of `waiting`: the review, if a person is asked. */
  readonly reviewId?: string | undefined;
}

const OPTIONS = ["url", "secret", "on", "ensembles", "allow", "timeoutMs", "maxAttempts"];
const REASONS: readonly AlertReason[] = ["failed", "over-budget", "waiting"];
const EVENTS: readonly EventType[] = [
  "ensemble_completed",
  "budget_exceeded",
  "review_requested",
  "run_suspended",
];
/** Alerts to one receiver that have not arrived. Further ones are dropped. */
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

/** The host of an address, without its port. @throws ValidationError for another address */
function hostOf(what: string, url: unknown): string {
  const parsed = typeof url === "string" && URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol) || parsed.username !== "")
    throw new ValidationError(
      `${what} url must be an address like https://hooks.example.com/runs, got: ${preview(url)}`,
    );
  return parsed.hostname;
}

/** What alerts need of their board. */
interface AlertParts {
  readonly feed: RunFeed;
  readonly clock: Clock;
  readonly ids: Pick<IdGenerator, "next">;
  /** The address of a page of the board. */
  readonly link: (page: string) => string;
}

/** One receiver. */
class AlertReceiver {
  readonly #options: AlertOptions;
  readonly #sender: WebhookSender;
  readonly #ids: Pick<IdGenerator, "next">;
  #pending = 0;
  #isFailing = false;

  constructor(options: AlertOptions, { clock, ids }: AlertParts) {
    this.#options = options;
    this.#sender = new WebhookSender(webhookOf("dashboard alerts", options), clock);
    this.#ids = ids;
  }

  /** Sends an alert that the receiver wants. Never throws, and nothing waits for it. */
  send(body: AlertBody, signal: AbortSignal): void {
    const { on = REASONS, ensembles, url } = this.#options;
    if (!on.includes(body.type)) return;
    if (ensembles !== undefined && !ensembles.includes(body.ensemble)) return;
    if (this.#pending >= MAX_PENDING) return this.#failed(`${MAX_PENDING} alerts have not arrived`);
    this.#pending++;
    const message = { url, deliveryId: this.#ids.next(), body: JSON.stringify(body) };
    void this.#sender.send(message, signal).then((outcome) => {
      this.#pending--;
      if (outcome.isDelivered) this.#isFailing = false;
      else this.#failed(outcome.problem);
    });
  }

  /** Warns once until an alert arrives. */
  #failed(problem: string): void {
    if (this.#isFailing) return;
    this.#isFailing = true;
    const { url } = this.#options;
    const { href, origin } = new URL(url);
    const shown = problem.replaceAll(url, origin).replaceAll(href, origin); // its path may be a secret
    emitProcessWarning(`dashboard: an alert to ${origin} was not delivered: ${shown}`);
  }
}

/** Sends alerts about runs to their receivers. */
export class Alerts {
  readonly #parts: AlertParts;
  readonly #receivers: readonly AlertReceiver[];
  readonly #closing = new AbortController();

  /** The options are checked: see `checkAlerts`. */
  constructor(options: readonly AlertOptions[], parts: AlertParts) {
    this.#parts = parts;
    this.#receivers = options.map((one) => new AlertReceiver(one, parts));
  }

  /** Watches the runs of a kernel, behind the feed. Returns a function that ends this. */
  attach(events: EventStream): () => void {
    if (this.#receivers.length === 0) return () => undefined;
    return events.on((event) => this.#take(event), { only: EVENTS });
  }

  /** Ends the repetition of alerts that have not arrived. */
  close(): void {
    this.#closing.abort();
  }

  #take(event: EnsembleEvent): void {
    const summary = this.#parts.feed.get(event.runId)?.summary;
    const reason = summary && reasonFor(event, summary);
    if (summary === undefined || reason === undefined) return;
    const { runId, ensemble, state, tags, error } = summary;
    const body: AlertBody = {
      type: reason,
      at: event.at,
      runId,
      ensemble,
      state,
      tags,
      link: this.#parts.link(
        event.type === "review_requested"
          ? `reviews/${encodeURIComponent(event.reviewId)}`
          : `runs/${encodeURIComponent(runId)}`,
      ),
      ...(reason === "failed" && error !== undefined && { error }),
      ...(event.type === "budget_exceeded" && { limit: event.limit }),
      ...(event.type === "review_requested" && { reviewId: event.reviewId }),
    };
    for (const receiver of this.#receivers) receiver.send(body, this.#closing.signal);
  }
}

function reasonFor({ type }: EnsembleEvent, { state }: RunSummary): AlertReason | undefined {
  if (type === "budget_exceeded") return "over-budget";
  if (type === "review_requested" || type === "run_suspended") return "waiting";
  return state === "failed" ? "failed" : undefined;
}
