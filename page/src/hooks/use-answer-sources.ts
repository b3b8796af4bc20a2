import { useMemo } from "preact/hooks";
import type { StartableEnsemble } from "../../../src/plugins/dashboard/protocol/control-bodies.js";
import type {
  RunActionsBody,
  RunListBody,
} from "../../../src/plugins/dashboard/protocol/http-bodies.js";
import { answerSources, type AnswerSources } from "../lib/control/answer-sources.js";
import { runsPath } from "../lib/run-search.js";
import { useFetched } from "./use-fetched.js";

/** Limit of the number of runs whose traces are requested. */
const MOST_RUNS = 5;

/**
 * Returns the sources of answers for a run of an ensemble. Only the process of an ensemble has its
 * sources.
 */
export function useAnswerSources(ensemble: StartableEnsemble): AnswerSources {
  const { answers, name, process } = ensemble;
  const isTraced = answers.includes("trace") && process === undefined;
  const listed = useFetched<RunListBody>(isTraced ? [runsPath({ ensemble: name }, MOST_RUNS)] : []);
  const runs = listed.kind === "ready" ? listed.bodies.flatMap((body) => body.runs) : [];
  const asked = useFetched<RunActionsBody>(
    runs.map(({ runId }) => `/api/runs/${encodeURIComponent(runId)}/actions`),
  );
  const bodies = asked.kind === "ready" ? asked.bodies : [];
  return useMemo(() => {
    const traced = runs.filter(({ runId }) =>
      bodies.some((body) => body.runId === runId && body.answers.includes("trace")),
    );
    return answerSources(process === undefined ? ensemble : { ...ensemble, answers: [] }, traced);
  }, [ensemble, asked]);
}
