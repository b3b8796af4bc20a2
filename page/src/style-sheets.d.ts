/** The bundler makes a separate file out of an imported style sheet. */
declare module "*.css";
