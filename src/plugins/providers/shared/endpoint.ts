import { createHash } from "node:crypto";
import { canonicalJson } from "../../../util/json/canonical.js";
import { ModelCallError } from "../../../contracts/errors.js";
import { baseURLProblem, keyProblem, type ResolvedProviderOptions } from "./provider-options.js";
import type { SecretFilter } from "../../../contracts/redaction.js";
import {
  secretReplacer,
  secretValues,
  secretWords,
} from "../../../util/redaction/secret-values.js";
import { strictFetch, type FetchFunction } from "./strict-fetch.js";

/** The key for self-hosted servers. They usually need none, but the clients always send a key. */
const PLACEHOLDER_KEY = "not-needed";
const LONGEST_TIMER_MS = 2_147_483_647;

/** The settings of a vendor's client. */
export interface ClientSettings {
  readonly apiKey: string;
  readonly baseURL: string;
  /** `null` removes a header from requests. */
  readonly headers: Readonly<Record<string, string | null>>;
  readonly timeoutMs: number;
  readonly fetch: FetchFunction;
}

/** Sends one request with the vendor's client, and returns the response unread. Must not retry. */
export type Post = (path: string, body: object, signal: AbortSignal) => Promise<Response>;

/** The specific parts of a vendor's API. */
export interface Vendor {
  /** The provider's name, equal to the name of the function that creates its models. */
  readonly name: string;
  readonly keyVariable: string;
  readonly urlVariable: string;
  readonly defaultURL: string;
  /** Typical URL of this API, for hints. */
  readonly urlHint: string;
  /** Headers, in lower case, that may replace the key. */
  readonly keyHeaders: readonly string[];
  /** Loads the vendor's client and creates an instance. */
  open(settings: ClientSettings): Promise<Post>;
}

/** The vendor's client, ready to use, and the properties of its target. */
export interface Endpoint {
  readonly post: Post;
  readonly baseURL: string;
  /** Whether the target is the vendor itself. False for a compatible server. */
  readonly isVendor: boolean;
  readonly redact: SecretFilter;
}

/** Connects to an endpoint. `modelId` is used in error messages. */
export interface Connector {
  /** Connects. The first call loads and creates the client. All later calls share it. */
  connect(modelId: string): Promise<Endpoint>;
  /**
   * Checks that the URL and the key for the first call exist.
   * @throws ModelCallError
   */
  check(modelId: string): void;
  /** Returns whether calls go to the vendor itself. True while no usable URL is configured. */
  isVendor(modelId: string): boolean;
  /**
   * Returns a salted hash of URL, headers and key. Never throws. Without a usable key, returns the
   * hash of the options alone.
   */
  identity(modelId: string): string;
}

/** The URL and key of calls. */
interface Address extends Pick<Endpoint, "baseURL" | "isVendor"> {
  /** Whether a header replaces the key. */
  readonly hasKeyHeader: boolean;
  readonly apiKey: string | undefined;
}

function fromEnvironment(name: string): string | undefined {
  const value = process.env[name]?.trim();
  return value === "" ? undefined : value;
}

class EndpointOpener {
  readonly #vendor: Vendor;
  readonly #options: ResolvedProviderOptions;
  readonly #modelId: string;

  constructor(vendor: Vendor, options: ResolvedProviderOptions, modelId: string) {
    this.#vendor = vendor;
    this.#options = options;
    this.#modelId = modelId;
  }

  /**
   * Reads the options and the environment.
   * @throws ModelCallError for an invalid URL or key
   */
  address(): Address {
    const { headers } = this.#options;
    const baseURL = this.#baseURL();
    const isVendor = this.isVendor(baseURL);
    const hasKeyHeader = Object.keys(headers).some((name) =>
      this.#vendor.keyHeaders.includes(name.toLowerCase()),
    );
    return { baseURL, isVendor, hasKeyHeader, apiKey: this.#key(isVendor && !hasKeyHeader) };
  }

  /** @throws ModelCallError for an invalid URL */
  isVendor(baseURL = this.#baseURL()): boolean {
    const host = new URL(baseURL).hostname;
    const vendorHost = new URL(this.#vendor.defaultURL).hostname;
    return host === vendorHost || host.endsWith(`.${vendorHost}`);
  }

  async open(): Promise<Endpoint> {
    const { headers, timeoutMs, idleTimeoutMs, fetch } = this.#options;
    const { baseURL, isVendor, hasKeyHeader, apiKey } = this.address();
    const post = await this.#vendor.open({
      apiKey: apiKey ?? PLACEHOLDER_KEY,
      baseURL,
      // A server would reject a request with a real key in another header and this placeholder key.
      headers: apiKey === undefined && hasKeyHeader ? { authorization: null, ...headers } : headers,
      // This limit is a fallback. The call's own deadline is shorter and includes the body.
      timeoutMs: Math.min(Math.ceil(timeoutMs) + 1000, LONGEST_TIMER_MS),
      fetch: strictFetch(fetch, idleTimeoutMs),
    });
    const redact = secretReplacer([
      ...(apiKey === undefined ? [] : [apiKey]),
      ...secretValues(headers).flatMap(secretWords),
    ]);
    return { post, baseURL, isVendor, redact };
  }

  #baseURL(): string {
    const { name, urlVariable, defaultURL } = this.#vendor;
    if (this.#options.baseURL !== undefined) return this.#options.baseURL;
    const url = fromEnvironment(urlVariable);
    if (url === undefined) return defaultURL;
    const problem = baseURLProblem(url);
    if (problem === undefined) return url;
    throw this.#error(
      "AE_MODEL_CONNECTION",
      `${urlVariable} ${problem}`,
      `Correct the environment variable, or pass ${name}(model, { baseURL }).`,
    );
  }

  #key(required: boolean): string | undefined {
    const { name, keyVariable } = this.#vendor;
    if (this.#options.apiKey !== undefined) return this.#options.apiKey;
    const key = fromEnvironment(keyVariable);
    const hint = `Set the environment variable ${keyVariable}, or pass ${name}(model, { apiKey }).`;
    if (key === undefined) {
      if (required)
        throw this.#error(
          "AE_MODEL_AUTH",
          `No API key for ${name}:${this.#modelId}: ${keyVariable} is not set`,
          hint,
        );
      return undefined;
    }
    const problem = keyProblem(key);
    if (problem !== undefined)
      throw this.#error("AE_MODEL_AUTH", `${keyVariable} ${problem}`, hint);
    return key;
  }

  #error(
    code: "AE_MODEL_AUTH" | "AE_MODEL_CONNECTION",
    message: string,
    hint: string,
  ): ModelCallError {
    return new ModelCallError(
      message,
      { provider: this.#vendor.name, modelId: this.#modelId, code, retryable: false },
      { hint },
    );
  }
}

/** The salt distinguishes the hash from other hashes of the same key. */
const IDENTITY_SALT = "agentensemble/model-identity";

function accountHash(account: object): string {
  return createHash("sha256").update(IDENTITY_SALT).update(canonicalJson(account)).digest("hex");
}

/**
 * Creates a connector for these options. A failed first attempt is not cached, because the key may
 * be set later.
 */
export function createConnector(vendor: Vendor, options: ResolvedProviderOptions): Connector {
  let endpoint: Promise<Endpoint> | undefined;
  let identity: string | undefined;
  return {
    connect(modelId) {
      endpoint ??= new EndpointOpener(vendor, options, modelId).open().catch((error: unknown) => {
        endpoint = undefined;
        throw error;
      });
      return endpoint;
    },
    check(modelId) {
      if (endpoint === undefined) new EndpointOpener(vendor, options, modelId).address();
    },
    isVendor(modelId) {
      try {
        return new EndpointOpener(vendor, options, modelId).isVendor();
      } catch {
        return true;
      }
    },
    identity(modelId) {
      if (identity !== undefined) return identity;
      const { headers } = options;
      try {
        const { baseURL, apiKey } = new EndpointOpener(vendor, options, modelId).address();
        return (identity = accountHash({ baseURL, apiKey, headers }));
      } catch {
        // the environment may change before the next call
        return accountHash({ baseURL: options.baseURL, apiKey: options.apiKey, headers });
      }
    },
  };
}
