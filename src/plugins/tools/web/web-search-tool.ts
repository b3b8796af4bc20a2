import type { Tool } from "../../../contracts/tool.js";
import type { SearchProvider, SearchResult } from "./search-provider.js";
import { ValidationError } from "../../../contracts/errors.js";
import { ToolResult } from "../../../contracts/tool-result.js";
import {
  checkOptions,
  preview,
  requireDuration,
  requireInteger,
  requireText,
} from "../../../contracts/validation.js";
import { toolArguments } from "../shared/arguments.js";
import { cutText } from "../../../util/text.js";
import { outsideLine } from "./outside-text.js";
import { webTool } from "./web-tool.js";

/** Options of {@link webSearchTool}. */
export interface WebSearchToolOptions {
  /**
   * The search service: `tavily(...)`, `brave(...)`, `serpApi(...)`, `searxng(...)`, or a custom
   * provider.
   */
  readonly provider: SearchProvider;
  /** Maximum number of results per search. Default 5. */
  readonly maxResults?: number | undefined;
  /** Time limit of one search in milliseconds. Default 15,000. */
  readonly timeoutMs?: number | undefined;
}

/** The `structured` value of a search result. */
export interface WebSearchOutput {
  readonly query: string;
  readonly provider: string;
  readonly results: readonly SearchResult[];
}

const LONGEST_TITLE = 300;
const LONGEST_SNIPPET = 2_000;

const args = toolArguments({
  properties: {
    query: {
      type: "string",
      description: "What to look for, as one would type it into a search engine.",
      examples: ["population of Oslo 2025"],
    },
  },
  required: ["query"],
});

/**
 * Creates a tool `web_search` that searches the web. It returns titles, addresses and snippets. Add
 * `webScraperTool` for whole pages.
 * @throws ValidationError for an invalid provider, an unknown option or an invalid value
 */
export function webSearchTool(options: WebSearchToolOptions): Tool<{ readonly query: string }> {
  checkOptions("webSearchTool", options, ["provider", "maxResults", "timeoutMs"]);
  const { provider, maxResults = 5, timeoutMs = 15_000 } = options;
  checkProvider(provider);
  requireInteger("webSearchTool maxResults", maxResults, 1);
  requireDuration("webSearchTool timeoutMs", timeoutMs);
  return webTool({
    name: "web_search",
    description:
      'Searches the web and returns titles, addresses and short excerpts of the best pages. Use it for facts that are recent or that you are not sure of. Example: {"query": "population of Oslo 2025"}',
    args,
    textOf: ({ query }) => query,
    blank: "Search query must not be blank",
    failure: "Search failed",
    timeoutMs,
    work: (query, signal) => searchWeb(provider, query, { maxResults, signal }),
  });
}

function checkProvider(provider: unknown): asserts provider is SearchProvider {
  const given = provider as Partial<SearchProvider> | undefined | null; // validated below
  if (typeof given !== "object" || typeof given?.search !== "function") {
    throw new ValidationError(
      `webSearchTool provider must have a name and a search function, got: ${preview(typeof provider)}`,
      {
        hint: "Make one with tavily(...), brave(...), serpApi(...) or searxng(...), or implement SearchProvider.",
      },
    );
  }
  requireText(given.name, "webSearchTool provider name must not be blank");
}

async function searchWeb(
  provider: SearchProvider,
  query: string,
  o: { readonly maxResults: number; readonly signal: AbortSignal },
): Promise<ToolResult> {
  const found: unknown = await provider.search(query, o);
  if (!Array.isArray(found))
    return ToolResult.failure(
      `Search failed: the provider '${provider.name}' returned no list of results`,
    );
  const results = found.map(tidiedResult).filter(isFilled).slice(0, o.maxResults);
  const structured: WebSearchOutput = { query, provider: provider.name, results };
  return ToolResult.success(
    results.length === 0 ? "No results found." : results.map(rendered).join("\n\n"),
    structured,
  );
}

function isFilled({ title, url, snippet }: SearchResult): boolean {
  return title !== undefined || url !== undefined || snippet !== undefined;
}

/** Returns a result with each text in one line, so that it can't imitate another result. */
function tidiedResult(result: unknown): SearchResult {
  const { title, url, snippet } = (
    typeof result === "object" && result !== null ? result : {}
  ) as Readonly<Record<string, unknown>>; // validated below
  return Object.freeze({
    title: resultLine(title, LONGEST_TITLE),
    url: addressOf(url),
    snippet: resultLine(snippet, LONGEST_SNIPPET),
  });
}

function resultLine(value: unknown, longest: number): string | undefined {
  const line = typeof value === "string" ? outsideLine(value.slice(0, 2 * longest)) : "";
  return line === "" ? undefined : cutText(line, longest, "...");
}

/** Returns an http or https address without spaces, or `undefined`. */
function addressOf(value: unknown): string | undefined {
  return typeof value === "string" && /^https?:\/\//i.test(value) && URL.canParse(value)
    ? new URL(value).href
    : undefined;
}

function rendered({ title, url, snippet }: SearchResult, index: number): string {
  const lines = [title, url === undefined ? undefined : `URL: ${url}`, snippet].filter(
    (line) => line !== undefined,
  );
  return `${index + 1}. ${lines.join("\n   ")}`;
}
