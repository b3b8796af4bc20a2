import type { EnsembleEvent } from "agentensemble";
import fc from "fast-check";
import type { LogEntry } from "../../../src/contracts/run-store.js";
import { eventsOf } from "../observability/trace/teams.js";

/** The time of the first entry of the created logs. */
const START = Date.parse("2026-01-02T03:04:05.000Z");

/** An entry, `ms` milliseconds after the start. */
export function entry(n: number, type: string, fields: object = {}, ms = n * 10): LogEntry {
  return { n, at: new Date(START + ms).toISOString(), type, ...fields };
}

/** A log of entries that follow each other by 10 ms. */
export function logOf(...entries: readonly (readonly [string, object?])[]): readonly LogEntry[] {
  return entries.map(([type, fields], n) => entry(n, type, fields));
}

/** The log of a run of one of the teams, as JSON. Its entries follow each other by 10 ms. */
export async function recordedLog(team: string): Promise<readonly LogEntry[]> {
  const log = asLog(await eventsOf(team));
  return log.map((line, n) => ({ ...line, ...entry(n, line.type) }));
}

/** Events as entries of a log, as JSON. */
export function asLog(events: readonly EnsembleEvent[]): readonly LogEntry[] {
  return events.map((event, n) => {
    const fields = JSON.parse(JSON.stringify(event, plainError)) as object;
    return { ...fields, n, at: event.at, type: event.type };
  });
}

function plainError(_key: string, value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  const { name, message, code } = value as Error & { readonly code?: string };
  return { name, message, code };
}

const id = fc.constantFrom("a", "b", "c", "d", "$loop:l");
const text = fc.constantFrom("", "short", "x".repeat(200), "unbroken 🙂".repeat(20));
const count = fc.nat({ max: 5 });
const code = fc.constantFrom("AE_TASK_EXECUTION", "AE_RUN_CANCELLED", "AE_RUN_SUSPENDED");

const FIELDS = fc.record(
  {
    taskId: id,
    parentTaskId: id,
    agentRole: fc.constantFrom("Writer", "Editor"),
    taskDescription: text,
    contextTaskIds: fc.array(id, { maxLength: 2 }),
    attempt: fc.integer({ min: 1, max: 3 }),
    cause: fc.record({ name: fc.constant("Error"), message: text, code }),
    callId: fc.constantFrom("1", "2"),
    iteration: count,
    toolName: fc.constantFrom("search", "delegate"),
    toolOutcome: fc.constantFrom("SUCCESS", "TIMED_OUT"),
    reviewId: fc.constantFrom("r1", "r2"),
    delegationId: fc.constantFrom("d1", "d2"),
    retriesLeft: count,
    provider: fc.constant("p"),
    modelId: fc.constantFrom("m1", "m2"),
    purpose: fc.constantFrom("task", "worker"),
    inputTokens: fc.integer({ min: -1, max: 900 }),
    outputTokens: fc.integer({ min: -1, max: 900 }),
    cost: fc.double({ min: 0, max: 1, noNaN: true }),
    currency: fc.constant("USD"),
    latencyMs: count,
    outcome: fc.constantFrom("ok", "failed", "aborted"),
    limits: fc.record(
      { maxTokens: count, maxCost: count, maxDurationMs: count },
      { requiredKeys: [] },
    ),
    used: fc.record({ tokens: count, cost: count, durationMs: count }),
    reserved: fc.record({ tokens: count, cost: count }),
    limit: fc.constantFrom("maxTokens", "maxCost"),
    phaseName: fc.constantFrom("one", "two"),
    loopName: fc.constant("l"),
    iterationNumber: count,
    graphName: fc.constant("g"),
    stateName: fc.constantFrom("a", "b"),
    nextState: fc.constantFrom("b", "__END__"),
    exitReason: fc.constantFrom("COMPLETED", "SUSPENDED", "CANCELLED", "ERROR"),
    code,
    message: text,
    waitsFor: text,
    execution: count,
  },
  { requiredKeys: ["taskId"] },
);

const TYPES = [
  "ensemble_started",
  "run_resumed",
  "run_suspended",
  "call_in_doubt",
  "run_failed",
  "task_started",
  "task_started",
  "task_started",
  "task_completed",
  "task_failed",
  "usage_recorded",
  "tool_started",
  "tool_called",
  "guardrail_refused",
  "output_corrected",
  "delegation_started",
  "delegation_completed",
  "delegation_failed",
  "review_requested",
  "review_resolved",
  "retry_scheduled",
  "rate_limited",
  "budget_opened",
  "budget_changed",
  "budget_exceeded",
  "phase_started",
  "phase_completed",
  "loop_iteration_completed",
  "graph_state_completed",
  "run_warning",
  "ensemble_completed",
  "of_a_later_version",
];

/** A plan with a loop, an order and a manager, and a state machine. */
export const PLANS = [
  {
    schemaVersion: "1.3",
    type: "dag",
    workflow: "SEQUENTIAL",
    agents: [{ role: "Writer", goal: "g", toolNames: ["t"], allowDelegation: false }],
    tasks: [
      node("a", 0, { nodeType: "manager" }),
      node("b", 1, { dependsOn: ["a"], phase: "one" }),
      node("$loop:l", 2, {
        nodeType: "loop",
        loopMaxIterations: 3,
        loopBody: [node("c", 0), node("e", 1, { dependsOn: ["c"] })],
      }),
    ],
    edges: [
      { fromTaskId: "a", toTaskId: "b", kind: "delegation" },
      { fromTaskId: "a", toTaskId: "b", kind: "context" },
      { fromTaskId: "b", toTaskId: "$loop:l", kind: "order" },
      { fromTaskId: "c", toTaskId: "e", kind: "context" },
      { fromTaskId: "e", toTaskId: "c", kind: "repeat" },
    ],
    parallelGroups: [["a"], ["b"], ["$loop:l"]],
    criticalPath: ["a", "b", "$loop:l"],
  },
  {
    schemaVersion: "1.3",
    type: "dag",
    workflow: "GRAPH",
    agents: [],
    tasks: [
      node("g/a", 0, { nodeType: "graph-state" }),
      node("g/b", 1, { nodeType: "graph-state" }),
      node("__END__", 2, { nodeType: "graph-end" }),
    ],
    edges: [],
    parallelGroups: [["g/a"], ["g/b"], ["__END__"]],
    criticalPath: [],
    mode: "graph",
    graphStartStateId: "g/a",
    graphEdges: [
      edge("g/a", "g/b"),
      edge("g/b", "__END__"),
      { ...edge("g/a", "__END__"), unconditional: false },
    ],
  },
] as const;

function node(nodeId: string, parallelGroup: number, more: object = {}): object {
  return {
    id: nodeId,
    description: `Do ${nodeId}`,
    expectedOutput: "",
    agentRole: "Writer",
    dependsOn: [],
    parallelGroup,
    onCriticalPath: true,
    ...more,
  };
}

function edge(fromStateId: string, toStateId: string): object {
  return {
    fromStateId,
    toStateId,
    conditionDescription: "unconditional",
    unconditional: true,
    fired: false,
  };
}

/** Logs of any entries in any order, most of them with a plan. */
export const ANY_LOG: fc.Arbitrary<readonly LogEntry[]> = fc
  .tuple(
    fc.option(fc.constantFrom(...PLANS), { nil: undefined }),
    fc.array(fc.tuple(fc.constantFrom(...TYPES), FIELDS), { maxLength: 40 }),
  )
  .map(([dag, rest]) => [
    entry(0, "ensemble_started", { runId: "run-1", workflow: "SEQUENTIAL" }),
    entry(1, "run_planned", {
      ensemble: { name: "team" },
      inputs: { topic: "swifts" },
      tags: { customer: "acme" },
      ...(dag && { dag }),
    }),
    ...rest.map(([type, fields], i) => {
      const used = type === "budget_exceeded" ? { used: i } : {};
      return entry(i + 2, type, { ...fields, ...used });
    }),
  ]);
