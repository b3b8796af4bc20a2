import type { NetworkBackend, WorkResponse } from "../contracts/network.js";
import type { Redactor, SecretFilter } from "../contracts/redaction.js";
import type { StartOptions } from "../contracts/service.js";
import { createRedactor } from "../util/redaction/redactor.js";
import { secretReplacer } from "../util/redaction/secret-values.js";

/**
 * Returns a filter that removes the tokens of callers and the secrets of webhooks, ingresses and
 * the backend. Returns `undefined` if there are none.
 */
export function startSecrets(o: StartOptions, backend: NetworkBackend): SecretFilter | undefined {
  const tokens = Object.values(o.callers ?? {}).flatMap((caller) =>
    typeof caller === "string" ? caller : caller.token,
  );
  const values = [...tokens, ...(o.webhooks === undefined ? [] : [o.webhooks.secret])];
  const parts = [backend, ...(o.ingress ?? [])].filter((part) => part.redact !== undefined);
  if (values.length + parts.length === 0) return undefined;
  const own = secretReplacer(values);
  return (text) => parts.reduce((result, part) => part.redact?.(result) ?? result, own(text));
}

/** Removes secrets from all data that a service stores, sends and reports. */
export class ServiceRedactor {
  readonly #filter: SecretFilter | undefined;
  readonly #redactor: Redactor;

  constructor(filter: SecretFilter | undefined) {
    this.#filter = filter;
    this.#redactor = createRedactor({ filters: () => (filter === undefined ? [] : [filter]) });
  }

  /** Removes the secrets of the service from a text. */
  readonly ofService: SecretFilter = (text) => this.#filter?.(text) ?? text;

  /**
   * Redacts a text about a failure: removes the secrets of the service, and texts that resemble
   * secrets.
   */
  readonly text: SecretFilter = (text) => this.#redactor.redactText(text);

  /**
   * Removes the secrets of the service from a response. Texts that only resemble secrets are part
   * of its content.
   */
  response(response: WorkResponse): WorkResponse {
    const filter = this.#filter;
    if (filter === undefined) return response;
    const { result, error, parsed } = response;
    return {
      ...response,
      ...(result !== undefined && { result: filter(result) }),
      ...(error !== undefined && { error: filter(error) }),
      ...(parsed !== undefined && { parsed: this.value(parsed) }),
    };
  }

  /** Removes the secrets of the service from JSON data. */
  value<T>(value: T): T {
    if (this.#filter === undefined) return value;
    const text = JSON.stringify(value);
    const clean = this.#filter(text);
    return clean === text ? value : (JSON.parse(clean) as T); // only its texts differ
  }
}
