import type { SearchServiceOptions } from "./search-endpoint.js";
import type { SearchProvider } from "./search-provider.js";
import { checkOptions } from "../../../contracts/validation.js";
import { requireBaseUrl, requireKey, SearchEndpoint } from "./search-endpoint.js";

/** Options of {@link brave}. */
export interface BraveOptions extends SearchServiceOptions {
  readonly apiKey: string;
}

/** Maximum number of results that the service accepts per request. */
const MOST_RESULTS = 20;

/**
 * Searches with the Brave Search API. Sends the key in a header.
 * @throws ValidationError for a missing key or an unknown option
 */
export function brave(options: BraveOptions): SearchProvider {
  checkOptions("brave", options, ["apiKey", "baseURL"]);
  const { apiKey, baseURL = "https://api.search.brave.com" } = options;
  requireKey("brave", apiKey);
  const endpoint = new SearchEndpoint("Brave Search API", requireBaseUrl("brave", baseURL), [
    apiKey,
  ]);
  return Object.freeze<SearchProvider>({
    name: "brave",
    async search(query, { maxResults, signal }) {
      const asked = {
        q: query,
        count: String(Math.min(maxResults, MOST_RESULTS)),
        text_decorations: "false",
      };
      const headers = { "x-subscription-token": apiKey, accept: "application/json" };
      const answer = await endpoint.ask("/res/v1/web/search", { query: asked, headers, signal });
      return endpoint.resultsOf(answer, ["web", "results"], { url: "url", snippet: "description" });
    },
  });
}
