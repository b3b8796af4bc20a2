import type { ChatModel, ChatRequest, ChatResponse } from "../../../contracts/chat-model.js";
import type { After, Answer, LlmCall, Replace } from "../../../contracts/hooks.js";
import type { KeptEntry } from "../../../contracts/journal.js";
import type { CallValue, FailedAttempt, JudgingCall, KeptCall } from "./kept-values.js";
import type { RunJournal } from "./run-journal.js";
import type { TaskState, TaskStates } from "./task-states.js";
import { isRefused } from "../../../contracts/cost.js";
import { answer, replace } from "../../../contracts/hooks.js";
import { PartDigests } from "../../shared/part-digests.js";
import { canonicalRequest, requestKey } from "../../shared/request-key.js";
import { decideChange } from "./change.js";
import { callIn, usageOfFailed } from "./kept-values.js";

type AfterLlmCall = After<LlmCall & { readonly durationMs: number }, "response", ChatResponse>;

/** A model call in progress. */
interface PendingCall {
  readonly hash: string;
  readonly failed: FailedAttempt[];
}

/** A call answered by the journal. */
interface RestoredAnswer {
  readonly call: KeptCall;
  readonly hash: string;
}

const CAPABILITIES = Object.freeze({ exemptFromBudgets: true, exemptFromRateLimits: true });

/** Answers the model calls of one run from its journal, and records the others. */
export class ModelSteps {
  readonly #digests = new PartDigests();
  readonly #pending = new Map<string, PendingCall>();
  readonly #restored = new WeakMap<ChatModel, RestoredAnswer>();

  constructor(
    readonly journal: RunJournal,
    readonly tasks: TaskStates,
    /** Called with each call that has an answer. */
    readonly onCall: (call: KeptCall) => void,
  ) {}

  /** Replaces the model by one that returns the stored answer at once. */
  async replace(call: LlmCall): Promise<void | Replace<Pick<LlmCall, "model">>> {
    if (call.attempt > 1) return undefined;
    const key = this.#keyOf(call);
    const hash = requestKey(call.request, call.model, { digests: this.#digests });
    const known = await this.#find(call, key, hash);
    if (known === undefined) {
      this.journal.requireOpen(`model call ${key}`);
      this.#pending.set(key, { hash, failed: [] });
      return undefined;
    }
    const { provider, modelId, response } = known;
    const model: ChatModel = {
      provider,
      modelId,
      capabilities: CAPABILITIES,
      chat: () => Promise.resolve(response),
    };
    this.#restored.set(model, { call: known, hash });
    return replace({ model });
  }

  /**
   * Returns the stored answer. Outputs of finished tasks come first, in the order of an
   * uninterrupted run.
   */
  async answer({ model }: LlmCall): Promise<void | Answer<ChatResponse>> {
    const restored = this.#restored.get(model);
    if (restored === undefined) return undefined;
    await new Promise<void>((resolve) => setImmediate(resolve));
    return answer(restored.call.response);
  }

  /** Records the result of a call, in the journal and with its task. */
  async settle(call: AfterLlmCall): Promise<void> {
    const restored = this.#restored.get(call.model);
    if (restored !== undefined) return this.#settleRestored(call, restored);
    const key = this.#keyOf(call);
    const pending = this.#pending.get(key);
    if (pending === undefined) return;
    const { provider, modelId } = call.model;
    if (call.outcome === "failed") {
      const isFree = isRefused(call.error);
      pending.failed.push({ provider, modelId, ...(!isFree && { unknown: true }) });
    }
    if (call.outcome !== "ok" && call.outcome !== "answered") return;
    this.#pending.delete(key);
    const { purpose, iteration, response } = call;
    const { failed } = pending;
    const kept: KeptCall = {
      provider,
      modelId,
      purpose,
      iteration,
      response,
      ...(failed.length > 0 && { failed }),
    };
    await this.#write(call, kept, pending.hash);
    this.#note(call, kept, pending.hash);
  }

  /** Returns the permanently failed attempts of the calls of a task. */
  failedCalls(place: string): readonly FailedAttempt[] {
    return [...this.#pending].flatMap(([key, { failed }]) =>
      key.startsWith(`C:${place}/`) ? failed : [],
    );
  }

  async #write(call: LlmCall, kept: KeptCall, hash: string): Promise<void> {
    const state = this.tasks.of(call.taskId);
    const begins = isFirst(state, call);
    const sections = begins
      ? state?.call.promptSections.map(({ slot, text }) => ({ slot, text }))
      : undefined;
    const { agentRole } = call;
    const value: CallValue = {
      ...kept,
      ...((begins || agentRole !== state?.call.agent?.role) && { agentRole }),
      ...(sections !== undefined && { sections }),
    };
    await this.journal.writeStep({
      key: this.#keyOf(call),
      kind: "call",
      task: this.#taskOf(call),
      hash: this.#hashes(call.request, call.model, hash),
      value,
    });
  }

  /**
   * Returns the hashes of a request. If secrets were removed from the texts of the run, requests
   * are also compared without secrets.
   */
  #hashes(request: ChatRequest, model: ChatModel, hash: string): string {
    if (this.journal.settings.sealed || !this.journal.hasRedacted) return hash;
    return `${hash}:${this.#redactedHash(request, model)}`;
  }

  #redactedHash(request: ChatRequest, model: ChatModel): string {
    const canonical = canonicalRequest(request, this.#digests);
    // The redacted value has the same shape.
    return requestKey(this.journal.run.redactValue(canonical) as ChatRequest, model);
  }

  async #find(call: LlmCall, key: string, hash: string): Promise<KeptCall | undefined> {
    const state = this.tasks.of(call.taskId);
    if (state?.restored !== undefined && call.taskAttempt > 0)
      return findJudging(state, call, hash);
    const task = this.#taskOf(call);
    const { index } = this.journal;
    const isSame = this.#comparison(call, hash);
    const found = index.find(key, isSame);
    if (found === undefined) return undefined;
    const swapped = found.isSame
      ? undefined
      : index.unaskedOf(
          task,
          (entry) =>
            entry.kind === "call" && callIn(entry).purpose === call.purpose && isSame(entry),
        );
    const entry = swapped ?? found.entry;
    if (!found.isSame && swapped === undefined) {
      const difference = `the request of ${key} is another one than journaled (${call.model.provider}:${call.model.modelId}, ${call.request.messages.length} message(s); journal ${callIn(entry).provider}:${callIn(entry).modelId})`;
      if ((await decideChange(this.journal, { task, entry, difference })) === "redo")
        return undefined;
    }
    this.journal.noteRestored(entry);
    return callIn(entry);
  }

  /**
   * Returns a comparison of an entry with this request. The input of a reflection may change
   * without a change of the program.
   */
  #comparison(call: LlmCall, hash: string): (entry: KeptEntry) => boolean {
    if (call.purpose === "reflection") return () => true;
    let redacted: string | undefined;
    return ({ hash: kept = "" }) => {
      const [exact, withoutSecrets] = kept.split(":");
      if (exact === hash) return true;
      if (withoutSecrets === undefined) return false;
      redacted ??= this.#redactedHash(call.request, call.model);
      return withoutSecrets === redacted;
    };
  }

  #settleRestored(call: AfterLlmCall, { call: kept, hash }: RestoredAnswer): void {
    if (call.outcome !== "answered") return;
    this.#note(call, kept, hash);
    const { failed = [], purpose } = kept;
    if (failed.length === 0) return;
    const { taskId, agentRole } = call;
    call.run.spent(usageOfFailed(failed, { taskId, agentRole, purpose }));
  }

  #note(call: LlmCall, kept: KeptCall, hash: string): void {
    this.onCall(kept);
    const state = call.taskAttempt === 0 ? undefined : this.tasks.of(call.taskId);
    if (state === undefined) return;
    if (state.phase === "judging") state.judging.push({ ...kept, hash });
    else state.calls.push(kept);
  }

  #keyOf(call: LlmCall): string {
    return keyAt(this.#taskOf(call), call);
  }

  #taskOf({ taskId, taskAttempt }: LlmCall): string {
    return this.tasks.placeOf(taskId, taskAttempt);
  }
}

function keyAt(place: string, { purpose, iteration }: LlmCall): string {
  return `C:${place}/${purpose}/${iteration}`;
}

/** Returns whether this is the first call of the attempt itself. */
function isFirst(state: TaskState | undefined, { taskAttempt }: LlmCall): boolean {
  return state !== undefined && taskAttempt > 0 && state.calls.length === 0;
}

/**
 * Returns the call of a judge of a restored output. This is the call with the same request,
 * otherwise the next call with the same purpose.
 */
function findJudging(
  state: TaskState,
  { purpose }: LlmCall,
  hash: string,
): JudgingCall | undefined {
  const open = (state.restored?.judging ?? []).filter(
    (call) => call.purpose === purpose && !state.asked.has(call),
  );
  const call = open.find((known) => known.hash === hash) ?? open[0];
  if (call !== undefined) state.asked.add(call);
  return call;
}
