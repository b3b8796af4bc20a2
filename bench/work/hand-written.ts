import type { ChatMessage, ChatModel } from "agentensemble";

const SYSTEM: ChatMessage = Object.freeze({
  role: "system",
  content: "You are Calculator.\nYour personal goal is: Say the right number",
});

export function conversation(prompt: string): ChatMessage[] {
  return [SYSTEM, { role: "user", content: prompt }];
}

/**
 * Executes a task without the framework: builds a prompt with the required outputs, and calls the
 * model once.
 */
export async function handTask(
  model: ChatModel,
  description: string,
  context: readonly string[],
): Promise<string> {
  const prompt =
    context.length === 0 ? description : `Context:\n${context.join("\n")}\n\n${description}`;
  const { message } = await model.chat({ messages: conversation(prompt) });
  return message.content;
}
