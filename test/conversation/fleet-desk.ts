// A process of a fleet. Arguments: the backend, its address, its name, `send` or `die`.
import { TurnQuotaError } from "agentensemble";
import { pause } from "../support/time.js";
import { fleetDesk } from "./fleet.js";

const [, , store, url = "", name = "", how] = process.argv;
const { thread, end } = fleetDesk(
  { store: store === "redis" ? "redis" : "postgres", url, name },
  async () => {
    if (how !== "die") return;
    while ((await thread.usage()).owner?.used.tokens !== 100) await pause(5);
    process.kill(process.pid, "SIGKILL");
    await new Promise(() => undefined);
  },
);
const answer = thread.send("Hello");
console.log(await answer.then(({ text }) => text, refusal));
await end();

function refusal(error: unknown): string {
  if (!TurnQuotaError.isInstance(error)) throw error;
  return `${error.limit} ${error.unit}`;
}
