import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { serve } from "@hono/node-server";
import { Agent, Conversation, ConversationStore, tool, type Principal } from "agentensemble";
import { durable } from "agentensemble/durability";
import { chatHandler } from "agentensemble/http";
import { clientTool } from "agentensemble/tools";
import { StreamStore } from "agentensemble/ui";
import { Hono } from "hono";
import { setCookie } from "hono/cookie";
import { z } from "zod";
import { chatModel } from "./model.js";
import { pageFiles } from "./page-files.js";

const tide = tool({
  name: "tide",
  title: "Looks up the tide",
  description: "Returns the time of high water at a harbour",
  input: z.object({ harbour: z.string() }),
  execute: ({ harbour }) => `High water at ${harbour} is at 14:40.`,
});
const book = tool({
  name: "book",
  title: "Books a ferry",
  description: "Books a place on the next ferry to a harbour",
  input: z.object({ harbour: z.string() }),
  requireApproval: true,
  execute: ({ harbour }) => `The ferry to ${harbour} is booked.`,
});
/** The page executes this tool, because only the browser has the value. */
const timeZone = clientTool({
  name: "time_zone",
  title: "Reads the time zone",
  description: "Returns the time zone of the user",
  input: z.object({}),
  output: z.object({ zone: z.string().max(60) }),
  timeoutMs: 60_000,
});

export interface RunningChat {
  readonly url: string;
  readonly model: string;
  close(): Promise<void>;
}

/** Serves the page and its threads on this machine. A folder stores all data. */
export async function startChat(o: {
  readonly port: number;
  readonly folder: string;
}): Promise<RunningChat> {
  const { model, name } = chatModel();
  // After a restart, turns continue that waited for an approval or were interrupted by a crash.
  const kept = durable({ url: `file:${join(o.folder, "runs")}` });
  const chat = new Conversation({
    name: "chat",
    agent: new Agent({ role: "Harbour clerk", goal: "Helps travellers, in one sentence" }),
    tools: [tide, book, timeZone],
    model,
    store: ConversationStore.file(join(o.folder, "threads")),
    plugins: [kept],
  });
  const users = await signedNames(o.folder);
  const handler = chatHandler(chat, {
    authenticate: (request) => users.principalOf(request),
    limits: { maxBytes: 5_000_000 },
    reviews: kept.runs.reviews,
    streams: StreamStore.inMemory(),
  });

  const files = await pageFiles();
  const app = new Hono();
  app.get("/", (context) => context.html(files.html));
  app.get("/app.js", (context) =>
    context.body(files.script, 200, { "Content-Type": "text/javascript" }),
  );
  // This is only an example. A user can sign in with any name. A real page requires a password or a
  // separate service.
  app.post("/sign-in", async (context) => {
    const { user } = z.object({ user: z.string().min(1).max(40) }).parse(await context.req.json());
    setCookie(context, "user", users.sign(user), { httpOnly: true, sameSite: "Strict" });
    return context.json({ user });
  });
  app.get("/me", (context) => context.json({ user: users.principalOf(context.req.raw)?.name }));
  app.all("/api/chat/*", (context) => handler(context.req.raw));

  const server = serve({ fetch: app.fetch, port: o.port, hostname: "127.0.0.1" });
  await new Promise<void>((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo; // the server listens on a port
  return {
    url: `http://127.0.0.1:${port}/`,
    model: name,
    close: async () => {
      server.close();
      await chat.dispose();
    },
  };
}

/** Signs the names of users in cookies with a key in the folder. */
async function signedNames(folder: string): Promise<{
  sign(user: string): string;
  principalOf(request: Request): Principal | undefined;
}> {
  await mkdir(folder, { recursive: true });
  const file = join(folder, "key");
  // The key already exists.
  await writeFile(file, randomBytes(32), { flag: "wx", mode: 0o600 }).catch(() => undefined);
  const key = await readFile(file);
  const signature = (user: string): Buffer => createHmac("sha256", key).update(user).digest();
  return {
    sign: (user) => `${Buffer.from(user).toString("base64url")}.${signature(user).toString("hex")}`,
    principalOf: (request) => {
      const cookie = /(?:^|; )user=([\w-]+)\.([0-9a-f]{64})/.exec(
        request.headers.get("cookie") ?? "",
      );
      const user = Buffer.from(cookie?.[1] ?? "", "base64url").toString();
      const given = Buffer.from(cookie?.[2] ?? "", "hex");
      const isSigned = given.length === 32 && timingSafeEqual(given, signature(user));
      return isSigned ? { name: user, role: "caller", owner: user } : undefined;
    },
  };
}
