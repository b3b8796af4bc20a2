import assert from "node:assert/strict";
import { test } from "node:test";

process.env["AGENTENSEMBLE_MODEL"] = "offline:extractive"; // neither key nor network
const { default: createService } = await import("../src/service.js");

/** Requests a task and waits for its result. */
async function request(
  url: string,
  task: string,
  message: string,
): Promise<Record<string, unknown>> {
  const accepted = await fetch(`${url}/api/work`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ task, inputs: { message } }),
  });
  assert.equal(accepted.status, 202);
  const { requestId } = (await accepted.json()) as { requestId: string };
  const response = await fetch(`${url}/api/work/${requestId}?waitMs=10000`);
  return (await response.json()) as Record<string, unknown>;
}

test("answers requests over HTTP", async () => {
  await using ensemble = createService();
  await using service = await ensemble.start({ port: 0 });
  const url = service.url ?? "";
  const message = "My parcel is late. It was promised for Monday.";
  assert.match(String((await request(url, "summarize", message))["result"]), /parcel/);
  assert.deepEqual(JSON.parse(String((await request(url, "count", message))["result"])), {
    words: 9,
  });
});

test("is ready while it runs, and not afterwards", async () => {
  await using ensemble = createService();
  const service = await ensemble.start({ port: 0 });
  assert.equal((await fetch(`${service.url ?? ""}/api/health/ready`)).status, 200);
  await service.stop();
  await assert.rejects(fetch(`${service.url ?? ""}/api/health/ready`));
});
