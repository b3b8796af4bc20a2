import type { ClientSettings, Post, Vendor } from "../shared/endpoint.js";

/** OpenAI's API, reached with its own client. */
export const OPENAI: Vendor = Object.freeze({
  name: "openai",
  keyVariable: "OPENAI_API_KEY",
  urlVariable: "OPENAI_BASE_URL",
  defaultURL: "https://api.openai.com/v1",
  urlHint: "it usually ends in /v1",
  keyHeaders: ["authorization"],
  open: async (settings: ClientSettings): Promise<Post> => {
    const { OpenAI: Client } = await import("openai");
    const client = new Client({
      apiKey: settings.apiKey,
      baseURL: settings.baseURL,
      defaultHeaders: settings.headers,
      maxRetries: 0,
      timeout: settings.timeoutMs,
      fetch: settings.fetch,
      logLevel: "off",
    });
    return (path, body, signal) => client.post(path, { body, signal }).asResponse();
  },
});
