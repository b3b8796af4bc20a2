// A process that loads the package and uses nothing of it.
import "agentensemble";
