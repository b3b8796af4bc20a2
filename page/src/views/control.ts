// What starts and controls runs, in a file that is fetched when it is needed.
export { ActionsPanel } from "../components/run/actions-panel.js";
export { EnsemblesView } from "./ensembles.js";
export { PanelView } from "./panel.js";
