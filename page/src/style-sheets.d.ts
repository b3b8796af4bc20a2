/** The bundler creates a separate file for an imported style sheet. */
declare module "*.css";
