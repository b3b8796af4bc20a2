// A process that is killed. Arguments: the journal, the external services, and, if it ends itself,
// the number of the write, `before` or `after`.
import type { Journal } from "../../../../src/contracts/journal.js";
import { durable } from "agentensemble/durability";
import type { Outside } from "./killable-team.js";
import { journalAt, type JournalPlace } from "./journal-place.js";
import { killableRuns } from "./killable-team.js";
import { summaryOf } from "./summary.js";

const [place, outside, write, moment] = process.argv.slice(2) as [string, string, string?, string?];

/** A lease that a process does not lose on a busy machine. */
const LEASE_MS = 4_000;

function killedAt(journal: Journal, last: number): Journal {
  let writes = 0;
  const { append } = journal;
  journal.append = async (claim, entry) => {
    const isLast = ++writes === last;
    if (!isLast || moment === "after") await append.call(journal, claim, entry);
    if (isLast) process.kill(process.pid, "SIGKILL");
    if (writes >= last) await new Promise<never>(() => undefined); // the signal arrives in a moment
  };
  return journal;
}

const opened = journalAt(JSON.parse(place) as JournalPlace);
const journal = write === undefined ? opened : killedAt(opened, Number(write));
const outputs: unknown[] = [];
for (const { run, runId } of killableRuns(JSON.parse(outside) as Outside))
  outputs.push(summaryOf(await run([durable({ journal, leaseMs: LEASE_MS })], runId)));
await journal.close();
process.stdout.write(JSON.stringify(outputs));
