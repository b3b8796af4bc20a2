// A shop sends orders as signed webhooks and receives the results by webhook. Both sides verify the
// signatures.
// Run it: npm run example -- 65
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { Ensemble, Task } from "agentensemble";
import { webhook } from "agentensemble/network";

const secret = "a secret of the example, at least 16 characters";

/** The shop signs a message with this function. The service signs its messages in the same way. */
function signatureOf(timestamp: string, body: string): string {
  const digest = createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex");
  return `sha256=${digest}`;
}

/** The shop verifies a message with this function. */
function isGenuine({ headers }: IncomingMessage, body: string): boolean {
  const timestamp = String(headers["x-agentensemble-timestamp"]);
  const sent = Buffer.from(String(headers["x-agentensemble-signature"]));
  const expected = Buffer.from(signatureOf(timestamp, body));
  const isRecent = Math.abs(Date.now() / 1_000 - Number(timestamp)) <= 300;
  return isRecent && sent.length === expected.length && timingSafeEqual(sent, expected);
}

// The shop's own webhook, which receives the results.
const shop = createServer((request, response) => {
  const pieces: Buffer[] = [];
  request.on("data", (piece: Buffer) => pieces.push(piece));
  request.on("end", () => {
    const body = Buffer.concat(pieces).toString();
    const { result } = JSON.parse(body) as { readonly result?: string };
    const id = String(request.headers["x-agentensemble-delivery"]);
    console.log(`result of ${id}: ${result ?? ""} (genuine: ${isGenuine(request, body)})`);
    response.writeHead(204).end();
  });
}).listen(0, "127.0.0.1");
await once(shop, "listening");
const shopHost = `127.0.0.1:${(shop.address() as AddressInfo).port}`;

const kitchen = new Ensemble({
  name: "kitchen",
  shareTasks: {
    cook: new Task({
      description: "Cook {dish}",
      handler: ({ inputs }) => `One ${String(inputs["dish"])}, hot`,
    }),
  },
});

const service = await kitchen.start({
  port: 0,
  ingress: [
    webhook({
      name: "orders",
      secret,
      map: ({ dish }) => ({
        task: "cook",
        inputs: { dish },
        delivery: { method: "WEBHOOK", address: `http://${shopHost}/results` },
      }),
    }),
  ],
  webhooks: { secret, hosts: ["127.0.0.1"], allow: { hosts: [shopHost] } },
});

/** Sends an order with the signature of a given time. */
async function order(id: string, at: number): Promise<void> {
  const body = JSON.stringify({ dish: "soup" });
  const timestamp = String(Math.floor(at / 1_000));
  const answer = await fetch(`${service.url ?? ""}/api/webhooks/orders`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-agentensemble-delivery": id,
      "x-agentensemble-timestamp": timestamp,
      "x-agentensemble-signature": signatureOf(timestamp, body),
    },
    body,
  });
  console.log(id, answer.status, await answer.json());
}

await order("order-4711", Date.now());
await order("order-4711", Date.now() - 60_000); // sent again, not executed again
await order("order-4712", Date.now() - 3_600_000); // an hour old, refused
await service.stop(); // ends the work in progress and delivers its result
shop.close();
