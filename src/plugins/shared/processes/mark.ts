import { randomBytes } from "node:crypto";

/**
 * How the names of the variables begin by which the processes of a command are recognised: each is in the environment of one command and of all it
 * starts. They are always inherited, so that a program that is itself a command, and runs others, hands its own mark on.
 */
const MARK_PREFIX = "AGENTENSEMBLE_COMMAND_";

/** A name that no other command has. Random for uniqueness among processes; nobody records it. */
export function newMark(): string {
  return `${MARK_PREFIX}${randomBytes(12).toString("hex")}`;
}

/** The marks that this process bears, and hands on. */
export function inheritedMarks(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value !== undefined && name.startsWith(MARK_PREFIX) ? [[name, value]] : [],
    ),
  );
}
