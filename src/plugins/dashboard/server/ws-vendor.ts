// The build bundles this file with its package, so that the published package does not depend on
// it.
export { WebSocket, WebSocketServer } from "ws";
