import type { SearchServiceOptions } from "./search-endpoint.js";
import type { SearchProvider } from "./search-provider.js";
import { checkOptions, requireOneOf } from "../../../contracts/validation.js";
import { requireBaseUrl, requireKey, SearchEndpoint } from "./search-endpoint.js";

/** Options of {@link tavily}. */
export interface TavilyOptions extends SearchServiceOptions {
  readonly apiKey: string;
  /** `"advanced"` costs two credits per search. Default `"basic"`. */
  readonly searchDepth?: "basic" | "advanced" | undefined;
}

/**
 * Searches with Tavily (tavily.com). Sends the key in a header.
 * @throws ValidationError for a missing key or an unknown option
 */
export function tavily(options: TavilyOptions): SearchProvider {
  checkOptions("tavily", options, ["apiKey", "baseURL", "searchDepth"]);
  const { apiKey, baseURL = "https://api.tavily.com", searchDepth = "basic" } = options;
  requireKey("tavily", apiKey);
  requireOneOf("tavily searchDepth", searchDepth, ["basic", "advanced"]);
  const endpoint = new SearchEndpoint("Tavily API", requireBaseUrl("tavily", baseURL), [apiKey]);
  return Object.freeze<SearchProvider>({
    name: "tavily",
    async search(query, { maxResults, signal }) {
      const headers = {
        authorization: `Bearer ${apiKey}`,
        "content-type": "application/json",
        accept: "application/json",
      };
      const body = JSON.stringify({ query, search_depth: searchDepth, max_results: maxResults });
      const answer = await endpoint.ask("/search", { method: "POST", headers, body, signal });
      return endpoint.resultsOf(answer, ["results"], { url: "url", snippet: "content" });
    },
  });
}
