import type { ModelCapabilities } from "../../../contracts/chat-model.js";
import type { ReasoningOptions } from "../../../contracts/content.js";
import { UnsupportedRequest } from "../shared/unsupported-request.js";

/** Settings of one provider, under the names that its package uses. */
type ProviderSettings = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/**
 * Returns the reasoning settings that a provider of the AI SDK accepts. Returns `undefined` if they
 * are unknown.
 */
export function reasoningSettings(provider: string): ModelCapabilities["reasoning"] {
  if (/^openai\b/.test(provider)) return ["effort"];
  return /^anthropic\b/.test(provider) ? ["effort", "budgetTokens"] : undefined;
}

function openaiSettings({ effort, summary = "auto" }: ReasoningOptions): ProviderSettings {
  return {
    openai: {
      ...(effort === undefined ? {} : { reasoningEffort: effort }),
      ...(summary === "off" ? {} : { reasoningSummary: summary }),
    },
  };
}

function anthropicSettings({ effort, budgetTokens }: ReasoningOptions): ProviderSettings {
  if (effort === "none") return { anthropic: { thinking: { type: "disabled" } } };
  if (budgetTokens !== undefined)
    return { anthropic: { thinking: { type: "enabled", budgetTokens } } };
  return {
    anthropic: {
      thinking: { type: "adaptive" },
      ...(effort === undefined ? {} : { effort: effort === "minimal" ? "low" : effort }),
    },
  };
}

/**
 * Converts the reasoning settings into `providerOptions`.
 *
 * @throws UnsupportedRequest for a provider whose settings are unknown.
 */
export function reasoningOptions(
  reasoning: ReasoningOptions | undefined,
  provider: string,
): ProviderSettings {
  if (reasoning === undefined) return {};
  const taken = reasoningSettings(provider);
  if (taken === undefined || (reasoning.budgetTokens !== undefined && taken.length === 1))
    throw new UnsupportedRequest(
      `the bridge has no form of ${taken === undefined ? "reasoning" : "reasoning.budgetTokens"} for '${provider}'`,
      "Pass the settings of its package in providerOptions.",
      "AE_MODEL_UNSUPPORTED_INPUT",
    );
  return taken.length === 1 ? openaiSettings(reasoning) : anthropicSettings(reasoning);
}

/** Merges settings of each provider. The settings in `over` take precedence. */
export function mergedSettings(
  under: ProviderSettings,
  over: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> | undefined {
  const names = [...new Set([...Object.keys(under), ...Object.keys(over)])];
  if (names.length === 0) return undefined;
  return Object.fromEntries(
    names.map((name) => [name, { ...under[name], ...(over[name] as object | undefined) }]),
  );
}
