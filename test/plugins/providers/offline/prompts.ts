import type { ChatMessage, ChatModel, ChatResponse } from "../../../../src/contracts/chat-model.js";
import type { JsonSchema } from "../../../../src/contracts/types.js";

/** The user prompt of a task with these outputs as context. */
export function withContext(
  ...outputs: readonly {
    readonly role?: string;
    readonly description?: string;
    readonly raw: string;
  }[]
): readonly ChatMessage[] {
  const blocks = outputs.map(
    ({ role = "(deterministic)", description = "Read the notes", raw }) =>
      `\n---\n### ${role}: ${description}\n${raw}\n---\n`,
  );
  const context = `## Context from Previous Tasks\nThe following results from previous tasks may be relevant:\n${blocks.join("")}\n`;
  const content = `${context}## Task\nWrite about bees. Be brief and clear about everything.\n\n## Expected Output\nA list of findings that is good.`;
  return [
    {
      role: "system",
      content: "You are Analyst. Your personal goal is: find what matters in texts.",
    },
    { role: "user", content },
  ];
}

/** Requests JSON of a schema and reads it. */
export async function filled(
  model: ChatModel,
  schema: JsonSchema,
  messages: readonly ChatMessage[],
): Promise<unknown> {
  const response = await model.chat({ messages, responseFormat: { name: "result", schema } });
  return JSON.parse(response.message.content) as unknown;
}

/** The quoted sentences and sources of a Markdown answer. */
export function bullets(
  response: ChatResponse,
): readonly { readonly text: string; readonly source: string | undefined }[] {
  return response.message.content.split("\n").map((line) => {
    const [, text, source] = /^- "(.+)"(?: \((.+)\))?$/.exec(line) ?? [];
    if (text === undefined) throw new Error(`not a bullet with a quote: ${line}`);
    return { text, source };
  });
}

export const BEES = `# Bees

Honey bees live in large colonies with one queen. The queen of the colony lays up to 2,000 eggs per day in spring.
Worker bees collect nectar and pollen for the colony, and they guard the hive!

## Winter

- Bees form a cluster in winter, and the colony keeps the queen warm.
- [a link](https://example.org)

| table | of | bees |
|-------|----|------|

\`\`\`js
const code = "Bees are not code and should not be quoted here."; // at all
\`\`\`

> The colony eats its stores of honey until the first flowers open.
`;
