// An Express 5 server with a team: POST /api/run starts a run and answers with its output, or with
// a stream.
import express from "express";
import { runHandler, toNodeListener } from "agentensemble/http";
import { authenticate, team } from "./team.js";

const app = express();
app.use("/api/run", toNodeListener(runHandler(team, { authenticate })));

const server = app.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1");
process.once("SIGTERM", () => {
  server.close(() => void team.dispose());
});
