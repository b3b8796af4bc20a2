import type { AllowedTargets } from "../fetch/host-rules.js";
import {
  checkOptions,
  requireDuration,
  requireInteger,
  requireArray,
} from "../../../contracts/validation.js";
import { ValidationError } from "../../../contracts/errors.js";
import { AllowList, HostList } from "../fetch/host-rules.js";
import { requireWebhookSecret } from "./webhook-signature.js";

/** How webhooks are sent. */
export interface WebhookOptions {
  /** Signs the messages: at least 16 characters. */
  readonly secret: string;
  /**
   * The hosts that messages may be sent to: `hooks.example.com`, `*.example.com`. Their addresses
   * must be public, unless `allow` names them.
   */
  readonly hosts: readonly string[];
  /** Hosts and networks that are allowed although they are not public, and ports. Default: none. */
  readonly allow?: AllowedTargets | undefined;
  /** Milliseconds for one attempt. Default 10,000. */
  readonly timeoutMs?: number | undefined;
  /** Attempts to send a message. Default 5. */
  readonly maxAttempts?: number | undefined;
}

const OPTIONS = ["secret", "hosts", "allow", "timeoutMs", "maxAttempts"];

/** @throws ValidationError for an unknown or invalid option. */
export function checkWebhookOptions(what: string, options: WebhookOptions): void {
  checkOptions(what, options, OPTIONS);
  const { secret, hosts, allow, timeoutMs, maxAttempts } = options;
  requireWebhookSecret(`${what} secret`, secret);
  requireArray(`${what} hosts`, hosts);
  if (hosts === undefined || hosts.length === 0)
    throw new ValidationError(`${what} hosts must name the hosts that messages may be sent to`, {
      hint: 'For instance: hosts: ["hooks.example.com"].',
    });
  new HostList(`${what} hosts`, hosts);
  new AllowList(`${what} allow`, allow);
  requireDuration(`${what} timeoutMs`, timeoutMs);
  requireInteger(`${what} maxAttempts`, maxAttempts, 1);
}
