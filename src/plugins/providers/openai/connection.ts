import type OpenAI from "openai";
import { ModelCallError } from "../../../contracts/errors.js";
import { createRedactor, secretHeaderValues, type Redactor } from "../shared/redactor.js";
import { strictFetch } from "../shared/strict-fetch.js";
import { baseURLProblem, keyProblem, type ResolvedOpenAIOptions } from "./options.js";

const OPENAI_URL = "https://api.openai.com/v1";
/** Servers of one's own usually want no key, but the client insists on sending one. */
const PLACEHOLDER_KEY = "not-needed";
const LONGEST_TIMER_MS = 2_147_483_647;

/** The vendor's client, ready to use, and what is known about where it talks to. */
export interface Connection {
  readonly completions: OpenAI["chat"]["completions"];
  readonly baseURL: string;
  /** Whether this is OpenAI itself; other servers know only the older parameters. */
  readonly isVendor: boolean;
  readonly redact: Redactor;
  /** Whether `e` is an error object that the server sent inside a stream. */
  isStreamedError(e: unknown): e is Error & { readonly error: unknown };
  isTimeout(e: unknown): boolean;
  isConnectionError(e: unknown): boolean;
}

/** Connects lazily: the client is loaded and made by the first call, and shared by all later ones. */
export type Connector = (modelId: string) => Promise<Connection>;

function fromEnvironment(name: string): string | undefined {
  const value = process.env[name]?.trim();
  return value === "" ? undefined : value;
}

function configurationError(modelId: string, code: "AE_MODEL_AUTH" | "AE_MODEL_CONNECTION", message: string, hint: string): ModelCallError {
  return new ModelCallError(message, { provider: "openai", modelId, code, retryable: false }, { hint });
}

function findBaseURL(options: ResolvedOpenAIOptions, modelId: string): string {
  if (options.baseURL !== undefined) return options.baseURL;
  const url = fromEnvironment("OPENAI_BASE_URL");
  if (url === undefined) return OPENAI_URL;
  const problem = baseURLProblem(url);
  if (problem !== undefined)
    throw configurationError(
      modelId,
      "AE_MODEL_CONNECTION",
      `OPENAI_BASE_URL ${problem}`,
      "Correct the environment variable, or pass openai(model, { baseURL }).",
    );
  return url;
}

function findKey(options: ResolvedOpenAIOptions, modelId: string, isVendor: boolean): string | undefined {
  if (options.apiKey !== undefined) return options.apiKey;
  const key = fromEnvironment("OPENAI_API_KEY");
  const hint = "Set the environment variable OPENAI_API_KEY, or pass openai(model, { apiKey }).";
  if (key !== undefined) {
    const problem = keyProblem(key);
    if (problem !== undefined) throw configurationError(modelId, "AE_MODEL_AUTH", `OPENAI_API_KEY ${problem}`, hint);
    return key;
  }
  const headerNames = Object.keys(options.headers).map((name) => name.toLowerCase());
  if (!isVendor || headerNames.includes("authorization")) return undefined;
  throw configurationError(modelId, "AE_MODEL_AUTH", `No API key for openai:${modelId}: OPENAI_API_KEY is not set`, hint);
}

async function connect(options: ResolvedOpenAIOptions, modelId: string): Promise<Connection> {
  const baseURL = findBaseURL(options, modelId);
  const host = new URL(baseURL).hostname;
  const isVendor = host === "api.openai.com" || host.endsWith(".api.openai.com");
  const apiKey = findKey(options, modelId, isVendor);
  const { OpenAI: Client, APIError, APIConnectionError, APIConnectionTimeoutError } = await import("openai");
  const client = new Client({
    apiKey: apiKey ?? PLACEHOLDER_KEY,
    baseURL,
    defaultHeaders: options.headers,
    maxRetries: 0,
    // Only a backstop: the call's own deadline comes first and covers the body too.
    timeout: Math.min(Math.ceil(options.timeoutMs) + 1000, LONGEST_TIMER_MS),
    fetch: strictFetch(options.fetch),
    logLevel: "off",
  });
  return {
    completions: client.chat.completions,
    baseURL,
    isVendor,
    redact: createRedactor([...(apiKey === undefined ? [] : [apiKey]), ...secretHeaderValues(options.headers)]),
    isStreamedError: (e): e is Error & { readonly error: unknown } => e instanceof APIError && !(e instanceof APIConnectionError),
    isTimeout: (e) => e instanceof APIConnectionTimeoutError,
    isConnectionError: (e) => e instanceof APIConnectionError,
  };
}

/** A connector for these options. A failed first attempt (no key yet) is not remembered. */
export function createConnector(options: ResolvedOpenAIOptions): Connector {
  let connection: Promise<Connection> | undefined;
  return (modelId) => {
    connection ??= connect(options, modelId).catch((error: unknown) => {
      connection = undefined;
      throw error;
    });
    return connection;
  };
}
