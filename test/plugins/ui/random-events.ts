import type { EnsembleEvent, Ev, EventType, TaskOutput } from "agentensemble";
import fc from "fast-check";

/** Texts that must never reach a page. */
export const SECRET = "PLANTED-SECRET";

/** The task with the answer, and those of other agents. */
const OWN = "own";
const TASKS = [OWN, "other-1", "other-2"];
const AGENTS: Readonly<Record<string, string>> = {
  own: "Clerk",
  "other-1": "One",
  "other-2": "Two",
};

type Draw = fc.GeneratorValue;
type Own<K extends EventType> = Omit<Ev<K>, "type" | "v" | "seq" | "runId" | "at">;
type Makers = { readonly [K in EventType]: (g: Draw) => Own<K> };

const one = <T>(g: Draw, ...values: readonly T[]): T => g(fc.constantFrom, ...values) as T;
const count = (g: Draw): number => g(fc.integer, { min: 0, max: 1_000 });
const text = (g: Draw): string =>
  g(() => fc.oneof(fc.constantFrom("", "a", '{"x":1}', "é\u2028\n"), fc.string({ maxLength: 6 })));

/** The text of a task: the text of the answer's task may be shown. */
const said = (g: Draw, taskId: string): string =>
  taskId === OWN ? text(g) : `${SECRET} ${text(g)}`;

function task(g: Draw): { readonly taskId: string; readonly agentRole: string } {
  const taskId = one(g, ...TASKS);
  return { taskId, agentRole: AGENTS[taskId] ?? "" };
}

function place(g: Draw, taskId: string) {
  return taskId === OWN
    ? { taskIndex: 2, totalTasks: 2, taskDescription: SECRET, attempt: 1 }
    : {
        taskIndex: one(g, 0, 1),
        totalTasks: 2,
        taskDescription: SECRET,
        attempt: 1,
        ...(g(fc.boolean) && { parentTaskId: OWN }),
      };
}

/** The answer has raw only. */
const outputOf = (raw: string): TaskOutput =>
  ({ raw, parsed: SECRET, taskDescription: SECRET }) as unknown as TaskOutput;

const RUN = { runId: "run-1", tags: {} };

/** Calls with such ids are private. */
const isPrivate = (callId: string): boolean => callId.startsWith("p");

function call(g: Draw) {
  const { taskId, agentRole } = task(g);
  const callId = one(g, "c1", "c2", "p1", "__proto__");
  const hidden = taskId !== OWN || isPrivate(callId);
  const json = hidden ? `{"a":"${SECRET}"}` : one(g, '{"a":1}', "[]", "no JSON", "");
  const result = hidden ? SECRET : text(g);
  return { taskId, agentRole, callId, iteration: 0, toolName: "lookup", json, result };
}

function delegation(g: Draw) {
  return {
    ...task(g),
    delegationId: one(g, "d1", "d2"),
    delegatingAgentRole: "Clerk",
    workerRole: "One",
    taskDescription: SECRET,
    delegationDepth: 1,
    request: { taskDescription: SECRET } as never, // no field of it is read
  };
}

const failure = (g: Draw): Error & { readonly code: string } =>
  Object.assign(new Error(SECRET), { code: one(g, "AE_RUN_CANCELLED", "AE_TASK_EXECUTION") });

const response = { status: "SUCCESS", workerRole: "One", rawOutput: SECRET } as never;

const iteration = (g: Draw) => ({
  iteration: count(g),
  iterationIndex: 0,
  taskDescription: SECRET,
});

const budget = (g: Draw) => ({
  limits: { maxTokens: 10, ...(g(fc.boolean) && { maxCost: 1 }) },
  used: { tokens: count(g), durationMs: 5 },
});

const MAKERS: Makers = {
  ensemble_started: () => ({
    workflow: "SEQUENTIAL",
    totalTasks: 2,
    startedAt: "",
    verbose: false,
    toolLogTruncateLength: 1,
  }),
  run_planned: () => ({
    ensemble: { description: SECRET },
    inputs: { a: SECRET },
    tags: { b: SECRET },
  }),
  ensemble_completed: () => ({
    exitReason: "COMPLETED",
    totalDurationMs: 1,
    durationMs: 1,
    completedAt: "",
    totalTokens: 1,
    totalToolCalls: 1,
  }),
  run_resumed: () => ({ execution: 2, finishedTasks: 1, restoredCalls: 1 }),
  run_suspended: () => ({ waitsFor: SECRET }),
  call_in_doubt: (g) => ({ ...task(g), key: SECRET, toolName: "lookup" }),
  run_failed: () => ({ code: "AE_TASK_EXECUTION", message: SECRET }),
  task_started: (g) => {
    const made = task(g);
    return { ...made, ...place(g, made.taskId), startedAt: "", contextTaskIds: [], verbose: false };
  },
  task_completed: (g) => {
    const made = task(g);
    return {
      ...made,
      ...place(g, made.taskId),
      startedAt: "",
      completedAt: "",
      durationMs: 1,
      toolCallCount: 0,
      tokenCount: one(g, -1, 5),
      taskOutput: outputOf(said(g, made.taskId)),
    };
  },
  task_failed: (g) => {
    const made = task(g);
    const cause = failure(g) as never; // only its code is read
    return {
      ...made,
      ...place(g, made.taskId),
      failedAt: "",
      durationMs: 1,
      reason: SECRET,
      cause,
    };
  },
  task_input: (g) => ({
    ...task(g),
    taskIndex: 1,
    taskDescription: SECRET,
    expectedOutput: SECRET,
    agentGoal: SECRET,
    agentBackground: SECRET,
    toolNames: [],
    systemPrompt: SECRET,
    userPrompt: SECRET,
    assembledContext: SECRET,
  }),
  llm_iteration_started: (g) => ({
    ...task(g),
    ...iteration(g),
    messages: [{ role: "system", content: SECRET }],
    totalMessageCount: 1,
  }),
  llm_iteration_completed: (g) => ({
    ...task(g),
    ...iteration(g),
    durationMs: 1,
    latencyMs: 1,
    responseType: "FINAL_ANSWER",
    responseText: SECRET, // an answer is shown by its tokens and its task's output
    toolRequests: [{ name: "lookup", arguments: SECRET }],
    inputTokens: 1,
    outputTokens: 1,
  }),
  reasoning_received: (g) => ({ ...task(g), iteration: 0, reasoning: SECRET }), // see UNITS
  reasoning_token: (g) => {
    const made = task(g);
    return { ...made, index: one(g, 0, 1), token: said(g, made.taskId) };
  },
  turn_started: (g) => ({ ...task(g), threadId: SECRET, messageId: SECRET }),
  turn_stored: (g) => ({
    ...task(g),
    threadId: SECRET,
    version: 1,
    status: "completed",
    turnsInWindow: 0,
    summarized: false,
  }),
  usage_recorded: (g) => ({
    ...RUN,
    ...task(g),
    purpose: "reflection",
    provider: SECRET,
    modelId: SECRET,
    inputTokens: one(g, -1, 4),
    outputTokens: one(g, -1, 4),
    cachedInputTokens: 0,
    reasoningTokens: 0,
    latencyMs: 1,
    attempt: 1,
    outcome: "ok",
    error: SECRET,
  }),
  token: (g) => {
    const made = task(g);
    return { ...made, token: said(g, made.taskId), taskDescription: SECRET };
  },
  tool_started: (g) => {
    const { json, result: _, ...made } = call(g);
    return {
      ...made,
      toolArguments: json,
      ...(g(fc.boolean) && { title: "Look" }),
      ...(isPrivate(made.callId) && { private: true }),
    };
  },
  tool_called: (g) => {
    const { json, result, ...made } = call(g);
    return {
      ...made,
      taskIndex: 1,
      toolArguments: json,
      toolResult: result,
      structuredResult: one(g, undefined, { found: result }),
      durationMs: 1,
      outcome: "SUCCESS",
      toolOutcome: one(
        g,
        "SUCCESS",
        "SUCCESS",
        "FAILURE",
        "ERROR",
        "TIMED_OUT",
        "REJECTED",
        "CANCELLED",
      ),
    };
  },
  guardrail_refused: (g) => ({
    ...task(g),
    kind: one(g, "INPUT", "OUTPUT"),
    message: SECRET,
    attempt: 1,
    retriesLeft: 1,
  }),
  output_corrected: (g) => ({ ...task(g), correction: 1, of: 2, errors: [SECRET] }),
  iteration_limit_reached: (g) => ({ ...task(g), max: 1, stop: 1 }),
  delegation_started: delegation,
  delegation_completed: (g) => ({ ...delegation(g), durationMs: 1, response }),
  delegation_failed: (g) => ({
    ...delegation(g),
    durationMs: 1,
    reason: SECRET,
    response,
    cause: failure(g),
  }),
  file_changed: (g) => ({
    ...task(g),
    filePath: SECRET,
    changeType: "MODIFIED",
    linesAdded: 1,
    linesRemoved: 1,
  }),
  memory_read: (g) => ({ ...task(g), kind: "scope", scope: SECRET, entries: 1, durationMs: 1 }),
  memory_written: (g) => ({ ...task(g), scope: SECRET }),
  review_requested: (g) => {
    const { taskId, agentRole, callId } = call(g);
    const ofCall = g(fc.boolean);
    const isHidden = taskId !== OWN || (ofCall && isPrivate(callId));
    return {
      taskId,
      agentRole,
      reviewId: one(g, "r1", "r2"),
      taskDescription: SECRET,
      taskOutput: SECRET,
      timing: "DURING_EXECUTION",
      requestedAt: "",
      timeoutMs: 0,
      onTimeout: "EXIT_EARLY",
      requiredRole: SECRET,
      input: { a: SECRET },
      ...(g(fc.boolean) && { prompt: isHidden ? SECRET : text(g) }),
      ...(ofCall && { callId, toolName: "lookup" }),
    };
  },
  review_resolved: (g) => ({
    ...task(g),
    reviewId: one(g, "r1", "r2"),
    decision: one(g, "CONTINUE", "EDIT", "EXIT_EARLY", "FAIL"),
    timedOut: false,
    by: SECRET,
    comment: SECRET,
    durationMs: 1,
  }),
  task_reflected: (g) => ({
    ...task(g),
    taskDescription: SECRET,
    reflection: { refinedDescription: SECRET } as never, // no field of it is read
    isFirstReflection: true,
  }),
  partial_output: (g) => ({ ...task(g), taskDescription: SECRET, partial: { a: SECRET } }),
  budget_opened: (g) => ({ ...budget(g), action: "stop" }),
  budget_changed: (g) => ({ ...budget(g), reserved: { tokens: 1 } }),
  budget_exceeded: (g) => ({ ...task(g), limit: "maxTokens", allowed: 1, used: 2, action: "stop" }),
  retry_scheduled: (g) => ({ ...task(g), attempt: 1, delayMs: 1, reason: SECRET }),
  rate_limited: (g) => ({ ...task(g), waitMs: 1, requests: 1, periodMs: 1 }),
  loop_iteration_completed: () => ({ loopName: SECRET, iterationNumber: 1, maxIterations: 2 }),
  graph_state_completed: () => ({
    graphName: SECRET,
    stateName: SECRET,
    stepNumber: 1,
    nextState: SECRET,
  }),
  phase_started: () => ({ phaseName: SECRET, attempt: 1 }),
  phase_completed: () => ({ phaseName: SECRET, attempt: 1, durationMs: 1 }),
  run_warning: () => ({ message: SECRET }),
};

export const EVENT_TYPES = Object.keys(MAKERS) as readonly EventType[];

/** A model call of the answer, with reasoning. */
const thought = (g: Draw): readonly Partial<EnsembleEvent>[] => [
  { type: "usage_recorded", ...MAKERS.usage_recorded(g), taskId: OWN, purpose: "task" },
  { type: "reasoning_received", taskId: OWN, agentRole: "Clerk", iteration: 0, reasoning: text(g) },
  { type: "usage_recorded", ...MAKERS.usage_recorded(g), taskId: OWN },
];

/** Reasoning of a call that is not part of the answer. */
const reflected = (g: Draw): readonly Partial<EnsembleEvent>[] => [
  { type: "usage_recorded", ...MAKERS.usage_recorded(g), taskId: OWN },
  { type: "reasoning_received", taskId: OWN, agentRole: "Clerk", iteration: 0, reasoning: SECRET },
];

/** A question about a private call. */
const privateQuestion = (g: Draw): readonly Partial<EnsembleEvent>[] => {
  const place = { taskId: OWN, agentRole: "Clerk", callId: "p1" };
  const args = { toolName: "vault", toolArguments: SECRET, private: true, iteration: 0 };
  return [
    { type: "tool_started", ...place, ...args },
    { type: "review_requested", ...MAKERS.review_requested(g), ...place, prompt: SECRET },
  ];
};

const UNITS = [thought, reflected, privateQuestion];

/**
 * Events of all types in any order, of a started run. All fields that no page may receive have
 * planted texts.
 */
export const eventSequences: fc.Arbitrary<readonly EnsembleEvent[]> = fc.gen().map((g) => {
  const length = g(fc.integer, { min: 0, max: 60 });
  const begin: readonly Partial<EnsembleEvent>[] = [
    { type: "ensemble_started", ...MAKERS.ensemble_started(g) },
    {
      type: "task_started",
      ...{ taskId: OWN, agentRole: "Clerk", ...place(g, OWN) },
      ...{ startedAt: "", contextTaskIds: [], verbose: false },
    },
  ];
  const drawn = Array.from({ length }, (): readonly Partial<EnsembleEvent>[] => {
    const type = one(g, ...EVENT_TYPES, "unit" as const, "unit" as const, "token" as const);
    if (type === "unit") return one(g, ...UNITS)(g);
    return [{ type, ...MAKERS[type](g) } as Partial<EnsembleEvent>]; // its own maker
  });
  return [...begin, ...drawn.flat()].map(
    (event, seq) => ({ v: 1, seq, runId: "run-1", at: "", ...event }) as EnsembleEvent, // each is whole
  );
});
