// A process that does nothing: what node itself takes.
export {};
