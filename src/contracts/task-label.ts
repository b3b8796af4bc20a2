import type { AnyTask } from "./task.js";

/**
 * Returns how messages name a task: by its description. A task whose texts are no templates may
 * hold a text from outside, such as a message of a user; it is named by its `name` if it has one.
 */
export function taskLabel({ template, name, description }: AnyTask): string {
  return template ? description : (name ?? description);
}
