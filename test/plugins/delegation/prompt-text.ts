import type { ChatRequest } from "agentensemble";

/** The text of a request's message; `index` as for `at()`. */
export function textAt(request: ChatRequest | undefined, index: number): string {
  const content = request?.messages.at(index)?.content;
  return typeof content === "string" ? content : "";
}
