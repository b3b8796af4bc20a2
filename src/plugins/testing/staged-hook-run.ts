import type { ChatModel } from "../../contracts/chat-model.js";
import type { EnsembleOptions } from "../../contracts/ensemble-options.js";
import type { HookRun } from "../../contracts/run.js";
import type { Clock } from "../../contracts/runtime.js";
import type { Token } from "../../contracts/token.js";
import type { TaskOutput } from "../../contracts/output.js";
import { ValidationError } from "../../contracts/errors.js";
import { Tokens } from "../../contracts/tokens.js";
import { tokenName } from "../../contracts/token.js";

/** A constant wall clock. Durations are real. */
const STAGED_CLOCK: Clock = Object.freeze({
  now: () => new Date(Date.UTC(2026, 0, 1)),
  monotonicMs: () => performance.now(),
});

const NOTHING: readonly never[] = Object.freeze([]);

/**
 * A run without an execution. It behaves like a run that has ended. Its only binding is the clock.
 */
export class StagedHookRun implements HookRun {
  readonly inputs = Object.freeze({});
  readonly tags = Object.freeze({});
  readonly parent = undefined;
  readonly startedAt = STAGED_CLOCK.now();
  readonly options: EnsembleOptions = Object.freeze({});

  constructor(readonly id: string) {}

  get<T>(token: Token<T>): T {
    const value = this.find(token);
    if (value !== undefined) return value;
    throw new ValidationError(`A staged scope has no binding for '${tokenName(token)}'`);
  }
  find<T>(token: Token<T>): T | undefined {
    return token === Tokens.Clock ? (STAGED_CLOCK as T) : undefined; // the type of Tokens.Clock
  }
  all<T>(): readonly T[] {
    return NOTHING;
  }
  modelFor(): ChatModel | undefined {
    return undefined;
  }
  resolveModel(ref: ChatModel | string): ChatModel {
    if (typeof ref !== "string") return ref;
    throw new ValidationError("A staged run has no model providers");
  }
  listens(): boolean {
    return false;
  }
  emit(): void {
    // no listener
  }
  warn(): void {
    // no listener
  }
  stop(): void {
    // no step is in progress
  }
  cancel(): void {
    // no step is in progress
  }
  spent(): void {
    // no totals
  }
  readonly earlierUsage = NOTHING;
  readonly untrustedSource = undefined;
  noteUntrusted(): void {
    // no step is in progress
  }
  outputs(): readonly TaskOutput[] {
    return NOTHING;
  }
  recordMetrics(): void {
    // no task
  }
  recordReview(): void {
    // no trace
  }
  redact(text: string): string {
    return text;
  }
  redactValue(value: unknown): unknown {
    return value;
  }
  format(_value: unknown, text: string): string {
    return text;
  }
  noteSaved(): void {
    // no metrics
  }
  setTraceId(): void {
    // no trace
  }
  chat(): Promise<never> {
    return Promise.reject(new ValidationError("A staged run calls no model"));
  }
  writeMemory(): Promise<never> {
    return Promise.reject(new ValidationError("A staged run has no memory"));
  }
}
