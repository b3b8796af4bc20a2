import type { ClientSettings, Post, Vendor } from "../shared/endpoint.js";

/** Anthropic's API, reached with its own client. */
export const ANTHROPIC: Vendor = Object.freeze({
  name: "anthropic",
  keyVariable: "ANTHROPIC_API_KEY",
  urlVariable: "ANTHROPIC_BASE_URL",
  defaultURL: "https://api.anthropic.com",
  urlHint: "it usually does not end in /v1",
  keyHeaders: ["x-api-key", "authorization"],
  open: async (settings: ClientSettings): Promise<Post> => {
    const { Anthropic: Client } = await import("@anthropic-ai/sdk");
    const client = new Client({
      apiKey: settings.apiKey,
      baseURL: settings.baseURL,
      defaultHeaders: settings.headers,
      maxRetries: 0,
      timeout: settings.timeoutMs,
      fetch: settings.fetch,
      logLevel: "off",
      // The framework has a telemetry of its own; two would count every call twice.
      openTelemetry: false,
    });
    // Not `messages.create`, which prints its advice about models to the console, whatever the log level.
    return (path, body, signal) => client.post(path, { body, signal }).asResponse();
  },
});
