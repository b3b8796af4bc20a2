import type { ClientSettings, Vendor } from "../shared/endpoint.js";
import { postWith } from "../shared/vendor-client.js";

/** OpenAI's API, called with its own client. */
export const OPENAI: Vendor = Object.freeze({
  name: "openai",
  keyVariable: "OPENAI_API_KEY",
  urlVariable: "OPENAI_BASE_URL",
  defaultURL: "https://api.openai.com/v1",
  urlHint: "it usually ends in /v1",
  keyHeaders: ["authorization"],
  async open(settings: ClientSettings) {
    const { OpenAI } = await import("openai");
    return postWith(OpenAI, settings, {});
  },
});
