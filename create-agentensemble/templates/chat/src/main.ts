import { serve } from "@hono/node-server";
import { createApp } from "./app.js";
import { createChat } from "./chat.js";

const chat = createChat();
const app = await createApp(chat);
const port = Number(process.env["PORT"] ?? 3000);
const server = serve({ fetch: app.fetch, port, hostname: "127.0.0.1" }, (address) => {
  console.log(`Open http://127.0.0.1:${address.port}/`);
});
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => {
    server.close();
    void chat.conversation.dispose().then(() => process.exit());
  });
