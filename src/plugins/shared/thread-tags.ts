import { hash } from "node:crypto";

/** Where a turn belongs. */
export interface TurnOwner {
  readonly threadId: string;
  readonly owner: string | undefined;
}

/** The tags of the runs of a thread, which do not show its id and owner. */
export function threadTags({ threadId, owner }: TurnOwner): Readonly<Record<string, string>> {
  return {
    threadId: hashedName(threadId),
    ...(owner !== undefined && { owner: hashedName(owner) }),
  };
}

function hashedName(name: string): string {
  return hash("sha256", name).slice(0, 16);
}
