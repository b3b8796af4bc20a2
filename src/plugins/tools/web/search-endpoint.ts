import type { SafeFetch } from "../../shared/fetch/safe-fetch.js";
import type { SearchResult } from "./search-provider.js";
import { ToolExecutionError, ValidationError } from "../../../contracts/errors.js";
import { FetchError } from "../../../contracts/state-errors.js";
import { portOf } from "../../shared/fetch/host-rules.js";
import { safeFetch } from "../../shared/fetch/safe-fetch.js";
import { shownAddress } from "../../shared/fetch/shown-url.js";
import { quotedBody } from "./outside-text.js";
import { secretReplacer } from "../../../util/redaction/secret-values.js";
import { isObject } from "../../../util/objects.js";

/** Options that the search services share. */
export interface SearchServiceOptions {
  /**
   * Address of the service, for example of a proxy. It may be on this machine. Default: the
   * service's own address.
   */
  readonly baseURL?: string | undefined;
}

/** Names of a service's fields for the common parts of a result. */
export interface ResultFields {
  readonly url: string;
  readonly snippet: string;
}

/** @throws ValidationError for an invalid key. The message omits the value. */
export function requireKey(what: string, apiKey: unknown): asserts apiKey is string {
  if (typeof apiKey !== "string" || apiKey.trim() === "" || /[\s\p{Cc}]/u.test(apiKey.trim())) {
    throw new ValidationError(`${what} apiKey must be a non-blank text without spaces`, {
      hint: "Pass it from an environment variable.",
    });
  }
}

/** @throws ValidationError for a value that is not an http or https URL */
export function requireBaseUrl(what: string, baseURL: unknown): URL {
  const url = typeof baseURL === "string" && URL.canParse(baseURL) ? new URL(baseURL) : undefined;
  const fits =
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    url.username === "" &&
    url.password === "" &&
    url.search === "" &&
    url.hash === "";
  const shown = typeof baseURL === "string" ? shownAddress(baseURL) : typeof baseURL;
  if (!fits)
    throw new ValidationError(
      `${what} baseURL must be an http or https URL without credentials and query, got: ${shown}`,
    );
  return url;
}

/** No limit of the fetch, because the signal of the tool limits the time. */
const NO_LIMIT_MS = 2_147_483_647;

/** A search service over HTTP. Only its own address is trusted. Redirects are not followed. */
export class SearchEndpoint {
  readonly #label: string;
  readonly #base: URL;
  readonly #fetch: SafeFetch;
  readonly #redact: (text: string) => string;

  constructor(label: string, base: URL, secrets: readonly string[]) {
    this.#label = label;
    this.#base = base;
    this.#redact = secretReplacer(secrets);
    const host = `${base.hostname}:${portOf(base)}`;
    this.#fetch = safeFetch({
      allow: { hosts: [host] },
      onlyHosts: [host],
      redirect: "manual",
      maxBytes: 2_097_152,
      timeoutMs: NO_LIMIT_MS,
    });
  }

  /**
   * Returns the JSON of a response.
   * @throws ToolExecutionError with status and body of a failed response; FetchError
   */
  async ask(
    path: string,
    request: Parameters<SafeFetch>[1] & { readonly query?: Readonly<Record<string, string>> },
  ): Promise<unknown> {
    const { query = {}, ...init } = request;
    const url = new URL(this.#base);
    url.pathname = `${url.pathname.replace(/\/+$/, "")}${path}`;
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const response = await this.#fetch(url, init);
    if (response.ok) return response.json();
    const body = this.#redact(response.text());
    const message = `${this.#label} returned HTTP ${response.status}${body.trim() === "" ? "" : `: ${quotedBody(body)}`}`;
    throw new ToolExecutionError(message, { toolName: "web_search", toolInput: "" });
  }

  /**
   * Returns the results at `path` of a response. Returns none if the service omits the list.
   * @throws FetchError for a response of another shape
   */
  resultsOf(
    answer: unknown,
    path: readonly string[],
    fields: ResultFields,
  ): readonly SearchResult[] {
    if (typeof answer !== "object" || answer === null) throw this.#misshapen();
    const list = path.reduce<unknown>(
      (value, name) => (isObject(value) ? value[name] : undefined),
      answer,
    );
    if (list === undefined || list === null) return [];
    if (!Array.isArray(list)) throw this.#misshapen();
    return list.filter(isObject).map((entry) => ({
      title: textOrNothing(entry["title"]),
      url: textOrNothing(entry[fields.url]),
      snippet: textOrNothing(entry[fields.snippet]),
    }));
  }

  #misshapen(): FetchError {
    return new FetchError(`${this.#label} returned no list of results`, { reason: "bad_response" });
  }
}

function textOrNothing(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
