// Further tools for a run, in a file that is fetched on demand.
export { ExportMenu } from "../components/run/export-menu.js";
export { SearchResults } from "../components/search/search-results.js";
