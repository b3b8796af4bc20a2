// A memory that searches by meaning, without keys and without a network. Questions in other words
// find the entries of a help desk. The hashed bag of words compares words. The Universal Sentence
// Encoder compares meanings, if its packages are installed.
// Run it: npm run example -- 24
import { LongTermMemory, MemoryStore, ValidationError } from "agentensemble";
import {
  hashedBagOfWords,
  universalSentenceEncoder,
  type EmbeddingModel,
} from "agentensemble/memory";

const LEARNT = [
  "Compressing the pictures made the site twice as fast.",
  "Every backup is encrypted with a key that only the operators have.",
  "In March an attacker broke into two machines with a stolen password.",
  "Travel expense reports need the approval of the head of department.",
];
const QUESTIONS = [
  "encrypting the backups",
  "How can we make the web page load quicker?",
  "Somebody got into our servers",
];

async function recall(name: string, model: EmbeddingModel): Promise<void> {
  const memory = MemoryStore.embeddings(model, undefined, { minScore: 0.2 });
  for (const [day, content] of LEARNT.entries()) {
    await memory.store("help desk", {
      content,
      storedAt: new Date(Date.UTC(2026, 2, day + 1)),
      metadata: { agentRole: "Help desk" },
    });
  }
  console.log(name);
  for (const question of QUESTIONS) {
    const [best] = await memory.retrieve("help desk", question, 1);
    console.log(`  ${question}\n    -> ${best?.content ?? "(nothing near enough)"}`);
  }
}

await recall("By words:", hashedBagOfWords());

const encoder = universalSentenceEncoder();
try {
  await recall("\nBy meaning:", encoder);
} catch (error) {
  if (!ValidationError.isInstance(error)) throw error;
  console.log(`\nBy meaning: not installed. ${error.hint}`);
}
await encoder.close();

// A long-term memory is one scope of such a store. A store that outlives the program:
// `sqlMemoryStore({ url: "pglite:./memory", model })`.
const experience = LongTermMemory.of(MemoryStore.embeddings(hashedBagOfWords()));
await experience.store({
  content: "The customer prefers answers by phone.",
  storedAt: new Date(),
  metadata: { agentRole: "Clerk" },
});
const [remembered] = await experience.retrieve("What do customers prefer?", 1);
console.log(`\nFrom earlier runs: ${remembered?.content} (${remembered?.metadata?.["agentRole"]})`);
