// One side of one scenario: `side.js S1 framework`, started by the harness. Prepares the side,
// reports that it is ready, then measures a round for every message.
import type { SideMessage } from "./harness/side-process.js";
import { sideOf } from "./harness/scenario.js";
import { loadScenario } from "./scenarios/all.js";

const [id, name] = process.argv.slice(2);
if (id === undefined || process.send === undefined) throw new Error("This is started by main.js");
const scenario = await loadScenario(id);

const send = (message: SideMessage): void => void process.send?.(message);
const round = await scenario.prepare(sideOf(name));
process.on("message", () => {
  void round().then((values) => send({ values })); // a failure ends this process, and the harness reports it
});
process.once("disconnect", () => process.exit()); // open connections would keep the process alive
send({ values: [] });
