// Runs a case with the built-in plugin and with the plugin of another package, and compares the
// results.
import type { EnsembleEvent, EnsembleOptions, EventType, Plugin, RunOptions } from "agentensemble";
import { AgentEnsembleError, Ensemble } from "agentensemble";
import { expect } from "chai";

/** One run: its options, created for each plugin. */
export interface Case {
  readonly options: () => EnsembleOptions;
  readonly runOptions?: () => RunOptions;
  /** Codes of the error and its causes, from the outside; none if the run completes. */
  readonly codes?: readonly string[];
  /** The outputs of the run. */
  readonly outputs?: readonly string[];
}

/** The end of a run, without values that differ between runs. */
export interface Ended {
  readonly outputs: readonly string[];
  readonly exitReason: string | undefined;
  readonly codes: readonly string[];
  /** Of all events, sorted: calls in parallel end in any order. */
  readonly types: readonly EventType[];
  readonly events: readonly EnsembleEvent[];
  /** The message of the innermost error of the framework. */
  readonly message: string | undefined;
}

/** Events that only the built-in plugins emit. */
const OWN: ReadonlySet<EventType> = new Set<EventType>(["budget_opened", "budget_changed"]);

function errorsIn(error: unknown): readonly AgentEnsembleError[] {
  return AgentEnsembleError.isInstance(error) ? [error, ...errorsIn(error.cause)] : [];
}

/** Runs a new ensemble with a plugin until any end. */
export async function ended(
  { options, runOptions }: Pick<Case, "options" | "runOptions">,
  plugin: Plugin,
): Promise<Ended> {
  const events: EnsembleEvent[] = [];
  const { plugins = [], ...others } = options();
  const ensemble = new Ensemble({
    ...others,
    plugins: [plugin, ...plugins],
    on: (event) => void events.push(event),
  });
  const output = await ensemble.run({}, { ...runOptions?.(), throwOnError: false });
  await ensemble.dispose();
  const errors = errorsIn(output.error);
  return {
    outputs: output.taskOutputs.map(({ raw }) => raw),
    exitReason: output.exitReason,
    codes: errors.map(({ code }) => code),
    types: events
      .map(({ type }) => type)
      .filter((type) => !OWN.has(type))
      .sort(),
    events,
    message: errors.at(-1)?.message,
  };
}

/** The events of some types without times and ids. */
function told(events: readonly EnsembleEvent[], types: readonly EventType[]): readonly object[] {
  const varying = ["at", "timestamp", "seq", "runId", "reviewId", "requestedAt", "deadline"];
  return events
    .filter(({ type }) => types.includes(type))
    .map((event) =>
      Object.fromEntries(
        Object.entries(event).filter(([key]) => ![...varying, "durationMs"].includes(key)),
      ),
    );
}

/**
 * Runs a case with both plugins. @throws AssertionError if the ends differ, or differ from the
 * case.
 */
export async function expectSameEnd(
  subject: Case,
  [builtIn, outside]: readonly [Plugin, Plugin],
  types: readonly EventType[],
): Promise<Ended> {
  const ours = await ended(subject, builtIn);
  const theirs = await ended(subject, outside);
  const { events, message: _, ...end } = ours;
  expect(theirs).to.deep.include(end);
  expect(told(theirs.events, types)).to.deep.equal(told(events, types));
  expect(theirs.codes).to.deep.equal(subject.codes ?? []);
  if (subject.outputs !== undefined) expect(theirs.outputs).to.deep.equal(subject.outputs);
  return theirs;
}
