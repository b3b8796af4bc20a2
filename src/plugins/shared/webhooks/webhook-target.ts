import type { WebhookOptions } from "../../../contracts/webhooks.js";
import {
  checkOptions,
  requireDuration,
  requireInteger,
  requireArray,
} from "../../../contracts/validation.js";
import { ValidationError } from "../../../contracts/errors.js";
import { AllowList, HostList } from "../fetch/host-rules.js";
import { requireWebhookSecret } from "./webhook-signature.js";

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
