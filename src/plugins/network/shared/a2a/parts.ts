import type { Message, Part } from "@a2a-js/sdk";
import type { Fields } from "../../../../util/objects.js";
import { asFields } from "../../../../util/objects.js";
import { WORK_EXTENSION } from "./protocol.js";

export function textPart(value: string): Part {
  return { ...part("text/plain"), content: { $case: "text", value } };
}

export function dataPart(value: unknown): Part {
  return { ...part("application/json"), content: { $case: "data", value } };
}

function part(mediaType: string): Pick<Part, "metadata" | "filename" | "mediaType"> {
  return { metadata: undefined, filename: "", mediaType };
}

/** Creates a message with defaults for missing fields. */
export function messageWith(
  fields: Pick<Message, "messageId" | "role" | "parts"> & Partial<Message>,
): Message {
  return {
    contextId: "",
    taskId: "",
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
    ...fields,
  };
}

/** The contents of parts by their kind. */
export interface PartContents {
  readonly texts: readonly string[];
  readonly data: readonly unknown[];
  /** Number of parts that are files. */
  readonly files: number;
}

export function partContents(parts: readonly Part[] | undefined): PartContents {
  const texts: string[] = [];
  const data: unknown[] = [];
  let files = 0;
  for (const { content } of parts ?? []) {
    if (content?.$case === "text") texts.push(content.value);
    else if (content?.$case === "data") data.push(content.value);
    else if (content !== undefined) files++;
  }
  return { texts, data, files };
}

/** Returns the fields of the extension in the metadata of a message, task or event. */
export function extensionFields(metadata: unknown): Fields | undefined {
  return asFields(asFields(metadata)?.[WORK_EXTENSION]);
}
