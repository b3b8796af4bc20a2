import type { ChatMessage, ChatModel, ChatModelProvider } from "./chat-model.js";
import type { ContentPart, MediaPart, PartSupport } from "./content.js";
import {
  isTextType,
  matchesMediaType,
  mediaSourceOf,
  mediaTypeOfBase64,
  normalMediaType,
} from "../util/media.js";
import { asList } from "../util/objects.js";
import { ModelCallError, ValidationError } from "./errors.js";
import { checkOptions, preview, requireArray, requireInteger } from "./validation.js";

/** Returns whether a list of patterns accepts a media type. JSON and XML count as text. */
export function isTakenType(types: readonly string[], mediaType: string): boolean {
  return types.some(
    (pattern) =>
      matchesMediaType(pattern, mediaType) || (pattern === "text/*" && isTextType(mediaType)),
  );
}

/**
 * Validates a declaration of accepted parts.
 * @throws ValidationError for an unknown field or an invalid media type.
 */
export function partSupport(what: string, support: PartSupport | undefined): typeof support {
  if (support === undefined) return undefined;
  checkOptions(what, support, ["user", "tool", "urls", "maxBytes"]);
  const { user, tool, urls, maxBytes } = support;
  checkMediaTypes(`${what} user`, user);
  checkMediaTypes(`${what} tool`, tool);
  if (typeof urls !== "boolean") checkMediaTypes(`${what} urls`, urls);
  requireInteger(`${what} maxBytes`, maxBytes, 1);
  return Object.freeze({ ...support });
}

/** @throws ValidationError unless `types` is absent or a list of media types and patterns. */
export function checkMediaTypes(what: string, types: unknown): void {
  requireArray(what, types);
  asList(types).forEach((type, index) => {
    if (typeof type !== "string" || !/^[\w.+-]+\/([\w.+-]+|\*)$|^\*\/\*$/.test(type))
      throw new ValidationError(
        `${what} at index ${index} must be a media type such as "image/png" or "image/*", got: ${preview(type)}`,
      );
  });
}

/** Returns the type of a part. Returns `image/*` if only the address of an image is known. */
function mediaTypeOf(part: MediaPart): string {
  const source = mediaSourceOf(part.data);
  const declared = normalMediaType(part.mediaType) ?? source.mediaType;
  if (declared !== undefined) return declared;
  return (source.kind === "base64" ? mediaTypeOfBase64(source.data) : undefined) ?? "image/*";
}

const KINDS = { image: "images", audio: "audio" } as const;

/**
 * Returns whether a model declares that it accepts a part in the result of a tool. Returns true if
 * the model declares nothing.
 */
export function isTakenFromTool(part: ContentPart, { capabilities }: KnownModel): boolean {
  return partProblem(part, "tool", capabilities?.parts) === undefined;
}

/**
 * Returns the reason why a model can't accept a part. The reason completes a sentence that begins
 * with the model's name. Returns `undefined` if the model accepts the part.
 */
function partProblem(
  part: ContentPart,
  place: "user" | "tool",
  support: PartSupport | undefined,
): string | undefined {
  if (part.type === "text" || support === undefined) return undefined;
  const types = support[place];
  const mediaType = mediaTypeOf(part);
  const where = place === "user" ? "user messages" : "results of tools";
  if (types !== undefined && !isTakenType(types, mediaType)) {
    const hasKind = part.type !== "file" && !types.some((type) => type.startsWith(`${part.type}/`));
    const shown = hasKind ? KINDS[part.type] : mediaType;
    const list = types.length === 0 ? "text only" : types.join(", ");
    return `does not accept ${shown} in ${where} (accepted: ${list})`;
  }
  return sizeProblem(part, mediaType, support);
}

function sizeProblem(
  part: MediaPart,
  mediaType: string,
  { urls, maxBytes }: PartSupport,
): string | undefined {
  const source = mediaSourceOf(part.data);
  if (source.kind === "url") {
    const isTaken = typeof urls === "object" ? isTakenType(urls, mediaType) : urls !== false;
    return isTaken ? undefined : `does not accept an address of ${mediaType}; pass the bytes`;
  }
  const bytes = Buffer.byteLength(source.data, "base64");
  return maxBytes !== undefined && bytes > maxBytes
    ? `accepts parts of at most ${maxBytes} bytes, got: ${bytes}`
    : undefined;
}

type KnownModel = Pick<ChatModel, "provider" | "modelId" | "capabilities">;

/** The data for the advice in an error. */
export interface PartAdvice {
  readonly providers: readonly ChatModelProvider[];
  /** Models that a call may use if the first model fails. */
  readonly alternatives: readonly KnownModel[];
}

/**
 * Checks by `capabilities.parts` that a model accepts the attachments of a task. An attachment also
 * passes if one of the alternatives accepts it.
 * @throws ValidationError with the first part that no model accepts.
 */
export function requireCarried(
  {
    attachments,
    description,
  }: { readonly attachments: readonly ContentPart[]; readonly description: string },
  { provider, modelId, capabilities }: KnownModel,
  { providers, alternatives }: PartAdvice,
): void {
  for (const [index, part] of attachments.entries()) {
    const isTaken = (support: PartSupport | undefined): boolean =>
      partProblem(part, "user", support) === undefined;
    const problem = partProblem(part, "user", capabilities?.parts);
    if (problem === undefined || alternatives.some((m) => isTaken(m.capabilities?.parts))) continue;
    const others = providers.filter(({ parts }) => parts !== undefined && isTaken(parts));
    throw new ValidationError(
      `Attachment ${index} of task '${description}' can't be sent: model '${provider}:${modelId}' ${problem}`,
      others.length === 0
        ? {}
        : { hint: `Models of ${others.map(({ name }) => name).join(", ")} take it.` },
    );
  }
}

/** The number of checked messages of a list, which only grows, and the capabilities of the model. */
const checkedLists = new WeakMap<
  readonly ChatMessage[],
  { readonly count: number; readonly capabilities: KnownModel["capabilities"] }
>();

/** A shorter list is checked completely at each call. */
const LONG_LIST = 64;

/**
 * Checks the parts of a request before the model is called. Checks each message of a long list only
 * once for a model.
 * @throws ModelCallError for the first part that the model does not accept. A retry policy may then
 * choose another model.
 */
export function requireTakenParts(messages: readonly ChatMessage[], model: KnownModel): void {
  if (messages.length < LONG_LIST) return requireTaken(messages, model);
  const { capabilities } = model;
  const checked = checkedLists.get(messages);
  const isKnown = checked !== undefined && checked.capabilities === capabilities;
  requireTaken(isKnown ? messages.slice(checked.count) : messages, model);
  checkedLists.set(messages, { count: messages.length, capabilities });
}

function requireTaken(
  messages: readonly ChatMessage[],
  { provider, modelId, capabilities }: KnownModel,
): void {
  for (const message of messages) {
    const place = message.role === "tool" ? "tool" : "user";
    const parts = message.role === "tool" ? message.parts : message.content;
    if (typeof parts === "string" || parts === undefined) continue;
    const support = capabilities?.parts; // a model may read its address for its capabilities
    if (support === undefined) return;
    for (const part of parts) {
      const problem = partProblem(part, place, support);
      if (problem !== undefined)
        throw new ModelCallError(`Model '${provider}:${modelId}' ${problem}`, {
          provider,
          modelId,
          code: "AE_MODEL_UNSUPPORTED_INPUT",
          retryable: false,
        });
    }
  }
}
