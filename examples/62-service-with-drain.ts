// An ensemble as a service. Programs request its tasks over HTTP. A stop first ends the work in
// progress. SIGTERM has the same effect as stop().
// Run it: npm run example -- 62
import { setTimeout as pause } from "node:timers/promises";
import { Ensemble, Task } from "agentensemble";

const kitchen = new Ensemble({
  name: "kitchen",
  shareTasks: {
    cook: new Task({
      description: "Cook {dish}",
      handler: async ({ inputs, signal }) => {
        await pause(300, undefined, { signal });
        return `One ${String(inputs["dish"])}, hot`;
      },
    }),
  },
  maxConcurrentRequests: 2,
  drainTimeoutMs: 10_000,
});
await using service = await kitchen.start({
  port: 0,
  listeners: [(event) => event.type === "service_state" && console.log(`  ${event.state}`)],
});

/** Requests a dish. The key makes it safe to send the request again. */
async function order(dish: string): Promise<{ status: number; requestId?: string }> {
  const response = await fetch(`${service.url ?? ""}/api/work`, {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": `order of ${dish}` },
    body: JSON.stringify({ task: "cook", inputs: { dish } }),
  });
  const answer = (await response.json()) as { requestId?: string };
  return { status: response.status, ...answer };
}

/** Waits for a dish. */
async function serve({ requestId = "" }: { requestId?: string }): Promise<string> {
  const response = await fetch(`${service.url ?? ""}/api/work/${requestId}?waitMs=30000`);
  return ((await response.json()) as { result: string }).result;
}

const orders = await Promise.all([order("soup"), order("risotto")]);
const dishes = Promise.all(orders.map(serve));
await pause(50); // both dishes are in progress
const stopped = service.stop();
console.log("an order while the service drains:", (await order("cake")).status);
for (const dish of await dishes) console.log(dish);
await stopped;
await kitchen.dispose();
