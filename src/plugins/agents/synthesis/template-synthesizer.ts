import type { AgentSynthesizer } from "../../../contracts/executors.js";
import { Agent } from "../../../contracts/agent.js";
import { Tokens } from "../../../contracts/tokens.js";
import { PromptLibrary } from "../../shared/prompts/prompt-library.js";
import { SYNTHESIS_TEMPLATES } from "./synthesis-prompts.js";

const VERBS_OF_ROLES: Readonly<Record<string, readonly string[]>> = {
  Researcher: ["research", "investigate", "find", "discover", "search"],
  Writer: ["write", "draft", "compose", "document"],
  Creator: ["create"],
  Generator: ["generate"],
  Analyst: ["analyze", "analyse", "evaluate", "assess", "compare"],
  Reviewer: ["review"],
  Auditor: ["audit"],
  Designer: ["design"],
  Planner: ["plan"],
  Developer: ["build", "implement", "develop", "code", "program"],
  Tester: ["test", "verify"],
  Validator: ["validate"],
  Summarizer: ["summarize", "summarise"],
  Translator: ["translate"],
  Classifier: ["classify", "categorize"],
  Extractor: ["extract"],
  Monitor: ["monitor"],
  Tracker: ["track"],
  Collector: ["scrape"],
  Parser: ["parse"],
  Converter: ["convert"],
  Calculator: ["calculate", "compute"],
  Formatter: ["format"],
  Cleaner: ["clean"],
  Processor: ["process"],
};

const ROLE_OF_VERB: ReadonlyMap<string, string> = new Map(
  Object.entries(VERBS_OF_ROLES).flatMap(([role, verbs]) =>
    verbs.map((verb) => [verb, role] as const),
  ),
);

/** The number of words at the beginning of a description that the role depends on. */
const WORDS_READ = 8;

/**
 * Returns the role for the first known verb among the first words. Returns `Agent` if there is
 * none.
 */
export function roleFor(description: string): string {
  for (const word of description.trim().split(/\s+/, WORDS_READ)) {
    const role = ROLE_OF_VERB.get(word.toLowerCase().replace(/[^a-z]/g, ""));
    if (role !== undefined) return role;
  }
  return "Agent";
}

/**
 * Returns a synthesizer that creates agents without a model. The first verb of the description
 * gives the role, and the description is the goal. This is the default.
 */
export function templateSynthesizer(): AgentSynthesizer {
  const library = new PromptLibrary(SYNTHESIS_TEMPLATES);
  return Object.freeze<AgentSynthesizer>({
    usesModel: false,
    synthesize(task, { run }) {
      const role = roleFor(task.description);
      const background = library
        .textsOf(run.all(Tokens.PromptTemplates), run)
        .render("synthesis.background", { role });
      return new Agent({
        role,
        goal: task.description,
        background,
        tools: task.tools,
        maxIterations: task.maxIterations,
      });
    },
  });
}
