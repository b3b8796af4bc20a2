import type { SearchProvider } from "./search-provider.js";
import { checkOptions } from "../../../contracts/validation.js";
import { checkFetchHeaders } from "../../shared/fetch/safe-fetch-options.js";
import { secretValues, secretWords } from "../../../util/redaction/secret-values.js";
import { requireBaseUrl, SearchEndpoint } from "./search-endpoint.js";

/** Options of {@link searxng}. */
export interface SearxngOptions {
  /** URL of the instance, which may be on this machine. It must allow the format `json`. */
  readonly baseURL: string;
  /**
   * Headers of every search, for example for a proxy in front of the instance. Secrets in them are
   * removed from messages.
   */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/**
 * Searches with a SearXNG instance, which needs no key.
 * @throws ValidationError for a missing address or an unknown option
 */
export function searxng(options: SearxngOptions): SearchProvider {
  checkOptions("searxng", options, ["baseURL", "headers"]);
  const base = requireBaseUrl("searxng", options.baseURL);
  const headers = Object.fromEntries(checkFetchHeaders("searxng headers", options.headers));
  const endpoint = new SearchEndpoint("SearXNG", base, secretValues(headers).flatMap(secretWords));
  return Object.freeze<SearchProvider>({
    name: "searxng",
    async search(query, { signal }) {
      const answer = await endpoint.ask("/search", {
        query: { q: query, format: "json" },
        headers: { accept: "application/json", ...headers },
        signal,
      });
      return endpoint.resultsOf(answer, ["results"], { url: "url", snippet: "content" });
    },
  });
}
