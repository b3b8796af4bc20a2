/**
 * Rehearsals: faults injected by a seeded plan, and checks of the conditions that a robust team
 * must meet.
 */
export { chaos } from "./plugins/chaos/index.js";
export type {
  Chaos,
  ChaosFault,
  ChaosFaultKind,
  ChaosOptions,
  InjectedFault,
} from "./plugins/chaos/index.js";
export { rehearse } from "./plugins/chaos/rehearse.js";
export type {
  RehearsalOptions,
  RehearsalReport,
  RehearsedRun,
  RehearsedTeam,
} from "./plugins/chaos/rehearse.js";
export { simulate } from "./plugins/chaos/simulate.js";
export type {
  SimulatedCall,
  SimulatedFigure,
  SimulateOptions,
  SimulationReport,
} from "./plugins/chaos/simulate.js";
