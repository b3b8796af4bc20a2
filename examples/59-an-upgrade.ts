// Workers of two versions. The new version ends a run that the old version began, and has one more
// task. Finished tasks are not repeated.
// Run it: npm run example -- 59
import { Ensemble, Task } from "agentensemble";
import { durable, Journal } from "agentensemble/durability";
import { NetworkBackend, Transport } from "agentensemble/network";

const backend = NetworkBackend.inMemory(); // with several processes: postgres({ url })
const journal = Journal.inMemory(); // with several processes: durable({ url })
let tellStarted: () => void = () => undefined;
const hasStarted = new Promise<void>((resolve) => (tellStarted = resolve));

/** The program of a version. The new version also checks the text. */
function program(version: 1 | 2): Ensemble {
  const collect = new Task({
    name: "collect",
    description: "Collect the figures",
    handler: () => {
      console.log(`version ${version} collects the figures`);
      return "12 orders";
    },
  });
  const write = new Task({
    name: "write",
    description: "Write the report",
    context: [collect],
    handler: ({ getOutput, signal }) => {
      if (version === 2) return `Report: ${getOutput(collect).raw}`;
      tellStarted();
      return new Promise<string>((_, reject) => {
        signal.addEventListener("abort", () => reject(new Error("stopped for the upgrade")));
      });
    },
  });
  const check = new Task({
    name: "check",
    description: "Check the report",
    context: [write],
    handler: ({ getOutput }) => `${getOutput(write).raw} (checked by version ${version})`,
  });
  return new Ensemble({
    name: "reports",
    tasks: version === 1 ? [collect, write] : [collect, write, check],
    plugins: [durable({ journal })],
    drainTimeoutMs: 0,
  });
}

const reports = Transport.of("reports", backend);
await using old = program(1);
const stopping = await old.start({ backend, shareRun: true, signals: false });
await reports.send({
  ...{ v: 1, requestId: "november", from: "office", to: "reports" },
  ...{ type: "RUN", task: "run" },
});
await hasStarted;
await using fresh = program(2);
const service = await fresh.start({ backend, shareRun: true, signals: false });
await stopping.stop();
const response = await reports.response("november", { timeoutMs: 60_000 });
console.log(response?.result ?? "no result");
await service.stop();
await backend.close();
