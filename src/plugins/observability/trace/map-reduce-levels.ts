import type { MapReduceLevelTrace, RunRecord, TaskRecord } from "../../../contracts/trace.js";

/**
 * Returns the levels of a map-reduce run. Returns none for other runs. Tasks are counted once,
 * independent of their attempts.
 */
export function mapReduceLevels({ tasks, endedMs }: RunRecord): readonly MapReduceLevelTrace[] {
  const levels = new Map<number, TaskRecord[]>();
  for (const task of tasks) {
    const level = task.mapReduce?.mapReduceLevel;
    if (level === undefined) continue;
    const known = levels.get(level);
    if (known === undefined) levels.set(level, [task]);
    else known.push(task);
  }
  const end = (task: TaskRecord): number => (task.outcome === "running" ? endedMs : task.endedMs);
  const described = [...levels]
    .sort(([a], [b]) => a - b)
    .map(([level, own]): MapReduceLevelTrace => {
      const first = own.reduce(
        (ms, task) => Math.min(ms, task.startedMs),
        Number.POSITIVE_INFINITY,
      );
      const last = own.reduce((ms, task) => Math.max(ms, end(task)), 0);
      return {
        level,
        taskCount: new Set(own.map(({ taskId }) => taskId)).size,
        durationMs: Math.max(0, last - first),
        workflow: "PARALLEL",
      };
    });
  return Object.freeze(described);
}
