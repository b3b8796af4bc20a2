import type { AnyTask } from "./task.js";

/**
 * Returns the name of a task in messages: its description. A description that is not a template may
 * contain text from outside. Such a task is therefore named by its `name`, if present.
 */
export function taskLabel({ template, name, description }: AnyTask): string {
  return template ? description : (name ?? description);
}
