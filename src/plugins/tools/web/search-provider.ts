import type { Awaitable } from "../../../contracts/types.js";

/** One result of a web search. */
export interface SearchResult {
  readonly title?: string | undefined;
  readonly url?: string | undefined;
  /** A few sentences of the page. */
  readonly snippet?: string | undefined;
}

/** Source of the results of `webSearchTool`. Implement it for another search service. */
export interface SearchProvider {
  /** Name for messages. */
  readonly name: string;
  /**
   * Called once per search. Several runs may call it concurrently. The model receives the message
   * of an error, so it must not contain a secret. `maxResults` is the number of results that the
   * tool shows. Further results are dropped. `signal` aborts when the call ends.
   */
  search(
    query: string,
    options: { readonly maxResults: number; readonly signal: AbortSignal },
  ): Awaitable<readonly SearchResult[]>;
}
