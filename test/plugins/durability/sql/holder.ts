// A process that claims a run and writes entries until it is killed. Prints `held`, then the key of each entry that was written; or the code of an error.
import { openSqlJournal } from "../../../../src/plugins/durability/shared/sql/sql-journal.js";

const [url = "", schema, runId = "", lease] = process.argv.slice(2);
const journal = openSqlJournal({ url, ...(schema === undefined ? {} : { schema }) });
const leaseMs = Number(lease);
const start = { runId, ensemble: "press", inputs: {}, inputsHash: "h", tags: {} };

try {
  const claim = await journal.claim({
    start,
    owner: `process ${process.pid}`,
    leaseMs,
    signal: new AbortController().signal,
  });
  console.log("held");
  setInterval(() => void journal.renew(claim), leaseMs / 3);
  for (let n = 0; ; n++) {
    await journal.append(claim, { key: `e${n}`, kind: "step", task: "t@1", value: n });
    console.log(`e${n}`);
  }
} catch (error) {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown }; // shown in any form
  console.log(`failed ${String(code)} ${String(message)}`);
  await journal.close();
}
