// Installs Express, Fastify and Hono in a temporary folder. Sends requests to the handlers of
// `agentensemble/http` through each of them, as docs/http.md describes. Also calls the handlers in
// the form of Next.js route handlers. Not a test, because packages come from npm. Run it after a
// build.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Agent, Conversation, Ensemble, Task } from "agentensemble";
import { chatHandler, runHandler, toNodeListener } from "agentensemble/http";
import { ScriptedModel } from "agentensemble/testing";

const PACKAGES = ["express@5", "fastify@5", "hono@4"];

let aborted = 0;
const answer = new Task({
  description: "Answers",
  handler: ({ inputs, signal }) =>
    inputs.waits !== true
      ? JSON.stringify(inputs)
      : new Promise((_resolve, reject) =>
          signal.addEventListener("abort", () => {
            aborted++;
            reject(new Error("aborted"));
          }),
        ),
});
const team = new Ensemble({ tasks: [answer] });
const authenticate = ({ headers }) =>
  headers.get("x-user") === "ada" ? { name: "ada", role: "caller", owner: "ada" } : undefined;
const runs = runHandler(team, { authenticate });
const desk = new Conversation({
  agent: new Agent({ role: "Clerk", goal: "Answers" }),
  model: new ScriptedModel(({ messages }) => `re: ${messages.at(-1).content}`),
});
const chats = chatHandler(desk, { authenticate });
const handlers = { "/api/run": runs, "/api/chat": chats };

/** Starts a listener on loopback. Returns its port and a function that closes it. */
async function listen(server) {
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { port: server.address().port, close };
}

/**
 * The servers by name, in the form of their documentation. Each serves every handler at its path.
 */
function serversOf(load) {
  const mounted = (app) => {
    for (const [path, handler] of Object.entries(handlers)) app.use(path, toNodeListener(handler));
    return app;
  };
  return {
    express: async () => {
      const express = (await load("express")).default;
      return listen(createServer(mounted(express())));
    },
    "express behind its parser": async () => {
      const express = (await load("express")).default;
      return listen(createServer(mounted(express().use(express.json()))));
    },
    fastify: async () => {
      const app = (await load("fastify")).default({ forceCloseConnections: true });
      for (const [path, handler] of Object.entries(handlers)) {
        const listener = toNodeListener(handler);
        app.all(`${path}*`, (request, reply) => {
          reply.hijack();
          listener(Object.assign(request.raw, { body: request.body }), reply.raw);
        });
      }
      await app.listen({ port: 0, host: "127.0.0.1" });
      return { port: app.server.address().port, close: () => app.close() };
    },
    hono: async () => {
      const { Hono } = await load("hono");
      const app = new Hono();
      for (const [path, handler] of Object.entries(handlers))
        app.all(`${path}/*`, (context) => handler(context.req.raw));
      return listen(createServer(toNodeListener(async (request) => app.fetch(request))));
    },
    "route handlers of Next.js": () => {
      // Next.js needs a project that it compiles. It calls the export with the name of the method,
      // with a web request and a context.
      const routes = Object.entries(handlers).map(([path, handler]) => [
        path,
        { GET: handler, POST: handler, DELETE: handler },
      ]);
      const serve = async (request) => {
        const { pathname } = new URL(request.url);
        const [, exported] = routes.find(([path]) => pathname.startsWith(path)) ?? [];
        const call = exported?.[request.method];
        if (call === undefined) return new Response(null, { status: 405 });
        return call(request, { params: Promise.resolve({ path: pathname.split("/").slice(3) }) });
      };
      return listen(createServer(toNodeListener(serve)));
    },
  };
}

/** Sends requests to a handler. */
function asking(port, handlerPath) {
  return (path, { body, ...o } = {}, headers = {}) =>
    fetch(`http://127.0.0.1:${port}${handlerPath}${path}`, {
      ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
      ...o,
      headers: {
        "x-user": "ada",
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
    });
}

/** Sends all requests to a chat that a server could impair. */
async function checkChat(port) {
  const ask = asking(port, "/api/chat");
  const id = `a/b ${port}`; // a server must not decode or shorten the path
  const at = `/${encodeURIComponent(id)}`;
  const parts = [{ type: "text", text: "hello" }];
  const body = { id, messages: [{ id: "m1", role: "user", parts }], trigger: "submit-message" };
  const sent = await ask("", { body });
  assert.equal(sent.headers.get("x-vercel-ai-ui-message-stream"), "v1");
  assert.match(await sent.text(), /re: hello.*data: \[DONE\]\n\n$/s);
  assert.equal((await ask("", { body })).status, 409);
  const shown = await (await ask(at)).json();
  assert.deepEqual([shown.id, shown.messages.length], [id, 2]);
  assert.ok((await (await ask("")).json()).threads.some((thread) => thread.id === id));
  assert.equal((await ask(`${at}/stream`)).status, 204);
  assert.equal((await ask("", { body }, { "x-user": "bob" })).status, 401);
  assert.equal((await ask(at, { method: "PUT" })).status, 405);
  assert.equal((await ask(at, { method: "DELETE" })).ok, true);
  assert.equal((await ask(at)).status, 404);
}

/** Sends all requests for runs that a server could impair. */
async function checkRuns(port) {
  const ask = asking(port, "/api/run");
  const plain = await ask("", { body: { a: 1 } });
  assert.equal(plain.status, 200);
  const { runId, output } = await plain.json();
  assert.deepEqual(output, { raw: '{"a":1}', exitReason: "COMPLETED" });
  const stream = await ask("", { body: {} }, { accept: "text/event-stream" });
  assert.equal(stream.headers.get("content-type"), "text/event-stream");
  assert.match(await stream.text(), /"type":"finish".*data: \[DONE\]\n\n$/s);
  assert.equal((await ask(`/${runId}/stream`)).status, 204);
  assert.equal((await ask(`/${runId}`, { method: "DELETE" })).status, 409);
  assert.equal((await ask("/unknown", { method: "DELETE" })).status, 404);
  assert.equal((await ask("", { body: {} }, { "x-user": "bob" })).status, 401);
  assert.equal((await ask("", { body: {} }, { origin: "https://evil.example" })).status, 403);
  assert.equal((await ask("", { body: {} }, { "content-type": "text/plain" })).status, 415);
  const before = aborted;
  const leaving = new AbortController();
  const waiting = ask(
    "",
    { body: { waits: true }, signal: leaving.signal },
    { accept: "text/event-stream" },
  );
  await (await waiting).body.getReader().read();
  leaving.abort();
  while (aborted === before) await new Promise((resolve) => setTimeout(resolve, 5));
}

const folder = mkdtempSync(join(tmpdir(), "agentensemble-servers-"));
try {
  const install = ["install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"];
  const npm = spawnSync("npm", [...install, "--prefix", folder, ...PACKAGES], { stdio: "inherit" });
  assert.equal(npm.status, 0, "npm could not install the servers");
  const { resolve } = createRequire(join(folder, "index.js"));
  const load = (name) => import(pathToFileURL(resolve(name)).href);
  for (const [name, start] of Object.entries(serversOf(load))) {
    const { port, close } = await start();
    await checkRuns(port);
    await checkChat(port);
    await close();
    console.log(`${name}: ok`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
  chats.close();
  await desk.dispose();
  await team.dispose();
}
