// A chat in a web page with several users, threads, files, tools, and an approval in the page. If
// the server is killed and restarted, nothing is lost.
// Run it: npm run chat-app -- [--port 3000] [--folder .chat]
// It works without a key. With OPENAI_API_KEY, it calls OpenAI.
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
