import type { ChatCallOptions, ChatChunk, ChatModel, ChatRequest, ChatResponse } from "../../../contracts/chat-model.js";
import { messageOf } from "../../../contracts/errors.js";
import { CallDeadline } from "../shared/call-deadline.js";
import { readAnswer } from "./answer.js";
import { BadAnswer } from "./bad-answer.js";
import type { Connection, Connector } from "./connection.js";
import { timeoutError, toModelCallError } from "./failures.js";
import { streamingBody, wholeBody } from "./request-body.js";
import { StreamedAnswer } from "./streamed-answer.js";

/** One call under way: what is needed to judge how it ended. */
interface OpenCall {
  readonly deadline: CallDeadline;
  readonly answer: StreamedAnswer;
  connection: Connection | undefined;
}

function brokenOff(e: unknown): BadAnswer {
  return new BadAnswer(`The answer broke off: ${messageOf(e)}`);
}

function mediaType(response: Response): string {
  return (response.headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/** The chunks of an answer that came whole. */
function* chunksOf(response: ChatResponse): Generator<ChatChunk> {
  const { content, toolCalls = [] } = response.message;
  if (content !== "") yield { type: "text", text: content };
  for (const [index, call] of toolCalls.entries()) yield { type: "tool_call", index, id: call.id, name: call.name, argumentsDelta: call.arguments };
  yield { type: "finish", response };
}

/** A model reached through Chat Completions. Holds no key itself: that lives in the connector's closure. */
export class OpenAIChatModel implements ChatModel {
  readonly provider = "openai";
  readonly modelId: string;
  readonly capabilities = Object.freeze({ structuredOutput: true });
  readonly #connector: Connector;
  readonly #timeoutMs: number;

  constructor(modelId: string, o: { readonly connector: Connector; readonly timeoutMs: number }) {
    this.modelId = modelId;
    this.#connector = o.connector;
    this.#timeoutMs = o.timeoutMs;
    Object.freeze(this);
  }

  /** @throws ModelCallError, or the signal's reason when aborted. */
  async chat(request: ChatRequest, options: ChatCallOptions = {}): Promise<ChatResponse> {
    const call = this.#open(options);
    const { deadline } = call;
    try {
      const { completions, isVendor } = await this.#connect(call);
      const body = wholeBody(this.modelId, request, isVendor);
      const response = await deadline.race(completions.create(body, { signal: deadline.signal }).asResponse());
      return await this.#readWhole(response, deadline);
    } catch (error) {
      throw this.#failure(error, call);
    } finally {
      deadline.close();
    }
  }

  /** @throws ModelCallError with what had come so far as `partialText`, or the signal's reason when aborted. */
  async *stream(request: ChatRequest, options: ChatCallOptions = {}): AsyncGenerator<ChatChunk, void, undefined> {
    const call = this.#open(options);
    const { deadline, answer } = call;
    try {
      const { completions, isVendor } = await this.#connect(call);
      const pending = completions.create(streamingBody(this.modelId, request, isVendor), { signal: deadline.signal });
      const response = await deadline.race(pending.asResponse());
      if (/json|html/.test(mediaType(response))) {
        yield* chunksOf(await this.#readWhole(response, deadline)); // a server that does not stream, or a page
        return;
      }
      const events = (await deadline.race(pending))[Symbol.asyncIterator]();
      for (let event = await this.#next(events, call); event !== undefined; event = await this.#next(events, call)) {
        yield* answer.add(event.value);
      }
      yield { type: "finish", response: answer.finish() };
    } catch (error) {
      throw this.#failure(error, call);
    } finally {
      deadline.close();
    }
  }

  #open(options: ChatCallOptions): OpenCall {
    options.signal?.throwIfAborted();
    const answer = new StreamedAnswer();
    const deadline = new CallDeadline(options.signal, this.#timeoutMs, () => timeoutError(this.modelId, this.#timeoutMs, answer.text));
    return { deadline, answer, connection: undefined };
  }

  async #connect(call: OpenCall): Promise<Connection> {
    call.connection = await call.deadline.race(this.#connector(this.modelId));
    return call.connection;
  }

  async #readWhole(response: Response, deadline: CallDeadline): Promise<ChatResponse> {
    const text = await deadline.race(
      response.text().catch((error: unknown) => {
        throw brokenOff(error);
      }),
    );
    return readAnswer(text);
  }

  /** The next event of the stream; `undefined` at its end. What breaks after the model has finished does not undo the answer. */
  async #next(events: AsyncIterator<unknown>, call: OpenCall): Promise<{ readonly value: unknown } | undefined> {
    const { deadline, answer, connection } = call;
    try {
      const next = await deadline.race(events.next());
      deadline.signal.throwIfAborted(); // the client ends an aborted stream as if it were complete
      return next.done === true ? undefined : { value: next.value };
    } catch (error) {
      if (answer.isFinished && !deadline.cancelled) return undefined;
      if (deadline.signal.aborted || connection?.isStreamedError(error) === true) throw error;
      throw brokenOff(error);
    }
  }

  #failure(error: unknown, call: OpenCall): unknown {
    if (call.deadline.signal.aborted) return call.deadline.signal.reason;
    return toModelCallError(error, { modelId: this.modelId, partialText: call.answer.text, connection: call.connection });
  }
}
