// What starts and controls runs, and the threads of conversations, in a file that is fetched when it is needed.
export { ActionsPanel } from "../components/run/actions-panel.js";
export { EnsemblesView } from "./ensembles.js";
export { PanelView } from "./panel.js";
export { ThreadsView } from "./threads.js";
