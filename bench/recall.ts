// Measures how often the offline embedding models find the right entry: `npm run recall`. Each
// question has the meaning of one entry, in other words.
import { MemoryStore } from "agentensemble";
import { hashedBagOfWords, universalSentenceEncoder } from "agentensemble/memory";

/**
 * The distance of a question from its entry: some equal words, only other forms of the words, or no
 * common word.
 */
type Kind = "same words" | "other forms" | "other words";

interface Case {
  readonly kind: Kind;
  readonly question: string;
  readonly entry: string;
}

const CASES: readonly Case[] = [
  {
    kind: "same words",
    question: "When does the ferry to Wangerooge leave?",
    entry: "The ferry to Wangerooge leaves at 9:40 and takes 50 minutes.",
  },
  {
    kind: "same words",
    question: "Which database does the billing service use?",
    entry: "The billing service keeps its invoices in a PostgreSQL database.",
  },
  {
    kind: "same words",
    question: "coffee machine repair",
    entry: "The repair of the coffee machine on the second floor costs 180 euros.",
  },
  {
    kind: "same words",
    question: "What is the customer's budget for the kitchen?",
    entry: "The customer has a budget of 14,000 euros for the new kitchen.",
  },
  {
    kind: "same words",
    question: "Is the library open on Sunday?",
    entry: "The city library is open from Tuesday to Saturday and closed on Sunday.",
  },
  {
    kind: "other forms",
    question: "deploying on Fridays",
    entry: "We never deploy on a Friday afternoon; the last deployment of the week is on Thursday.",
  },
  {
    kind: "other forms",
    question: "Who approves travelling expenses?",
    entry: "Travel expense reports need the approval of the head of department.",
  },
  {
    kind: "other forms",
    question: "encrypting backups",
    entry: "Every backup is encrypted with a key that only the operators have.",
  },
  {
    kind: "other forms",
    question: "allergic reactions of the patient",
    entry: "The patient told us of an allergy to penicillin.",
  },
  {
    kind: "other forms",
    question: "translations into French",
    entry: "Marie translates the manual; the French version is due in May.",
  },
  {
    kind: "other words",
    question: "How can we make the web page load quicker?",
    entry: "Compressing the pictures made the site twice as fast.",
  },
  {
    kind: "other words",
    question: "The car does not start",
    entry: "If the vehicle's engine stays silent, check the battery first.",
  },
  {
    kind: "other words",
    question: "Where can I eat without meat?",
    entry: "The Green Table near the station is a good vegetarian restaurant.",
  },
  {
    kind: "other words",
    question: "The child has a high temperature",
    entry: "For a feverish toddler, call the paediatrician's night line.",
  },
  {
    kind: "other words",
    question: "cheap places to sleep in Lisbon",
    entry: "In Portugal's capital the hostels in Alfama cost 22 euros a night.",
  },
  {
    kind: "other words",
    question: "Our profits went down",
    entry: "Earnings declined by eight percent in the third quarter.",
  },
  {
    kind: "other words",
    question: "Somebody got into our servers",
    entry: "In March an attacker broke into two machines with a stolen password.",
  },
  {
    kind: "other words",
    question: "What should I wear, will it be wet?",
    entry: "The forecast for the weekend is heavy rain and strong wind.",
  },
];

const MODELS = {
  "hashed bag of words": hashedBagOfWords(),
  "Universal Sentence Encoder": universalSentenceEncoder(),
};
const KINDS: readonly Kind[] = ["same words", "other forms", "other words"];

/**
 * Returns the position of the right entry in the answers to each question, from 1. 0: not among the
 * first three.
 */
async function placesOf(store: MemoryStore): Promise<readonly number[]> {
  for (const { entry } of CASES)
    await store.store("all", { content: entry, storedAt: new Date(0) });
  const places: number[] = [];
  for (const { question, entry } of CASES) {
    const found = await store.retrieve("all", question, 3);
    places.push(found.findIndex(({ content }) => content === entry) + 1);
  }
  return places;
}

const results: (readonly number[])[] = [];
for (const model of Object.values(MODELS))
  results.push(await placesOf(MemoryStore.embeddings(model)));

console.log(`| question | kind | ${Object.keys(MODELS).join(" | ")} |`);
console.log(`|---|---|${"---|".repeat(results.length)}`);
for (const [i, { question, kind }] of CASES.entries()) {
  const cells = results.map((places) =>
    places[i] === 1 ? "yes" : places[i] === 0 ? "no" : `place ${places[i]}`,
  );
  console.log(`| ${question} | ${kind} | ${cells.join(" | ")} |`);
}
for (const kind of [...KINDS, undefined]) {
  const of = CASES.flatMap((test, i) => (kind === undefined || test.kind === kind ? [i] : []));
  const cells = results.map(
    (places) =>
      `${of.filter((i) => places[i] === 1).length} of ${of.length} first, ${of.filter((i) => places[i] !== 0).length} among three`,
  );
  console.log(`| **all** | ${kind ?? ""} | ${cells.join(" | ")} |`);
}

/**
 * Prints the similarity of a question to its entry, and to the best other entry: a basis for a
 * minScore.
 */
for (const [name, model] of Object.entries(MODELS)) {
  const questions = await model.embed(CASES.map(({ question }) => question));
  const entries = await model.embed(CASES.map(({ entry }) => entry));
  const cosine = (a: readonly number[], b: readonly number[] = []): number =>
    a.reduce((sum, number, i) => sum + number * (b[i] ?? 0), 0);
  const scores = questions.map((question) => entries.map((entry) => cosine(question, entry)));
  const own = scores.map((row, i) => row[i] ?? 0).sort((a, b) => a - b);
  const others = scores
    .map((row, i) => Math.max(...row.filter((_, j) => j !== i)))
    .sort((a, b) => a - b);
  const range = (sorted: readonly number[]): string =>
    [sorted[0], sorted[Math.floor(sorted.length / 2)], sorted.at(-1)]
      .map((score) => score?.toFixed(2))
      .join(" / ");
  console.log(
    `\n${name}: its own entry ${range(own)}, the best other ${range(others)} (lowest / median / highest cosine)`,
  );
}
await MODELS["Universal Sentence Encoder"].close();
