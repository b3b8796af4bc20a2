import { createHash } from "node:crypto";
import type { Tool } from "../../../contracts/tool.js";
import type { SafeFetch } from "../../shared/fetch/safe-fetch.js";
import type { SafeFetchOptions } from "../../shared/fetch/safe-fetch-options.js";
import type { SafeResponse } from "../../shared/fetch/safe-response.js";
import { ValidationError } from "../../../contracts/errors.js";
import { tool } from "../../../contracts/tool.js";
import { ToolResult } from "../../../contracts/tool-result.js";
import {
  checkOptions,
  preview,
  requireBoolean,
  requireText,
} from "../../../contracts/validation.js";
import { portOf } from "../../shared/fetch/host-rules.js";
import { safeFetch } from "../../shared/fetch/safe-fetch.js";
import { checkFetchHeaders } from "../../shared/fetch/safe-fetch-options.js";
import { shownAddress, shownUrl } from "../../shared/fetch/shown-url.js";
import { outsideLine } from "./outside-text.js";
import {
  secretReplacer,
  secretValues,
  secretWords,
} from "../../../util/redaction/secret-values.js";
import { cutText, excerpt } from "../../../util/text.js";
import { messageOf } from "../../../util/errors.js";

/** Options of {@link httpTool}. */
export interface HttpToolOptions extends Pick<SafeFetchOptions, "lookup" | "ca"> {
  /** Name of the tool for the model. */
  readonly name: string;
  /** Describes to the model what the endpoint does, and the one text argument it expects. */
  readonly description: string;
  /**
   * The URL of the endpoint. It may be on this machine or in a private network, because the model
   * can't change it.
   */
  readonly url: string;
  /**
   * HTTP method. Default `POST`. `GET` sends the input as the query parameter `input`. Other
   * methods send it as the body.
   */
  readonly method?: string | undefined;
  /** Headers of each request, for instance `authorization`. Never shown. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Time limit of one request in milliseconds. Default 30,000. */
  readonly timeoutMs?: number | undefined;
  /** Maximum number of response bytes to read. Default 1 MiB. */
  readonly maxResponseBytes?: number | undefined;
  /** Whether each request needs approval by a person, who may edit the input. Default false. */
  readonly requireApproval?: boolean | undefined;
  /**
   * Reaction of a resumed run to a request that was begun and has no response. The values are those
   * of `ToolBase.resume`. With `again` each request has the header `idempotency-key`. A repeated
   * request has the same key.
   */
  readonly resume?: "again" | "ask" | "fail" | undefined;
}

/** The `structured` value of an HTTP tool's result. */
export interface HttpToolOutput {
  readonly status: number;
  readonly contentType: string;
  /** Whether the response was larger than `maxResponseBytes`. */
  readonly truncated: boolean;
}

const OPTIONS = [
  "name",
  "description",
  "url",
  "method",
  "headers",
  "timeoutMs",
  "maxResponseBytes",
  "requireApproval",
  "resume",
  "lookup",
  "ca",
] as const;
const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]);
const LONGEST_PREVIEW = 200;

interface HttpEndpoint {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetchAnswer: SafeFetch;
  readonly maxResponseBytes: number;
  readonly redact: (text: string) => string;
}

/**
 * Creates a tool for one HTTP endpoint that you configure. The model sends a text and receives the
 * response. Redirects are not followed.
 * @throws ValidationError for a missing name, description or URL, an unknown option or an invalid
 * value
 */
export function httpTool(options: HttpToolOptions): Tool {
  const endpoint = resolvedEndpoint(options);
  const { name, description, requireApproval, resume } = options;
  const { method, url } = endpoint;
  return tool({
    name,
    description,
    requireApproval,
    approvalDescription: (input) => `HTTP ${method} ${shownUrl(url)}\nBody: ${excerpt(input)}`,
    approvalRejection: () => `HTTP request rejected by reviewer: ${method} ${shownUrl(url)}`,
    untrusted: true,
    effect: method === "GET" || method === "HEAD" ? "read" : "send",
    resume,
    execute: (input, { signal, idempotencyKey }) =>
      send(resume === "again" ? withKey(endpoint, idempotencyKey) : endpoint, input, signal),
  });
}

function resolvedEndpoint(options: HttpToolOptions): HttpEndpoint {
  checkOptions("httpTool", options, OPTIONS);
  const {
    name,
    description,
    url,
    method = "POST",
    headers,
    timeoutMs = 30_000,
    maxResponseBytes = 1_048_576,
    requireApproval,
    lookup,
    ca,
  } = options;
  requireText(name, "name must be set and non-blank");
  requireText(description, "description must be set");
  requireText(url, "url must be set and non-blank");
  requirePositive("timeout must be positive", timeoutMs, "timeoutMs");
  requirePositive("maxResponseBytes must be positive", maxResponseBytes, "maxResponseBytes");
  requireBoolean("httpTool requireApproval", requireApproval);
  checkFetchHeaders("httpTool headers", headers);
  const target = requireEndpoint(url);
  const fetchAnswer = safeFetch({
    allow: { hosts: [`${target.hostname}:${portOf(target)}`] },
    redirect: "manual",
    overflow: "cut",
    maxBytes: maxResponseBytes,
    timeoutMs,
    lookup,
    ca,
  });
  const sent = headers ?? {};
  return {
    url: target,
    method: methodOf(method),
    headers: sent,
    fetchAnswer,
    maxResponseBytes,
    redact: secretReplacer(secretValues(sent).flatMap(secretWords)),
  };
}

function requirePositive(message: string, value: unknown, option: string): void {
  if (typeof value === "number" && Number.isInteger(value) && value > 0 && value <= 2_147_483_647)
    return;
  throw new ValidationError(message, {
    hint: `${option} must be a whole number from 1 to 2147483647, got: ${preview(value)}`,
  });
}

function requireEndpoint(url: string): URL {
  const target = URL.canParse(url) ? new URL(url) : undefined;
  if (
    target !== undefined &&
    /^https?:$/.test(target.protocol) &&
    target.username === "" &&
    target.password === ""
  )
    return target;
  throw new ValidationError(
    `url must be an http or https URL without user name and password, got: ${shownAddress(url)}`,
  );
}

function methodOf(method: unknown): string {
  const upper = typeof method === "string" ? method.toUpperCase() : "";
  if (METHODS.has(upper)) return upper;
  throw new ValidationError(
    `method must be one of ${[...METHODS].join(", ")}, got: ${preview(method)}`,
  );
}

async function send(
  endpoint: HttpEndpoint,
  input: string,
  signal: AbortSignal,
): Promise<ToolResult> {
  const { url, method, headers, fetchAnswer, redact } = endpoint;
  const sendsBody = method !== "GET" && method !== "HEAD";
  try {
    const response = sendsBody
      ? await fetchAnswer(url, {
          method,
          headers: withContentType(headers, input),
          body: input,
          signal,
        })
      : await fetchAnswer(withInput(url, input), { method, headers, signal });
    return httpResult(response, endpoint);
  } catch (error) {
    signal.throwIfAborted();
    return ToolResult.failure(`HTTP request failed: ${redact(messageOf(error))}`);
  }
}

function withKey(endpoint: HttpEndpoint, key: string): HttpEndpoint {
  const isPlain = /^[!-~]{1,255}$/.test(key); // characters that every server accepts in a header
  const sent = isPlain ? key : createHash("sha256").update(key).digest("hex");
  return { ...endpoint, headers: { ...endpoint.headers, "idempotency-key": sent } };
}

function withInput(url: URL, input: string): URL {
  const asked = new URL(url);
  // Appended to the text of the query, so that existing parameters keep their spelling.
  asked.search = `${asked.search}${asked.search === "" ? "?" : "&"}${new URLSearchParams({ input }).toString()}`;
  return asked;
}

function withContentType(
  headers: Readonly<Record<string, string>>,
  input: string,
): Readonly<Record<string, string>> {
  if (Object.keys(headers).some((name) => name.toLowerCase() === "content-type")) return headers;
  return {
    ...headers,
    "content-type": isJson(input) ? "application/json" : "text/plain; charset=UTF-8",
  };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function httpResult(
  response: SafeResponse,
  { redact, maxResponseBytes }: HttpEndpoint,
): ToolResult {
  const { status, contentType, truncated } = response;
  const body = redact(response.text());
  if (status >= 400)
    return ToolResult.failure(
      body.trim() === ""
        ? `HTTP ${status}`
        : `HTTP ${status}: ${outsideLine(cutText(body, LONGEST_PREVIEW, ""))}`,
    );
  const structured: HttpToolOutput = { status, contentType, truncated };
  if (body.trim() === "" && status >= 300)
    return ToolResult.success(
      `HTTP ${status}: the answer is a redirect, which is not followed`,
      structured,
    );
  return ToolResult.success(
    truncated ? `${body}\n[response truncated at ${maxResponseBytes} bytes]` : body,
    structured,
  );
}
