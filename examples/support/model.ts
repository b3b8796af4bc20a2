import type { ModelRef } from "agentensemble";
import { offline } from "agentensemble/providers/offline";

/** The model that an example works with, and what to tell the user about it. */
export interface ChosenModel {
  readonly model: ModelRef;
  readonly name: string;
  /** Why this one, and what it can do. */
  readonly note: string;
}

/** The models that examples, templates and pages name. A test compares them. */
export const MODELS = { openai: "gpt-5-mini", anthropic: "claude-sonnet-5" } as const;

/** The models taken where there is a key for them and none is named, the first one first. */
const BY_KEY = [
  ["OPENAI_API_KEY", `openai:${MODELS.openai}`],
  ["ANTHROPIC_API_KEY", `anthropic:${MODELS.anthropic}`],
] as const;

/**
 * The real model that the environment names: AGENTENSEMBLE_MODEL ("openai:gpt-5", "anthropic:claude-sonnet-5"), else OpenAI's or Anthropic's where there
 * is a key. OPENAI_BASE_URL and ANTHROPIC_BASE_URL lead to other servers, such as Ollama.
 */
export function realModel(): ChosenModel | undefined {
  const named = process.env["AGENTENSEMBLE_MODEL"] ?? "";
  if (named !== "" && !named.startsWith("offline:"))
    return { model: named, name: named, note: "chosen by AGENTENSEMBLE_MODEL" };
  const [key, name] = BY_KEY.find(([variable]) => (process.env[variable] ?? "") !== "") ?? [];
  if (named !== "" || name === undefined) return undefined;
  return { model: name, name, note: `because ${key} is set; AGENTENSEMBLE_MODEL chooses another` };
}

/** A real model, else the offline one, which needs neither key nor network: it quotes up to `sentences` sentences of the text it is given. */
export function chooseModel(sentences: number): ChosenModel {
  const named = process.env["AGENTENSEMBLE_MODEL"] ?? "";
  const modelId = named.startsWith("offline:") ? named.slice("offline:".length) : "extractive";
  const note =
    "runs here and can only quote sentences; set OPENAI_API_KEY, ANTHROPIC_API_KEY or AGENTENSEMBLE_MODEL for one that writes";
  return (
    realModel() ?? { model: offline(modelId, { sentences }), name: `offline:${modelId}`, note }
  );
}
