import type { EnsembleOutput } from "../../contracts/output.js";
import type { Inputs } from "../../contracts/types.js";
import { AgentEnsembleError } from "../../contracts/errors.js";
import {
  checkOptions,
  requireDuration,
  requireFunction,
  requireInteger,
} from "../../contracts/validation.js";
import { messageOf } from "../../util/errors.js";
import type { ChaosFault } from "./chaos-options.js";
import type { InjectedFault } from "./fault-plan.js";
import { chaos, type Chaos } from "./index.js";

/** The parts of an ensemble that a rehearsal uses. */
export interface RehearsedTeam {
  run(
    inputs: Inputs,
    options: { readonly runId: string; readonly timeoutMs: number; readonly throwOnError: false },
  ): Promise<EnsembleOutput>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Options of {@link rehearse}. */
export interface RehearsalOptions {
  /**
   * Creates the team, with `plugin` in its `plugins`. Called for each execution. After the loss of
   * a process, a new team continues the run.
   */
  readonly team: (plugin: Chaos) => RehearsedTeam;
  readonly faults: readonly ChaosFault[];
  /** Number of runs. Run n has the seed n, counted from 1. Default 20. */
  readonly runs?: number | undefined;
  readonly inputs?: Inputs | undefined;
  /** Time limit of one execution in milliseconds. Default 60,000. */
  readonly timeoutMs?: number | undefined;
  /** Limit of executions of one run whose process is lost. Default 5. */
  readonly executions?: number | undefined;
  /** Limit of input and output tokens of one run. Default: not checked. */
  readonly maxTokens?: number | undefined;
}

/** The result of one run. */
export interface RehearsedRun {
  readonly seed: number;
  readonly outcome: "finished" | "refused";
  /** The code of the error of the last execution, if it failed or was refused. */
  readonly code?: string;
  readonly injected: readonly InjectedFault[];
  /** The violated conditions. */
  readonly violations: readonly string[];
}

/** The result of a rehearsal. */
export interface RehearsalReport {
  readonly runs: readonly RehearsedRun[];
  readonly finished: number;
  readonly refused: number;
  /** Number of faults by kind. */
  readonly injected: Readonly<Record<string, number>>;
  /** The violations of all runs, each with its seed. Empty if there are none. */
  readonly violations: readonly string[];
}

const TIMEOUT_MS = 60_000;
const OPTIONS = ["team", "faults", "runs", "inputs", "timeoutMs", "executions", "maxTokens"];

/**
 * Runs a team with injected faults, and checks the conditions that a robust team meets. Each run
 * finishes or ends with an error of the framework within its time limit. Each run respects its
 * token limit, and pays for each call and each tool once. A run whose process is lost is executed
 * again under its id by a new team, as `durable()` expects.
 *
 * @throws ValidationError for an unknown option or a value out of range.
 */
export async function rehearse(options: RehearsalOptions): Promise<RehearsalReport> {
  checkOptions("rehearse", options, OPTIONS);
  requireFunction("rehearse team", options.team);
  requireInteger("rehearse runs", options.runs, 1);
  requireInteger("rehearse executions", options.executions, 1);
  requireInteger("rehearse maxTokens", options.maxTokens, 1);
  requireDuration("rehearse timeoutMs", options.timeoutMs);
  const runs: RehearsedRun[] = [];
  for (let seed = 1; seed <= (options.runs ?? 20); seed++)
    runs.push(await rehearseOnce(options, seed));
  const injected: Record<string, number> = {};
  for (const { kind } of runs.flatMap((run) => run.injected))
    injected[kind] = (injected[kind] ?? 0) + 1;
  return {
    runs,
    finished: runs.filter(({ outcome }) => outcome === "finished").length,
    refused: runs.filter(({ outcome }) => outcome === "refused").length,
    injected,
    violations: runs.flatMap(({ seed, violations }) =>
      violations.map((violation) => `seed ${seed}: ${violation}`),
    ),
  };
}

async function rehearseOnce(options: RehearsalOptions, seed: number): Promise<RehearsedRun> {
  const { timeoutMs = TIMEOUT_MS, executions = 5, inputs = {} } = options;
  const plugin = chaos({ seed, faults: options.faults });
  const runId = `rehearsal-${seed}`;
  const errors: unknown[] = [];
  let tokens = 0;
  for (let execution = 1; execution <= executions; execution++) {
    const lostBefore = lost(plugin);
    const team = options.team(plugin);
    try {
      const output = await team.run(inputs, { runId, timeoutMs, throwOnError: false });
      const { inputTokens, outputTokens } = output.metrics;
      tokens = Math.max(tokens, inputTokens + outputTokens);
      errors.push(output.error);
    } catch (thrown) {
      errors.push(thrown);
    } finally {
      await team[Symbol.asyncDispose]();
    }
    if (lost(plugin) === lostBefore) break;
  }
  const violations = violationsOf(options, errors, tokens, plugin);
  const error = errors.at(-1);
  return {
    seed,
    outcome: error === undefined ? "finished" : "refused",
    ...(AgentEnsembleError.isInstance(error) && { code: error.code }),
    injected: [...plugin.injected],
    violations,
  };
}

/** Returns the violated conditions of a run. `errors`: how its executions ended. */
function violationsOf(
  { timeoutMs = TIMEOUT_MS, maxTokens = Infinity }: RehearsalOptions,
  errors: readonly unknown[],
  tokens: number,
  { paid }: Chaos,
): readonly string[] {
  const violations: string[] = [];
  for (const error of errors) {
    if (error !== undefined && !AgentEnsembleError.isInstance(error))
      violations.push(`the run ended with an error of another kind: ${messageOf(error)}`);
    if (AgentEnsembleError.isInstance(error) && error.code === "AE_RUN_TIMEOUT")
      violations.push(`the run did not end within ${timeoutMs} ms`);
  }
  if (tokens > maxTokens)
    violations.push(`the run used ${tokens} tokens; at most ${maxTokens} are allowed`);
  for (const [step, times] of paid) if (times > 1) violations.push(`paid ${times} times: ${step}`);
  return violations;
}

function lost({ injected }: Chaos): number {
  return injected.filter(({ kind }) => kind === "lost worker").length;
}
