// A Hono server with a team: POST /api/run starts a run and answers with its output, or with a
// stream.
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { runHandler } from "agentensemble/http";
import { authenticate, team } from "./team.js";

const app = new Hono();
const runs = runHandler(team, { authenticate });
app.all("/api/run/*", (context) => runs(context.req.raw));

const server = serve({
  fetch: app.fetch,
  port: Number(process.env["PORT"] ?? 3000),
  hostname: "127.0.0.1",
});
process.once("SIGTERM", () => {
  server.close(() => void team.dispose());
});
