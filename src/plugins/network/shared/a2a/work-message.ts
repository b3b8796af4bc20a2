import type { Message } from "@a2a-js/sdk";
import type { SharedCapability, WorkReason, WorkRequest } from "../../../../contracts/network.js";
import type { TraceContext } from "../../../../contracts/propagation.js";
import type { Fields } from "../../../../util/objects.js";
import { WORK_VERSION } from "../../../../contracts/network.js";
import { knownNames, preview } from "../../../../contracts/validation.js";
import { messageOf } from "../../../../util/errors.js";
import { asFields, isObject } from "../../../../util/objects.js";
import { callersCache, outsideProblem } from "../outside-fields.js";
import { checkWorkRequest } from "../work-request.js";
import { partContents, dataPart, extensionFields, messageWith, textPart } from "./parts.js";
import { ROLE, WORK_EXTENSION } from "./protocol.js";

/** The fields of a request that its message does not determine. */
export interface WorkOrigin {
  readonly requestId: string;
  /** The name of the authenticated caller. */
  readonly from: string;
  /** The name of the ensemble that serves. */
  readonly to: string;
  readonly capabilities: readonly SharedCapability[];
  readonly traceContext?: TraceContext | undefined;
}

/** The request of a message, or the reason why the message has none. */
export type MessageWork =
  { readonly request: WorkRequest } | { readonly reason: WorkReason; readonly problem: string };

/** Fields of the extension that the server sets, or that the parts contain. */
const NOT_FROM_OUTSIDE = ["v", "requestId", "from", "to", "context", "inputs", "traceContext"];

/**
 * Reads the request of a message. Its text is the context, and its data the inputs. The other
 * fields are in the extension. Never throws.
 */
export function workOfMessage(message: Message, origin: WorkOrigin): MessageWork {
  const { texts, data, files } = partContents(message.parts);
  if (files > 0) return invalidMessage("Files are not accepted. Send text and data parts.");
  const wrong = data.find((value) => !isObject(value));
  if (wrong !== undefined)
    return invalidMessage(`A data part must be a JSON object, got: ${preview(wrong)}`);
  const given = asFields(message.metadata)?.[WORK_EXTENSION];
  if (given !== undefined && !isObject(given))
    return invalidMessage(`${WORK_EXTENSION} must be an object, got: ${preview(given)}`);
  const fields = given ?? {};
  const capability = requestedSkill(message, fields, origin.capabilities);
  if ("problem" in capability) return capability;
  const problem = outsideProblem(fields);
  if (problem !== undefined) return invalidMessage(problem);
  const request = {
    ...Object.fromEntries(
      Object.entries(fields).filter(([name]) => !NOT_FROM_OUTSIDE.includes(name)),
    ),
    v: WORK_VERSION,
    requestId: origin.requestId,
    from: origin.from,
    to: origin.to,
    task: capability.name,
    type: fields["type"] ?? capability.type,
    ...(texts.length > 0 && { context: texts.join("\n") }),
    // All items are objects.
    ...(data.length > 0 && { inputs: Object.assign({}, ...data) as Fields }),
    ...(origin.traceContext !== undefined && { traceContext: origin.traceContext }),
    ...callersCache(fields["cache"], origin.from),
  };
  return checkedWork(request);
}

function checkedWork(request: unknown): MessageWork {
  try {
    checkWorkRequest(request);
    return { request };
  } catch (error) {
    return invalidMessage(messageOf(error));
  }
}

function invalidMessage(problem: string): MessageWork & { readonly problem: string } {
  return { reason: "INVALID_INPUT", problem };
}

function requestedSkill(
  { metadata }: Message,
  fields: Fields,
  capabilities: readonly SharedCapability[],
): SharedCapability | (MessageWork & { readonly problem: string }) {
  const names = capabilities.map(({ name }) => name);
  const name = fields["task"] ?? asFields(metadata)?.["skillId"];
  const [only] = capabilities;
  if (name === undefined) {
    if (only !== undefined && new Set(names).size === 1) return only;
    return invalidMessage(
      `The message names no skill. Set task under ${WORK_EXTENSION} in its metadata. ${knownSkills("", names)}`,
    );
  }
  if (typeof name !== "string") return invalidMessage(`task must be a text, got: ${preview(name)}`);
  const found = capabilities.find((one) => one.name === name);
  return (
    found ?? {
      reason: "UNKNOWN",
      problem: `'${preview(name)}' is not shared. ${knownSkills(name, names)}`,
    }
  );
}

function knownSkills(name: string, names: readonly string[]): string {
  return knownNames(name, [...new Set(names)]);
}

/** Creates the message of a request. Agents without the extension get the name of the skill. */
export function messageOfWork(request: WorkRequest, hasExtension: boolean): Message {
  const {
    requestId,
    from: _from,
    to: _to,
    context,
    inputs,
    traceContext: _trace,
    ...fields
  } = request;
  const parts = [
    ...(context === undefined ? [] : [textPart(context)]),
    ...(inputs === undefined ? [] : [dataPart(inputs)]),
  ];
  return messageWith({
    messageId: requestId,
    role: ROLE.USER,
    parts: parts.length === 0 && !hasExtension ? [textPart(request.task)] : parts,
    metadata: hasExtension ? { [WORK_EXTENSION]: fields } : { skillId: request.task },
    extensions: hasExtension ? [WORK_EXTENSION] : [],
  });
}

/** Returns the reason to cancel in the metadata of a request. */
export function cancelReasonOf(metadata: unknown): string | undefined {
  const reason = extensionFields(metadata)?.["reason"];
  return typeof reason === "string" && reason.trim() !== "" ? reason.slice(0, 500) : undefined;
}
