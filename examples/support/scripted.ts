import type { ChosenModel } from "./model.js";
import { ScriptedModel } from "agentensemble/testing";
import { realModel } from "./model.js";

/** A real model, else one that answers from a script: for examples in which a model has to call tools or to argue. */
export function realOrScripted(
  script: ConstructorParameters<typeof ScriptedModel>[0],
): ChosenModel {
  const note =
    "its answers are written in this example; set OPENAI_API_KEY, ANTHROPIC_API_KEY or AGENTENSEMBLE_MODEL for a real one";
  return realModel() ?? { model: new ScriptedModel(script), name: "scripted", note };
}
