import type { RunSummary } from "../../../../src/contracts/run-store.js";
import type {
  AnswersOfRun,
  StartableEnsemble,
} from "../../../../src/plugins/dashboard/protocol/control-bodies.js";
import { formatTime } from "../format.js";
import { shortId } from "../run-words.js";
import { formFields, type FormField, type FormValues } from "./form-fields.js";

/** The keys of the fields. Names of inputs have no blank at the start. */
const [ANSWERS, LIVE] = [" answers", " live"];

/** Possible sources of the answers of a run by their words, except the models. */
export type AnswerSources = ReadonlyMap<string, string>;

/** Returns the recording of an ensemble, and runs whose traces have all answers. */
export function answerSources(
  { answers }: StartableEnsemble,
  traced: readonly RunSummary[],
): AnswerSources {
  return new Map([
    ...(answers.includes("recording") ? [["the recording", "recording"] as const] : []),
    ...traced.map(
      (run) => [`trace of ${shortId(run)}, ${formatTime(run.startedAt)}`, run.runId] as const,
    ),
  ]);
}

/** Returns the fields for the sources. Returns no fields if there are no sources. */
export function answerFields(sources: AnswerSources, values: FormValues): readonly FormField[] {
  if (sources.size === 0) return [];
  const isReplay = answersOf(sources, values).answersFrom !== undefined;
  const live = { title: "Pay for what changed", type: "boolean" };
  return formFields({
    type: "object",
    properties: {
      [ANSWERS]: {
        title: "Answers from",
        description: isReplay ? "No model is paid." : "Not chosen: the models.",
        enum: [...sources.keys()],
      },
      ...(isReplay && { [LIVE]: live }),
    },
  });
}

/** Returns the chosen source of answers. Empty: the models. */
export function answersOf(sources: AnswerSources, values: FormValues): AnswersOfRun {
  const { [ANSWERS]: written, [LIVE]: isLive } = values;
  const answersFrom = [...sources].find(([words]) => JSON.stringify(words) === written)?.[1];
  if (answersFrom === undefined) return {};
  return { answersFrom, onMiss: isLive === true ? "live" : "fail" };
}
