import { createHash } from "node:crypto";
import type { ChatMessage, ChatRequest } from "../../../contracts/chat-model.js";
import type {
  After,
  LlmCall,
  MemoryWrite,
  Reject,
  Replace,
  TaskCall,
  ToolCallContext,
} from "../../../contracts/hooks.js";
import type { HookRun } from "../../../contracts/run.js";
import type { GuardReport } from "../shared/findings.js";
import type { PromptInjectionOptions } from "./prompt-injection-options.js";
import { reject, replace } from "../../../contracts/hooks.js";
import { inputText } from "../../../contracts/template.js";
import { Tokens } from "../../../contracts/tokens.js";
import { ToolResult } from "../../../contracts/tool-result.js";
import { guardrailRefusal } from "../../shared/guardrail-refusal.js";
import { PromptLibrary } from "../../shared/prompts/prompt-library.js";
import { GuardedTasks, reportTo } from "../shared/guarded-tasks.js";
import { changedMessage, changedPart, changedValue } from "../shared/message-texts.js";
import { scoreInjection, withoutUnseen } from "./injection-patterns.js";
import { INJECTION_TEMPLATES } from "./injection-prompts.js";

export const GUARD_NAME = "guards-prompt-injection";

/**
 * The minimum score of a finding without a judge. Texts with a lower score above 0 are suspected.
 */
const FINDING = 1;
/** Number of characters of a text that a review shows. */
const SHOWN = 2_000;

/** A finding in a text. */
interface Injection {
  readonly kinds: readonly string[];
}

type FailedToolMessage = Extract<ChatMessage, { readonly role: "tool" }>;
type Place = Pick<TaskCall, "run" | "taskId">;

/** Finds instructions in external text, and handles them. */
export class InjectionGuard {
  readonly tasks = new GuardedTasks();
  readonly #library = new PromptLibrary(INJECTION_TEMPLATES);
  /** Documents that were read, by message. */
  readonly #documents = new WeakMap<HookRun, WeakMap<ChatMessage, ChatMessage>>();
  /** Failed tool calls, and whether their errors are still unchecked. */
  readonly #failures = new WeakMap<HookRun, Map<string, boolean>>();

  constructor(readonly options: PromptInjectionOptions) {}

  get action(): "mark" | "refuse" | "review" {
    return this.options.action ?? "mark";
  }

  isChecked({ tool }: ToolCallContext): boolean {
    return this.options.tools !== "untrusted" || tool.untrusted === true;
  }

  /** Notes whether the error of a failed call is still unchecked, because the tool threw it. */
  noteFailure(call: After<ToolCallContext, "result", ToolResult>): void {
    if (call.result?.ok === true) return;
    this.#setUnchecked(call, call.result === undefined && this.isChecked(call));
  }

  #setUnchecked({ run, taskId, call }: ToolCallContext, isUnchecked: boolean): void {
    const calls = this.#failures.get(run) ?? new Map<string, boolean>();
    this.#failures.set(run, calls.set(keyOf(taskId, call.id), isUnchecked));
  }

  /** Handles instructions in the errors that tools threw. Taps of tool calls can't change them. */
  async failures(call: LlmCall): Promise<void | Replace<{ request: ChatRequest }>> {
    const { messages } = call.request;
    const changed: ChatMessage[] = [];
    for (const message of messages) changed.push(await this.#failure(call, message));
    const isSame = changed.every((message, index) => message === messages[index]);
    return isSame ? undefined : replace({ request: { ...call.request, messages: changed } });
  }

  async #failure(call: LlmCall, message: ChatMessage): Promise<ChatMessage> {
    if (message.role !== "tool" || message.isError !== true) return message;
    const { content, toolCallId } = message;
    const ofRun = this.#failures.get(call.run)?.get(keyOf(call.taskId, toolCallId));
    // Messages of earlier turns belong to another run.
    if (!(ofRun ?? this.options.tools !== "untrusted")) return message;
    const known = this.#known(call.run);
    const earlier = known.get(message);
    if (earlier !== undefined) return earlier;
    const found = await this.#inspect(content, call);
    const text = found === undefined ? content : await this.#failureText(call, message, found);
    const handled = text === content ? message : { ...message, content: text };
    known.set(message, handled);
    return handled;
  }

  async #failureText(call: LlmCall, message: FailedToolMessage, found: Injection): Promise<string> {
    const { content, toolCallId: callId, toolName } = message;
    const source = `tool '${toolName}'`;
    if (this.action === "review")
      return (await this.#ask(call, content, found, { toolName, callId })) ?? content;
    const isMarked = this.action === "mark";
    this.#report(call, "tool result", isMarked ? "marked" : "refused", found);
    return isMarked ? this.#marked(call, content, source) : withheld(source, found);
  }

  /** Marks the result of a tool, or asks a person about it. */
  async result(
    call: After<ToolCallContext, "result", ToolResult>,
  ): Promise<void | Replace<{ result: ToolResult }>> {
    const { result } = call;
    if (result === undefined || !this.isChecked(call)) return;
    const found = await this.#inspect(resultText(result), call);
    if (found === undefined) return;
    const source = `tool '${call.tool.name}'`;
    if (this.action === "mark") {
      this.#report(call, "tool result", "marked", found);
      const mark = (text: string): string =>
        text === "" ? text : this.#marked(call, text, source);
      return replace({ result: markedResult(result, mark) });
    }
    if (this.action !== "review") return; // the policy refuses
    const asked = { toolName: call.tool.name, callId: call.call.id };
    const refusal = await this.#ask(call, resultText(result), found, asked);
    return refusal === undefined ? undefined : replace({ result: ToolResult.failure(refusal) });
  }

  /** Refuses the result of a tool. */
  async judgeResult(call: After<ToolCallContext, "result", ToolResult>): Promise<void | Reject> {
    const { result } = call;
    if (result === undefined || !this.isChecked(call)) return;
    const found = await this.#inspect(resultText(result), call);
    if (found === undefined) return;
    this.#report(call, "tool result", "refused", found);
    this.#setUnchecked(call, false);
    return reject(
      `The result of tool '${call.tool.name}' was withheld: it contains instructions to the model (${found.kinds.join(", ")})`,
    );
  }

  /** Marks documents in user messages. */
  async request(call: LlmCall): Promise<void | Replace<{ request: ChatRequest }>> {
    const { messages } = call.request;
    let isSame = true;
    const changed: ChatMessage[] = [];
    for (const message of messages) {
      const marked = await this.#document(call, message);
      isSame &&= marked === message;
      changed.push(marked);
    }
    return isSame ? undefined : replace({ request: { ...call.request, messages: changed } });
  }

  /** Refuses a request with such a document, or asks a person about the document. */
  async judgeRequest(call: LlmCall): Promise<void | Reject> {
    for (const message of call.request.messages) {
      if (message.role !== "user" || this.#known(call.run).has(message)) continue;
      for (const text of this.#outsideTexts(call.run, message)) {
        const found = await this.#inspect(text, call);
        if (found === undefined) continue;
        const refusal =
          this.action === "review"
            ? await this.#ask(call, text, found)
            : this.#refusalOf(call, found);
        if (refusal === undefined) continue;
        const task = this.tasks.find(call);
        return task === undefined
          ? reject(refusal)
          : guardrailRefusal("INPUT", task, { reason: refusal }, GUARD_NAME);
      }
      this.#known(call.run).set(message, message);
    }
  }

  /** Marks an entry of memory. */
  async entry(call: MemoryWrite): Promise<void | Replace<Pick<MemoryWrite, "entry">>> {
    const found = await this.#inspect(call.entry.content, call);
    if (found === undefined) return;
    this.#report(call, "memory", "marked", found);
    const content = this.#marked(call, call.entry.content, "an earlier run");
    return replace({ entry: { ...call.entry, content } });
  }

  async judgeEntry(call: MemoryWrite): Promise<void | Reject> {
    const found = await this.#inspect(call.entry.content, call);
    if (found === undefined) return;
    this.#report(call, "memory", "refused", found);
    return reject(`The entry contains instructions to a model (${found.kinds.join(", ")})`);
  }

  #refusalOf(call: Place, found: Injection): string {
    this.#report(call, "request", "refused", found);
    return `a document contains instructions to the model (${found.kinds.join(", ")})`;
  }

  #known(run: HookRun): WeakMap<ChatMessage, ChatMessage> {
    let known = this.#documents.get(run);
    if (known === undefined) this.#documents.set(run, (known = new WeakMap()));
    return known;
  }

  async #document(call: LlmCall, message: ChatMessage): Promise<ChatMessage> {
    if (message.role !== "user") return message;
    const known = this.#known(call.run);
    const earlier = known.get(message);
    if (earlier !== undefined) return earlier;
    let marked: ChatMessage = message;
    for (const text of this.#outsideTexts(call.run, message)) {
      const found = await this.#inspect(text, call);
      if (found === undefined) continue;
      this.#report(call, "request", "marked", found);
      const note = this.#marked(call, text, "a document");
      marked = changedMessage(marked, (all) => all.replace(text, () => note));
    }
    known.set(message, marked);
    return marked;
  }

  /** Returns the external texts in a user message: documents and named inputs. */
  #outsideTexts(run: HookRun, message: ChatMessage): readonly string[] {
    if (message.role !== "user") return [];
    const texts: string[] = [];
    const isDocument = typeof message.content !== "string" && this.options.documents !== false;
    changedMessage(message, (text) => {
      if (isDocument) texts.push(text);
      else
        for (const name of this.options.inputs ?? [])
          texts.push(...inputTextsIn(text, name, run.inputs[name]));
      return text;
    });
    return texts;
  }

  #marked({ run }: Place, text: string, source: string): string {
    const texts = this.#library.textsOf(run.all(Tokens.PromptTemplates), run);
    const shown = withoutUnseen(text);
    return texts.render("guards.outsideText", { source, text: shown, id: markId(text) });
  }

  /** Returns the finding in a text, confirmed by the judge if there is one. */
  async #inspect(text: string, place: Place): Promise<Injection | undefined> {
    const { score, kinds } = scoreInjection(text);
    const { judge, judged } = this.options;
    if (judge === undefined) return score >= FINDING ? { kinds } : undefined;
    if (judged !== "all" && score === 0) return undefined;
    const task = this.tasks.find(place);
    const isInjection = task === undefined ? score > 0 : await this.#isJudgedInjection(task, text);
    return isInjection ? { kinds: kinds.length === 0 ? ["judged"] : kinds } : undefined;
  }

  /** Returns whether the judge reports an injection. Any unclear answer counts as an injection. */
  async #isJudgedInjection(task: TaskCall, text: string): Promise<boolean> {
    const { run } = task;
    const texts = this.#library.textsOf(run.all(Tokens.PromptTemplates), run);
    try {
      const { message } = await run.chat(
        task,
        {
          messages: [
            { role: "system", content: texts.render("guards.judgeSystem", {}) },
            {
              role: "user",
              content: texts.render("guards.judgeUser", { text: JSON.stringify(text) }),
            },
          ],
          maxOutputTokens: 200,
        },
        { purpose: "judge", model: run.resolveModel(this.options.judge ?? "") },
      );
      return !/^\W*(?:json\W*)?"injection"\s*:\s*false\W*$/.test(message.content);
    } catch (error) {
      if (task.signal.aborted) throw error;
      run.warn(`${GUARD_NAME}: the judge failed, so the text counts as an injection`);
      return true;
    }
  }

  /** Asks a person. Returns the reason of a refusal. */
  async #ask(
    call: LlmCall | ToolCallContext,
    text: string,
    found: Injection,
    asked?: { readonly toolName: string; readonly callId: string },
  ): Promise<string | undefined> {
    const source = asked === undefined ? "a document" : `tool '${asked.toolName}'`;
    const id = asked?.callId ?? markId(text);
    const gate = call.run.find(Tokens.ReviewGate);
    const place = asked === undefined ? "request" : "tool result";
    const task = this.tasks.find(call);
    const kinds = found.kinds.join(", ");
    if (gate?.canAsk(call.run) === true && task !== undefined) {
      const decision = await gate.ask(
        {
          prompt: "This text seems to contain instructions to the model. May the model read it?",
          ...this.options.review,
          timing: "DURING_EXECUTION",
          taskDescription: `Text from ${source} (${kinds})`,
          taskOutput: text.slice(0, SHOWN),
          truncated: text.length > SHOWN,
          ...asked,
          key: `injection:${id}`,
        },
        {
          run: call.run,
          taskId: call.taskId,
          parentTaskId: call.parentTaskId,
          agentRole: call.agentRole,
          attempt: task.attempt,
          signal: call.signal,
        },
      );
      if (decision.type === "CONTINUE") {
        this.#report(call, place, "approved", found);
        return undefined;
      }
    }
    this.#report(call, place, "refused", found);
    return withheld(source, found);
  }

  #report(
    call: Place,
    place: GuardReport["place"],
    action: GuardReport["action"],
    { kinds }: Injection,
  ): void {
    reportTo(this.options, call, { guard: GUARD_NAME, place, action, kinds });
  }
}

/**
 * Returns the result with its texts marked. With `contextFormat`, models receive the structured
 * value, so its suspected texts are marked too. A value that is suspected only as a whole is removed.
 */
function markedResult(result: ToolResult, mark: (text: string) => string): ToolResult {
  if (!result.ok) return ToolResult.failure(mark(result.errorMessage ?? ""));
  const parts = result.parts.map((part) => changedPart(part, mark));
  const texts: string[] = [];
  const marked = changedValue(result.structured, (text) => {
    texts.push(text);
    return isSuspected(text) ? mark(text) : text;
  });
  const isWhole = marked === result.structured && isSuspected(texts.join("\n"));
  const structured = isWhole ? undefined : marked;
  return ToolResult.success(mark(result.output), structured, { parts, sources: result.sources });
}

function isSuspected(text: string): boolean {
  return scoreInjection(text).score > 0;
}

function resultText(result: ToolResult): string {
  const shown = result.ok ? result.output : (result.errorMessage ?? "");
  const texts = [shown];
  changedValue(result.structured, (text) => {
    if (!shown.includes(JSON.stringify(text).slice(1, -1))) texts.push(text);
    return text;
  });
  for (const part of result.parts)
    changedPart(part, (text) => {
      texts.push(text);
      return text;
    });
  return texts.join("\n");
}

/**
 * Returns the texts of an input that a message contains: the whole input as templates write it, or
 * its parts.
 */
function inputTextsIn(message: string, name: string, value: unknown): readonly string[] {
  if (value === undefined) return [];
  const whole = inputText(name, value);
  if (whole.trim() !== "" && message.includes(whole)) return [whole];
  const parts: string[] = [];
  changedValue(value, (text) => {
    if (text.trim() !== "" && message.includes(text)) parts.push(text);
    return text;
  });
  return parts;
}

function withheld(source: string, { kinds }: Injection): string {
  return `The text from ${source} was withheld: it contains instructions to the model (${kinds.join(", ")})`;
}

/** Returns the name of a tool call in its run. */
function keyOf(taskId: string, callId: string): string {
  return `${taskId}/${callId}`;
}

/**
 * Returns the mark of a text. It depends only on the text, so that equal requests stay equal for
 * caches.
 */
function markId(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}
