import type { StartableEnsemble } from "../protocol/control-bodies.js";
import type { OffersFrame } from "../protocol/report-messages.js";
import type { ConversationInfo } from "../protocol/thread-bodies.js";
import { asCount, asFields, asList, asText, type Fields } from "../../../util/objects.js";
import { isRegisteredName } from "../control/registrations.js";

/** The offers of another process, under the names of the board. */
export type ProcessOffers = Omit<OffersFrame, "type">;

export const NO_OFFERS: ProcessOffers = Object.freeze({ ensembles: [], conversations: [] });

const MAX_OFFERS = 200;

/** Returns the offers of a process. Omits items without a name or with fields of other types. */
export function offersIn(message: Fields, process: string): ProcessOffers {
  const named = (list: unknown): readonly Fields[] =>
    asList(list)
      .map((one) => asFields(one) ?? {})
      .filter(({ name, title }) => isRegisteredName(name) && isTextOrNone(title))
      .slice(0, MAX_OFFERS);
  return {
    ensembles: named(message["ensembles"]).flatMap((one) => ensembleIn(one, process) ?? []),
    conversations: named(message["conversations"]).map((one) => offerHead(one, process)),
  };
}

function offerHead({ name, title }: Fields, process: string): ConversationInfo {
  return {
    name: `${process}/${asText(name)}`,
    process,
    ...(title !== undefined && { title: asText(title) }),
  };
}

function ensembleIn(one: Fields, process: string): StartableEnsemble | undefined {
  const { description, workflow, tasks } = one;
  const [inputs, filled, count] = [
    asFields(one["inputs"]),
    asFields(one["filled"]),
    asCount(tasks),
  ];
  if (inputs === undefined || filled === undefined || count === undefined) return undefined;
  if (typeof workflow !== "string" || !isTextOrNone(description)) return undefined;
  return {
    ...offerHead(one, process),
    ...(description !== undefined && { description }),
    workflow,
    tasks: count,
    inputs,
    filled,
    answers: asList(one["answers"]).filter((from) => from === "trace" || from === "recording"),
  };
}

function isTextOrNone(value: unknown): value is string | undefined {
  return value === undefined || typeof value === "string";
}
