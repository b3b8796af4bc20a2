import type { OutsideCall } from "../../../contracts/outside.js";
import type { RunJournal } from "./run-journal.js";
import type { TaskStates } from "./task-states.js";
import { Tokens } from "../../../contracts/tokens.js";
import { asFields } from "../../../util/objects.js";

/**
 * Decisions of people and external changes. Each is made once, and then answered from the journal.
 */
export class OutsideSteps {
  readonly #counts = new Map<string, number>();

  constructor(
    readonly journal: RunJournal,
    readonly tasks: TaskStates,
  ) {}

  async access<T>(call: OutsideCall<T>, work: () => Promise<T>): Promise<T> {
    if (call.kind !== "review" && call.kind !== "change") return work();
    const task = call.taskId === undefined ? "run" : this.tasks.placeOf(call.taskId, 1);
    const key = this.#nextKey(call.kind === "review" ? "R" : "O", task, call.name);
    const known = this.journal.index.get(key);
    if (known !== undefined) {
      const json = asFields(known.value)?.["value"];
      return call.codec === undefined ? (json as T) : call.codec.fromJson(json); // written below
    }
    this.journal.requireOpen(`${call.kind} ${key}`);
    if (call.begunAt !== undefined) await this.#begin(`${key}#begun`, task, call.begunAt);
    const value = await work();
    const json = call.codec === undefined ? value : call.codec.toJson(value);
    const kept = { ...(json !== undefined && { value: json }) };
    if (call.kind === "review")
      await this.journal.write({ key, kind: "review", task, value: kept });
    else await this.journal.writeStep({ key, kind: "change", task, value: kept });
    return value;
  }

  /** Reports a call that an earlier execution began. Otherwise records its start. */
  async #begin(key: string, task: string, begunAt: (at: Date) => void): Promise<void> {
    const at = asFields(this.journal.index.get(key)?.value)?.["at"];
    if (typeof at === "string") return begunAt(new Date(at));
    const now = this.journal.run.get(Tokens.Clock).now().toISOString();
    await this.journal.write({ key, kind: "change", task, value: { at: now } });
  }

  #nextKey(letter: "R" | "O", place: string, name: string): string {
    const base = `${letter}:${place}/${name}`;
    const n = (this.#counts.get(base) ?? 0) + 1;
    this.#counts.set(base, n);
    return n === 1 ? base : `${base}~${n}`;
  }
}
