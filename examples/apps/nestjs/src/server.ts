// A NestJS 11 server with a team: POST /api/run starts a run and answers with its output, or with a
// stream.
import "reflect-metadata";
import { Module } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import type { NestExpressApplication } from "@nestjs/platform-express";
import { Ensemble, type Principal } from "agentensemble";
import { runHandler, toNodeListener } from "agentensemble/http";
import { AgentsModule } from "./agents.module.js";

@Module({ imports: [AgentsModule] })
class AppModule {}

/** Admits requests with the token of APP_TOKEN. Refuses all requests without APP_TOKEN. */
function authenticate(request: Request): Principal | undefined {
  const token = process.env["APP_TOKEN"] ?? "";
  return token !== "" && request.headers.get("authorization") === `Bearer ${token}`
    ? { name: "app", role: "caller" }
    : undefined;
}

const app = await NestFactory.create<NestExpressApplication>(AppModule, { logger: ["error"] });
app.enableShutdownHooks();
app.use("/api/run", toNodeListener(runHandler(app.get(Ensemble), { authenticate })));
await app.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1");
