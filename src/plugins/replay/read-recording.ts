import type { ChatMessage, ChatResponse, Purpose } from "../../contracts/chat-model.js";
import type { Fields } from "./fields.js";
import type { CallResult, StoredChunk, ToolResultLine } from "./recording-format.js";
import type { StoredError } from "./stored-error.js";
import { FileFormatError } from "../../contracts/state-errors.js";
import { preview } from "../../contracts/validation.js";
import {
  Misshapen,
  fieldsOf,
  instantOf,
  listOf,
  numberOf,
  optionalText,
  textOf,
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
      fields = fieldsOf(JSON.parse(text), "A line");
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
    switch (textOf(fields, "type")) {
      case "run":
        recording.addRun({ id: textOf(fields, "run"), startedAt: instantOf(fields, "startedAt") });
        return;
      case "message":
        this.#messages[numberOf(fields, "n")] = readMessage(
          fieldsOf(fields["message"], "'message'"),
        );
        return;
      case "delegation":
        recording.delegationIds.push(textOf(fields, "id"));
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
    const { messages: _, ...request } = fieldsOf(fields["request"], "'request'");
    const numbers = listOf(fieldsOf(fields["request"], "'request'"), "messages");
    this.recording.addCall({
      keys: keysOf(fields),
      run: textOf(fields, "run"),
      task: textOf(fields, "task"),
      iteration: numberOf(fields, "iteration"),
      attempt: numberOf(fields, "attempt"),
      purpose: textOf(fields, "purpose") as Purpose, // compared only
      provider: textOf(fields, "provider"),
      modelId: textOf(fields, "modelId"),
      request: request, // shown only
      messages: numbers.map((n) => this.#message(n)),
      endMs: numberOf(fields, "endMs"),
      ms: numberOf(fields, "ms"),
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
  return redacted === undefined ? [textOf(fields, "key")] : [textOf(fields, "key"), redacted];
}

function readMessage(fields: Fields): ChatMessage {
  textOf(fields, "role");
  return fields as unknown as ChatMessage; // compared and shown only
}

function readResult(fields: Fields): CallResult {
  const { response, error, aborted, chunks } = fields;
  if (response !== undefined) fieldsOf(response, "'response'");
  return {
    ...(response !== undefined && { response: response as ChatResponse }), // the kernel checks it as it checks any model's
    ...(error !== undefined && { error: readError(error) }),
    ...(aborted === true && { aborted }),
    ...(chunks !== undefined && { chunks: listOf(fields, "chunks").map(readChunk) }),
  };
}

function readChunk(chunk: unknown): StoredChunk {
  if (typeof chunk === "string") return chunk;
  const fields = fieldsOf(chunk, "A chunk");
  if (fields["type"] !== "tool_call")
    throw new Misshapen(`A chunk must be a text or a tool_call, got: ${preview(chunk)}`);
  return fields as unknown as StoredChunk; // of that type
}

function readError(value: unknown): StoredError {
  const fields = fieldsOf(value, "'error'");
  if (!ERROR_KINDS.includes(textOf(fields, "kind")))
    throw new Misshapen(`the kind of error '${preview(fields["kind"])}' is not known`);
  textOf(fields, "name");
  textOf(fields, "message");
  return fields as unknown as StoredError; // its other fields are optional
}

function addTool(recording: Recording, fields: Fields): void {
  const { result, error, aborted } = fields;
  recording.addTool({
    keys: keysOf(fields),
    run: textOf(fields, "run"),
    task: textOf(fields, "task"),
    attempt: numberOf(fields, "attempt"),
    tool: textOf(fields, "tool"),
    arguments: textOf(fields, "arguments"),
    endMs: numberOf(fields, "endMs"),
    ms: numberOf(fields, "ms"),
    ...(result !== undefined && { result: readToolResult(fieldsOf(result, "'result'")) }),
    ...(error !== undefined && { error: readError(error) }),
    ...(aborted === true && { aborted }),
  });
}

function readToolResult(fields: Fields): ToolResultLine {
  if (typeof fields["ok"] !== "boolean")
    throw new Misshapen(`'ok' must be true or false, got: ${preview(fields["ok"])}`);
  return {
    ok: fields["ok"],
    text: textOf(fields, "text"),
    ...(fields["structured"] !== undefined && { structured: fields["structured"] }),
  };
}
