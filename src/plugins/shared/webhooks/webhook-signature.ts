import { createHmac, timingSafeEqual } from "node:crypto";
import { ValidationError } from "../../../contracts/errors.js";

/** The headers of a signed webhook. */
export const WEBHOOK_HEADERS = Object.freeze({
  delivery: "x-agentensemble-delivery",
  timestamp: "x-agentensemble-timestamp",
  signature: "x-agentensemble-signature",
});

/**
 * Maximum difference in seconds between the clocks of sender and receiver, including the
 * transmission.
 */
const TOLERANCE_S = 300;
const SHORTEST_SECRET = 16;

/** A message before it is signed. */
export interface UnsignedWebhook {
  /** Identifies the message. Repetitions have the same id. */
  readonly deliveryId: string;
  readonly body: string;
  readonly at: Date;
}

/** Returns the headers that sign a message. */
export function signedHeaders(
  { deliveryId, body, at }: UnsignedWebhook,
  secret: string,
): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1_000));
  return {
    [WEBHOOK_HEADERS.delivery]: deliveryId,
    [WEBHOOK_HEADERS.timestamp]: timestamp,
    [WEBHOOK_HEADERS.signature]: `sha256=${digestOf(timestamp, body, secret).toString("hex")}`,
  };
}

/** The reason why a message is not accepted. */
export type WebhookProblem = "UNSIGNED" | "TOO_OLD" | "WRONG_SIGNATURE";

/**
 * Returns the problem of the signature of a message. `undefined` for a valid signature. Each secret
 * is compared in constant time.
 */
export function webhookProblem(
  headers: Headers,
  body: string,
  { secrets, at }: { readonly secrets: readonly string[]; readonly at: Date },
): WebhookProblem | undefined {
  const timestamp = headers.get(WEBHOOK_HEADERS.timestamp) ?? "";
  const signature = headers.get(WEBHOOK_HEADERS.signature) ?? "";
  const hex = /^sha256=([0-9a-f]{64})$/i.exec(signature)?.[1];
  if (hex === undefined || !/^\d{1,12}$/.test(timestamp)) return "UNSIGNED";
  const sent = Buffer.from(hex, "hex");
  const isSigned = secrets.filter((secret) =>
    timingSafeEqual(digestOf(timestamp, body, secret), sent),
  );
  if (isSigned.length === 0) return "WRONG_SIGNATURE";
  const ageS = at.getTime() / 1_000 - Number(timestamp);
  return Math.abs(ageS) <= TOLERANCE_S ? undefined : "TOO_OLD";
}

/**
 * @throws ValidationError unless `secret` has at least 16 characters. The message omits the secret.
 */
export function requireWebhookSecret(what: string, secret: unknown): void {
  if (typeof secret === "string" && secret.length >= SHORTEST_SECRET) return;
  throw new ValidationError(`${what} must have at least ${SHORTEST_SECRET} characters`, {
    hint: "Generate one, for instance: openssl rand -hex 32",
  });
}

function digestOf(timestamp: string, body: string, secret: string): Buffer {
  return createHmac("sha256", secret).update(`${timestamp}.${body}`).digest();
}
