// Tasks that are executed by handlers, without a model. Each handler receives the typed values of
// the tasks in its context.
// Run it: npm run example -- 04
import { Ensemble, Task } from "agentensemble";

interface Reading {
  readonly station: string;
  readonly celsius: number;
}

const csv = "station,celsius\nharbour,18.5\nhill,14.2\nharbour,19.1\nhill,13.6";

const parse = new Task({
  name: "parse",
  description: "Parse the readings",
  handler: (): readonly Reading[] =>
    csv
      .split("\n")
      .slice(1)
      .map((line) => line.split(","))
      .map(([station = "", celsius]) => ({ station, celsius: Number(celsius) })),
});

const average = new Task({
  name: "average",
  description: "Average per station",
  context: [parse],
  handler: (ctx) => {
    const readings = ctx.getOutput(parse).parsed; // readonly Reading[]
    const stations = [...new Set(readings.map(({ station }) => station))];
    return stations.map((station) => {
      const own = readings.filter((reading) => reading.station === station);
      return { station, celsius: own.reduce((sum, { celsius }) => sum + celsius, 0) / own.length };
    });
  },
});

const report = new Task({
  name: "report",
  description: "Write the report",
  context: [parse, average],
  handler: (ctx) => {
    const lines = ctx
      .getOutput(average)
      .parsed.map(({ station, celsius }) => `${station.padEnd(8)} ${celsius.toFixed(1)} C`);
    return [`${ctx.getOutput(parse).parsed.length} readings`, ...lines].join("\n");
  },
});

const output = await Ensemble.run(parse, average, report);
console.log(output.raw);
console.log(
  `\nTasks: ${output.taskOutputs.map(({ taskId }) => taskId).join(", ")}; model calls: ${output.metrics.llmCallCount}`,
);
