// The views of a run that are fetched after the first views, in one file.
export { CostView } from "./cost.js";
export { ErrorsView } from "./errors.js";
export { EventsView } from "./events.js";
export { TimelineView } from "./timeline.js";
