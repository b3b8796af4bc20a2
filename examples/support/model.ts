import type { ModelRef } from "agentensemble";
import { offline } from "agentensemble/providers/offline";

/** The model that an example works with, and what to tell the user about it. */
export interface ChosenModel {
  readonly model: ModelRef;
  readonly name: string;
  /** Why this one, and what it can do. */
  readonly note: string;
}

/**
 * The real model that the environment names: AGENTENSEMBLE_MODEL ("openai:gpt-4o"), else OpenAI's where there is a key.
 * OPENAI_BASE_URL leads both to another server, such as Ollama.
 */
export function realModel(): ChosenModel | undefined {
  const named = process.env["AGENTENSEMBLE_MODEL"] ?? "";
  if (named !== "" && !named.startsWith("offline:")) return { model: named, name: named, note: "chosen by AGENTENSEMBLE_MODEL" };
  if (named !== "" || (process.env["OPENAI_API_KEY"] ?? "") === "") return undefined;
  const name = "openai:gpt-4o-mini";
  return { model: name, name, note: "because OPENAI_API_KEY is set; AGENTENSEMBLE_MODEL chooses another" };
}

/** A real model, else the offline one, which needs neither key nor network: it quotes up to `sentences` sentences of the text it is given. */
export function chooseModel(sentences: number): ChosenModel {
  const named = process.env["AGENTENSEMBLE_MODEL"] ?? "";
  const modelId = named.startsWith("offline:") ? named.slice("offline:".length) : "extractive";
  const note = "runs here and can only quote sentences; set OPENAI_API_KEY or AGENTENSEMBLE_MODEL for one that writes";
  return realModel() ?? { model: offline(modelId, { sentences }), name: `offline:${modelId}`, note };
}
