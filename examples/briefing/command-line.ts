import { parseArgs } from "node:util";

export const HELP = `Writes a briefing on text documents; every quotation in it is checked against its source.

Usage: npm start -- [file or folder] [--out folder]

  file or folder   what to read: .md, .txt and .rst files, not those in subfolders (default: examples/data)
  --out folder     where briefing.md and trace.json go (default: out)
  --help           this text

The model, in this order:
  AGENTENSEMBLE_MODEL   for instance openai:gpt-5, anthropic:claude-sonnet-5, or offline:extractive
  OPENAI_API_KEY        openai:gpt-5-mini
  ANTHROPIC_API_KEY     anthropic:claude-sonnet-5
  none of them          offline:extractive, which needs no network and can only quote
OPENAI_BASE_URL names another server that speaks OpenAI's protocol (ANTHROPIC_BASE_URL: Anthropic's). With Ollama, for instance:
  OPENAI_BASE_URL=http://localhost:11434/v1 AGENTENSEMBLE_MODEL=openai:llama3.2 npm start

DEBUG=1 shows the stack of an error.`;

/** The options of the user. */
export interface CommandLine {
  readonly help: boolean;
  readonly input: string;
  readonly out: string;
}

/**
 * Reads the arguments.
 * @throws Error for an unknown option, a blank value or more than one input.
 */
export function readCommandLine(args: readonly string[]): CommandLine {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      out: { type: "string", default: "out" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (positionals.length > 1)
    throw new Error(
      `Name one file or folder, not ${positionals.length}: ${positionals.join(", ")}`,
    );
  const [input = "examples/data"] = positionals;
  if (input.trim() === "" || values.out.trim() === "")
    throw new Error("The names of the input and of the output folder must not be blank");
  return { help: values.help, input, out: values.out };
}
