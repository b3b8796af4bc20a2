// A Fastify 5 server with a team: POST /api/run starts a run and answers with its output, or with a
// stream.
import fastify from "fastify";
import { runHandler, toNodeListener } from "agentensemble/http";
import { authenticate, team } from "./team.js";

const app = fastify({ forceCloseConnections: true });
const listener = toNodeListener(runHandler(team, { authenticate }));
app.all("/api/run*", (request, reply) => {
  reply.hijack(); // the listener sends the response
  void listener(Object.assign(request.raw, { body: request.body }), reply.raw);
});

await app.listen({ port: Number(process.env["PORT"] ?? 3000), host: "127.0.0.1" });
process.once("SIGTERM", () => void app.close().then(() => team.dispose()));
