// A team as a function of AWS Lambda with a function URL. The program simulates Lambda: it invokes
// the function with the events of a URL.
// Run it: npm run example -- 91
import { Ensemble, Task, type Principal } from "agentensemble";
import { runHandler } from "agentensemble/http";
import { budget } from "agentensemble/resilience";
import { Hono } from "hono";
import { handle } from "hono/aws-lambda";
import { realOrScripted } from "./support/scripted.js";

const { model, name } = realOrScripted(() => "Swifts sleep in the air.");
console.log(`Model: ${name}\n`);

const token = process.env["APP_TOKEN"] ?? "a token for this example";
const authenticate = ({ headers }: Request): Principal | undefined =>
  headers.get("authorization") === `Bearer ${token}` ? { name: "app", role: "caller" } : undefined;

// Created once for each instance of the function, not for each invocation.
const team = new Ensemble({
  name: "answers",
  model,
  tasks: [Task.of("Answer in one sentence: {question}")],
  plugins: [budget({ maxDurationMs: 20_000 })], // below the time limit of the function
});
const runs = runHandler(team, { authenticate });
const app = new Hono().all("/api/run/*", (context) => runs(context.req.raw));
export const handler = handle(app);

/** An event of a function URL in the payload format 2.0 of Lambda. */
function eventOf(authorization: string): Parameters<typeof handler>[0] {
  const url = { http: { method: "POST", path: "/api/run", sourceIp: "127.0.0.1" } };
  const event = {
    ...{ version: "2.0", rawPath: "/api/run", rawQueryString: "", isBase64Encoded: false },
    headers: { host: "url.example", "content-type": "application/json", authorization },
    requestContext: { domainName: "url.example", ...url },
    body: JSON.stringify({ question: "How do swifts sleep?" }),
  };
  // Lambda adds more fields, which are not used.
  return event as unknown as Parameters<typeof handler>[0];
}

for (const authorization of [`Bearer ${token}`, "Bearer guessed"]) {
  const { statusCode, body } = (await handler(eventOf(authorization))) as {
    statusCode: number;
    body: string;
  };
  const { output, error } = JSON.parse(body) as {
    output?: { raw: string };
    error?: { message: string };
  };
  console.log(statusCode, output?.raw ?? error?.message);
}
await team.dispose();
