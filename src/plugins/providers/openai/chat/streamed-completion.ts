import type { ChatChunk, ChatResponse, ToolCall, Usage } from "../../../../contracts/chat-model.js";
import { BadAnswer } from "../../shared/bad-answer.js";
import type { StreamedAnswer } from "../../shared/chat-protocol.js";
import { asFields, fallbackCallId, readArguments, type Fields } from "../../shared/wire-fields.js";
import { buildResponse, readIdentity, readUsage } from "./answer.js";

interface CallInProgress {
  readonly vendorIndex: number;
  id: string;
  name: string;
  /** Absent until a first piece comes, which may be an empty one. */
  arguments: string | undefined;
}

/** Puts a streamed answer together, piece by piece, and says what each piece adds. */
export class StreamedCompletion implements StreamedAnswer {
  /** The stream ends with a mark of its own. */
  readonly isClosed = false;
  readonly #calls: CallInProgress[] = [];
  #content = "";
  #refusal = "";
  #finishReason: unknown;
  #usage: Usage | undefined;
  #identity: Pick<ChatResponse, "responseId" | "modelId"> = {};

  /** The text that has come so far. */
  get text(): string {
    return this.#content + this.#refusal;
  }

  /** Whether the model has said why it stopped; only the usage may come after that. */
  get isFinished(): boolean {
    return this.#finishReason !== undefined;
  }

  add(document: Fields): ChatChunk[] {
    this.#identity = { ...this.#identity, ...readIdentity(document) };
    this.#usage = readUsage(document["usage"]) ?? this.#usage;
    const choices: readonly unknown[] = Array.isArray(document["choices"])
      ? document["choices"]
      : [];
    return choices
      .map(asFields)
      .filter((choice) => choice !== undefined)
      .filter((choice) => (choice["index"] ?? 0) === 0)
      .flatMap((choice) => this.#addChoice(choice));
  }

  finish(): ChatResponse {
    if (!this.isFinished) throw new BadAnswer("The stream ended before the answer was complete");
    const toolCalls: ToolCall[] = this.#calls.map((call, index) => {
      if (call.name === "")
        throw new BadAnswer(`Tool call ${index} of the stream names no function`);
      return {
        id: call.id === "" ? fallbackCallId(this.#identity.responseId, index) : call.id,
        name: call.name,
        arguments: call.arguments ?? readArguments(undefined),
      };
    });
    return buildResponse({
      content: this.#content,
      refusal: this.#refusal,
      toolCalls,
      finishReason: this.#finishReason,
      usage: this.#usage,
      identity: this.#identity,
    });
  }

  #addChoice(choice: Fields): ChatChunk[] {
    const delta = asFields(choice["delta"]) ?? {};
    const chunks: ChatChunk[] = [];
    const content = delta["content"];
    const refusal = delta["refusal"];
    if (typeof content === "string" && content !== "") {
      this.#content += content;
      chunks.push({ type: "text", text: content });
    }
    if (typeof refusal === "string" && refusal !== "") {
      this.#refusal += refusal;
      chunks.push({ type: "text", text: refusal });
    }
    const calls: readonly unknown[] = Array.isArray(delta["tool_calls"]) ? delta["tool_calls"] : [];
    for (const call of calls) chunks.push(this.#addToolCall(call));
    const reason = choice["finish_reason"];
    if (typeof reason === "string" && reason !== "") this.#finishReason = reason;
    return chunks;
  }

  #addToolCall(value: unknown): ChatChunk {
    const delta = asFields(value);
    if (delta === undefined)
      throw new BadAnswer("A tool call of the stream is not a JSON object", { shown: value });
    const target = asFields(delta["function"]) ?? {};
    const id = typeof delta["id"] === "string" ? delta["id"] : "";
    const name = typeof target["name"] === "string" ? target["name"] : "";
    const piece = target["arguments"] ?? undefined;
    const added = piece === undefined ? "" : readArguments(piece);
    const call = this.#callFor(delta["index"], id, name);
    const isNewId = id !== "" && call.id === "";
    const isNewName = name !== "" && call.name === "";
    if (isNewId) call.id = id;
    if (isNewName) call.name = name;
    if (piece !== undefined) call.arguments = (call.arguments ?? "") + added;
    return {
      type: "tool_call",
      index: this.#calls.indexOf(call),
      ...(isNewId ? { id } : {}),
      ...(isNewName ? { name } : {}),
      ...(added === "" ? {} : { argumentsDelta: added }),
    };
  }

  /** The call that a delta continues. Some servers leave out the index, or give every call the index 0: then a new id begins a new call. */
  #callFor(index: unknown, id: string, name: string): CallInProgress {
    const vendorIndex = typeof index === "number" ? index : undefined;
    const known =
      vendorIndex === undefined
        ? this.#calls.at(-1)
        : this.#calls.findLast((call) => call.vendorIndex === vendorIndex);
    const beginsAnother =
      known !== undefined && name !== "" && id !== "" && known.id !== "" && known.id !== id;
    if (known !== undefined && !beginsAnother) return known;
    const call: CallInProgress = {
      vendorIndex: vendorIndex ?? this.#calls.length,
      id: "",
      name: "",
      arguments: undefined,
    };
    this.#calls.push(call);
    return call;
  }
}
