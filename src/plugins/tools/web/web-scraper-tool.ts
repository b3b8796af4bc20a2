import type { Tool } from "../../../contracts/tool.js";
import type { SafeFetch } from "../../shared/fetch/safe-fetch.js";
import type { SafeFetchOptions } from "../../shared/fetch/safe-fetch-options.js";
import type { SafeResponse } from "../../shared/fetch/safe-response.js";
import type { PageFormat, PageText } from "./page-text.js";
import { ToolResult } from "../../../contracts/tool-result.js";
import {
  checkOptions,
  requireDuration,
  requireInteger,
  requireOneOf,
} from "../../../contracts/validation.js";
import { toolArguments } from "../shared/arguments.js";
import { safeFetch } from "../../shared/fetch/safe-fetch.js";
import { shownAddress } from "../../shared/fetch/shown-url.js";
import { convertPage } from "./page-text.js";
import { cutText } from "../../../util/text.js";
import { webTool } from "./web-tool.js";

/**
 * Options of {@link webScraperTool}. The options that restrict URLs are those of
 * {@link SafeFetchOptions}.
 */
export interface WebScraperToolOptions extends Pick<
  SafeFetchOptions,
  | "allow"
  | "onlyHosts"
  | "denyHosts"
  | "lookup"
  | "ports"
  | "headers"
  | "maxBytes"
  | "maxRedirects"
  | "ca"
> {
  /** Maximum number of characters returned to the model. Default 5,000. */
  readonly maxContentLength?: number | undefined;
  /**
   * `"markdown"` keeps headings, lists and links. It needs the package turndown; `"text"` needs
   * html-to-text. Default `"text"`.
   */
  readonly format?: PageFormat | undefined;
  /** Time limit for one page in milliseconds, from name resolution to the text. Default 15,000. */
  readonly timeoutMs?: number | undefined;
}

/** The `structured` value of a scraped page. */
export interface WebPage {
  /** Address after redirects. */
  readonly url: string;
  readonly status: number;
  readonly contentType: string;
  /** Whether the text was cut at `maxContentLength`. */
  readonly truncated: boolean;
}

const OWN_OPTIONS = ["maxContentLength", "format", "timeoutMs"] as const;
const FETCH_OPTIONS = [
  "allow",
  "onlyHosts",
  "denyHosts",
  "lookup",
  "ports",
  "headers",
  "maxBytes",
  "maxRedirects",
  "ca",
] as const;
const HTML_TYPES: ReadonlySet<string> = new Set(["text/html", "application/xhtml+xml"]);
const READABLE_TYPES = [
  "text/*",
  "application/json",
  "application/*+json",
  "application/xml",
  "application/*+xml",
];

const args = toolArguments({
  properties: {
    url: {
      type: "string",
      description: "The full address of the page, with http:// or https://.",
      examples: ["https://en.wikipedia.org/wiki/Oslo"],
    },
  },
  required: ["url"],
});

/**
 * Creates a tool `web_scrape` that returns pages of the public web as text. Other addresses are
 * rejected unless `allow` lists them.
 * @throws ValidationError for an unknown option or an invalid value
 */
export function webScraperTool(
  options: WebScraperToolOptions = {},
): Tool<{ readonly url: string }> {
  checkOptions("webScraperTool", options, [...OWN_OPTIONS, ...FETCH_OPTIONS]);
  const {
    maxContentLength = 5_000,
    format = "text",
    timeoutMs = 15_000,
    headers,
    ...limits
  } = options;
  requireInteger("webScraperTool maxContentLength", maxContentLength, 1);
  requireOneOf("webScraperTool format", format, ["text", "markdown"]);
  requireDuration("webScraperTool timeoutMs", timeoutMs);
  const fetchPage = safeFetch({
    ...limits,
    timeoutMs,
    headers: {
      "user-agent": "AgentEnsemble-WebScraper/1.0",
      accept: "text/html,text/plain,application/xhtml+xml,*/*;q=0.5",
      ...headers,
    },
    contentTypes: READABLE_TYPES,
    overflow: "cut",
  });
  const scraper: Scraper = { fetchPage, maxContentLength, format };
  return webTool({
    name: "web_scrape",
    description:
      'Fetches a web page and returns its text. Use it to read a page whose address you know, for instance from a search. Example: {"url": "https://en.wikipedia.org/wiki/Oslo"}',
    args,
    textOf: ({ url }) => url,
    blank: "URL must not be blank",
    failure: "Failed to fetch URL",
    timeoutMs,
    work: (url, signal) => scrape(scraper, url, signal),
  });
}

interface Scraper {
  readonly fetchPage: SafeFetch;
  readonly maxContentLength: number;
  readonly format: PageFormat;
}

async function scrape(scraper: Scraper, url: string, signal: AbortSignal): Promise<ToolResult> {
  const response = await scraper.fetchPage(url, { signal });
  if (!response.ok)
    return ToolResult.failure(
      `Failed to fetch URL: HTTP ${response.status} from ${shownAddress(url)}`,
    );
  const text = await scrapedText(scraper, response, signal);
  return pageResult(response, text, scraper.maxContentLength);
}

async function scrapedText(
  { format, maxContentLength: limit }: Scraper,
  response: SafeResponse,
  signal: AbortSignal,
): Promise<PageText> {
  const text = response.text();
  if (HTML_TYPES.has(response.contentType))
    return convertPage({ html: text, format, url: response.url, limit: limit + 1 }, signal);
  return { text: text.trim(), truncated: false };
}

function pageResult(response: SafeResponse, page: PageText, maxContentLength: number): ToolResult {
  const truncated = page.truncated || page.text.length > maxContentLength;
  const { url, status, contentType } = response;
  const structured: WebPage = {
    url,
    status,
    contentType,
    truncated: truncated || response.truncated,
  };
  return ToolResult.success(
    cutText(page.text, maxContentLength, `… [truncated at ${maxContentLength} chars]`),
    structured,
  );
}
