import { chatHandler } from "agentensemble/http";
import { StreamStore } from "agentensemble/ui";
import { Hono } from "hono";
import type { Chat } from "./chat.js";
import { pageFiles } from "./page-files.js";

/** The web application: the page, and the requests of `useChat`. */
export async function createApp({ conversation, approvals }: Chat): Promise<Hono> {
  const handler = chatHandler(conversation, {
    // All visitors are the same guest. For a page on the internet, read a session here, and return
    // `undefined` without a session.
    authenticate: () => ({ name: "guest", role: "caller", owner: "guest" }),
    reviews: approvals, // the page asks the guest
    streams: StreamStore.inMemory(), // a reloaded page continues its turn
  });
  const files = await pageFiles();
  const app = new Hono();
  app.get("/", (context) => context.html(files.html));
  app.get("/app.js", (context) =>
    context.body(files.script, 200, { "Content-Type": "text/javascript" }),
  );
  app.all("/api/chat/*", (context) => handler(context.req.raw));
  return app;
}
