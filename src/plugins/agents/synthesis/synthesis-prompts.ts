/**
 * The texts of agents that are created for a task, and the prompt for their descriptions. They are
 * named and replaced like all prompt texts.
 */
export const SYNTHESIS_TEMPLATES = Object.freeze({
  "synthesis.background":
    "An expert {role} with extensive domain knowledge and professional experience.",
  "synthesis.prompt": `Design the AI agent that is best suited to do the following task.

## Task
{description}

## Expected Output
{expectedOutput}

Respond with ONLY a JSON object and nothing else. It has three texts:
"role": the job title of the agent, two to four words;
"goal": what the agent is to achieve, one sentence;
"backstory": the experience that makes the agent good at it, one or two sentences.`,
} as const);
