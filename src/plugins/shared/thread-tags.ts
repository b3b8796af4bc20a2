import { hash } from "node:crypto";

/** The thread of a turn. */
export interface TurnOwner {
  readonly threadId: string;
  readonly owner: string | undefined;
}

/** Returns the tags of the runs of a thread. They do not reveal its id and owner. */
export function threadTags({ threadId, owner }: TurnOwner): Readonly<Record<string, string>> {
  return {
    threadId: hashedName(threadId),
    ...(owner !== undefined && { owner: hashedName(owner) }),
  };
}

function hashedName(name: string): string {
  return hash("sha256", name).slice(0, 16);
}
