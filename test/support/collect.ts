import type { ChatChunk, ChatModel, ChatRequest } from "agentensemble";

/** Returns everything that an iteration yields. */
export async function collect<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** Returns the chunks of a streamed answer: none where the model can't stream. */
export async function chunksOf(
  model: ChatModel,
  request: ChatRequest,
): Promise<readonly ChatChunk[]> {
  return model.stream === undefined ? [] : collect(model.stream(request));
}
