import type { Command } from "commander";
import type { CallArguments } from "./call-command.js";
import type { CommandEnd } from "./command-parts.js";
import type * as Queue from "./queue-commands.js";
import type { ServeArguments } from "./serve-command.js";
import type { SubmitArguments } from "./submit-command.js";
import type { OutputTerminal } from "./terminal.js";
import type { WorkerArguments } from "./worker-command.js";
import { collect, common, example, EXIT_CODES, FILE, withInputs } from "./command-parts.js";

const URL_OF = "the address of a service, for instance http://127.0.0.1:7329";

const PROGRAM =
  "JavaScript or TypeScript that default-exports an Ensemble, a record of ensembles, or a program";
const SHARED_STORE =
  "where requests, results and runs are kept: postgres://...; redis:// and nats:// keep no runs (default: AGENTENSEMBLE_STORE)";
const PLACE = `${URL_OF}; with --store the name of an ensemble`;
const QUEUE_STORE = "look into this store instead of asking a service";

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
    .description("start an ensemble as a service; SIGTERM ends what runs, then the service")
    .argument("<file>", FILE)
    .option(
      "--port <port>",
      "the port, 0 for a free one (default: 7329); further ensembles of the file get the next ones",
    )
    .option(
      "--host <host>",
      "the address to listen on (default: 127.0.0.1); others need AGENTENSEMBLE_CALLERS",
    )
    .option(
      "--allowed-host <name>",
      "a further name in the Host header of requests, as often as needed",
      collect,
    )
    .option(
      "--store <url>",
      "where requests and results are kept: file:<folder>, pglite:<folder>, postgres://..., redis://... or nats://... (default: in memory)",
    )
    .option(
      "--workers <number>",
      "so many processes on one port, each replaced when it dies; needs a store for several processes",
    )
    .option("--durable", "also keep the runs there, to resume them after the end of a process")
    .option("-q, --quiet", "no progress; warnings are printed all the same")
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
      "execute submitted runs of the ensembles of a file; any number of workers may run; at SIGTERM, a worker finishes its runs and ends",
    )
    .argument("<file>", PROGRAM)
    .option("--store <url>", SHARED_STORE)
    .option(
      "--lease <duration>",
      "how long a worker without a sign of life keeps its work (default: 30s)",
    )
    .option("-q, --quiet", "no progress; warnings are printed all the same")
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
    .description("let a worker run an ensemble of a file, and print the id of the run")
    .argument("<file>", PROGRAM)
    .argument("[ensemble]", "the name of the ensemble, where the file has several")
    .option("--store <url>", SHARED_STORE)
    .option("--run-id <id>", "the same id and inputs are the same run (default: a random id)")
    .option("--priority <priority>", "CRITICAL, HIGH, NORMAL or LOW")
    .option("--deadline <duration>", "end the run after 30s, 5m, 1h, waiting included")
    .option("--wait", "wait for the result, and print it")
    .option(
      "--timeout <duration>",
      "with --wait: stop waiting after 30s, 5m, 1h; the run continues",
    )
    .option("-q, --quiet", "with --wait: no progress")
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
    .description("request what a service shares, and print the result")
    .argument("<url>", URL_OF)
    .argument("<task>", "the name of a shared task or tool, or run")
    .option("--context <text>", "fills {context}; @file takes the text of a file")
    .option("--priority <priority>", "CRITICAL, HIGH, NORMAL or LOW")
    .option("--key <key>", "the same key and content get the same result (default: a random key)")
    .option("--timeout <duration>", "stop waiting after 500ms, 30s, 5m, 1h; the request continues")
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
  const queue = program.command("queue").description("look after the queue of a service");
  common(queue.command("ls").alias("list"))
    .description("count what waits, runs and is dead")
    .argument("<place>", PLACE)
    .option("--store <url>", QUEUE_STORE)
    .action(async (url: string, o: Queue.QueueArguments) =>
      done(await (await queueCommands()).queueListCommand(url, o, terminal)),
    );
  common(queue.command("dead"))
    .description("list requests that are delivered no more, with their reasons")
    .argument("<place>", PLACE)
    .option("--store <url>", QUEUE_STORE)
    .action(async (url: string, o: Queue.QueueArguments) =>
      done(await (await queueCommands()).queueDeadCommand(url, o, terminal)),
    );
  common(queue.command("redrive"))
    .description("queue a dead letter again; its result is forgotten")
    .argument("<place>", PLACE)
    .option("--store <url>", QUEUE_STORE)
    .argument("<request-id>", "the id of a request, from `queue dead`")
    .action(async (url: string, requestId: string, o: Queue.QueueArguments) =>
      done(await (await queueCommands()).queueRedriveCommand(url, requestId, o, terminal)),
    );
  common(queue.command("cancel"))
    .description("end a request, whether it waits or a process executes it")
    .argument("<ensemble>", "the name of the ensemble")
    .argument("<request-id>", "the id of the request, which is that of its run")
    .option("--store <url>", SHARED_STORE)
    .option("--reason <text>", "why, for the result of the request")
    .action(
      async (
        ensemble: string,
        requestId: string,
        o: Queue.QueueArguments & { readonly reason?: string },
      ) => done(await (await queueCommands()).queueCancelCommand(ensemble, requestId, o, terminal)),
    );
}
