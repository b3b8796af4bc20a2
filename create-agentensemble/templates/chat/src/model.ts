import { existsSync } from "node:fs";
import type { ModelRef } from "agentensemble";
import { standIn } from "./stand-in.js";

if (existsSync(".env")) process.loadEnvFile();

/**
 * Returns the model that the environment selects. Without a key, returns a stub with a few
 * sentences.
 */
export function chosenModel(): ModelRef {
  const { AGENTENSEMBLE_MODEL, OPENAI_API_KEY, ANTHROPIC_API_KEY } = process.env;
  if (AGENTENSEMBLE_MODEL) return AGENTENSEMBLE_MODEL;
  if (OPENAI_API_KEY) return "openai:gpt-5-mini";
  if (ANTHROPIC_API_KEY) return "anthropic:claude-sonnet-5";
  return standIn();
}
