// Views that start and control runs, and the views of threads and services. This file is fetched on
// demand.
export { ActionsPanel } from "../components/run/actions-panel.js";
export { CancelPanel } from "../components/run/cancel-panel.js";
export { EnsemblesView } from "./ensembles.js";
export { PanelView } from "./panel.js";
export { ServicesView } from "./services.js";
export { ThreadsView } from "./threads.js";
