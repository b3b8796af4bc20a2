import type { ChatModel } from "../../contracts/chat-model.js";
import type { LlmCall, Replace } from "../../contracts/hooks.js";
import type { Plugin } from "../../contracts/plugin.js";
import type { TrialScope } from "./trial-scope.js";
import { replace } from "../../contracts/hooks.js";
import { definePlugin } from "../../contracts/plugin.js";
import { RecordingMismatchError } from "../../contracts/state-errors.js";
import { Tokens } from "../../contracts/tokens.js";
import { checkOptions, preview, requireOneOf, requireText } from "../../contracts/validation.js";
import { recordingModel } from "../../plugins/replay/recording-model.js";
import { replayingModel } from "../../plugins/replay/replaying-model.js";
import { requestKey } from "../../plugins/shared/request-key.js";
import { ResponseFile } from "./response-file.js";
import { trialScopeOf } from "./trial-scope.js";

/** Options of `recordings`. */
export interface RecordingsOptions {
  /**
   * The reaction to a request that is not in the file. `live` (default): calls the model and
   * records its response. `fail`: ends the call with RecordingMismatchError. No key is needed then.
   */
  readonly onMiss?: "live" | "fail" | undefined;
}

/**
 * Answers model calls from a file, by the content of the request. Adds the responses to other
 * requests to the file. A second evaluation therefore causes cost only for requests that changed.
 * Responses are separate for each trial, and for each repetition of a request within a trial. The
 * tokens and the original cost of recorded calls are counted, the cost as `recordedCost`. Must be
 * the last plugin. Several kernels of a process may share the plugin.
 *
 * @throws ValidationError for an invalid path, and, when the kernel starts, for a file that can't
 * be used; FileFormatError for a file in another format.
 */
export function recordings(path: string, options: RecordingsOptions = {}): Plugin {
  requireText(path, `recordings() needs the path of a file, got: ${preview(path)}`);
  checkOptions("recordings()", options, ["onMiss"]);
  requireOneOf("recordings() onMiss", options.onMiss, ["live", "fail"]);
  const { onMiss = "live" } = options;
  const file = new ResponseFile(path);
  const responses = new RecordedResponses(file, onMiss);
  return definePlugin({
    name: "recordings",
    bind(bind) {
      if (onMiss === "fail")
        bind.single(Tokens.ModelCheck, { override: true }).toConstantValue(() => undefined);
    },
    apply({ hooks }) {
      hooks.beforeLlmCall.tap({ name: "recordings", lane: "transform", order: "post" }, (call) =>
        responses.replace(call),
      );
      hooks.afterRun.tap({ name: "recordings", lane: "commit", onError: "skip" }, () =>
        file.flush(),
      );
    },
    start: ({ events }) => file.open(events),
    dispose: ({ events }) => file.close(events),
  });
}

/** Selects between the file and the model. */
class RecordedResponses {
  /** The number of times that each request was made in a trial. */
  readonly #made = new WeakMap<TrialScope, Map<string, number>>();

  constructor(
    readonly file: ResponseFile,
    readonly onMiss: "live" | "fail",
  ) {}

  async replace(call: LlmCall): Promise<Replace<{ readonly model: ChatModel }>> {
    const { model, request, run } = call;
    const scope = trialScopeOf(run);
    const content = requestKey(request, model);
    const counts = this.#made.get(scope) ?? new Map<string, number>();
    this.#made.set(scope, counts);
    const count = (counts.get(content) ?? 0) + 1;
    counts.set(content, count);
    const key = `${content}:${scope.trial}:${count}`;
    const response = await this.file.get(key);
    if (response !== undefined) {
      const recorded = replayingModel(model, () => Promise.resolve({ response }));
      const capabilities = { ...recorded.capabilities, exemptFromBudgets: true };
      return replace<{ readonly model: ChatModel }>({ model: { ...recorded, capabilities } });
    }
    if (this.onMiss === "fail")
      throw new RecordingMismatchError(
        `A call of task '${call.taskId}' to ${model.provider}:${model.modelId} is not in ${this.file.path}`,
        { hint: 'Record it: evaluate without onMiss: "fail", with the key of the model.' },
      );
    return replace<{ readonly model: ChatModel }>({
      model: recordingModel(model, (_request, _messages, _startedMs, { response: given }) => {
        const isWhole = given?.finishReason === "stop" || given?.finishReason === "tool_calls";
        if (given !== undefined && isWhole)
          this.file.add(key, run.redactValue(given) as typeof given); // the same form
        else counts.set(content, (counts.get(content) ?? 1) - 1); // the next attempt replaces it
      }),
    });
  }
}
