import type { ResolvedSettings } from "./mcp-server-options.js";
import type { Offer } from "../../shared/offers/offer.js";
import type { ServerPorts } from "./types.js";
import { ValidationError } from "../../../contracts/errors.js";
import { Task } from "../../../contracts/task.js";
import { preview } from "../../../contracts/validation.js";
import { taskOffer } from "../../shared/offers/task-offer.js";
import { toolOffer } from "../../shared/offers/tool-offer.js";

/**
 * Returns everything that clients can call, by name.
 * @throws ValidationError for a name that clients reject or that occurs twice
 */
export function offersOf(
  { tools, tasks }: ResolvedSettings,
  ports: ServerPorts,
): ReadonlyMap<string, Offer> {
  const { expectedOutput } = Task.of("a task without an expected output");
  const offers = new Map<string, Offer>();
  const add = (offer: Offer, source: string): void => {
    if (offers.has(offer.name)) {
      throw new ValidationError(
        `mcpServer would offer two tools named '${offer.name}'; the second is ${source}`,
        {
          hint: "Give tools and tasks different names.",
        },
      );
    }
    offers.set(offer.name, offer);
  };
  for (const tool of tools)
    add(
      toolOffer(tool, (task) => ports.prepareTool(task)),
      `tool '${tool.name}'`,
    );
  for (const task of tasks)
    add(taskOffer(task, ports, expectedOutput), `task '${preview(task.name ?? task.description)}'`);
  return offers;
}
