import type { SecretFilter } from "../../../contracts/redaction.js";
import { createToken } from "../../../contracts/token.js";

/** The secrets of the services on one kernel. They are known when a service starts. */
export class ServiceSecrets {
  readonly #filters = new Set<SecretFilter>();

  /** Applies `filter` to the texts of all runs. Returns a function that ends this. */
  add(filter: SecretFilter): () => void {
    this.#filters.add(filter);
    return () => void this.#filters.delete(filter);
  }

  readonly redact: SecretFilter = (text) => {
    let result = text;
    for (const filter of this.#filters) result = filter(result);
    return result;
  };
}

/** Bound by `serviceSecrets()`. */
export const SERVICE_SECRETS = createToken<ServiceSecrets>("ServiceSecrets");
