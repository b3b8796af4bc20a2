import type {
  AgentEnsembleError,
  ChatChunk,
  ChatModel,
  EnsembleEvent,
  EnsembleOptions,
  EnsembleOutput,
  Inputs,
  Plugin,
  RunOptions,
} from "agentensemble";
import { AgentEnsembleError as OurError, Ensemble } from "agentensemble";
import { recordTo, replayFrom, type ReplayOptions } from "agentensemble/replay";

/** A model that must not be called: it replaces the real model in a replay. */
export function deadModel(live: ChatModel): ChatModel & { readonly calls: number } {
  const { provider, modelId, capabilities } = live;
  const state = { calls: 0 };
  const refuse = (): never => {
    state.calls++;
    throw new Error("the network was used");
  };
  const stream =
    live.stream === undefined ? {} : { stream: (): AsyncIterable<ChatChunk> => refuse() };
  return { provider, modelId, capabilities, chat: () => Promise.resolve().then(refuse), ...stream, get calls() { return state.calls; } }; // prettier-ignore
}

/** The end of a run, and its messages. */
export interface Played {
  readonly output: EnsembleOutput;
  readonly error: AgentEnsembleError | undefined;
  readonly events: readonly EnsembleEvent[];
}

/** Runs a new ensemble until any end. */
export async function play(
  options: EnsembleOptions,
  plugins: readonly Plugin[],
  inputs: Inputs = {},
  runOptions: RunOptions = {},
): Promise<Played> {
  const events: EnsembleEvent[] = [];
  const ensemble = new Ensemble({
    ...options,
    plugins: [...(options.plugins ?? []), ...plugins],
    on: (event) => void events.push(event),
  });
  try {
    return { output: await ensemble.run(inputs, runOptions), error: undefined, events };
  } catch (error) {
    if (!OurError.isInstance(error) || error.output === undefined) throw error;
    return { output: error.output, error, events };
  } finally {
    await ensemble.dispose();
  }
}

const DURATION = /(duration|latency|Ms$|ExecutionTime$|executionTime|RetrievalTime|BuildTime$)/i;
const LATER_INSTANT = /^(completedAt|occurredAt|requestedAt|resolvedAt)$/;

/**
 * A trace without durations and without the source of answers (model or recording). With `starts`,
 * the start times remain.
 */
export function withoutDurations(json: string): unknown {
  return JSON.parse(json, (key, value: unknown) => {
    if (DURATION.test(key) || LATER_INSTANT.test(key) || key === "stackTrace") return undefined;
    if (key === "recorded" || key === "totalCostEstimate") return undefined; // the run's metrics hold that sum
    if (key === "outcome" && value === "answered") return "ok"; // as calls of a replay count
    return key === "startedAt" ? undefined : withRecordedCost(value);
  });
}

/** Metrics with the cost of the recorded calls in place of the replay's cost, which is zero. */
function withRecordedCost(value: unknown): unknown {
  if (typeof value !== "object" || value === null || !("recordedCost" in value)) return value;
  const { recordedCost, ...metrics } = value;
  return { ...metrics, costEstimate: recordedCost };
}

/**
 * One recording and two replays of the same ensemble. `make` is called for each, since tools and
 * guardrails may have state.
 */
export async function recordAndReplayTwice(
  file: string,
  make: (isReplay: boolean) => EnsembleOptions,
  o: { readonly inputs?: Inputs; readonly replay?: ReplayOptions } = {},
): Promise<{ readonly recorded: Played; readonly replays: readonly [Played, Played] }> {
  const recorded = await play(make(false), [recordTo(file)], o.inputs);
  const once = (): Promise<Played> =>
    play(make(true), [replayFrom(file, { onUnused: "fail", ...o.replay })], o.inputs);
  return { recorded, replays: [await once(), await once()] };
}
