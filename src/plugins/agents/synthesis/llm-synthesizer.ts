import type { AgentSynthesizer } from "../../../contracts/executors.js";
import { Agent } from "../../../contracts/agent.js";
import { Tokens } from "../../../contracts/tokens.js";
import { PromptLibrary } from "../../shared/prompts/prompt-library.js";
import { jsonCandidates } from "../shared/json-extraction.js";
import { templateSynthesizer } from "./template-synthesizer.js";
import { SYNTHESIS_TEMPLATES } from "./synthesis-prompts.js";
import { hasText } from "../../../util/text.js";

interface Description {
  readonly role: string;
  readonly goal: string;
  readonly background: string | undefined;
}

/**
 * Returns a synthesizer that asks the model of the task for a role, a goal and a backstory. After
 * an incomplete answer, the template creates the agent, and the run reports a warning. A failure of
 * the model fails the task.
 */
export function llmSynthesizer(): AgentSynthesizer {
  const library = new PromptLibrary(SYNTHESIS_TEMPLATES);
  const template = templateSynthesizer();
  return Object.freeze<AgentSynthesizer>({
    usesModel: true,
    async synthesize(task, ctx) {
      const { description, expectedOutput, tools, maxIterations } = task;
      const prompt = library
        .textsOf(ctx.run.all(Tokens.PromptTemplates), ctx.run)
        .render("synthesis.prompt", { description, expectedOutput });
      const { message } = await ctx.model.chat({ messages: [{ role: "user", content: prompt }] });
      const found = await descriptionIn(message.content);
      if (found !== undefined) return new Agent({ ...found, tools, maxIterations });
      const about = `'${description.slice(0, 80)}'`;
      ctx.run.emit({
        type: "run_warning",
        message: `The model described no agent for task ${about} (it needs a role and a goal, as JSON), so one is made from the task's description`,
      });
      return template.synthesize(task, ctx);
    },
  });
}

/**
 * Returns the description of an agent in an answer of a model. Returns `undefined` without a role
 * or a goal.
 */
async function descriptionIn(answer: string): Promise<Description | undefined> {
  for await (const candidate of jsonCandidates(answer)) {
    if (!candidate.ok || typeof candidate.value !== "object" || candidate.value === null) continue;
    // External data: each field is checked.
    const { role, goal, backstory } = candidate.value as { readonly [field: string]: unknown };
    if (hasText(role) && hasText(goal))
      return {
        role: role.trim(),
        goal: goal.trim(),
        background: hasText(backstory) ? backstory.trim() : undefined,
      };
  }
  return undefined;
}
