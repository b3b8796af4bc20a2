import type { ChatMessage, Purpose } from "../../contracts/chat-model.js";

import type { Fields } from "../../util/objects.js";
import { FileFormatError } from "../../contracts/state-errors.js";
import { preview } from "../../contracts/validation.js";
import {
  Misshapen,
  absentOrText,
  flagField,
  instantOf,
  listField,
  numberField,
  optionalNumber,
  requireFields,
  textField,
} from "./fields.js";
import { FIRST_VERSION, RECORDING_FORMAT, RECORDING_VERSION } from "./recording-format.js";
import { Recording } from "./recording.js";
import { readError, readResult, readToolResult } from "./read-result.js";

/** Creates a recording from the lines of its file. */
export class RecordingReader {
  readonly #messages: ChatMessage[] = [];
  #recording: Recording | undefined;

  constructor(readonly path: string) {}

  /** @throws FileFormatError for a file without its first line. */
  get recording(): Recording {
    if (this.#recording === undefined) throw this.#refusal(1, "it is empty");
    return this.#recording;
  }

  /**
   * Adds a line. Omits an incomplete last line, which a crash of the program leaves.
   * @throws FileFormatError with the line.
   */
  add(text: string, line: number, isCutOff: boolean): void {
    if (text.trim() === "") return; // an editor may add blank lines
    let fields: Fields;
    try {
      fields = requireFields(JSON.parse(text), "A line");
    } catch (cause) {
      if (isCutOff) return;
      throw this.#refusal(line, "it is not a JSON object", cause);
    }
    try {
      if (line === 1) this.#recording = new Recording(this.path, "recording", saltOf(fields));
      else this.#add(fields);
    } catch (cause) {
      if (!(cause instanceof Misshapen)) throw cause;
      throw this.#refusal(line, cause.message);
    }
  }

  #refusal(line: number, why: string, cause?: unknown): FileFormatError {
    const { path } = this;
    return new FileFormatError(
      `${path}:${line} is not a line of a recording: ${why}`,
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
          parent: absentOrText(fields, "parent"),
        });
        return;
      case "step":
        this.#addStep(fields);
        return;
      case "message":
        this.#addMessage(fields);
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

  #addMessage(fields: Fields): void {
    const n = numberField(fields, "n");
    if (n !== this.#messages.length)
      throw new Misshapen(`message ${n} comes where ${this.#messages.length} should`);
    this.#messages.push(readMessage(requireFields(fields["message"], "'message'")));
  }

  #addCall(fields: Fields): void {
    const { messages: _, ...request } = requireFields(fields["request"], "'request'");
    const numbers = listField(requireFields(fields["request"], "'request'"), "messages");
    const { recording } = this;
    recording.addCall({
      keys: recordedKeys(fields),
      run: textField(fields, "run"),
      ...readTimes(recording, fields),
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
      answered: flagField(fields, "answered"),
      refused: flagField(fields, "refused"),
      ...readResult(fields),
    });
  }

  #addStep(fields: Fields): void {
    const { recording } = this;
    const { step = "" } = readTimes(recording, fields);
    if (flagField(fields, "committed")) recording.committed.add(step);
    const { value, error } = fields;
    recording.values.set(step, {
      ...(value !== undefined && { value }),
      ...(error !== undefined && { error: readError(error) }),
    });
  }

  #message(n: unknown): ChatMessage {
    // undefined for a value that is not the number of a message
    const message = this.#messages[n as number];
    if (message === undefined) throw new Misshapen(`there is no message ${preview(n)} before it`);
    return message;
  }
}

/** Checks the first line and returns its salt. */
function saltOf(fields: Fields): string {
  const { format, version } = fields;
  if (format !== RECORDING_FORMAT)
    throw new Misshapen(`'format' must be "${RECORDING_FORMAT}", got: ${preview(format)}`);
  if (version === FIRST_VERSION) return "";
  if (version === RECORDING_VERSION) return textField(fields, "salt");
  throw new Misshapen(
    `version ${preview(version)} is not supported, only ${FIRST_VERSION} and ${RECORDING_VERSION}: another version of agentensemble wrote it`,
  );
}

/** Reads the position of a step. Recordings of the first version have none. */
function readTimes(recording: Recording, fields: Fields): { readonly step?: string } {
  const step = absentOrText(fields, "step");
  if (step === undefined) return {};
  const ended = optionalNumber(fields, "ended");
  recording.addStep(textField(fields, "run"), {
    step,
    owner: absentOrText(fields, "owner"),
    started: numberField(fields, "started"),
    startedMs: numberField(fields, "startedMs"),
    ended,
    endedMs: ended === undefined ? undefined : numberField(fields, "endedMs"),
  });
  return { step };
}

function recordedKeys(fields: Fields): readonly string[] {
  const redacted = absentOrText(fields, "redactedKey");
  return redacted === undefined ? [textField(fields, "key")] : [textField(fields, "key"), redacted];
}

function readMessage(fields: Fields): ChatMessage {
  textField(fields, "role");
  return fields as unknown as ChatMessage; // compared and shown only
}

function addTool(recording: Recording, fields: Fields): void {
  const { result, error } = fields;
  recording.addTool({
    keys: recordedKeys(fields),
    run: textField(fields, "run"),
    ...readTimes(recording, fields),
    task: textField(fields, "task"),
    attempt: numberField(fields, "attempt"),
    tool: textField(fields, "tool"),
    arguments: textField(fields, "arguments"),
    endMs: numberField(fields, "endMs"),
    ms: numberField(fields, "ms"),
    ...(result !== undefined && { result: readToolResult(requireFields(result, "'result'")) }),
    ...(error !== undefined && { error: readError(error) }),
    ...(flagField(fields, "aborted") && { aborted: true }),
  });
}
