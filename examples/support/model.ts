import type { ModelRef } from "agentensemble";
import { offline } from "agentensemble/providers/offline";

/** The model of an example, and a description for the user. */
export interface ChosenModel {
  readonly model: ModelRef;
  readonly name: string;
  /** The source of the model, and its capabilities. */
  readonly note: string;
}

/** The models that examples, templates and pages name. A test compares these names. */
export const MODELS = { openai: "gpt-5-mini", anthropic: "claude-sonnet-5" } as const;

/** The models used if their key is set and no model is named, in order of precedence. */
const BY_KEY = [
  ["OPENAI_API_KEY", `openai:${MODELS.openai}`],
  ["ANTHROPIC_API_KEY", `anthropic:${MODELS.anthropic}`],
] as const;

/**
 * Returns the model that the environment names: AGENTENSEMBLE_MODEL ("openai:gpt-5",
 * "anthropic:claude-sonnet-5"), otherwise a model of OpenAI or Anthropic if there is a key.
 * OPENAI_BASE_URL and ANTHROPIC_BASE_URL select other servers, such as Ollama.
 */
export function realModel(): ChosenModel | undefined {
  const named = process.env["AGENTENSEMBLE_MODEL"] ?? "";
  if (named !== "" && !named.startsWith("offline:"))
    return { model: named, name: named, note: "chosen by AGENTENSEMBLE_MODEL" };
  const [key, name] = BY_KEY.find(([variable]) => (process.env[variable] ?? "") !== "") ?? [];
  if (named !== "" || name === undefined) return undefined;
  return { model: name, name, note: `because ${key} is set; AGENTENSEMBLE_MODEL chooses another` };
}

/**
 * Returns a real model, otherwise the offline model, which needs neither key nor network. The
 * offline model quotes up to `sentences` sentences of its prompt.
 */
export function chooseModel(sentences: number): ChosenModel {
  const named = process.env["AGENTENSEMBLE_MODEL"] ?? "";
  const modelId = named.startsWith("offline:") ? named.slice("offline:".length) : "extractive";
  const note =
    "runs here and can only quote sentences; set OPENAI_API_KEY, ANTHROPIC_API_KEY or AGENTENSEMBLE_MODEL for one that writes";
  return (
    realModel() ?? { model: offline(modelId, { sentences }), name: `offline:${modelId}`, note }
  );
}
