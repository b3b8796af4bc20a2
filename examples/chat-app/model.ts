import { setTimeout } from "node:timers/promises";
import type { ChatMessage, ChatModel, ChatRequest } from "agentensemble";
import type { Step } from "agentensemble/testing";
import type { ChosenModel } from "../support/model.js";
import { realOrScripted } from "../support/scripted.js";

/** The delay between the parts of an answer, in milliseconds. */
const PAUSE_MS = 40;

/** Returns a real model if there is a key, otherwise a scripted model. */
export function chatModel(): ChosenModel {
  const chosen = realOrScripted(stepFor);
  const { model } = chosen;
  return typeof model === "string" ? chosen : { ...chosen, model: paced(model) };
}

/** A model that streams its answers in parts. */
function paced(model: ChatModel): ChatModel {
  const { provider, modelId } = model;
  return {
    provider,
    modelId,
    chat: (request, options) => model.chat(request, options),
    async *stream(request, options) {
      for await (const chunk of model.stream?.(request, options) ?? []) {
        if (chunk.type === "text")
          await setTimeout(PAUSE_MS, undefined, { signal: options?.signal });
        yield chunk;
      }
    },
  };
}

function stepFor({ messages }: ChatRequest): Step {
  const last = messages.at(-1);
  if (last?.role === "tool") {
    const zone = /"zone":"([^"]+)"/.exec(last.content)?.[1];
    return inPieces(zone === undefined ? `Here it is: ${last.content}` : `You are in ${zone}.`);
  }
  const texts = messages.flatMap((message) => (message.role === "user" ? [textOf(message)] : []));
  const question = texts.at(-1) ?? "";
  const place = /\b(?:to|at) (\w+)/i.exec(question)?.[1] ?? "Husum";
  if (/water/i.test(question)) return called("tide", { harbour: place });
  if (/time zone/i.test(question)) return called("time_zone", {});
  if (/book/i.test(question)) return called("book", { harbour: place });
  if (/my name\?/i.test(question)) {
    const name = /my name is (\w+)/i.exec(texts.join("\n"))?.[1];
    return inPieces(name === undefined ? "I do not know it." : `Your name is ${name}.`);
  }
  if (/story/i.test(question)) return inPieces("The sea was calm. ".repeat(12));
  return inPieces(`You sent ${question}.`);
}

function called(name: string, input: object): Step {
  return { text: "One moment. ", toolCalls: [{ name, arguments: input }] };
}

function inPieces(text: string): Step {
  return { chunks: text.match(/.{1,12}/gs) ?? [text] };
}

/** Returns the text of a message, with the types of its files. */
function textOf({ content }: ChatMessage): string {
  if (typeof content === "string") return content;
  return content
    .map((part) => (part.type === "text" ? part.text : `[${part.mediaType ?? part.type}]`))
    .join(" ");
}
