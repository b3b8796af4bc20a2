import type { Plugin } from "../../contracts/plugin.js";
import type { ExecutionTrace } from "../../contracts/trace.js";
import type { ReplayOptions } from "./replay-options.js";
import { ValidationError } from "../../contracts/errors.js";
import { definePlugin } from "../../contracts/plugin.js";
import { Tokens } from "../../contracts/tokens.js";
import { checkFile, checkSource, resolveReplayOptions } from "./replay-options.js";
import { ReplaySource } from "./replay-source.js";
import { RecordingSource } from "./recording-source.js";
import { Recorder } from "./recorder.js";
import { RecordingFile } from "./recording-file.js";

export type { ReplayOptions } from "./replay-options.js";

/**
 * Records all runs of a kernel into a file: answers of models with their chunks, results of tools, failures, ids, and when each run began; secrets are taken
 * out. The file takes the place of an older one when the first run has ended. One for each kernel.
 * @throws ValidationError for what is no path; when the kernel starts, for one that can't be written.
 */
export function recordTo(file: string): Plugin {
  checkFile("recordTo file", file);
  let recording: RecordingFile | undefined;
  return definePlugin({
    name: "record-to",
    bind() {
      requireUnused("recordTo", recording);
      recording = new RecordingFile(file);
    },
    apply({ hooks }) {
      const recorder = new Recorder(requireFile(recording));
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
      hooks.beforeToolCall.tap({ name: "record", lane: "answer", order: "post" }, (call) =>
        recorder.toolStarts(call),
      );
      hooks.afterToolCall.tap({ name: "record", lane: "transform", order: "pre" }, (call) =>
        recorder.toolEnded(call),
      );
      hooks.beforeDelegation.tap({ name: "record", lane: "transform", order: "pre" }, (call) =>
        recorder.delegation(call),
      );
      // A run that is paid for is not lost because its recording is.
      hooks.afterRun.tap(
        { name: "record", lane: "transform", order: "post", onError: "skip" },
        () => recorder.end(),
      );
    },
    start: () => requireFile(recording).open(),
    async dispose() {
      const file = recording;
      recording = undefined;
      await file?.close();
    },
  });
}

/**
 * Runs a team from a recording instead of from its models and tools: the same output and trace, without a network. `source` is a file of `recordTo`, or a
 * trace of captureMode FULL: its file or the object. Time is virtual: nobody waits for what took long. One for each kernel.
 * @throws ValidationError for what is no source or option; when the kernel starts, for a file that can't be read; FileFormatError, with the line, for what is in it.
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
      bind.single(Tokens.ModelCheck, { override: true }).toConstantValue(() => undefined); // no model is called, so none needs its key
      bind
        .single(Tokens.IdGenerator, { override: true })
        .toConstantValue({ next: (use) => current.nextId(use) });
    },
    apply({ hooks }) {
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
