/**
 * The prompts of a hierarchical team's manager, by name. `{name}` is replaced by a value.
 * `docs/prompts.md` lists the values of each text.
 */
export const MANAGER_TEMPLATES = Object.freeze({
  "manager.goal":
    "Coordinate worker agents to complete all tasks and synthesize a comprehensive final result",
  "manager.system": `You have access to the following worker agents:

{workers}Use the delegateTask tool to assign work to your team members. Review their outputs and synthesize a comprehensive final result.`,
  "manager.worker": "{number}. {role}\n   Goal: {goal}\n{background}\n",
  "manager.workerBackground": "   Background: {background}\n",
  "manager.user": `You must coordinate your team to complete the following tasks:

{tasks}Delegate each task to the most appropriate team member using the delegateTask tool. Once all tasks are complete, synthesize the results into a comprehensive final response.`,
  "manager.task": "Task {number}: {description}\nExpected output: {expectedOutput}\n\n",
  "manager.withoutPrompt":
    "Coordinate your team to complete all assigned tasks and synthesize a comprehensive final response.",
  "manager.expectedOutput":
    "A comprehensive final response synthesizing the outputs of all delegated tasks",
  "manager.tool":
    "Assign work to one of your team members; its result is returned to you. The team member knows only what you write here and what the listed task brings with it.",
  "manager.agentRole": "The role of the team member",
  "manager.taskDescription": "What the team member is to do, with everything it has to know for it",
  "manager.taskNumber":
    "The number of the listed task to execute. The listed requirements apply, and the task receives the results of the tasks that it depends on. If the task was already executed, taskDescription is feedback on its last result. Omit taskNumber for a subtask that is not listed.",
  "manager.workerExpectedOutput": "Complete the assigned task thoroughly",
  "manager.unknownTask":
    "taskNumber must be a number from 1 to {count}, got: {given}. Omit it for a subtask that is not listed.",
  "manager.missingContext":
    "Task {number} builds on the results of listed tasks that are not done yet: {missing}. Delegate those first, with their taskNumber.",
  "manager.progress": "\n\n[Listed tasks done: {done}. Still open: {open}.]",
} as const);

/** The name of a text of this plugin. */
export type ManagerTemplateName = keyof typeof MANAGER_TEMPLATES;
