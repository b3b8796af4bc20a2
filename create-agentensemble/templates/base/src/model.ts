import { existsSync } from "node:fs";

if (existsSync(".env")) process.loadEnvFile();

/**
 * Returns the model that the environment selects. Without a key, returns an offline model that can
 * only quote sentences.
 */
function chosenModel(): string {
  const { AGENTENSEMBLE_MODEL, OPENAI_API_KEY, ANTHROPIC_API_KEY } = process.env;
  if (AGENTENSEMBLE_MODEL) return AGENTENSEMBLE_MODEL;
  if (OPENAI_API_KEY) return "openai:gpt-5-mini";
  if (ANTHROPIC_API_KEY) return "anthropic:claude-sonnet-5";
  return "offline:extractive";
}

export const model = chosenModel();
