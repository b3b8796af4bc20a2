import type { NetworkBackend } from "../../../contracts/network.js";
import type { ReviewDecision } from "../../../contracts/review.js";
import type { Clock } from "../../../contracts/runtime.js";
import { NetworkError } from "../../../contracts/network-errors.js";
import { asFields, asText } from "../../../util/objects.js";
import { systemClock, uuidGenerator } from "../../../util/runtime.js";
import { startClockTimer } from "./clock-timer.js";

/** Maximum number of attempts to send a decision, and the wait for each answer. */
const TRIES = 5;
const TRY_MS = 1_000;
/** Maximum number of decisions per request whose repetitions are recognized. */
const MOST_KNOWN = 100;

function decisionTopic(requestId: string): string {
  return `decide.${requestId}`;
}

/**
 * Sends the decision of a review to the instance that executes a request. Resolves with true if the
 * review was open. Resolves with false if the review was already decided, has expired, or is
 * unknown.
 * @throws NetworkError if no instance answers within five seconds.
 */
export async function sendDecision(
  { topics }: Pick<NetworkBackend, "topics">,
  { requestId, reviewId, decision }: DecisionMessage & { readonly requestId: string },
  clock: Pick<Clock, "monotonicMs" | "sleep"> = systemClock,
): Promise<boolean> {
  const id = uuidGenerator.next();
  const replyTo = `decided.${id}`;
  let end: (accepted: boolean) => void = () => undefined;
  const answered = new Promise<boolean>((resolve) => (end = resolve));
  const leave = await topics.subscribe(replyTo, (reply) =>
    end(asFields(reply)?.["accepted"] === true),
  );
  try {
    for (let tries = 0; tries < TRIES; tries++) {
      await topics.publish(decisionTopic(requestId), { id, reviewId, decision, replyTo });
      const late = await withinTry(answered, clock);
      if (late !== undefined) return late;
    }
  } finally {
    leave();
  }
  throw new NetworkError(`No instance answered the decision of review '${reviewId}'`, {
    hint: "The request may have ended, or its instance may have stopped. Send the decision again.",
  });
}

interface DecisionMessage {
  readonly reviewId: string;
  readonly decision: ReviewDecision;
}

function withinTry(
  answered: Promise<boolean>,
  clock: Pick<Clock, "monotonicMs" | "sleep">,
): Promise<boolean | undefined> {
  return new Promise((resolve, reject) => {
    const stop = startClockTimer(clock, TRY_MS, () => resolve(undefined));
    answered.then((accepted) => {
      stop();
      resolve(accepted);
    }, reject);
  });
}

/**
 * Receives the decisions for a request that this process executes. `decide` returns whether the
 * review was open. It is called once for a decision that arrives twice. Resolves with a function
 * that ends the subscription.
 */
export async function receiveDecisions(
  { topics }: Pick<NetworkBackend, "topics">,
  requestId: string,
  decide: (reviewId: string, decision: unknown) => Promise<boolean>,
): Promise<() => void> {
  const known = new Map<string, Promise<boolean>>();
  const answer = async (message: unknown): Promise<void> => {
    const fields = asFields(message);
    const [id, reviewId] = [asText(fields?.["id"]), asText(fields?.["reviewId"])];
    const accepted = known.get(id) ?? decide(reviewId, fields?.["decision"]);
    known.set(id, accepted);
    const [oldest = ""] = known.keys();
    if (known.size > MOST_KNOWN) known.delete(oldest);
    await topics.publish(asText(fields?.["replyTo"]), { accepted: await accepted });
  };
  return topics.subscribe(decisionTopic(requestId), (message) => {
    answer(message).catch(() => undefined); // the sender repeats decisions without an answer
  });
}
