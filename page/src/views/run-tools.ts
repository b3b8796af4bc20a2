// What a run can do beside being shown, in a file that is fetched when it is needed.
export { ExportMenu } from "../components/run/export-menu.js";
export { SearchPanel } from "../components/run/search-panel.js";
