// Views that start and control runs, the threads of conversations and the services, in a file that
// is fetched on demand.
export { ActionsPanel } from "../components/run/actions-panel.js";
export { CancelPanel } from "../components/run/cancel-panel.js";
export { EnsemblesView } from "./ensembles.js";
export { PanelView } from "./panel.js";
export { ServicesView } from "./services.js";
export { ThreadsView } from "./threads.js";
