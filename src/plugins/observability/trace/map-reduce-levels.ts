import type { MapReduceLevelTrace, TaskTrace } from "../../../contracts/trace.js";

/** The levels of a map-reduce run, from the traces of its tasks; empty for any other run. Tasks are counted once, however often they were tried. */
export function mapReduceLevels(traces: readonly TaskTrace[]): readonly MapReduceLevelTrace[] {
  const levels = new Map<number, TaskTrace[]>();
  for (const trace of traces) {
    if (trace.mapReduceLevel === undefined) continue;
    const level = levels.get(trace.mapReduceLevel);
    if (level === undefined) levels.set(trace.mapReduceLevel, [trace]);
    else level.push(trace);
  }
  const described = [...levels]
    .sort(([a], [b]) => a - b)
    .map(([level, tasks]): MapReduceLevelTrace => {
      const start = tasks.reduce((first, { startedAt }) => Math.min(first, startedAt.getTime()), Number.POSITIVE_INFINITY);
      const end = tasks.reduce((last, { startedAt, durationMs }) => Math.max(last, startedAt.getTime() + durationMs), 0);
      return { level, taskCount: new Set(tasks.map(({ taskId }) => taskId)).size, durationMs: Math.max(0, end - start), workflow: "PARALLEL" };
    });
  return Object.freeze(described);
}
