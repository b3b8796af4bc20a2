// A process that does nothing: the base cost of node.
export {};
