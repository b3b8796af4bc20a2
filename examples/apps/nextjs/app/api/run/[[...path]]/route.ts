// A route handler of Next.js: POST /api/run starts a run and answers with its output, or with a
// stream.
import { runHandler } from "agentensemble/http";
import { authenticate, team } from "../../../../team";

const handler = runHandler(team, { authenticate });
export { handler as GET, handler as POST, handler as DELETE };
