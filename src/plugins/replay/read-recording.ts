import type { ChatMessage, ChatResponse, Purpose } from "../../contracts/chat-model.js";

import type { CallResult, StoredChunk, ToolResultLine } from "./recording-format.js";
import type { StoredError } from "./stored-error.js";
import type { Fields } from "../../util/objects.js";
import { FileFormatError } from "../../contracts/state-errors.js";
import { preview } from "../../contracts/validation.js";
import {
  Misshapen,
  requireFields,
  instantOf,
  listField,
  numberField,
  optionalText,
  textField,
} from "./fields.js";
import { RECORDING_FORMAT, RECORDING_VERSION } from "./recording-format.js";
import { Recording } from "./recording.js";
import { ERROR_KINDS } from "./stored-error.js";

/** Makes a recording of the lines of its file. */
export class RecordingReader {
  readonly recording: Recording;
  readonly #messages: ChatMessage[] = [];

  constructor(readonly path: string) {
    this.recording = new Recording(path, "recording");
  }

  /** @throws FileFormatError with the line. A last line that was cut off, because the program broke off, is left out. */
  add(text: string, line: number, isCutOff: boolean): void {
    if (text.trim() === "") return; // left by an editor
    let fields: Fields;
    try {
      fields = requireFields(JSON.parse(text), "A line");
    } catch (cause) {
      if (isCutOff) return;
      throw this.#refusal(line, "it is not a JSON object", cause);
    }
    try {
      if (line === 1) checkHeader(fields);
      else this.#add(fields);
    } catch (cause) {
      if (!(cause instanceof Misshapen)) throw cause;
      throw this.#refusal(line, cause.message);
    }
  }

  #refusal(line: number, why: string, cause?: unknown): FileFormatError {
    const { path } = this;
    return new FileFormatError(
      `${path}:${line} is no line of a recording: ${why}`,
      { path, line },
      { ...(cause !== undefined && { cause }), hint: "Record it again." },
    );
  }

  #add(fields: Fields): void {
    const { recording } = this;
    switch (textField(fields, "type")) {
      case "run":
        recording.addRun({
          id: textField(fields, "run"),
          startedAt: instantOf(fields, "startedAt"),
        });
        return;
      case "message":
        this.#messages[numberField(fields, "n")] = readMessage(
          requireFields(fields["message"], "'message'"),
        );
        return;
      case "delegation":
        recording.delegationIds.push(textField(fields, "id"));
        return;
      case "call":
        this.#addCall(fields);
        return;
      case "tool":
        addTool(recording, fields);
        return;
      default:
        throw new Misshapen(`the type '${preview(fields["type"])}' is not known`);
    }
  }

  #addCall(fields: Fields): void {
    const { messages: _, ...request } = requireFields(fields["request"], "'request'");
    const numbers = listField(requireFields(fields["request"], "'request'"), "messages");
    this.recording.addCall({
      keys: keysOf(fields),
      run: textField(fields, "run"),
      task: textField(fields, "task"),
      iteration: numberField(fields, "iteration"),
      attempt: numberField(fields, "attempt"),
      purpose: textField(fields, "purpose") as Purpose, // compared only
      provider: textField(fields, "provider"),
      modelId: textField(fields, "modelId"),
      request: request, // shown only
      messages: numbers.map((n) => this.#message(n)),
      endMs: numberField(fields, "endMs"),
      ms: numberField(fields, "ms"),
      answered: fields["answered"] === true,
      refused: fields["refused"] === true,
      ...readResult(fields),
    });
  }

  #message(n: unknown): ChatMessage {
    const message = this.#messages[n as number]; // undefined for whatever is no number of a message
    if (message === undefined) throw new Misshapen(`there is no message ${preview(n)} before it`);
    return message;
  }
}

function checkHeader(fields: Fields): void {
  const { format, version } = fields;
  if (format !== RECORDING_FORMAT)
    throw new Misshapen(`'format' must be "${RECORDING_FORMAT}", got: ${preview(format)}`);
  if (version !== RECORDING_VERSION)
    throw new Misshapen(
      `version ${preview(version)} is not understood, only ${RECORDING_VERSION}: another version of agentensemble wrote it`,
    );
}

function keysOf(fields: Fields): readonly string[] {
  const redacted = optionalText(fields, "redactedKey");
  return redacted === undefined ? [textField(fields, "key")] : [textField(fields, "key"), redacted];
}

function readMessage(fields: Fields): ChatMessage {
  textField(fields, "role");
  return fields as unknown as ChatMessage; // compared and shown only
}

function readResult(fields: Fields): CallResult {
  const { response, error, aborted, chunks } = fields;
  if (response !== undefined) requireFields(response, "'response'");
  return {
    ...(response !== undefined && { response: response as ChatResponse }), // the kernel checks it as it checks any model's
    ...(error !== undefined && { error: readError(error) }),
    ...(aborted === true && { aborted }),
    ...(chunks !== undefined && { chunks: listField(fields, "chunks").map(readChunk) }),
  };
}

function readChunk(chunk: unknown): StoredChunk {
  if (typeof chunk === "string") return chunk;
  const fields = requireFields(chunk, "A chunk");
  if (fields["type"] !== "tool_call")
    throw new Misshapen(`A chunk must be a text or a tool_call, got: ${preview(chunk)}`);
  return fields as unknown as StoredChunk; // of that type
}

function readError(value: unknown): StoredError {
  const fields = requireFields(value, "'error'");
  if (!ERROR_KINDS.includes(textField(fields, "kind")))
    throw new Misshapen(`the kind of error '${preview(fields["kind"])}' is not known`);
  textField(fields, "name");
  textField(fields, "message");
  return fields as unknown as StoredError; // its other fields are optional
}

function addTool(recording: Recording, fields: Fields): void {
  const { result, error, aborted } = fields;
  recording.addTool({
    keys: keysOf(fields),
    run: textField(fields, "run"),
    task: textField(fields, "task"),
    attempt: numberField(fields, "attempt"),
    tool: textField(fields, "tool"),
    arguments: textField(fields, "arguments"),
    endMs: numberField(fields, "endMs"),
    ms: numberField(fields, "ms"),
    ...(result !== undefined && { result: readToolResult(requireFields(result, "'result'")) }),
    ...(error !== undefined && { error: readError(error) }),
    ...(aborted === true && { aborted }),
  });
}

function readToolResult(fields: Fields): ToolResultLine {
  if (typeof fields["ok"] !== "boolean")
    throw new Misshapen(`'ok' must be true or false, got: ${preview(fields["ok"])}`);
  return {
    ok: fields["ok"],
    text: textField(fields, "text"),
    ...(fields["structured"] !== undefined && { structured: fields["structured"] }),
  };
}
