// A service in a container or a systemd unit: probes, metrics at /metrics, and a stop without
// losses. The files are in examples/deploy.
// Run it: npm run example -- 66
import { Ensemble, Task, Tokens, definePlugin } from "agentensemble";
import { NetworkBackend } from "agentensemble/network";
import { postgres } from "agentensemble/network/postgres";
import { prometheus } from "agentensemble/observability/prometheus";

const metrics = prometheus();

/** Serves the metrics on the port of the service. */
const metricsRoute = definePlugin({
  name: "metrics-route",
  bind: (bind) =>
    void bind.many(Tokens.HttpRoute).toConstantValue({
      method: "GET",
      path: "/metrics",
      role: "public", // the metrics contain names of callers and tasks, but no texts
      handle: async () =>
        new Response(await metrics.metrics(), { headers: { "content-type": metrics.contentType } }),
    }),
});

const kitchen = new Ensemble({
  name: "kitchen",
  shareTasks: { cook: new Task({ description: "Cook {context}", handler: () => "soup" }) },
  plugins: [metrics, metricsRoute],
  drainTimeoutMs: 120_000, // the grace period of the manifests is 15 seconds longer
});

const { PORT = "0", CALLER_TOKEN, POD_NAME, DATABASE_URL } = process.env;
// The pods share one database. Without its address, the backend is in memory.
const backend =
  DATABASE_URL === undefined ? NetworkBackend.inMemory() : postgres({ url: DATABASE_URL });
const service = await kitchen.start({
  port: Number(PORT),
  backend,
  // In a cluster, listen on every address, allow the names of the Service, and require tokens.
  ...(CALLER_TOKEN !== undefined && {
    host: "0.0.0.0",
    allowedHosts: (process.env["ALLOWED_HOSTS"] ?? "kitchen").split(","),
    callers: { hotel: CALLER_TOKEN },
  }),
  ...(POD_NAME !== undefined && { instance: POD_NAME }),
});
console.log(`${service.name} listens`);

if (CALLER_TOKEN === undefined) {
  // On this machine: one request, then stop.
  for (const path of ["/api/health/live", "/api/health/ready"])
    console.log(path, (await fetch(`${service.url ?? ""}${path}`)).status);
  const text = await (await fetch(`${service.url ?? ""}/metrics`)).text();
  console.log(text.split("\n").find((line) => line.startsWith("agentensemble_queued_requests")));
  process.kill(process.pid, "SIGTERM"); // like systemd and Kubernetes
}
await service.closed;
await backend.close();
console.log("stopped");
