// A process that only loads the package.
import "agentensemble";
