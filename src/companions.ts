import type { AgentSynthesizer as Synthesizer } from "./contracts/executors.js";
import { llmSynthesizer } from "./plugins/agents/synthesis/llm-synthesizer.js";
import { templateSynthesizer } from "./plugins/agents/synthesis/template-synthesizer.js";

// Factories that stand beside a type's name: `AgentSynthesizer` is the contract and the place to get one.

/** Makes an agent for a task that has none; see the contract. */
export type AgentSynthesizer = Synthesizer;

/** The synthesizers there are, for `EnsembleOptions.agentSynthesizer`. */
export const AgentSynthesizer = Object.freeze({
  /** From the description, without a model: the first verb gives the role. The default. */
  template: (): AgentSynthesizer => templateSynthesizer(),
  /** One call of the task's model for each task without an agent. Falls back to the template, with a `run_warning`, where the answer describes no agent. */
  llmBased: (): AgentSynthesizer => llmSynthesizer(),
});
