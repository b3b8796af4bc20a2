import type { ChosenModel } from "./model.js";
import { ScriptedModel } from "agentensemble/testing";
import { realModel } from "./model.js";

/**
 * Returns a real model, otherwise a scripted model. For examples in which a model must call tools
 * or argue.
 */
export function realOrScripted(
  script: ConstructorParameters<typeof ScriptedModel>[0],
): ChosenModel {
  const note =
    "its answers are written in this example; set OPENAI_API_KEY, ANTHROPIC_API_KEY or AGENTENSEMBLE_MODEL for a real one";
  return realModel() ?? { model: new ScriptedModel(script), name: "scripted", note };
}
