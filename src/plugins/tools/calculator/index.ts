export { calculatorTool } from "./calculator-tool.js";
