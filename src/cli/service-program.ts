import type { Command } from "commander";
import type { CallArguments } from "./call-command.js";
import type { CommandEnd } from "./command-parts.js";
import type * as Queue from "./queue-commands.js";
import type { ServeArguments } from "./serve-command.js";
import type { OutputTerminal } from "./terminal.js";
import { collect, common, example, EXIT_CODES, FILE, withInputs } from "./command-parts.js";

const URL_OF = "the address of a service, for instance http://127.0.0.1:7329";

// Loaded when they are executed: other commands start without them.
const queueCommands = (): Promise<typeof Queue> => import("./queue-commands.js");

/** The commands of services. */
export function addServices(program: Command, terminal: OutputTerminal, done: CommandEnd): void {
  addServe(program, terminal, done);
  addCall(program, terminal, done);
  addQueue(program, terminal, done);
}

function addServe(program: Command, terminal: OutputTerminal, done: CommandEnd): void {
  common(program.command("serve"))
    .description("start an ensemble as a service; SIGTERM ends what runs, then the service")
    .argument("<file>", FILE)
    .option("--port <port>", "the port, 0 for a free one (default: 7329)")
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
      "where requests and results are kept: file:<folder> (default: in memory)",
    )
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

function addCall(program: Command, terminal: OutputTerminal, done: CommandEnd): void {
  common(withInputs(program.command("call")))
    .description("request what a service shares, and print the result")
    .argument("<url>", URL_OF)
    .argument("<task>", "the name of a shared task or tool, or run")
    .option("--context <text>", "fills {context}; @file takes the text of a file")
    .option("--priority <priority>", "CRITICAL, HIGH, NORMAL or LOW")
    .option("--key <key>", "the same key and content get the same result (default: a random key)")
    .option("--timeout <duration>", "stop waiting after 500ms, 30s, 5m, 1h; the request goes on")
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
    .argument("<url>", URL_OF)
    .action(async (url: string, o: Queue.QueueArguments) =>
      done(await (await queueCommands()).queueListCommand(url, o, terminal)),
    );
  common(queue.command("dead"))
    .description("list requests that are delivered no more, with their reasons")
    .argument("<url>", URL_OF)
    .action(async (url: string, o: Queue.QueueArguments) =>
      done(await (await queueCommands()).queueDeadCommand(url, o, terminal)),
    );
  common(queue.command("redrive"))
    .description("queue a dead letter again; its result is forgotten")
    .argument("<url>", URL_OF)
    .argument("<request-id>", "the id of a request, from `queue dead`")
    .action(async (url: string, requestId: string, o: Queue.QueueArguments) =>
      done(await (await queueCommands()).queueRedriveCommand(url, requestId, o, terminal)),
    );
}
