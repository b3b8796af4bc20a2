// A handler whose parts are executed once. The process is killed between two orders. Orders that
// were already sent are not sent again.
// Run it: npm run example -- 55
import { Ensemble, Task } from "agentensemble";
import { durable, once } from "agentensemble/durability";
import { crash, inProcesses } from "./support/processes.js";

const ORDERS = ["tea", "honey", "bread"];

async function work(folder: string, isKilled: boolean): Promise<void> {
  const send = new Task({
    name: "send",
    description: "Send all orders",
    handler: async (ctx) => {
      const parcels: string[] = [];
      for (const order of ORDERS) {
        if (isKilled && order === "bread") crash();
        const parcel = await once(ctx, `send ${order}`, (key) => {
          console.log(`  sends ${order} (${key})`);
          return `parcel with ${order}`;
        });
        parcels.push(parcel);
      }
      return parcels.join(", ");
    },
  });
  await using ensemble = new Ensemble({
    tasks: [send],
    plugins: [durable({ url: `file:${folder}` })],
  });
  const output = await ensemble.run({}, { runId: "orders-of-today" });
  console.log(`  result: ${output.raw}`);
}

const [folder, word] = process.argv.slice(2);
if (folder === undefined) inProcesses(import.meta.url, ["killed", "resumed"]);
else await work(folder, word === "killed");
