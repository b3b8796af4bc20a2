// A chat in a web page: several users, threads, files, tools, an approval in the page. The server is killed and started again without a loss.
// Run it: npm run chat-app -- [--port 3000] [--folder .chat]     (works without a key; with OPENAI_API_KEY it asks OpenAI)
import { parseArgs } from "node:util";
import { startChat } from "./server.js";

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "3000" },
    folder: { type: "string", default: "./.agentensemble/chat" },
  },
});
const chat = await startChat({ port: Number(values.port), folder: values.folder });
console.log(`Model: ${chat.model}\nOpen ${chat.url} and sign in with any name.`);
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => void chat.close().then(() => process.exit()));
