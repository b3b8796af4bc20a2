import type { Scenario } from "../harness/scenario.js";
import { chainScenario } from "./chain.js";
import { coldStartScenario } from "./cold-start.js";
import { compileScenario } from "./compile.js";
import { conversationScenario } from "./conversation.js";
import { dashboardScenario } from "./dashboard.js";
import { durableScenario } from "./durable.js";
import { durableWorkersScenario } from "./durable-workers.js";
import { evalsScenario } from "./evals.js";
import { fanOutScenario } from "./fan-out.js";
import { filesScenario } from "./files.js";
import { growthScenario } from "./growth.js";
import { guardsScenario, guardStreamsScenario } from "./guards.js";
import { layersScenario } from "./layers.js";
import { mapReduceScenario } from "./map-reduce.js";
import { memoryScenario } from "./memory.js";
import { networkNatsScenario } from "./network-nats.js";
import { a2aScenario, networkScenario, postgresScenario, redisScenario } from "./network.js";
import { pageStreamsScenario } from "./page-streams.js";
import { singleRunScenario } from "./single-run.js";
import { tokenStreamScenario } from "./token-stream.js";
import { toolFanScenario, toolLoopScenario } from "./tool-loop.js";
import { vendorRequestScenario } from "./vendor-request.js";
import { waitingScenario } from "./waiting.js";

/** In the order of the table. */
export const SCENARIOS: readonly Scenario[] = [
  singleRunScenario,
  chainScenario,
  toolLoopScenario,
  toolFanScenario,
  fanOutScenario,
  layersScenario,
  mapReduceScenario,
  tokenStreamScenario,
  pageStreamsScenario,
  memoryScenario,
  guardsScenario,
  guardStreamsScenario,
  evalsScenario,
  waitingScenario,
  coldStartScenario,
  vendorRequestScenario,
  conversationScenario,
  filesScenario,
  growthScenario,
  compileScenario,
  durableScenario,
  durableWorkersScenario,
  dashboardScenario,
  networkScenario,
  a2aScenario,
  redisScenario,
  postgresScenario,
  networkNatsScenario,
];
