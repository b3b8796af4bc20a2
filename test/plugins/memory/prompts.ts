import type { ChatRequest } from "agentensemble";
import { Agent, Task, type PlainTaskOptions } from "agentensemble";

export const writer = new Agent({ role: "Writer", goal: "Write" });

/** A task of the writer. */
export function writing(
  description: string,
  options: Omit<PlainTaskOptions<string>, "description" | "handler"> = {},
): Task {
  return new Task({ agent: writer, ...options, description });
}

/** The user prompts that a model received. */
export function userPrompts(requests: readonly ChatRequest[]): readonly string[] {
  return requests.map(
    ({ messages }) =>
      messages.flatMap((message) =>
        message.role === "user" ? [typeof message.content === "string" ? message.content : ""] : [],
      )[0] ?? "",
  );
}

/** The part of a prompt before the task. */
export function beforeTask(prompt: string | undefined): string {
  return prompt?.slice(0, prompt.indexOf("## Task\n")) ?? "";
}
