import type { ClientSettings, Vendor } from "../shared/endpoint.js";
import { postWith } from "../shared/vendor-client.js";

/** Anthropic's API, called with its own client. */
export const ANTHROPIC: Vendor = Object.freeze({
  name: "anthropic",
  keyVariable: "ANTHROPIC_API_KEY",
  urlVariable: "ANTHROPIC_BASE_URL",
  defaultURL: "https://api.anthropic.com",
  urlHint: "it usually does not end in /v1",
  keyHeaders: ["x-api-key", "authorization"],
  async open(settings: ClientSettings) {
    const { Anthropic } = await import("@anthropic-ai/sdk");
    // The framework has its own telemetry. The telemetry of the client would count every call
    // twice.
    return postWith(Anthropic, settings, { openTelemetry: false as const });
  },
});
