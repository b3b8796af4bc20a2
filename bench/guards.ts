// Measures the error rates of the guards on the held-out half of their labelled sets: `npm run
// guards`. `-- --tuning` lists the mistakes in the other half.
import { isHeldOut } from "./labelled/labelled-case.js";
import {
  guardTable,
  LABELLED_GUARDS,
  measureGuard,
  type Measured,
} from "./labelled/measure-guards.js";

const isTuning = process.argv.includes("--tuning");
const rows: Measured[] = [];
for (const guard of LABELLED_GUARDS)
  rows.push(await measureGuard(guard, (one) => isHeldOut(one) !== isTuning));
console.log(guardTable(rows));
if (isTuning)
  for (const { name, mistakes } of rows)
    for (const { text, isPositive } of mistakes)
      console.log(`${name}: ${isPositive ? "missed" : "wrongly found"} ${JSON.stringify(text)}`);
const missed = rows.filter(({ name, precision, recall }) => {
  const goal = LABELLED_GUARDS.find((guard) => guard.name === name)?.goal;
  return goal !== undefined && (precision < goal.precision || recall < goal.recall);
});
if (missed.length > 0 && !isTuning) process.exitCode = 1;
