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

/** Servers of one's own usually want no key, but the clients insist on sending one. */
const PLACEHOLDER_KEY = "not-needed";
const LONGEST_TIMER_MS = 2_147_483_647;

/** What a vendor's client is made of. */
export interface ClientSettings {
  readonly apiKey: string;
  readonly baseURL: string;
  /** `null` keeps a header from being sent. */
  readonly headers: Readonly<Record<string, string | null>>;
  readonly timeoutMs: number;
  readonly fetch: FetchFunction;
}

/** Sends one request with the vendor's client, and gives the answer unread. Must not retry. */
export type Post = (path: string, body: object, signal: AbortSignal) => Promise<Response>;

/** What is particular to a vendor's API. */
export interface Vendor {
  /** The provider's name, which is also that of the function that makes its models. */
  readonly name: string;
  readonly keyVariable: string;
  readonly urlVariable: string;
  readonly defaultURL: string;
  /** How addresses of this API usually look, for hints. */
  readonly urlHint: string;
  /** The headers, in lower case, that may stand in for the key. */
  readonly keyHeaders: readonly string[];
  /** Loads the vendor's client and makes one. */
  open(settings: ClientSettings): Promise<Post>;
}

/** The vendor's client, ready to use, and what is known about where it talks to. */
export interface Endpoint {
  readonly post: Post;
  readonly baseURL: string;
  /** Whether this is the vendor itself, as opposed to a server that speaks its language. */
  readonly isVendor: boolean;
  readonly redact: SecretFilter;
}

/** The way to an endpoint. `modelId` is for error messages. */
export interface Connector {
  /** Connects lazily: the first call loads the client and makes it, and all later ones share it. */
  connect(modelId: string): Promise<Endpoint>;
  /** Looks for the address and the key that the first call needs. @throws ModelCallError */
  check(modelId: string): void;
  /** A salted hash of address, headers and key. Never throws: without a usable key it is that of the options alone. */
  identity(modelId: string): string;
}

/** Where calls go, and with which key. */
interface Address extends Pick<Endpoint, "baseURL" | "isVendor"> {
  /** Whether a header stands in for the key. */
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

  /** Reads the options and the environment. @throws ModelCallError for an address or a key that can't work. */
  address(): Address {
    const { headers } = this.#options;
    const baseURL = this.#baseURL();
    const host = new URL(baseURL).hostname;
    const vendorHost = new URL(this.#vendor.defaultURL).hostname;
    const isVendor = host === vendorHost || host.endsWith(`.${vendorHost}`);
    const hasKeyHeader = Object.keys(headers).some((name) =>
      this.#vendor.keyHeaders.includes(name.toLowerCase()),
    );
    return { baseURL, isVendor, hasKeyHeader, apiKey: this.#key(isVendor && !hasKeyHeader) };
  }

  async open(): Promise<Endpoint> {
    const { headers, timeoutMs, fetch } = this.#options;
    const { baseURL, isVendor, hasKeyHeader, apiKey } = this.address();
    const post = await this.#vendor.open({
      apiKey: apiKey ?? PLACEHOLDER_KEY,
      baseURL,
      // A placeholder beside a real key in another header would be taken for a wrong key.
      headers: apiKey === undefined && hasKeyHeader ? { authorization: null, ...headers } : headers,
      // Only a backstop: the call's own deadline comes first and covers the body too.
      timeoutMs: Math.min(Math.ceil(timeoutMs) + 1000, LONGEST_TIMER_MS),
      fetch: strictFetch(fetch),
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

/** The salt keeps the hash apart from other hashes of the same key. */
const IDENTITY_SALT = "agentensemble/model-identity";

function accountHash(account: object): string {
  return createHash("sha256").update(IDENTITY_SALT).update(canonicalJson(account)).digest("hex");
}

/** A connector for these options. A failed first attempt (no key yet) is not remembered. */
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
    identity(modelId) {
      if (identity !== undefined) return identity;
      const { headers } = options;
      try {
        const { baseURL, apiKey } = new EndpointOpener(vendor, options, modelId).address();
        return (identity = accountHash({ baseURL, apiKey, headers }));
      } catch {
        return accountHash({ baseURL: options.baseURL, apiKey: options.apiKey, headers }); // the environment may change before the next call
      }
    },
  };
}
