// The build bundles this file with its package, so that the published package does not depend on
// it. The file is loaded when a kernel with the guard starts.
export { detectAll } from "tinyld";
