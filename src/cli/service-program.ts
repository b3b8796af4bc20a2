import type { Command } from "commander";
import type { CallArguments } from "./call-command.js";
import type { CommandEnd } from "./command-parts.js";
import type * as Queue from "./queue-commands.js";
import type { ServeArguments } from "./serve-command.js";
import type { SubmitArguments } from "./submit-command.js";
import type { OutputTerminal } from "./terminal.js";
import type { WorkerArguments } from "./worker-command.js";
import { collect, common, example, EXIT_CODES, FILE, withInputs } from "./command-parts.js";

const URL_OF = "address of a service, for example http://127.0.0.1:7329";

const PROGRAM =
  "JavaScript or TypeScript that default-exports an Ensemble, a record of ensembles, or a program";
const SHARED_STORE =
  "store of requests, results and runs: postgres://...; redis:// and nats:// do not store runs (default: AGENTENSEMBLE_STORE)";
const PLACE = `${URL_OF}; with --store, the name of an ensemble`;
const QUEUE_STORE = "read this store instead of sending a request to a service";

// Loaded when they are executed: other commands start without them.
const queueCommands = (): Promise<typeof Queue> => import("./queue-commands.js");

/** Adds the commands of services. */
export function addServices(program: Command, terminal: OutputTerminal, done: CommandEnd): void {
  addServe(program, terminal, done);
  addWorker(program, terminal, done);
  addSubmit(program, terminal, done);
  addCall(program, terminal, done);
  addQueue(program, terminal, done);
}

function addServe(program: Command, terminal: OutputTerminal, done: CommandEnd): void {
  common(program.command("serve"))
    .description("start an ensemble as a service; on SIGTERM, finish the requests and stop")
    .argument("<file>", FILE)
    .option(
      "--port <port>",
      "port, or 0 for a free port (default: 7329); further ensembles of the file use the next ports",
    )
    .option(
      "--host <host>",
      "address to listen on (default: 127.0.0.1); other addresses require AGENTENSEMBLE_CALLERS",
    )
    .option(
      "--allowed-host <name>",
      "additional allowed name in the Host header of requests; repeatable",
      collect,
    )
    .option(
      "--store <url>",
      "store of requests and results: file:<folder>, pglite:<folder>, postgres://..., redis://... or nats://... (default: in memory)",
    )
    .option(
      "--workers <number>",
      "number of processes on one port; a process that dies is replaced; requires a store for several processes",
    )
    .option(
      "--durable",
      "also store the runs, so that they can be resumed after the end of a process",
    )
    .option("-q, --quiet", "show no progress, only warnings")
    .addHelpText(
      "after",
      example(
        "agentensemble serve kitchen.ts",
        "agentensemble serve kitchen.ts --port 8080 --store file:.agentensemble",
      ),
    )
    .action(async (file: string, o: ServeArguments) => {
      const { serveCommand } = await import("./serve-command.js");
      done(await serveCommand(file, o, terminal));
    });
}

function addWorker(program: Command, terminal: OutputTerminal, done: CommandEnd): void {
  common(program.command("worker"))
    .description(
      "execute submitted runs of the ensembles of a file; several workers can run at once; on SIGTERM, finish the runs and stop",
    )
    .argument("<file>", PROGRAM)
    .option("--store <url>", SHARED_STORE)
    .option(
      "--lease <duration>",
      "time after which the work of an unresponsive worker is released (default: 30s)",
    )
    .option("-q, --quiet", "show no progress, only warnings")
    .addHelpText(
      "after",
      example("agentensemble worker press.ts --store postgres://localhost/press"),
    )
    .action(async (file: string, o: WorkerArguments) => {
      const { workerCommand } = await import("./worker-command.js");
      done(await workerCommand(file, o, terminal));
    });
}

function addSubmit(program: Command, terminal: OutputTerminal, done: CommandEnd): void {
  common(withInputs(program.command("submit")))
    .description("queue a run of an ensemble for a worker, and print the id of the run")
    .argument("<file>", PROGRAM)
    .argument("[ensemble]", "name of the ensemble, if the file contains several")
    .option("--store <url>", SHARED_STORE)
    .option(
      "--run-id <id>",
      "id of the run; the same id and inputs are the same run (default: random)",
    )
    .option("--priority <priority>", "CRITICAL, HIGH, NORMAL or LOW")
    .option(
      "--deadline <duration>",
      "end the run after this time, including the time in the queue: 30s, 5m, 1h",
    )
    .option("--wait", "wait for the result and print it")
    .option(
      "--timeout <duration>",
      "with --wait: stop waiting after this time (30s, 5m, 1h); the run continues",
    )
    .option("-q, --quiet", "with --wait: show no progress")
    .addHelpText(
      "after",
      example(
        "agentensemble submit press.ts digest --inputs in.json --run-id digest-2026-11-23",
        "agentensemble submit press.ts --input topic=otters --wait",
      ) + EXIT_CODES,
    )
    .action(async (file: string, ensemble: string | undefined, o: SubmitArguments) => {
      const { submitCommand } = await import("./submit-command.js");
      done(await submitCommand(file, ensemble, o, terminal));
    });
}

function addCall(program: Command, terminal: OutputTerminal, done: CommandEnd): void {
  common(withInputs(program.command("call")))
    .description("send a request to a service and print the result")
    .argument("<url>", URL_OF)
    .argument("<task>", 'name of a shared task or tool, or "run" for the ensemble')
    .option("--context <text>", "value of {context}; @file reads the text of a file")
    .option("--priority <priority>", "CRITICAL, HIGH, NORMAL or LOW")
    .option(
      "--key <key>",
      "idempotency key; the same key and content return the same result (default: random)",
    )
    .option(
      "--timeout <duration>",
      "stop waiting after this time (500ms, 30s, 5m, 1h); the request continues",
    )
    .addHelpText(
      "after",
      example(
        "agentensemble call http://127.0.0.1:7329 prepare-meal --input dish=soup",
        "agentensemble call https://kitchen.internal report --key 2026-11-23 --json",
      ) + EXIT_CODES,
    )
    .action(async (url: string, task: string, o: CallArguments) => {
      const { callCommand } = await import("./call-command.js");
      done(await callCommand(url, task, o, terminal));
    });
}

function addQueue(program: Command, terminal: OutputTerminal, done: CommandEnd): void {
  const queue = program.command("queue").description("inspect and change the queue of a service");
  common(queue.command("ls").alias("list"))
    .description("count waiting, running and dead requests")
    .argument("<place>", PLACE)
    .option("--store <url>", QUEUE_STORE)
    .action(async (url: string, o: Queue.QueueArguments) =>
      done(await (await queueCommands()).queueListCommand(url, o, terminal)),
    );
  common(queue.command("dead"))
    .description("list dead requests and the reasons")
    .argument("<place>", PLACE)
    .option("--store <url>", QUEUE_STORE)
    .action(async (url: string, o: Queue.QueueArguments) =>
      done(await (await queueCommands()).queueDeadCommand(url, o, terminal)),
    );
  common(queue.command("redrive"))
    .description("queue a dead request again and delete its result")
    .argument("<place>", PLACE)
    .option("--store <url>", QUEUE_STORE)
    .argument("<request-id>", "id of a request, from `queue dead`")
    .action(async (url: string, requestId: string, o: Queue.QueueArguments) =>
      done(await (await queueCommands()).queueRedriveCommand(url, requestId, o, terminal)),
    );
  common(queue.command("cancel"))
    .description("cancel a request that is waiting or running")
    .argument("<ensemble>", "name of the ensemble")
    .argument("<request-id>", "id of the request, which is the id of its run")
    .option("--store <url>", SHARED_STORE)
    .option("--reason <text>", "reason, for the result of the request")
    .action(
      async (
        ensemble: string,
        requestId: string,
        o: Queue.QueueArguments & { readonly reason?: string },
      ) => done(await (await queueCommands()).queueCancelCommand(ensemble, requestId, o, terminal)),
    );
}
