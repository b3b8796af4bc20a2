// Three processes that use A2A: a kitchen that shares a task, an ensemble whose agent uses the task
// as a tool, and a program with the protocol only.
// Run it: npm run example -- 64
import { once } from "node:events";
import { Message } from "@a2a-js/sdk";
import { ClientFactory, JsonRpcTransportFactory } from "@a2a-js/sdk/client";
import { Agent, Ensemble, Task } from "agentensemble";
import { network, NetworkTask } from "agentensemble/network";
import { inProcess, serverProcess } from "./support/processes.js";
import { realOrScripted } from "./support/scripted.js";

const TOKENS = { hotel: "token-of-the-hotel-1", program: "token-of-a-program-1" };

/** Serves until its parent process ends. */
async function kitchen(): Promise<void> {
  const cook = new Agent({ role: "Cook", goal: "Cook what the guests want" });
  await using ensemble = new Ensemble({
    name: "kitchen",
    model: realOrScripted(() => "Tomato soup with bread").model,
    shareTasks: {
      "prepare-meal": new Task({ description: "Prepare this meal: {context}", agent: cook }),
    },
    on: () => undefined,
  });
  await using service = await ensemble.start({ port: 0, callers: TOKENS });
  process.send?.(service.url);
  await once(process, "disconnect");
}

/** The shared task is a tool of an agent. */
async function hotel(url: string): Promise<void> {
  const { model } = realOrScripted(({ messages }) =>
    messages.some(({ role }) => role === "tool")
      ? "Room 403 gets tomato soup with bread."
      : { toolCalls: [{ name: "kitchen__prepare-meal", arguments: { context: "soup for one" } }] },
  );
  await using ensemble = new Ensemble({
    model,
    plugins: [network({ name: "hotel", ensembles: { kitchen: { url, token: TOKENS.hotel } } })],
    tasks: [
      new Task({
        description: "Serve the guest in room {room}",
        agent: new Agent({
          role: "Waiter",
          goal: "Serve the guests",
          tools: [NetworkTask.from("kitchen", "prepare-meal", { timeoutMs: 30_000 })],
        }),
      }),
    ],
    on: () => undefined,
  });
  const output = await ensemble.run({ room: 403 });
  console.log("hotel:", output.raw);
}

/** Any client of A2A 1.0 can send requests to the kitchen. */
async function program(url: string): Promise<void> {
  const withToken: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set("Authorization", `Bearer ${TOKENS.program}`);
    return fetch(input, { ...init, headers });
  };
  const client = await new ClientFactory({
    transports: [new JsonRpcTransportFactory({ fetchImpl: withToken })],
  }).createFromUrl(url);
  const message = Message.fromJSON({
    messageId: "order-1",
    role: "ROLE_USER",
    parts: [{ text: "soup for two" }],
  });
  const answer = await client.sendMessage({
    tenant: "",
    message,
    configuration: undefined,
    metadata: undefined,
  });
  if (!("artifacts" in answer)) throw new Error("The agent answers with a task");
  const content = answer.artifacts[0]?.parts[0]?.content;
  console.log("program:", content?.$case === "text" ? content.value : "nothing");
}

const [word, url = ""] = process.argv.slice(2);
if (word === "kitchen") await kitchen();
else if (word === "hotel") await hotel(url);
else if (word === "program") await program(url);
else {
  await using served = await serverProcess(import.meta.url, "kitchen");
  console.log("the kitchen serves");
  for (const other of ["hotel", "program"]) inProcess(import.meta.url, other, served.message);
}
