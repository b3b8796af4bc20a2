import type { AnyTask } from "./task.js";

/**
 * Returns the name of a task in messages: its description. A description that is not a template may
 * contain text from outside, such as a message of a user; such a task is named by its `name`, if it
 * has one.
 */
export function taskLabel({ template, name, description }: AnyTask): string {
  return template ? description : (name ?? description);
}
