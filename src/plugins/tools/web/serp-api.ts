import type { SearchServiceOptions } from "./search-endpoint.js";
import type { SearchProvider } from "./search-provider.js";
import { checkOptions, requireText } from "../../../contracts/validation.js";
import { requireBaseUrl, requireKey, SearchEndpoint } from "./search-endpoint.js";

/** Options of {@link serpApi}. */
export interface SerpApiOptions extends SearchServiceOptions {
  readonly apiKey: string;
  /** One of the search engines of SerpApi. Default `"google"`. */
  readonly engine?: string | undefined;
}

/**
 * Searches with SerpApi (serpapi.com). The service accepts its key only in the query, so the key is
 * part of the requested URL. It never appears in messages.
 * @throws ValidationError for a missing key or an unknown option
 */
export function serpApi(options: SerpApiOptions): SearchProvider {
  checkOptions("serpApi", options, ["apiKey", "baseURL", "engine"]);
  const { apiKey, baseURL = "https://serpapi.com", engine = "google" } = options;
  requireKey("serpApi", apiKey);
  requireText(engine, "serpApi engine must not be blank");
  const endpoint = new SearchEndpoint("SerpAPI", requireBaseUrl("serpApi", baseURL), [apiKey]);
  return Object.freeze<SearchProvider>({
    name: "serpApi",
    async search(query, { maxResults, signal }) {
      const asked = { engine, q: query, num: String(maxResults), api_key: apiKey };
      const answer = await endpoint.ask("/search.json", {
        query: asked,
        headers: { accept: "application/json" },
        signal,
      });
      return endpoint.resultsOf(answer, ["organic_results"], { url: "link", snippet: "snippet" });
    },
  });
}
