import type { Awaitable } from "../../../contracts/types.js";

/** One result of a web search. */
export interface SearchResult {
  readonly title?: string | undefined;
  readonly url?: string | undefined;
  /** A few sentences of the page. */
  readonly snippet?: string | undefined;
}

/** Where `webSearchTool` gets its results from. Implement it for a search service of your own. */
export interface SearchProvider {
  /** Shown in messages. */
  readonly name: string;
  /**
   * Called once per search, by several runs at once. What it throws is told to the model, so no secret may stand in it.
   * `maxResults` is what the tool shows: more are cut off. `signal` ends with the call.
   */
  search(
    query: string,
    options: { readonly maxResults: number; readonly signal: AbortSignal },
  ): Awaitable<readonly SearchResult[]>;
}
