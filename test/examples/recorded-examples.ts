// Loaded before an example with `--import`. The process runs the example with a recorder in every
// kernel. Then it runs the example with a player of the recording: once, or twice with ALL_CASES.
// PLAY_EXAMPLE is the folder with one recording per kernel, in the order of their boots. The ends
// of runs are written to `{folder}/{play}-{kernel}.json`, where the play is `recorded`, `once` or
// `twice`. A kernel with the example's own recorder or player is not changed. The ends of its runs
// are written to `{folder}/{play}-{kernel}-own.json`. A line of standard output, END_OF_RECORDING,
// ends the output of the first play.
import { appendFileSync, existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { definePlugin, Kernel, type Plugin } from "agentensemble";
import { recordTo, replayFrom } from "agentensemble/replay";

const folder = process.env["PLAY_EXAMPLE"] ?? ".";
const original = Object.getOwnPropertyDescriptor(Kernel.prototype, "boot")?.value as (
  this: Kernel,
) => Promise<void>; // the kernel has that method
const use = Object.getOwnPropertyDescriptor(Kernel.prototype, "use")?.value as (
  this: Kernel,
  plugin: Plugin,
) => Kernel; // and that one
/** Kept, because the recorder of a kernel that an example does not dispose of has an open file. */
const known = new Set<Kernel>();
/** Examples that record or replay. */
const own = new WeakSet<Kernel>();
const play = { name: "recorded", kernels: 0 };
const isReplay = (): boolean => play.name !== "recorded";

/** Writes a line for each run that ends. With `guarded`, only recorded models may be called. */
function observer(place: string, guarded: boolean): Plugin {
  return definePlugin({
    name: "examples-observer",
    apply({ hooks }) {
      hooks.afterRun.tap(
        { name: "observe", lane: "transform" },
        ({ run, outcome, output, error }) => {
          const ended = output ?? (error as { readonly output?: typeof output }).output;
          const line = {
            run: run.id,
            outcome,
            raw: ended?.raw,
            error: error?.message,
            trace: ended?.trace,
          };
          const text = JSON.stringify(line).replace(
            /"traceId":"[0-9a-f]{32}"/,
            '"traceId":"(random)"',
          ); // a replay creates its own spans
          appendFileSync(join(folder, `${play.name}-${place}.json`), `${text}\n`);
        },
      );
      if (!guarded) return;
      hooks.beforeLlmCall.tap({ name: "observe", lane: "policy" }, ({ model, taskId }) => {
        if (model.capabilities?.exemptFromRateLimits !== true)
          throw new Error(`a model is called in the replay, for ${taskId}`);
      });
    },
  });
}

Kernel.prototype.use = function useAndTell(this: Kernel, plugin: Plugin): Kernel {
  if (plugin.name === "record-to" || plugin.name === "replay-from") own.add(this);
  return use.call(this, plugin);
};

Kernel.prototype.boot = function boot(this: Kernel): Promise<void> {
  if (!known.has(this)) {
    known.add(this);
    const number = ++play.kernels;
    const file = join(folder, `${number}.jsonl`);
    if (own.has(this)) this.use(observer(`${number}-own`, false));
    else {
      if (!isReplay()) this.use(recordTo(file));
      else if (existsSync(file)) this.use(replayFrom(file, { onUnused: "fail" })); // missing if nothing was run
      this.use(observer(String(number), isReplay()));
    }
  }
  return original.call(this);
};

const example = pathToFileURL(resolve(process.argv[1] ?? "")).href;
const replays = process.env["ALL_CASES"] === undefined ? ["once"] : ["once", "twice"];
/** The module of the play, and whether it has been evaluated to its end. */
const played = { url: example, isAwaited: false, hasEnded: false };

// The event can come while a worker thread starts, so the module may still be evaluated.
process.on("beforeExit", () => {
  if (!played.hasEnded) return awaitEnd();
  const name = replays.shift();
  if (name === undefined) return;
  if (!isReplay()) process.stdout.write("END_OF_RECORDING\n");
  Object.assign(play, { name, kernels: 0 });
  Object.assign(played, { url: `${example}?${name}`, isAwaited: false, hasEnded: false });
  awaitEnd();
});

/** Evaluates the module, or waits for its end. The event comes once more after it. */
function awaitEnd(): void {
  if (played.isAwaited) return;
  played.isAwaited = true;
  void import(played.url).then(() => {
    played.hasEnded = true;
    setImmediate(() => undefined);
  });
}
