import type { Plugin } from "../../contracts/plugin.js";
import type { ExecutionTrace } from "../../contracts/trace.js";
import type { ReplayOptions } from "./replay-options.js";
import { ValidationError } from "../../contracts/errors.js";
import { definePlugin } from "../../contracts/plugin.js";
import { Tokens } from "../../contracts/tokens.js";
import type { EnsembleHooks } from "../../contracts/hooks.js";
import type { EventStream } from "../../contracts/events.js";
import type { ReplaySteps } from "./replay-steps.js";
import { checkFile, checkSource, resolveReplayOptions } from "./replay-options.js";
import { ReplaySource } from "./replay-source.js";
import { RecordingSource } from "./recording-source.js";
import { Recorder } from "./recorder.js";
import { RecordingFile } from "./recording-file.js";

export type { ReplayOptions } from "./replay-options.js";

/**
 * Records all runs of a kernel to a file, without secrets. The file contains answers of models with
 * their chunks, results of tools, failures, ids, and the start of each run. It replaces an older
 * file when the first run has ended. A kernel can have only one recorder. The start of the kernel
 * rejects with ValidationError for a path that can't be written.
 *
 * @throws ValidationError for an invalid path.
 */
export function recordTo(file: string): Plugin {
  checkFile("recordTo file", file);
  let recording: RecordingFile | undefined;
  let recorder: Recorder;
  return definePlugin({
    name: "record-to",
    bind(bind) {
      requireUnused("recordTo", recording);
      recording = new RecordingFile(file);
      recorder = new Recorder(recording);
      bind.many(Tokens.OutsideAccess).toConstantValue(recorder);
    },
    apply: ({ hooks, events }) => tapRecorder(hooks, events, recorder),
    start: () => requireFile(recording).open(),
    async dispose() {
      const file = recording;
      recording = undefined;
      await file?.close();
    },
  });
}

/**
 * Runs a team with a recording in place of its models and tools. The output and the trace are the
 * same as recorded, without a network. `source` is a file of `recordTo`, or a trace of captureMode
 * FULL: its path or the object. Time is virtual, so recorded durations cause no waits. A kernel can
 * have only one replay. The start of the kernel rejects with ValidationError for a file that can't
 * be read. It rejects with FileFormatError, with the line, for invalid content.
 *
 * @throws ValidationError for an invalid source or option.
 */
export function replayFrom(source: string | ExecutionTrace, options: ReplayOptions = {}): Plugin {
  checkSource(source);
  const settings = resolveReplayOptions(options);
  let replay: ReplaySource | undefined;
  return definePlugin({
    name: "replay-from",
    bind(bind) {
      requireUnused("replayFrom", replay);
      const current = (replay = new ReplaySource(new RecordingSource(source), settings));
      bind.single(Tokens.Clock, { override: true }).toConstantValue(current.time);
      // no model is called, so no model needs a key
      bind.single(Tokens.ModelCheck, { override: true }).toConstantValue(() => undefined);
      bind.single(Tokens.IdGenerator, { override: true }).toConstantValue({
        next: (use) => current.nextId(use),
        giveBack: (id) => current.giveBack(id),
      });
      bind.many(Tokens.OutsideAccess).toConstantValue(current.steps);
    },
    apply({ hooks, events }) {
      tapSteps(hooks, events, () => replay?.steps);
      hooks.beforeLlmCall.tap({ name: "replay", lane: "transform", order: "post" }, (call) =>
        replay?.replace(call),
      );
      hooks.beforeLlmCall.tap({ name: "replay", lane: "policy", order: "pre" }, (call) =>
        replay?.check(call),
      );
      hooks.beforeLlmCall.tap({ name: "replay", lane: "policy", order: "post" }, (call) =>
        replay?.refusal(call),
      );
      hooks.beforeToolCall.tap({ name: "replay", lane: "answer", order: "pre" }, (call) =>
        replay?.tool(call),
      );
      hooks.afterLlmCall.tap({ name: "replay", lane: "transform", order: "pre" }, (call) =>
        replay?.callEnds(call),
      );
      hooks.afterRun.tap({ name: "replay", lane: "transform" }, (call) => replay?.end(call));
    },
    async start() {
      await replay?.load();
    },
    dispose() {
      replay = undefined;
    },
  });
}

/** Records all steps, with their times. */
function tapRecorder(hooks: EnsembleHooks, events: EventStream, recorder: Recorder): void {
  events.on((event) => void (event.type === "task_completed" && recorder.taskCompleted(event)), {
    only: ["task_completed"],
  });
  hooks.beforeTask.tap({ name: "record", lane: "transform", order: "pre" }, (call) =>
    recorder.taskStarts(call),
  );
  hooks.afterTask.tap({ name: "record", lane: "transform", order: "post" }, (call) =>
    recorder.taskEnds(call),
  );
  hooks.afterTask.tap({ name: "record", lane: "commit", order: "post" }, (call) =>
    recorder.taskAccepted(call),
  );
  hooks.beforeRun.tap({ name: "record", lane: "policy", order: "pre" }, (call) =>
    recorder.begin(call),
  );
  hooks.beforeLlmCall.tap({ name: "record", lane: "transform", order: "post" }, (call) =>
    recorder.listen(call),
  );
  hooks.beforeLlmCall.tap({ name: "record", lane: "policy", order: "pre" }, (call) =>
    recorder.check(call),
  );
  hooks.afterLlmCall.tap({ name: "record", lane: "transform", order: "pre" }, (call) =>
    recorder.callEnded(call),
  );
  hooks.beforeToolCall.tap({ name: "record", lane: "transform", order: "pre" }, (call) =>
    recorder.toolStarts(call),
  );
  hooks.beforeToolCall.tap({ name: "record", lane: "answer", order: "post" }, (call) =>
    recorder.toolExecutes(call),
  );
  hooks.afterToolCall.tap({ name: "record", lane: "transform", order: "pre" }, (call) =>
    recorder.toolEnded(call),
  );
  hooks.beforeDelegation.tap({ name: "record", lane: "transform", order: "pre" }, (call) =>
    recorder.delegation(call),
  );
  hooks.afterDelegation.tap({ name: "record", lane: "transform", order: "pre" }, (call) =>
    recorder.delegated(call),
  );
  hooks.beforeMemoryWrite.tap({ name: "record", lane: "answer", order: "pre" }, (call) =>
    recorder.writeStarts(call),
  );
  hooks.afterMemoryWrite.tap({ name: "record", lane: "transform", order: "pre" }, (call) =>
    recorder.written(call),
  );
  // A failure of the recording must not lose a finished run.
  hooks.afterRun.tap(
    { name: "record", lane: "transform", order: "post", onError: "skip" },
    (call) => recorder.end(call),
  );
}

/** Keeps the recorded order of all steps except model calls. */
function tapSteps(
  hooks: EnsembleHooks,
  events: EventStream,
  steps: () => ReplaySteps | undefined,
): void {
  const first = { name: "replay-order", lane: "transform", order: "pre" } as const;
  events.on(
    (e) => {
      if (e.type === "task_completed" || e.type === "task_failed")
        steps()?.taskLeft(e.runId, e.taskId);
    },
    { only: ["task_completed", "task_failed"] },
  );
  hooks.beforeRun.tap({ name: "replay-order", lane: "policy", order: "pre" }, ({ run }) =>
    steps()?.begin(run),
  );
  hooks.beforeTask.tap(first, (call) => steps()?.taskStarts(call));
  hooks.afterTask.tap({ name: "replay-order", lane: "transform", order: "post" }, (call) =>
    steps()?.taskEnds(call),
  );
  hooks.afterTask.tap({ name: "replay-order", lane: "commit", order: "post" }, (call) =>
    steps()?.taskAccepted(call),
  );
  hooks.beforeToolCall.tap(first, (call) => steps()?.toolStarts(call));
  hooks.afterToolCall.tap(first, (call) =>
    steps()?.ends(call.run.id, steps()?.toolKey(call), call.signal),
  );
  hooks.beforeDelegation.tap(first, (call) => steps()?.delegationStarts(call));
  hooks.afterDelegation.tap(first, (call) => steps()?.delegationEnds(call));
  hooks.beforeMemoryWrite.tap({ name: "replay", lane: "answer", order: "pre" }, (call) =>
    steps()?.write(call),
  );
}

function requireUnused(what: string, state: object | undefined): void {
  if (state !== undefined)
    throw new ValidationError(`This ${what}(...) is in use by another kernel`, {
      hint: "Make one for each kernel or ensemble.",
    });
}

function requireFile(file: RecordingFile | undefined): RecordingFile {
  if (file === undefined) throw new ValidationError("recordTo(...) is not bound to a kernel");
  return file;
}
